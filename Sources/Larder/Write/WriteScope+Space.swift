internal import LarderLMDB

// Every body ends here before it is committed: what has become too old goes, and a change that makes
// the store larger than it may be is refused.

extension WriteScope {
  /// Begins to count for a body of its own.
  mutating func beginBody() {
    ageing = [:]
    hasSaved = false
    savedByteCount = 0
    hasDeleted = false
    hasReconciled = false
    sequenceAtStart = sequence
    usedAtStart = measured()
    logAtStart = usedAtStart == nil ? 0 : logged() ?? 0
  }

  /// Ends a body that has not failed.
  ///
  /// - Throws: ``StoreError/full(_:)``; the body must then be undone.
  mutating func settle() throws {
    age()
    try checkRoom()
  }

  private borrowing func logged() -> Int? { try? transaction.statistics(of: log).byteCount }

  /// Bytes in use; nil where so little is that nobody needs to know.
  private borrowing func measured() -> Int? {
    let quota = engine.spaceLimits(in: transaction).quota
    if quota >= SpaceLimits.hugeByteCount,
      engine.environment.reachedByteCount(in: transaction) < quota / 4
    {
      return nil
    }
    return engine.environment.usedByteCount(in: transaction)
  }

  /// Above the quota nothing is written that makes documents or indexes take more pages. What only deletes
  /// may take from the reserve, and so may the log where documents are replaced. The log gives way to
  /// documents, also where named consumers wait for it: they can read the documents anew.
  private mutating func checkRoom() throws {
    try checkDisk()
    guard let before = usedAtStart else { return }
    let limits = engine.spaceLimits(in: transaction)
    var used = engine.environment.usedByteCount(in: transaction)
    if used <= limits.quota { return }
    let needed = used - before
    // Pages that the log gives back above the quota are not for more documents.
    let isMore = hasSaved && used - (logged() ?? 0) > before - logAtStart
    let limit = isMore ? limits.quota : max(limits.quota, before)
    while used > limit, try giveWay(withConsumers: true) {
      used = engine.environment.usedByteCount(in: transaction)
    }
    if used <= limit { return }
    if !hasSaved, used <= max(limit, limitForDeleting(before)) { return }
    // The log keeps the old versions of documents that were replaced, until the next change. Half of the
    // reserve stays free for deleting meanwhile.
    if !isMore, used <= limits.quota + limits.reserve / 2 { return }
    throw StoreError.full(
      Shortage(
        path: engine.environment.folder, limit: .quota, usedByteCount: before,
        freeByteCount: max(0, limits.quota - before), neededByteCount: needed,
        unsentCount: try engine.outboxDatabases.map {
          try transaction.statistics(of: $0.outbox).entryCount
        }))
  }

  /// How large the store may become by what only deletes. The last quarter of the reserve stays free, so that whatever
  /// makes the store smaller goes through. Of what a deletion in a synced collection leaves in the outbox there may be
  /// more than it gives back: then half stays free, for the engine, which empties the outbox.
  ///
  /// A store that was larger than its quota when it was opened may become larger by as much: the quota was lowered.
  private borrowing func limitForDeleting(_ before: Int) -> Int {
    let limits = engine.spaceLimits(in: transaction)
    if hasReconciled { return max(limits.quota, before) + limits.reserve }
    var base = limits.quota
    if engine.space.askedQuota != nil {
      base = engine.usedAtOpening.withLock { used in
        used = used ?? before
        return max(base, used ?? base)
      }
    }
    return base + limits.reserve / 4 * (engine.outboxDatabases == nil ? 3 : 2)
  }

  /// Nothing is saved that would take the last of the disk: it is kept for deleting. On a full disk
  /// the log of changes would take what deleting gives back, and gives way.
  private mutating func checkDisk() throws {
    guard changeCount > 0 || hasSaved else { return }
    // Each document may be on a page of its own, and in another of an index. A step of an index, for example, writes
    // no documents, and is not counted.
    let written = hasSaved ? savedByteCount + Int(clamping: changeCount) * (8 << 10) : 0
    let isUnknown = hasSaved && savedByteCount == 0
    let reserve: Engine.DiskReserve =
      heldRoom != nil
      ? .behindFile
      : try engine.diskReserve(writtenByteCount: isUnknown ? nil : written, in: transaction)
    var isNowhere = false
    switch reserve {
    case .behindFile: return
    case .held(let room):
      if hasSaved { heldRoom = room }
      return
    case .inFreePages: break
    case .nowhere: isNowhere = true
    }
    if hasSaved, isNowhere {
      let reserve = engine.environment.reachableReserve(
        engine.spaceLimits(in: transaction).reserve)
      var shortage = engine.shortage(
        of: engine.environment.isAtFileLimit(within: reserve) ? .fileSize : .disk)
      shortage.logByteCount = try transaction.statistics(of: log).byteCount
      shortage.waitingConsumer = try slowestConsumer()?.name
      throw StoreError.full(shortage)
    }
    _ = try giveWay(withConsumers: isNowhere)
  }

  /// Lets go of some old changes of the log; false where there are none.
  ///
  /// - Parameter withConsumers: Whether those may go that a named consumer waits for, where there are
  ///   no others: the slowest one then begins with a reset.
  private mutating func giveWay(withConsumers: Bool) throws -> Bool {
    let slowest = try slowestConsumer()
    let acknowledged = min(state.sequence, slowest?.position ?? .max)
    if try transaction.pruneChangeLog(upTo: acknowledged, in: log) > 0 { return true }
    guard withConsumers, let slowest, slowest.position < state.sequence,
      try transaction.pruneOldestPack(upTo: state.sequence, in: log)
    else { return false }
    engine.log.tell(
      .warning, "the change log gives up a consumer for want of room",
      [
        "consumer": slowest.name, "position": "\(slowest.position)",
        "sequence": "\(state.sequence)",
      ])
    return true
  }
}

extension WriteTransaction {
  /// Deletes packs of changes whose last one is `sequence` or before it, some at a time; returns how
  /// many.
  fileprivate mutating func pruneChangeLog(
    upTo sequence: UInt64, in database: Database
  ) throws -> Int {
    var cursor = try cursor(in: database)
    var count = 0
    while count < 64, try cursor.next(), cursor.key.count == 8 {
      let first = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
      guard first <= sequence else { break }
      // What cannot be read is of no use to anybody.
      let pack = try? ChangePackReader(cursor.value, firstSequence: first)
      if let pack, pack.header.lastSequence > sequence { break }
      try cursor.delete()
      count += 1
    }
    return count
  }

  /// Deletes the oldest pack, if it begins with `sequence` or before it.
  fileprivate mutating func pruneOldestPack(
    upTo sequence: UInt64, in database: Database
  ) throws -> Bool {
    var cursor = try cursor(in: database)
    guard try cursor.first(), cursor.key.count == 8,
      UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)) <= sequence
    else { return false }
    try cursor.delete()
    return true
  }
}

extension Engine {
  /// Lets go of more of the log in the background: what a large commit has left, or a consumer that the
  /// log waited for.
  func schedulePruning() {
    writer.enqueue { [weak self] in
      // The store is closing, or full, or this gives way: whoever writes next goes on.
      try? self?.givingWay {
        try self?.perform { scope in
          scope.prunedByteCount = ChangeLogPruning.largestByteCount
          scope.hasWrittenMore = true
        }
      }
    }
  }
}
