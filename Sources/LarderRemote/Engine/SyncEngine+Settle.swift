internal import Larder
internal import LarderImport
internal import LarderLMDB
internal import LarderSync

// Decisions of a person about edits that wait: conflicts and rejections.

extension SyncEngine {
  /// Settles a conflict that waits for somebody. What is to be sent goes with the next sync, which ``run()`` and streams
  /// begin at once.
  ///
  /// So can an edit be settled that was set aside with the code `refused`, as it meets a version that cannot be saved
  /// here: `.here` overwrites that version, and ``discard(_:)`` takes the edit back.
  ///
  /// - Throws: ``SyncError/nothingToSettle(_:)``, ``SyncError/unmergeable(_:reason:)``; `StoreError`. Nothing is
  ///   changed then.
  public func settle(_ name: RemoteKey, as resolution: Resolution) async throws {
    try settle(name, resolution)
    sendAtOnce()
  }

  /// Settles several conflicts in the same way, in few transactions. Documents without one are passed over: a sync
  /// may have settled them meanwhile.
  ///
  /// - Parameter resolution: One that can be said of all of them: `.merged`, `.here`, `.there` or `.document(nil)`.
  /// - Returns: How many were settled.
  /// - Throws: As ``settle(_:as:)`` for the first document that cannot be settled in this way; the others are settled
  ///   nevertheless. `StoreError`; the documents that come after it are as they were then.
  @discardableResult
  public func settle(all names: [RemoteKey], as resolution: Resolution) async throws -> Int {
    switch resolution {
    case .document(.some), .both:
      if names.count > 1 {
        throw SyncError.unmergeable(
          names[0],
          reason: "the resolution names one document, and \(names.count) are to be settled")
      }
    default: break
    }
    return try changeEach(names, isSent: true) { name, place, key, entry, tx in
      try merge(name, place, key, entry, resolution, &tx)
    } alone: {
      try settle($0, resolution)
    }
  }

  private func settle(_ name: RemoteKey, _ resolution: Resolution) throws {
    do {
      try change(name) { place, key, entry, tx in
        try merge(name, place, key, entry, resolution, &tx)
      }
    } catch let error where SyncTables.isRefusal(error) {
      if case .here = resolution { return try keepHere(name) }
      guard let error = error as? UnreadableChange else { throw error }
      throw SyncError.unmergeable(
        name, reason: "what the server has cannot be saved here: \(error)")
    }
  }

  private func merge(
    _ name: RemoteKey, _ place: SyncTables.Place, _ key: [UInt8], _ entry: OutboxEntry,
    _ resolution: Resolution, _ tx: inout WriteScope
  ) throws -> Bool {
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
    try change(name, retry)
    sendAtOnce()
  }

  /// Sends several rejected edits once more, as ``retry(_:)`` does for one, in few transactions. Documents without one
  /// are passed over.
  ///
  /// - Returns: How many are sent again.
  /// - Throws: `StoreError`; the edits that come after it are as they were then.
  @discardableResult
  public func retry(all names: [RemoteKey]) async throws -> Int {
    return try changeEach(names, isSent: true) { _, place, key, entry, tx in
      try retry(place, key, &entry, &tx)
    } alone: {
      try change($0, retry)
    }
  }

