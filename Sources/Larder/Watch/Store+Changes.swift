internal import LarderLMDB

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
  /// and so is the first after it was too far behind, and the first after the store was restored.
  ///
  /// Only one iteration at a time, in all processes, consumes under a name: it holds a lease, which
  /// ends with the iteration, with its store or process, or 30 seconds after it has last asked or
  /// acknowledged, or 60 where the clock was set back meanwhile. An iteration that comes while another
  /// has the lease waits for it. One that was slower than that, and was replaced, throws
  /// ``StoreError/consumerLost(name:)``; the next one goes on.
  ///
  /// The log waits for a consumer that is behind, up to `maximumLag` changes and the limits of
  /// ``ChangeLogRetention``, and where the store has a quota until saves need the room. So a consumer
  /// that nobody uses any more costs some space at most; forget it with `removeConsumer(_:)`.
  ///
  /// - Parameters:
  ///   - collections: Names of the collections that matter; nil for all.
  ///   - origins: Where changes come from that matter; nil for all.
  ///   - maximumLag: How many changes the log keeps for the consumer at most.
  ///   - batchCount: How many changes a batch has at most.
  ///   - busyTimeout: How long the iteration waits while another one consumes under the name,
  ///     before it throws ``StoreError/consumerBusy(name:timeLeft:)``. The default is longer than
  ///     the lease of one that asks no more; nil waits without end. Cancelling the task ends the
  ///     wait, also where a writer of another process is what it waits for.
  public func changes(
    for name: String, in collections: Set<String>? = nil, origins: Set<ChangeOrigin>? = nil,
    maximumLag: Int = 100_000, batchCount: Int = 500, busyTimeout: Duration? = .seconds(35)
  ) -> WatchSequence<ChangeBatch> {
    WatchSequence { [self] () -> @Sendable () async throws -> ChangeBatch? in
      let hub = engine.watchHub
      let seat = hub.listen(in: self)
      let consumer = NamedConsumer(
        self, name, ChangeFilter(collections: collections, origins: origins),
        maximumLag: UInt64(max(1, maximumLag)), batchCount: max(1, batchCount),
        busyTimeout: busyTimeout
      ) { [weak seat] in
        seat?.signal(after: 0)
      }
      let watcher = ConsumerWatcher(consumer, at: seat) { hub.leave(seat) }
      return { try await watcher.next() }
    }
  }

  /// The changes behind a place that the app keeps, and from then on those that come. Nothing is
  /// kept for it: a place that the log no longer has begins with a reset.
  ///
  /// - Parameters:
  ///   - token: The place; without one, only what is saved after the iterator was made.
  ///   - collections: Names of the collections that matter; nil for all.
  ///   - origins: Where changes come from that matter; nil for all.
  ///   - batchCount: How many changes a batch has at most.
  public func changes(
    after token: ChangeToken?, in collections: Set<String>? = nil,
    origins: Set<ChangeOrigin>? = nil, batchCount: Int = 500
  ) -> WatchSequence<ChangeBatch> {
    WatchSequence { [self] () -> Watcher<ChangeBatch> in
      let hub = engine.watchHub
      let seat = hub.listen(in: self)
      let reader = HistoryReader(
        self, token, ChangeFilter(collections: collections, origins: origins),
        batchCount: max(1, batchCount))
      return Watcher(reader, at: seat) { hub.leave(seat) }
    }
  }

  /// Forgets a consumer and its position; the next iteration under its name begins with a reset.
  /// False where there is none.
  ///
  /// - Throws: ``StoreError``; nothing is changed then.
  @discardableResult
  public func removeConsumer(_ name: String) throws -> Bool {
    try write { try $0.removeConsumer(name) }
  }

  /// Forgets a consumer and its position, on the store's own thread; as the synchronous one.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`.
  @discardableResult
  public func removeConsumer(_ name: String) async throws -> Bool {
    try await write { try $0.removeConsumer(name) }
  }
}

extension WriteScope {
  fileprivate mutating func removeConsumer(_ name: String) throws -> Bool {
    guard let database = consumers, try transaction.consumer(name, in: database) != nil else {
      return false
    }
    var key = name
    try key.withUTF8 { _ = try transaction.delete(UnsafeRawBufferPointer($0), in: database) }
    hasWrittenMore = true
    return true
  }
}

extension WriteScope {
  /// Notes that the consumer of a batch is done with it, and with all before it.
  ///
  /// A reset is done with all that was saved before this body began, which is what the body reads until
  /// it changes something: also what was saved after the batch was made, and what other writes did that
  /// share the transaction. What the body itself changes comes as a change, as it does after any batch.
  ///
  /// A consumer that reads more in a reset than a transaction should wait for reads a snapshot first,
  /// and acknowledges what that has seen. What was saved since then comes as changes.
  ///
  /// ```swift
  /// let sequence = try store.read { snapshot in
  ///   ...
  ///   return snapshot.sequence
  /// }
  /// try await store.write { try $0.acknowledge(batch, readAt: sequence) }
  /// ```
  /// A snapshot that is read and not named is a mistake: what was saved between it and the transaction
  /// is neither in it nor among the changes that come.
  ///
  /// - Parameter sequence: The ``Snapshot/sequence`` of the snapshot that was read instead of the
  ///   changes; nil where the batch itself was used, or where this transaction read the store.
  /// - Throws: ``StoreError/consumerLost(name:)`` when another has taken over meanwhile, and
  ///   ``StoreError/consumerLost(name:)`` for a batch that no named consumer was given; let it
  ///   through, so that nothing of the transaction is kept.
  public mutating func acknowledge(_ batch: ChangeBatch, readAt sequence: UInt64? = nil) throws {
    guard let lease = batch.lease, let database = consumers,
      var record = try transaction.consumer(lease.name, in: database),
      record.holder == lease.holder, let timeline = try transaction.timeline()?.id
    else {
      let lost = StoreError.consumerLost(name: batch.lease?.name ?? "")
      failure = failure ?? lost
      throw lost
    }
    record.acknowledge(min(sequence ?? lastSequence(in: batch), sequenceAtStart), in: timeline)
    record.until = engine.leaseClock.now + ConsumerLease.seconds
    try put(record, lease.name, in: database)
  }

  private borrowing func lastSequence(in batch: ChangeBatch) -> UInt64 {
    #if LARDER_MUTANTS
      if Mutant.resetAtBatch.isOn { return batch.token.sequence }
    #endif
    return batch.isReset ? sequenceAtStart : batch.token.sequence
  }
}
