internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Store {
  /// The changes that the consumer `name` has not acknowledged yet, and from then on those that
  /// come. Its position is stored, and survives the process.
  ///
  /// ```swift
  /// for try await batch in store.changes(for: "search-index") {
  ///   try await store.write { tx in
  ///     ...
  ///     try tx.acknowledge(batch)
  ///   }
  /// }
  /// ```
  /// What is acknowledged in the transaction that uses it is used exactly once. A batch that is not
  /// acknowledged comes again in the next iteration. The first batch of a new consumer is a reset,
  /// and so is the first after it was too far behind.
  ///
  /// Only one iteration at a time, in all processes, consumes under a name: it holds a lease, which
  /// ends with the iteration, or 30 seconds after it has last asked or acknowledged, or 60 where the
  /// clock was set back meanwhile. An iteration that was slower than that, and was replaced, throws
  /// ``StoreError/consumerLost(name:)``; the next one goes on.
  ///
  /// - Parameters:
  ///   - collections: Names of the collections that matter; nil for all.
  ///   - origins: Where changes come from that matter; nil for all.
  ///   - maximumLag: How many changes the log keeps for the consumer at most.
  ///   - batchCount: How many changes a batch has at most.
  public func changes(
    for name: String, in collections: Set<String>? = nil, origins: Set<ChangeOrigin>? = nil,
    maximumLag: Int = 100_000, batchCount: Int = 500
  ) -> WatchSequence<ChangeBatch> {
    WatchSequence { [self] in
      listener(
        NamedConsumer(
          self, name, ChangeFilter(collections: collections, origins: origins),
          maximumLag: UInt64(max(1, maximumLag)), batchCount: max(1, batchCount)))
    }
  }

  /// The changes behind a place that the app keeps, and from then on those that come. Nothing is
  /// kept for it: a place that the log no longer has begins with a reset.
  ///
  /// - Parameters:
  ///   - token: The place; without one, only what comes from now on.
  ///   - collections: Names of the collections that matter; nil for all.
  ///   - origins: Where changes come from that matter; nil for all.
  ///   - batchCount: How many changes a batch has at most.
  public func changes(
    after token: ChangeToken?, in collections: Set<String>? = nil,
    origins: Set<ChangeOrigin>? = nil, batchCount: Int = 500
  ) -> WatchSequence<ChangeBatch> {
    WatchSequence { [self] in
      listener(
        HistoryReader(
          self, token, ChangeFilter(collections: collections, origins: origins),
          batchCount: max(1, batchCount)))
    }
  }

  /// Forgets a consumer and its position; the next iteration under its name begins with a reset.
  /// False where there is none.
  ///
  /// - Throws: ``StoreError``; nothing is changed then.
  @discardableResult
  public func removeConsumer(_ name: String) throws -> Bool {
    try write { tx in
      guard let database = tx.consumers,
        try tx.transaction.consumer(name, in: database) != nil
      else { return false }
      var key = name
      try key.withUTF8 {
        _ = try tx.transaction.delete(UnsafeRawBufferPointer($0), in: database)
      }
      tx.hasWrittenMore = true
      return true
    }
  }

  private func listener(_ work: sending any WatchWork<ChangeBatch>) -> Watcher<ChangeBatch> {
    let hub = engine.watchHub
    let seat = hub.listen(in: self)
    return Watcher(work, at: seat) { hub.leave(seat) }
  }
}

extension WriteScope {
  /// Notes that the consumer of a batch is done with it, and with all before it.
  ///
  /// - Throws: ``StoreError/consumerLost(name:)`` when another has taken over meanwhile, and
  ///   ``StoreError/consumerLost(name:)`` for a batch that no named consumer was given; let it
  ///   through, so that nothing of the transaction is kept.
  public mutating func acknowledge(_ batch: ChangeBatch) throws {
    guard let lease = batch.lease, let database = consumers,
      var record = try transaction.consumer(lease.name, in: database),
      record.holder == lease.holder
    else {
      let lost = StoreError.consumerLost(name: batch.lease?.name ?? "")
      failure = failure ?? lost
      throw lost
    }
    if record.position == ConsumerRecord.unset || record.position < batch.token.sequence {
      record.position = batch.token.sequence
    }
    record.until = engine.leaseClock.now + ConsumerLease.seconds
    try put(record, lease.name, in: database)
  }
}

/// Reads the log from a place that somebody else keeps.
private struct HistoryReader: WatchWork {
  private let store: Store
  private let filter: ChangeFilter
  private let batchCount: Int
  private let token: ChangeToken?
  private var position: UInt64?

  init(_ store: Store, _ token: ChangeToken?, _ filter: ChangeFilter, batchCount: Int) {
    self.store = store
    self.token = token
    self.filter = filter
    self.batchCount = batchCount
  }

  mutating func next(skippingTo skipped: UInt64) throws -> ChangeBatch? {
    try store.checkOpen()
    return try store.engine.storing {
      try store.engine.withChangeLog { snapshot, log in
        var start = position
        if start == nil {
          start = snapshot.sequence
          if let token { start = token.storeID == snapshot.state.storeID ? token.sequence : nil }
        }
        let batch = try snapshot.changes(after: start, filter, limit: batchCount, log)
        position = batch.token.sequence
        return batch.isReset || !batch.changes.isEmpty ? batch : nil
      }
    }
  }
}

