// Guards that the stress campaigns take away, to see that they would notice. Only a build with
// `-Xswiftc -DLARDER_MUTANTS` has any of this: what ships has neither the switch nor its name.
#if LARDER_MUTANTS
  internal import Foundation

  /// One guard of the library that can be taken away for the life of a process.
  package enum Mutant: String, CaseIterable, Sendable {
    /// Opening does not wait for others that are opening.
    case openGuard = "open-guard"
    /// A write begins whatever the number of its transaction is.
    case lockTableCheck = "lock-table-check"
    /// A snapshot is used whatever its state record says of its transaction.
    case snapshotGuard = "snapshot-guard"
    /// The documents of a snapshot are those of 300 microseconds after its sequence was read.
    case snapshotHeld = "snapshot-held"
    /// Documents are committed first, and the log of their changes after that.
    case logApart = "log-apart"
    /// Acknowledging a reset takes the moment of the batch, and not the one that its body reads.
    case resetAtBatch = "reset-at-batch"
    /// Links are followed wherever a file is looked at or opened.
    case followsLinks = "follows-links"
    /// Nothing is kept for deletes when the store or the disk is full.
    case reserveOff = "reserve-off"
    /// The reader slots of processes that died are not given back.
    case readerCheckOff = "reader-check-off"
    /// Other processes know of this one's snapshots by LMDB's own lock only.
    case readerLock = "reader-lock"
    /// A commit that failed is said to have succeeded.
    case swallowedCommit = "swallowed-commit"
    /// A write does not look whether the lock file and the data file are still in place.
    case lockInode = "lock-inode"
    /// LMDB's lock file is left as LMDB makes it, with holes.
    case sparseLock = "sparse-lock"
    /// No page of a file is looked at before it is opened.
    case preflight
    /// A file is taken for the one that was closed, whatever its inode, its size and its times are.
    case fileStamp = "file-stamp"
    /// A record is taken for whole without its checksum.
    case checksum
    /// An index entry is taken for whole without its checksum.
    case indexEntries = "index-entries"
    /// The words that a document had stay in the search index.
    case searchRemovals = "search-removals"
    /// The bounds of a condition are cut before those of several conditions meet, as entries are.
    case cutBounds = "cut-bounds"
    /// Equal elements of an array are put into a unique index one by one.
    case repeatedEntries = "repeated-entries"
    /// Decimals are compared as the doubles that are next to them.
    case decimalsAsDoubles = "decimals-as-doubles"
    /// An integer that no double equals is compared as the nearest one, where fields were widened.
    case roundedIntegers = "rounded-integers"
    /// Behind an embedded document that is nil, index entries have the default of its field.
    case defaultBehindNil = "default-behind-nil"
    /// Dictionaries of embedded documents are saved without what the type does not know.
    case unmergedDictionaries = "unmerged-dictionaries"
    /// Limit and offset hold in the order of the sections instead of the query's own.
    case limitedSections = "limited-sections"
    /// An edit that was answered leaves the outbox, although the document was edited while it was under way.
    case outboxCleared = "outbox-cleared"
    /// A conflict is taken for an answer that accepts the edit.
    case conflictAccepted = "conflict-accepted"
    /// What a scope no longer shows is forgotten together with edits that were not sent.
    case sweptEdits = "swept-edits"
    /// An edit whose answer was lost is sent again under another name.
    case renamedEdits = "renamed-edits"
    /// An edit leaves the outbox when it is sent, before anybody has answered it.
    case outboxEarly = "outbox-early"
    /// An edit is sent without the revision that it was made on.
    case basesUnsent = "bases-unsent"
    /// The revision that the remote has of a document is not noted beside it.
    case basesDropped = "bases-dropped"
    /// What is published is written into the file that others read.
    case publishedInPlace = "published-in-place"
    /// A letter is merged without a note that it was.
    case lettersUnnoted = "letters-unnoted"
    /// Letters are removed before what they hold is committed.
    case lettersRemovedFirst = "letters-removed-first"

    /// Whether the environment of this process names it: `LARDER_MUTANT=open-guard`; several stand
    /// with commas between them.
    package var isOn: Bool { Self.current.contains(self) }

    private static let current = Set(
      (ProcessInfo.processInfo.environment["LARDER_MUTANT"] ?? "").split(separator: ",")
        .compactMap { Mutant(rawValue: String($0)) })
  }
#endif
