internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How a store is opened. All openings of one store in a process need the same options, except for
/// ``log``, ``pageCheck`` and ``openTimeout``, which belong to each, and ``tokenizers``, which add up.
public struct StoreOptions: Equatable, Sendable {
  /// Refuses every write. The store must exist; it may belong to another user.
  public var isReadOnly = false
  /// What a save that returned survives.
  public var durability = Durability.durable
  /// How much address space is reserved for the file, in bytes; it costs neither memory nor disk.
  /// Nil takes what the platform has room for (128 GiB on Linux and macOS). The file grows to this
  /// size at most; with a ``quotaByteCount`` that needs more, the map is enlarged when it is full.
  public var mapByteCount: Int?
  /// How large the store may become, in bytes of the pages that hold something: documents, indexes,
  /// and the log of changes, which gives way first. Above it saving throws
  /// ``StoreError/full(_:)``, and deleting goes on. The file itself can be larger by the pages that
  /// are free to be used again. Nil for what the map has room for.
  public var quotaByteCount: Int?
  /// Bytes above the quota for deleting; half of them also for what the change log has of documents that are
  /// replaced, until it gives way.
  public var reserveByteCount = 1 << 20
  /// How many collections and indexes can exist at once.
  public var maximumDatabaseCount = 256
  /// How many snapshots can be open at once, in all processes together.
  public var maximumReaderCount = 510
  /// How many threads, the caller's among them, may share the work of a query, a check or an export that goes through
  /// a large collection. An import reads a large file with as many besides the caller's, four at most. Conditions,
  /// and the `init(from:)` of documents, run on all of them then; <doc:Concurrency> says when. Nil for as many as
  /// there are processors, eight at most; 1 for the caller's alone. Each takes a reader (``maximumReaderCount``), and
  /// all together at most an eighth of them.
  public var readThreadCount: Int?
  /// How many bytes of encoded documents may wait to be written by `await`ed saves. One that comes
  /// while there are more waits before it encodes, so that tasks that save faster than the disk
  /// takes it do not fill the memory; cancelling its task ends the wait.
  public var maximumWaitingByteCount = 64 << 20
  /// How long a write waits for its turn: for room among the writes that wait, for writes of this
  /// process before it, and for a writer of another process, each at most so long. Time counts only
  /// while something is before it: with zero, a write that has to wait fails at once, and one that has
  /// not is written. A write that has waited for so long throws
  /// ``StoreError/writeTimedOut(path:waitedFor:)`` and leaves nothing behind; one that has begun runs to
  /// its end, and waits as long again where it has to begin once more. Nil to wait without end. On Apple's
  /// systems the wait for another process has no end in any case. Opening a
  /// store does not write, unless it makes the store, or is the first to open a copy that LMDB's own
  /// `mdb_copy -c` has made. Indexes that another version of the app has left to be built anew are
  /// begun behind it, in the background.
  public var writeTimeout: Duration?
  /// How long opening waits for another process that opens the store, compacts or restores it. That is
  /// over in milliseconds nearly always; but all pages of a large file may be looked at meanwhile, and
  /// a process can be stopped in the middle of it. After so long opening throws
  /// ``StoreError/openTimedOut(path:waitedFor:)`` and has changed nothing. Nil to wait without end; one
  /// that waits three seconds is told to ``log``.
  public var openTimeout: Duration?
  /// Told what the store does; silent if nil, and then nothing is measured or put into words.
  ///
  /// ```swift
  /// options.log = { event in logger.log(level: .init(event.level), "\(event)") }
  /// ```
  /// It is called on whatever thread the event happens, inside reads and writes too: it should
  /// return soon and must not use the store. Where several stores share a folder each one's is
  /// told.
  public var log: (@Sendable (LogEvent) -> Void)? {
    get { sink.tell }
    set { sink.tell = newValue }
  }
  private var sink = Sink()

  /// The tokenizers of search indexes that this process may have to keep without the type that declares them: in
  /// a process that saves documents without a type, or that migrates before it uses its types. Types that are used
  /// bring their own. <doc:Searching> says what happens to an index whose tokenizer a process does not have.
  public var tokenizers: [any Tokenizer] {
    get { givenTokenizers.list }
    set { givenTokenizers = GivenTokenizers(list: newValue) }
  }
  private var givenTokenizers = GivenTokenizers(list: [])

  /// Compared by their identifiers.
  private struct GivenTokenizers: Equatable, Sendable {
    let list: [any Tokenizer]

    static func == (left: Self, right: Self) -> Bool {
      left.list.map(SearchTokenizer.init) == right.list.map(SearchTokenizer.init)
    }
  }

  var searchTokenizers: [SearchTokenizer] { tokenizers.map(SearchTokenizer.init) }

  /// How much of the past is kept for watchers that were away.
  public var changeLog = ChangeLogRetention()

  /// When all pages of the file are looked at before it is opened.
  public var pageCheck = PageCheck.whenSuspicious

  /// Whether others put new files in the place of this one; see ``Store/init(published:options:)``.
  var isPublished = false

  /// The usual options, except for those named here; the others are properties.
  public init(isReadOnly: Bool = false, durability: Durability = .durable) {
    self.isReadOnly = isReadOnly
    self.durability = durability
  }

