internal import Dispatch
internal import LarderLMDB

/// Reads the log from a place that is kept in the store.
// Guard: what changes is touched by one call of `next()` at a time, which its watcher sees to.
final class NamedConsumer: @unchecked Sendable {
  private let store: Store
  private let filter: ChangeFilter
  private let batchCount: Int
  private let maximumLag: UInt64
  private let lease: ConsumerLease
  private let busyTimeout: Duration?
  private let wake: @Sendable () -> Void
  /// The last change that was looked at; nil before the first look.
  private var position: UInt64?
  /// The last change of the batch that was handed over last; nil where there was none.
  private var handed: UInt64?
  /// Of the last reset, while nothing was acknowledged since: its place, and what was acknowledged before.
  private var reset: (place: UInt64, acknowledged: UInt64?)?
  private var isBegun = false
  /// When the lease was last taken or renewed here.
  private var renewed = 0.0
  /// Since when another one is waited for, and when to ask again.
  private var waiting: (start: ContinuousClock.Instant, next: ContinuousClock.Instant)?

  init(
    _ store: Store, _ name: String, _ filter: ChangeFilter, maximumLag: UInt64, batchCount: Int,
    busyTimeout: Duration?, wake: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.filter = filter
    self.maximumLag = maximumLag
    self.batchCount = batchCount
    self.busyTimeout = busyTimeout
    self.wake = wake
    lease = ConsumerLease(name: name, holder: .random(in: 1 ... .max))
  }

  deinit {
    let (store, lease) = (store, lease)
    // One whose store was closed has given it back already.
    guard store.engine.release(lease.holder), isBegun else { return }
    store.engine.writer.enqueue {
      // Nobody is left to be told where it fails. The name is free all the same, but where the kernel
      // does not say so to other processes: there it is once the lease has ended.
      try? store.engine.give(lease.holder)
    }
  }

  /// Notes whether a task waits for news, so that nobody else in this process takes the name meanwhile.
  func setWaiting(_ isWaiting: Bool) {
    store.engine.consumerHolders.setWaiting(lease.holder, to: isWaiting)
  }

  /// What is new; nil where nothing is.
  ///
  /// - Throws: ``StoreError``; `CancellationError` where the task is cancelled while this waits to write.
  func next() async throws -> ChangeBatch? {
    do {
      return try await nextHeld()
    } catch StoreError.consumerLost(let name) {
      // Whoever closes the store gives its consumers back first.
      while !Task.isCancelled, store.closing.withLockIfFree({ _ in }) == nil {
        try await Task.sleep(for: .milliseconds(1))
      }
      try store.checkOpen()
      throw StoreError.consumerLost(name: name)
    }
  }

  private func nextHeld() async throws -> ChangeBatch? {
    try store.checkOpen()
    if !isBegun {
      guard try await begin() else { return nil }
    } else if needsRenewal {
      try await hold()
    }
    let (acknowledged, batch) = try read()
    position = batch.token.sequence
    if batch.isReset || !batch.changes.isEmpty {
      handed = batch.token.sequence
      if batch.isReset { reset = (batch.token.sequence, acknowledged) }
      return batch
    }
    if let acknowledged, acknowledged >= handed ?? 0,
      batch.token.sequence > acknowledged + UInt64(batchCount)
    {
      try await pass(from: acknowledged, to: batch)
    }
    return nil
  }

  /// Reads behind the last change that was looked at or acknowledged. A reset that was acknowledged is done
  /// with more than there was when it was handed over, or with less.
  private func read() throws -> (acknowledged: UInt64?, ChangeBatch) {
    try store.engine.storing {
      try store.engine.withChangeLog { snapshot, log in
        let acknowledged = try acknowledged(in: snapshot)
        goBack(to: acknowledged)
        let start = position.map { max($0, acknowledged ?? 0) } ?? acknowledged
        return (
          acknowledged,
          try snapshot.changes(after: start, filter, limit: batchCount, log, lease: lease)
        )
      }
    }
  }

  /// Goes on from what was acknowledged for a reset, where a snapshot from before the reset was read for it:
  /// what was saved between the two is in neither.
  private func goBack(to acknowledged: UInt64?) {
    guard let reset, let acknowledged, acknowledged != reset.acknowledged else { return }
    self.reset = nil
    if acknowledged < reset.place { (position, handed) = (acknowledged, acknowledged) }
  }

  /// The last change that was acknowledged; nil where there is none.
  private func acknowledged(in snapshot: borrowing Snapshot) throws -> UInt64? {
    guard let database = store.engine.consumers,
      let record = try snapshot.transaction.consumer(lease.name, in: database),
      record.holder == lease.holder
    else { throw StoreError.consumerLost(name: lease.name) }
    return record.position(in: try snapshot.transaction.timeline()?.id)
  }

  /// Also where the clock was set back: the lease would be taken for one of another clock.
  private var needsRenewal: Bool {
    let now = store.engine.leaseClock.now
    return now > renewed + ConsumerLease.seconds / 3 || now < renewed
  }

  /// How long it takes to ask again whether a name is free: a short write each time.
  private static let pollMilliseconds = 100

