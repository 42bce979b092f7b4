package import Larder

/// What a store's outbox holds at one moment, whichever engine put it there: for tools that have no remote at hand.
///
/// It is read in one snapshot, from a store that may be open for reading only. Costs what the outbox costs, and the
/// documents of conflicts.
package struct PendingEdits: Sendable {
  /// An edit, and why it waits.
  package struct Edit: Sendable {
    package let key: RemoteKey
    package let status: PendingEdit.Status
    package let isDeletion: Bool
    /// What the remote said when it rejected the edit; empty for others.
    package let code: String
    package let reason: String
  }

  /// Whose edits these are; nil for a store that was never synced.
  package private(set) var account: String?
  /// The scopes that the store knows, those that it followed first in front.
  package private(set) var scopes: [String] = []
  /// The collections whose edits are noted, by name.
  package private(set) var collections: [String] = []
  /// By collection and key.
  package private(set) var edits: [Edit] = []
  /// Those that wait for somebody, by collection and key.
  package private(set) var conflicts: [SyncConflict] = []
  /// Documents of the remote that could not be saved here.
  package private(set) var refused: [RefusedDocument] = []

  /// Reads them.
  ///
  /// - Throws: `StoreError`.
  package init(in store: Store) throws {
    let names = try store.collectionNames()
    try store.read { snapshot in
      account = try snapshot.syncNote(SyncTables.accountName).map {
        String(decoding: $0, as: UTF8.self)
      }
      scopes = try snapshot.syncNotes(withPrefix: ScopeNote.prefix)
        .sorted { (ScopeNote.number($0.name) ?? 0) < (ScopeNote.number($1.name) ?? 0) }
        .compactMap { ScopeNote(noted: $0.bytes)?.scope }
      refused = try snapshot.syncNotes(withPrefix: RefusedNote.prefix)
        .compactMap { RefusedNote(noted: $0.bytes) }
        .map(RefusedDocument.init)
        .sorted { $0.key < $1.key }
      for name in names.sorted() {
        if snapshot.isSynced(name) { collections.append(name) }
        try add(name, snapshot)
      }
    }
  }

  private mutating func add(_ name: String, _ snapshot: borrowing Snapshot) throws {
    guard let outline = snapshot.outline(of: name) else { return }
    var waiting: [(key: [UInt8], newer: OutboxEntry.Version, entry: OutboxEntry)] = []
    try snapshot.forEachOutboxEntry(name) { key, entry in
      let status = entry.status
      edits.append(
        Edit(
          key: RemoteKey(name, outline.text(key)), status: status, isDeletion: entry.isDeleted,
          code: entry.hold?.code ?? "", reason: entry.hold?.reason ?? ""))
      if status == .conflict, let newer = entry.newer {
        waiting.append((key, newer, entry))
      }
      return true
    }
    for (key, newer, entry) in waiting {
      func document(_ record: [UInt8]?) throws -> DynamicDocument? {
        try record.flatMap { try snapshot.document(name, key, record: $0) }
      }
      conflicts.append(
        SyncConflict(
          key: RemoteKey(name, outline.text(key)), before: try document(entry.shadow),
          here: try document(try snapshot.recordBytes(name, key)),
          there: try document(newer.record), reason: entry.mergeFailure))
    }
  }
}

extension OutboxEntry {
  /// Why the rules could not merge a document that waits for somebody.
  var mergeFailure: String? {
    guard let hold, hold.code.isEmpty, !hold.reason.isEmpty else { return nil }
    return hold.reason
  }

  /// What holds the edit up.
  var status: PendingEdit.Status {
    switch hold?.code {
    case nil: flight == nil ? .due : .sent
    case ""?: .conflict
    case _?: .rejected
    }
  }
}

extension RefusedDocument {
  init(_ note: RefusedNote) {
    self.init(
      key: RemoteKey(note.collection, note.key), document: RemoteDocument(json: note.json),
      reason: note.reason)
  }
}

extension SyncEngine {
  /// Settles a conflict without a remote: what is to be sent goes with the next sync.
  ///
  /// - Parameter rules: What ``Resolution/merged`` goes by.
  /// - Throws: ``SyncError/nothingToSettle(_:)``; `StoreError`. Nothing is changed then.
  package static func settle(
    _ name: RemoteKey, as resolution: Resolution, in store: Store, rules: MergeRules = [:]
  ) async throws {
    let edits = try PendingEdits(in: store)
    guard let account = edits.account, edits.conflicts.contains(where: { $0.key == name }) else {
      throw SyncError.nothingToSettle(name)
    }
    let isSent = edits.collections.contains(name.collection)
    // An engine that nobody asks to sync asks no remote.
    let nobody = ClosureRemote { _ in
      throw RemoteError.unavailable("there is no remote")
    } push: { _ in
      throw RemoteError.unavailable("there is no remote")
    }
    let engine = try SyncEngine(
      store, remote: nobody,
      collections: [
        SyncedCollection(
          name.collection, direction: isSent ? .both : .down, rules: rules, existing: .kept)
      ],
      scopes: [edits.scopes.first ?? "-"], account: account)
    try await engine.settle(name, as: resolution)
  }
}