  /// When all pages of the file are looked at before it is opened. Its size and its first two pages
  /// always are.
  public enum PageCheck: Sendable {
    /// When the data file is not as it was left (its inode, its size or its times differ), as after
    /// somebody wrote to it or copied it here, or a process was killed within half a second after a
    /// commit; after the system went down
    /// while the store was open; after damage was met in it; after a process ended inside of a read
    /// or a write, as a damaged page ends one; and while it is small (4 MiB). Takes about a second
    /// for each GiB of small documents that is in the system's memory; large ones cost next to
    /// nothing.
    ///
    /// What is left is a disk that gives back other bytes than it was given, in a file that nobody
    /// touched. Such a page may end one process; the next opening looks, and refuses the file.
    case whenSuspicious
    /// At every opening of a store that nobody has open; where somebody has, ``Store/check(progress:)``
    /// looks at them.
    case always
  }

  /// What a save that returned survives.
  public enum Durability: Sendable {
    /// A crash of the program, of the system, and a loss of power.
    case durable
    /// A crash of the program. A crash of the system or a loss of power may undo the last
    /// saves, the newest first; the store stays whole (on Apple's systems with LMDB 0.9.36 or a package that
    /// `Tools/vendor-lmdb` has made).
    case recentCommitsMayBeLost
    /// A crash of the program. A crash of the system or a loss of power may destroy the store:
    /// for tests, and for caches that can be thrown away.
    case volatile
  }

  /// The names of those that the engine itself goes by and that are not as in `other`; LMDB's are compared by
  /// the layer below.
  func differences(from other: StoreOptions) -> [String] {
    var names: [String] = []
    if quotaByteCount != other.quotaByteCount { names.append("quotaByteCount") }
    if reserveByteCount != other.reserveByteCount { names.append("reserveByteCount") }
    if maximumWaitingByteCount != other.maximumWaitingByteCount {
      names.append("maximumWaitingByteCount")
    }
    if changeLog != other.changeLog { names.append("changeLog") }
    if writeTimeout != other.writeTimeout { names.append("writeTimeout") }
    return names
  }

  /// Two for the catalogue, two for the change log and its consumers, one for the migrations, two for
  /// what is synced. The other stays free:
  /// LMDB takes a handle only to find out that the state record's key names no database.
  static let spareDatabaseCount = 8

  static let largestDatabaseCount = 32_000

  /// Raises ``maximumDatabaseCount`` to what the stores in `folders` have together, whatever they were opened
  /// with, and `more`.
  package mutating func makeRoom(forStoresIn folders: [String], more: Int = 0) {
    // Keys of the main database that name no other one are a few, and only make it more.
    let counts = folders.compactMap { Environment.mainKeyCount(in: $0) }
    let isPossible = counts.allSatisfy { (0...Self.largestDatabaseCount).contains($0) }
    // A damaged page says anything.
    let count = isPossible ? counts.reduce(more, +) : Self.largestDatabaseCount
    maximumDatabaseCount = max(maximumDatabaseCount, min(count, Self.largestDatabaseCount))
  }

  /// - Throws: ``StoreError/invalidOption(_:reason:)``.
  func check() throws(StoreError) {
    if !(1...Self.largestDatabaseCount).contains(maximumDatabaseCount) {
      throw .invalidOption("maximumDatabaseCount", reason: "it must be 1 to 32,000")
    }
    if !(1...100_000).contains(maximumReaderCount) {
      throw .invalidOption("maximumReaderCount", reason: "it must be 1 to 100,000")
    }
    if let writeTimeout, writeTimeout < .zero {
      throw .invalidOption("writeTimeout", reason: "it must be 0 or more")
    }
    if let openTimeout, openTimeout < .zero {
      throw .invalidOption("openTimeout", reason: "it must be 0 or more")
    }
    if let readThreadCount, !(1...64).contains(readThreadCount) {
      throw .invalidOption("readThreadCount", reason: "it must be 1 to 64")
    }
    if maximumWaitingByteCount < 1 {
      throw .invalidOption("maximumWaitingByteCount", reason: "it must be 1 or more")
    }
    if let quotaByteCount, quotaByteCount < 64 << 10 {
      throw .invalidOption("quotaByteCount", reason: "it must be 65,536 or more")
    }
    if !(0...1 << 40).contains(reserveByteCount) {
      throw .invalidOption("reserveByteCount", reason: "it must be 0 to 1 TiB")
    }
    if let mapByteCount, mapByteCount < 64 << 10 {
      throw .invalidOption("mapByteCount", reason: "it must be 65,536 or more")
    }
    if let name = changeLog.wrongLimit {
      throw .invalidOption("changeLog.\(name)", reason: "it must be 0 or more")
    }
  }

  /// How long opening waits, and who is told.
  func openWait(at folder: String) -> OpenWait {
    OpenWait(timeoutSeconds: openTimeout?.seconds) { [log] holder in
      log?(.waitsToOpen(folder, holder))
    }
  }

  private static let usualReadThreadCount = min(8, ProcessInfo.processInfo.activeProcessorCount)

  var environment: Environment.Options {
    var options = Environment.Options()
    options.isReadOnly = isReadOnly
    options.isPublished = isPublished
    options.maximumDatabaseCount = maximumDatabaseCount + Self.spareDatabaseCount
    options.maximumReaderCount = maximumReaderCount
    options.readThreadCount = readThreadCount ?? Self.usualReadThreadCount
    if let mapByteCount { options.mapByteCount = mapByteCount }
    options.durability =
      switch durability {
      case .durable: .durable
      case .recentCommitsMayBeLost: .recentCommitsMayBeLost
      case .volatile: .volatile
      }
    return options
  }
}

/// A closure that makes no difference to whether a store can be opened with both of two options.
private struct Sink: Equatable {
  var tell: (@Sendable (LogEvent) -> Void)?

  static func == (left: Self, right: Self) -> Bool { true }
}
