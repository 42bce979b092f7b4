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

  /// The documents of the remote that could not be saved here. Each new engine tries them again, and so does a sync that
  /// finds the store changed, not all of them where there are many.
  ///
  /// - Throws: `StoreError`.
  public func refused() throws -> [RefusedDocument] {
    try store.read { try $0.syncNotes(withPrefix: RefusedNote.prefix) }
      .compactMap { RefusedNote(noted: $0.bytes) }
      .map(RefusedDocument.init)
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