/// Reads the log from a place that is kept in the store.
private final class NamedConsumer: WatchWork {
  private let store: Store
  private let filter: ChangeFilter
  private let batchCount: Int
  private let maximumLag: UInt64
  private let lease: ConsumerLease
  var mayBlock: Bool { true }
  /// The last change that was handed over; nil before the first look.
  private var position: UInt64?
  private var isBegun = false
  /// When the lease was last taken or renewed here.
  private var renewed = 0.0

  init(
    _ store: Store, _ name: String, _ filter: ChangeFilter, maximumLag: UInt64, batchCount: Int
  ) {
    self.store = store
    self.filter = filter
    self.maximumLag = maximumLag
    self.batchCount = batchCount
    lease = ConsumerLease(name: name, holder: .random(in: 1 ... .max))
  }

  deinit {
    guard isBegun else { return }
    let (store, lease) = (store, lease)
    store.engine.abandonedHolders.withLock { _ = $0.insert(lease.holder) }
    store.engine.writer.enqueue {
      // Nobody is left to be told where it fails. Here the name is free all the same; in other
      // processes once the lease has ended.
      guard (try? store.engine.give(lease)) != nil else { return }
      store.engine.abandonedHolders.withLock { _ = $0.remove(lease.holder) }
    }
  }

  func next(skippingTo skipped: UInt64) throws -> ChangeBatch? {
    try store.checkOpen()
    return try store.engine.storing {
      if !isBegun {
        try lease.checkName()
        try store.engine.makeConsumers()
        position = try hold()
        isBegun = true
      } else if needsRenewal {
        _ = try hold()
      }
      let start = position
      let batch = try store.engine.withChangeLog { snapshot, log in
        try snapshot.changes(after: start, filter, limit: batchCount, log, lease: lease)
      }
      position = batch.token.sequence
      if batch.isReset || !batch.changes.isEmpty { return batch }
      if let start, batch.token.sequence > start + UInt64(batchCount) {
        try pass(from: start, to: batch)
      }
      return nil
    }
  }

  /// Also where the clock was set back: the lease would be taken for one of another clock.
  private var needsRenewal: Bool {
    let now = store.engine.leaseClock.now
    return now > renewed + ConsumerLease.seconds / 3 || now < renewed
  }

  /// Takes the lease, or renews it.
  ///
  /// - Returns: The last change that was acknowledged; nil where none was.
  /// - Throws: ``StoreError/consumerBusy(name:secondsLeft:)``; ``StoreError/consumerLost(name:)``
  ///   for a renewal, when somebody else has had the lease meanwhile: what is handed over already
  ///   may have been used by them.
  private func hold() throws -> UInt64? {
    let (position, replaced, now) = try store.write {
      [lease, maximumLag, isBegun] tx -> (UInt64, UInt64, Double) in
      // In the transaction: a lease that was renewed while this one waited for its turn ends later
      // than one that was taken when it began to wait.
      let now = tx.engine.leaseClock.now
      guard let database = tx.consumers else {
        throw StoreError.consumerLost(name: lease.name)
      }
      var record: ConsumerRecord?
      do {
        record = try tx.transaction.consumer(lease.name, in: database)
      } catch StoreError.damagedConsumer {
        // It begins anew.
      }
      if isBegun, record?.holder != lease.holder {
        throw StoreError.consumerLost(name: lease.name)
      }
      var held = record ?? ConsumerRecord(position: ConsumerRecord.unset, maximumLag: maximumLag)
      if held.isHeld(against: lease.holder, now: now),
        !tx.engine.abandonedHolders.withLock({ $0.contains(held.holder) })
      {
        throw StoreError.consumerBusy(name: lease.name, secondsLeft: held.until - now)
      }
      let replaced = held.holder
      held.holder = lease.holder
      held.until = now + ConsumerLease.seconds
      held.maximumLag = maximumLag
      try tx.put(held, lease.name, in: database)
      return (held.position, replaced, now)
    }
    store.engine.abandonedHolders.withLock { _ = $0.remove(replaced) }
    renewed = now
    return position == ConsumerRecord.unset ? nil : position
  }

  /// Moves the stored position over changes that do not matter, if nothing before them waits to be
  /// acknowledged, so that the log need not keep them.
  private func pass(from start: UInt64, to batch: ChangeBatch) throws {
    try store.write { [lease] tx in
      guard let database = tx.consumers,
        var record = try tx.transaction.consumer(lease.name, in: database),
        record.holder == lease.holder, record.position == start
      else { return }
      record.position = batch.token.sequence
      try tx.put(record, lease.name, in: database)
    }
  }
}

extension Engine {
  /// Makes the database of the consumers, where there is none, and lets other processes know.
  fileprivate func makeConsumers() throws {
    if consumers != nil { return }
    try writer.run {
      let database = try madeDatabase(named: Layout.consumersName)
      try perform { $0.renewCatalogue() }
      // Not before the others can hear of it.
      know(consumers: database)
    }
  }

  /// Gives a lease back. Called in the writer's line only.
  fileprivate func give(_ lease: ConsumerLease) throws {
    try perform { tx in
      guard let database = tx.consumers,
        var record = try tx.transaction.consumer(lease.name, in: database),
        record.holder == lease.holder
      else { return }
      record.holder = 0
      record.until = 0
      try tx.put(record, lease.name, in: database)
    }
  }
}