  private func retry(
    _ place: SyncTables.Place, _ key: [UInt8], _ entry: inout OutboxEntry, _ tx: inout WriteScope
  ) throws -> Bool {
    guard entry.hold?.code.isEmpty == false else { return false }
    entry.hold = nil
    entry.attemptCount = 0
    try tx.setOutboxEntry(place.collection.name, key, to: entry)
    return true
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
  public func discard(_ name: RemoteKey) async throws { try restoreOrForget(name) }

  /// Takes back several edits that were not sent, as ``discard(_:)`` does for one, in few transactions. Documents
  /// without one are passed over.
  ///
  /// - Returns: How many were taken back.
  /// - Throws: As ``discard(_:)`` for the first edit that cannot be taken back; the others are taken back nevertheless.
  ///   `StoreError`; the documents that come after it are as they were then.
  @discardableResult
  public func discard(all names: [RemoteKey]) async throws -> Int {
    try changeEach(names, isSent: false) { _, place, key, entry, tx in
      try restore(place, key, entry, &tx)
    } alone: {
      try restoreOrForget($0)
    }
  }

  private func restoreOrForget(_ name: RemoteKey) throws {
    do {
      try change(name) { place, key, entry, tx in try restore(place, key, entry, &tx) }
    } catch let error where SyncTables.isRefusal(error) {
      try change(name) { place, key, entry, tx in
        guard
          let version = entry.newer.map({ ($0.base, $0.record) })
            ?? entry.base.map({ ($0, entry.shadow) }),
          let base = SyncBase(version.0),
          // A later version may be noted already.
          try entry.newer == nil && tx.syncNote(RefusedNote.name(name)) != nil
            || tables.noteRefused(version.1, base, name, key, place, error, &tx)
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
  private func restore(
    _ place: SyncTables.Place, _ key: [UInt8], _ entry: OutboxEntry, _ tx: inout WriteScope
  ) throws -> Bool {
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

  /// Has ``run()`` and streams sync at once, as they do after an edit; after a failure it is waited until it is time to try
  /// again.
  private func sendAtOnce() {
    if limiter.refreshState.lastFailure == nil { limiter.wake(endingInterval: true) }
  }

  // MARK: Their transactions

  /// - Parameter body: Says whether there was something to change.
  private func change(
    _ name: RemoteKey,
    _ body: (SyncTables.Place, [UInt8], inout OutboxEntry, inout WriteScope) throws -> Bool
  ) throws {
    let hasChanged = try tables.write { tx in
      try change(name, &tx) { place, key, entry, tx in try body(place, key, &entry, &tx) }
    }
    if !hasChanged { throw SyncError.nothingToSettle(name) }
    try renewCounts()
  }

  private func change(
    _ name: RemoteKey, _ tx: inout WriteScope,
    _ body: (SyncTables.Place, [UInt8], inout OutboxEntry, inout WriteScope) throws -> Bool
  ) throws -> Bool {
    guard let outline = tx.outline(of: name.collection), let key = outline.key(name.key),
      var entry = try tx.outboxEntry(name.collection, key)
    else { return false }
    return try body(tables.place(name.collection, outline), key, &entry, &tx)
  }

  /// Documents that are changed in one transaction.
  private static let pieceCount = 256

  /// Changes several documents. What keeps one of them from being changed keeps nobody from the others.
  ///
  /// - Parameters:
  ///   - isSent: Whether something is to be sent of those that were changed.
  ///   - body: As for one document.
  ///   - change: Changes one document alone, which cannot be changed with others.
  /// - Returns: How many were changed.
  /// - Throws: What keeps the first of those from it that cannot be changed; `StoreError`.
  private func changeEach(
    _ names: [RemoteKey], isSent: Bool,
    _ body: (
      RemoteKey, SyncTables.Place, [UInt8], inout OutboxEntry, inout WriteScope
    ) throws -> Bool,
    alone change: (RemoteKey) throws -> Void
  ) throws -> Int {
    var count = 0
    var failure: (any Error)?
    func changeAll(_ names: ArraySlice<RemoteKey>) throws {
      do {
        count += try tables.write { tx in
          var count = 0
          for name in names {
            let hasChanged = try self.change(name, &tx) { place, key, entry, tx in
              try body(name, place, key, &entry, &tx)
            }
            if hasChanged { count += 1 }
          }
          return count
        }
      } catch let error where Self.isOfOneDocument(error) {
        guard names.count > 1 else { return try changeAlone(names) }
        let middle = names.startIndex + names.count / 2
        try changeAll(names[..<middle])
        try changeAll(names[middle...])
      }
    }
    func changeAlone(_ names: ArraySlice<RemoteKey>) throws {
      for name in names {
        do {
          try change(name)
          count += 1
        } catch SyncError.nothingToSettle {
          // Somebody else has settled it.
        } catch let error where Self.isOfOneDocument(error) {
          failure = failure ?? error
        }
      }
    }
    for start in stride(from: 0, to: names.count, by: Self.pieceCount) {
      try changeAll(names[start..<min(start + Self.pieceCount, names.count)])
    }
    try renewCounts()
    if isSent, count > 0 { sendAtOnce() }
    if let failure { throw failure }
    return count
  }

  private static func isOfOneDocument(_ error: any Error) -> Bool {
    if case SyncError.unmergeable = error { return true }
    return SyncTables.isRefusal(error)
  }
}
