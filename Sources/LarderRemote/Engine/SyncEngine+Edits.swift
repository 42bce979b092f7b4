internal import Larder
internal import LarderImport
internal import LarderLMDB

// What was not sent, and what somebody is to decide.

extension SyncEngine {
  /// The documents with edits that were not sent, by collection and key.
  ///
  /// - Throws: `StoreError`.
  public func pending() throws -> [PendingEdit] {
    try entries { name, entry, _ in
      PendingEdit(key: name, status: entry.status, isDeletion: entry.isDeleted)
    }
  }

  /// ``pending()``, at once and whenever it has changed, be it by an edit or by an answer of the remote. Whoever
  /// is slow gets the latest.
  ///
  /// Each step costs what the outbox costs; ``SyncState/pendingCount`` costs nothing. It ends with the engine,
  /// and with an error when the store is closed.
  public var pendingUpdates: AsyncThrowingStream<[PendingEdit], any Error> {
    let (stream, continuation) = AsyncThrowingStream<[PendingEdit], any Error>.makeStream(
      bufferingPolicy: .bufferingNewest(1))
    let told = Locked<[PendingEdit]?>(nil)
    // Of the two that call it the later one has read the newer state.
    let tell: @Sendable () throws -> Void = { [weak self] in
      guard let self else { return }
      try told.withLock { told in
        let edits: [PendingEdit]
        do {
          edits = try pending()
        } catch StoreError.suspended {
          return  // Syncs fail meanwhile, and the first one behind it says so again.
        }
        if edits != told { continuation.yield(edits) }
        told = edits
      }
    }
    // The place is taken now, so that no edit is missed that is made before the task first looks.
    let (states, start) = (states, try? store.changeToken())
    let changes = store.changes(after: start, in: Set(tables.collections.keys))
    let task = Task {
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { for await _ in states { try tell() } }
          group.addTask { for try await _ in changes { try tell() } }
          try await group.next()
          group.cancelAll()
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error is CancellationError ? nil : error)
      }
    }
    continuation.onTermination = { _ in task.cancel() }
    return stream
  }

  /// The documents whose conflict waits for somebody.
  ///
  /// - Throws: `StoreError`.
  public func conflicts() throws -> [SyncConflict] {
    try entries { name, entry, here in
      guard entry.isConflict, let newer = entry.newer else { return nil }
      return try here { document, read in
        SyncConflict(
          key: name, before: try entry.shadow.flatMap(read), here: document,
          there: try newer.record.flatMap(read), reason: entry.mergeFailure)
      }
    }
  }

  /// The edits that were rejected and set aside.
  ///
  /// - Throws: `StoreError`.
  public func rejected() throws -> [RejectedEdit] {
    try entries { name, entry, here in
      guard let hold = entry.hold, !hold.code.isEmpty else { return nil }
      return try here { document, _ in
        RejectedEdit(key: name, document: document, code: hold.code, reason: hold.reason)
      }
    }
  }

  /// The documents of the remote that could not be saved here. They are tried again by each new engine, and
  /// when they change on the remote.
  ///
  /// - Throws: `StoreError`.
  public func refused() throws -> [RefusedDocument] {
    try store.read { try $0.syncNotes(withPrefix: RefusedNote.prefix) }
      .compactMap { RefusedNote(noted: $0.bytes) }
      .map(RefusedDocument.init)
  }

  /// Settles a conflict that waits for somebody; what is to be sent goes with the next sync.
  ///
  /// So can an edit be settled that was set aside with the code `refused`, as it meets a version that cannot be saved
  /// here: `.here` overwrites that version, and ``discard(_:)`` takes the edit back.
  ///
  /// - Throws: ``SyncError/nothingToSettle(_:)``, ``SyncError/unmergeable(_:reason:)``; `StoreError`. Nothing is
  ///   changed then.
  public func settle(_ name: RemoteKey, as resolution: Resolution) async throws {
    do {
      try merge(name, resolution)
    } catch let error where SyncTables.isRefusal(error) {
      if case .here = resolution { return try keepHere(name) }
      guard let error = error as? UnreadableChange else { throw error }
      throw SyncError.unmergeable(
        name, reason: "what the server has cannot be saved here: \(error)")
    }
  }

  private func merge(_ name: RemoteKey, _ resolution: Resolution) throws {
    try change(name) { place, key, entry, tx in
      if entry.hold?.code == SyncTables.refused {
        return try overwrite(name, place, key, entry, resolution, &tx)
      }
      guard entry.isConflict, let newer = entry.newer, let base = SyncBase(newer.base) else {
        return false
      }
      let document = try newer.record.flatMap { try place.document(kept: $0, key, tx) }
      var reconciling = Reconciling(place: place, key: key, entry: entry)
      try reconciling.settle(Incoming(base: base, document: document), as: resolution, &tx)
      return true
    }
  }

  /// Has an edit sent over the version that it is in conflict with, whatever that is.
  private func keepHere(_ name: RemoteKey) throws {
    try change(name) { place, key, entry, tx in
      guard entry.isConflict, let newer = entry.newer else { return false }
      entry.base = newer.base
      entry.shadow = nil
      (entry.flight, entry.newer, entry.hold) = (nil, nil, nil)
      try tx.setOutboxEntry(place.collection.name, key, to: entry)
      return true
    }
  }

  /// Has an edit sent over a version of the remote that cannot be saved here.
  private func overwrite(
    _ name: RemoteKey, _ place: SyncTables.Place, _ key: [UInt8], _ waiting: OutboxEntry,
    _ resolution: Resolution, _ tx: inout WriteScope
  ) throws -> Bool {
    guard let refused = RefusedNote(noted: try tx.syncNote(RefusedNote.name(name))) else {
      return false
    }
    guard case .here = resolution else {
      throw SyncError.unmergeable(name, reason: "what the server has cannot be saved here")
    }
    var entry = waiting
    let base = SyncBase(
      scope: refused.scope, loading: SyncBase.unseen, revision: refused.revision)
    entry.base = base.bytes
    entry.shadow = nil
    (entry.flight, entry.newer, entry.hold) = (nil, nil, nil)
    try tx.setOutboxEntry(place.collection.name, key, to: entry)
    return true
  }

  /// Sends a rejected edit once more, as it is. One that was set aside because its document has left the scope takes it
  /// back there.
  ///
  /// - Throws: ``SyncError/nothingToSettle(_:)``; `StoreError`. Nothing is changed then.
  public func retry(_ name: RemoteKey) async throws {
    try change(name) { place, key, entry, tx in
      guard entry.hold?.code.isEmpty == false else { return false }
      entry.hold = nil
      entry.attemptCount = 0
      try tx.setOutboxEntry(place.collection.name, key, to: entry)
      return true
    }
  }

  /// Takes back an edit that was not sent: the document is again what the remote had when it was edited.
  /// Nothing else brings that edit back.
  ///
  /// An edit that was sent and not answered can be taken back, too. If the remote has taken it all the same, it
  /// comes back with the next pull, as the edit of somebody else would. If what the remote had cannot be saved here, as a
  /// migration has changed the kind of a field since, the document stays as it is, and that version is one of
  /// those that ``refused()`` lists. If what the remote had was not kept beside the edit, as where space was short, the
  /// next sync reads the scope from its beginning and brings it; the document stays as it is until then.
  ///
  /// - Throws: ``SyncError/nothingToSettle(_:)``; `StoreError`. Nothing is changed then.
  public func discard(_ name: RemoteKey) async throws {
    do {
      try restore(name)
    } catch let error where SyncTables.isRefusal(error) {
      try change(name) { place, key, entry, tx in
        guard
          let version = entry.newer.map({ ($0.base, $0.record) })
            ?? entry.base.map({ ($0, entry.shadow) }),
          let base = SyncBase(version.0),
          try tables.noteRefused(version.1, base, name, key, place, error, &tx)
        else { throw error }
        // Else it would count as the version that stands here, and be passed over when it comes.
        var unknown = base
        unknown.revision = SyncTables.noRevision
        try tx.setSyncBase(place.collection.name, key, to: unknown)
        try tx.setOutboxEntry(place.collection.name, key, to: nil)
        return true
      }
    }
  }

  /// Has the document be what the remote had, and forgets the edit.
  private func restore(_ name: RemoteKey) throws {
    try change(name) { place, key, entry, tx in
      guard let value = place.outline.value(key) else { return false }
      let collection = place.collection
      let isGone =
        try entry.newer == nil && entry.base != nil
        && SyncBase(tx.base(collection.name, key))?.hasLeft ?? true
      let version = entry.newer.map { ($0.base, $0.record) } ?? ([], isGone ? nil : entry.shadow)
      if let record = version.1,
        let document = try place.document(kept: record, key, tx)
      {
        try tx.save([document], in: collection, keyField: place.keyField)
      } else if entry.base == nil || entry.newer != nil || isGone {
        try tx.delete(key: value, in: collection)
      } else {
        // Nobody knows what it was, as where an edit was too large to keep the version before it. The remote is asked
        // for its whole scope, and whatever it has there is news.
        guard var base = SyncBase(try tx.base(collection.name, key)) ?? SyncBase(entry.base) else {
          return false
        }
        base.revision = SyncTables.noRevision
        try tx.setSyncBase(collection.name, key, to: base)
        try tables.restart(base.scope, &tx)
      }
      if let newer = entry.newer {
        let base = newer.record == nil ? nil : SyncBase(newer.base)
        try tx.setSyncBase(collection.name, key, to: base)
      } else if isGone {
        try tx.setSyncBase(collection.name, key, to: nil)
      }
      try tx.setOutboxEntry(collection.name, key, to: nil)
      return true
    }
  }

  /// - Parameter body: Says whether there was something to change.
  private func change(
    _ name: RemoteKey,
    _ body: (SyncTables.Place, [UInt8], inout OutboxEntry, inout WriteScope) throws -> Bool
  ) throws {
    try tables.write { tx in
      guard let outline = tx.outline(of: name.collection), let key = outline.key(name.key),
        var entry = try tx.outboxEntry(name.collection, key),
        try body(tables.place(name.collection, outline), key, &entry, &tx)
      else { throw SyncError.nothingToSettle(name) }
    }
    try renewCounts()
  }

  private typealias Here<Item> = (
    (DynamicDocument?, ([UInt8]) throws -> DynamicDocument?) throws -> Item
  ) throws -> Item

  private func entries<Item>(
    _ body: (RemoteKey, OutboxEntry, Here<Item>) throws -> Item?
  ) throws -> [Item] {
    try store.read { snapshot in
      var items: [Item] = []
      for name in tables.collections.keys.sorted() {
        guard let outline = snapshot.outline(of: name) else { continue }
        var found: [(key: [UInt8], entry: OutboxEntry)] = []
        try snapshot.forEachOutboxEntry(name) { key, entry in
          found.append((key, entry))
          return true
        }
        for (key, entry) in found {
          let item = try body(RemoteKey(name, outline.text(key)), entry) { make in
            let document = try snapshot.recordBytes(name, key).flatMap {
              try snapshot.document(name, key, record: $0)
            }
            return try make(document) { record in
              let kept = try snapshot.document(name, key, record: record)
              return kept.map {
                // To be looked at: better in its old form than not at all.
                (try? tables.collections[name]?.upgraded($0, RemoteKey(name, outline.text(key))))
                  ?? $0
              }
            }
          }
          if let item { items.append(item) }
        }
      }
      return items
    }
  }
}
