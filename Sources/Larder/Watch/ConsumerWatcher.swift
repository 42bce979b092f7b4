internal import LarderLMDB

/// Owns one iteration of a named consumer: its seat, and the consumer, which writes to the store and so
/// waits for others. No thread waits meanwhile, and cancelling the task ends it.
final class ConsumerWatcher: Sendable {
  private struct State {
    var isFinished = false
    /// Whether a task asks the consumer, which only one may do at a time.
    var isLooking = false
    /// Whether another one wanted to meanwhile.
    var hasBeenRefused = false
  }

  private enum Turn { case taken, refused, finished }

  private let consumer: NamedConsumer
  private let seat: WatchSeat
  private let state = Locked(State())
  private let leave: @Sendable () -> Void

  /// - Parameter leave: Called when nobody can ask for batches any more.
  init(
    _ consumer: NamedConsumer, at seat: WatchSeat, leave: @escaping @Sendable () -> Void
  ) {
    self.consumer = consumer
    self.seat = seat
    self.leave = leave
  }

  deinit { leave() }

  /// The next batch; nil once the task is cancelled, or after an error.
  ///
  /// - Throws: ``StoreError``, such as ``StoreError/closed``.
  @concurrent func next() async throws -> ChangeBatch? {
    while !Task.isCancelled {
      switch begin() {
      case .finished: return nil
      case .taken:
        let batch = try await look()
        if let batch { return batch }
      case .refused: break
      }
      consumer.setWaiting(true)
      await seat.wait()
      consumer.setWaiting(false)
    }
    finish()
    return nil
  }

  private func begin() -> Turn {
    state.withLock { state in
      if state.isFinished { return .finished }
      state.hasBeenRefused = state.isLooking
      defer { state.isLooking = true }
      return state.isLooking ? .refused : .taken
    }
  }

  /// What is new; nil where nothing is, or the task was cancelled.
  private func look() async throws -> ChangeBatch? {
    defer { end() }
    do {
      // Taken before the store is looked at, so that nothing falls in between.
      guard seat.take() != nil else { throw StoreError.closed }
      return try await consumer.next()
    } catch is CancellationError where Task.isCancelled {
      return nil
    } catch let error as StoreError where error.isSuspended || error.isOutgrown {
      // It is signalled when the store is resumed.
      if error.isOutgrown { seat.signalSoon() }
      return nil
    } catch {
      finish()
      throw error
    }
  }

  private func end() {
    let hasRefused = state.withLock { state in
      state.isLooking = false
      defer { state.hasBeenRefused = false }
      return state.hasBeenRefused
    }
    if hasRefused { seat.signal(after: 0) }
  }

  private func finish() { state.withLock { $0.isFinished = true } }
}