  /// Takes the lease; false where another one has it, which is waited for.
  ///
  /// - Throws: ``StoreError/consumerBusy(name:timeLeft:)`` when it was waited for long enough.
  private func begin() async throws -> Bool {
    let now = ContinuousClock.now
    // Every commit wakes this; it asks no sooner for that.
    if let waiting, now < waiting.next { return false }
    if waiting == nil {
      try lease.checkName()
      try await store.engine.makeConsumers()
      store.engine.hold(lease.holder, for: store)
    }
    do {
      try await hold()
      isBegun = true
      return true
    } catch StoreError.consumerBusy(let name, let timeLeft) {
      let start = waiting?.start ?? now
      if let busyTimeout, now - start >= busyTimeout {
        throw StoreError.consumerBusy(name: name, timeLeft: timeLeft)
      }
      waiting = (start, now + .milliseconds(Self.pollMilliseconds))
      DispatchQueue.global().asyncAfter(
        deadline: .now() + .milliseconds(Self.pollMilliseconds + 1), execute: wake)
      return false
    }
  }

  /// Takes the lease, or renews it.
  ///
  /// - Throws: ``StoreError/consumerBusy(name:timeLeft:)``; ``StoreError/consumerLost(name:)``
  ///   for a renewal, when somebody else has had the lease meanwhile: what is handed over already
  ///   may have been used by them.
  private func hold() async throws {
    renewed = try await store.write { [lease, maximumLag, isBegun] tx in
      // In the transaction: a lease that was renewed while this one waited for its turn ends later
      // than one that was taken when it began to wait.
      let now = tx.engine.leaseClock.now
      guard let database = tx.consumers, tx.engine.consumerHolders.contains(lease.holder) else {
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
      var held = record ?? ConsumerRecord(maximumLag: maximumLag)
      if let seconds = tx.engine.secondsHeld(held, against: lease.holder, now: now) {
        throw StoreError.consumerBusy(name: lease.name, timeLeft: .seconds(seconds))
      }
      held.holder = lease.holder
      held.opening = tx.engine.writerID
      // As it is now: a suspension gives the lock back, and it may not be there again.
      held.isLocked = tx.engine.environment.holds(lease.holder)
      held.until = now + ConsumerLease.seconds
      held.maximumLag = maximumLag
      try tx.put(held, lease.name, in: database)
      return now
    }
  }

  /// Moves the stored position over changes that do not matter, where nothing before them waits to be
  /// acknowledged, so that the log need not keep them.
  ///
  /// - Parameter start: The position that is stored.
  private func pass(from start: UInt64, to batch: ChangeBatch) async throws {
    try await store.write { [lease] tx in
      guard let database = tx.consumers,
        var record = try tx.transaction.consumer(lease.name, in: database),
        record.holder == lease.holder, let timeline = try tx.transaction.timeline()?.id,
        record.position(in: timeline) == start
      else { return }
      record.acknowledge(batch.token.sequence, in: timeline)
      try tx.put(record, lease.name, in: database)
    }
  }
}

extension Engine {
  /// Makes the database of the consumers, where there is none, and lets other processes know.
  fileprivate func makeConsumers() async throws {
    if consumers != nil { return }
    try await inLine { [self] _ in
      // Another one may have come first.
      if consumers != nil { return }
      let database = try madeDatabase(named: Layout.consumersName)
      try perform { $0.renewCatalogue() }
      // Not before the others can hear of it.
      know(consumers: database)
    }
  }

  /// Knows an iteration for one that lives, and lets other processes see it where the kernel can.
  fileprivate func hold(_ holder: UInt64, for store: Store) {
    _ = environment.hold(holder)
    consumerHolders.insert(
      ConsumerHolders.Holder(number: holder, store: ObjectIdentifier(store)))
  }

  /// False where it was released before.
  fileprivate func release(_ holder: UInt64) -> Bool {
    guard consumerHolders.remove(holder) else { return false }
    environment.release(holder)
    return true
  }

  /// Gives back what the iterations of a store hold, which is closing.
  func endConsumers(of store: Store, timeoutSeconds: Double) {
    for holder in consumerHolders.removeAll(of: ObjectIdentifier(store)) {
      let isLocked = environment.holds(holder.number)
      environment.release(holder.number)
      // Others see by the lock that it is free. Where there is none the store has to say so; if it
      // cannot, as inside a write, the name is free once the lease has ended.
      if isLocked || writer.isInLine { continue }
      let isDone = DispatchSemaphore(value: 0)
      writer.enqueue {
        try? self.give(holder.number)
        isDone.signal()
      }
      _ = isDone.wait(timeout: .now() + timeoutSeconds)
    }
  }

  /// Gives a lease back, whatever its name. Called in the writer's line only.
  fileprivate func give(_ holder: UInt64) throws {
    try perform { tx in
      guard let database = tx.consumers else { return }
      var names: [String] = []
      var cursor = try tx.transaction.cursor(in: database)
      while try cursor.next() {
        let name = String(decoding: cursor.key, as: UTF8.self)
        if (try? ConsumerRecord(cursor.value, name: name))?.holder == holder { names.append(name) }
      }
      _ = consume cursor
      for name in names {
        guard var record = try tx.transaction.consumer(name, in: database) else { continue }
        record.holder = 0
        record.until = 0
        try tx.put(record, name, in: database)
      }
    }
  }
}
