internal import LarderLMDB

/// An ``EventQueue`` behind a lock: locks, asks, unlocks, then acts.
final class Mailbox<Value: Sendable>: Sendable {
  private let queue = Locked(EventQueue<Value>())

  /// The next event; nil at the end.
  func next() async -> Event<Value>? {
    await withUnsafeContinuation { consumer in
      act(queue.withLock { $0.ask(consumer) })
    }
  }

  /// Returns when a consumer waits for a value; false once nobody will.
  func isValueWanted() async -> Bool {
    await withUnsafeContinuation { source in
      act(queue.withLock { $0.offer(source) })
    }
  }

  func put(_ event: Event<Value>, from source: EventQueue<Value>.Source = .watch) {
    act(queue.withLock { $0.put(event, from: source) })
  }

  func finish() { act(queue.withLock { $0.finish() }) }

  func abandon() { act(queue.withLock { $0.abandon() }) }

  private func act(_ action: EventQueue<Value>.Action) {
    switch action {
    case .none: break
    case .give(let event, let consumer): consumer.resume(returning: event)
    case .giveAndTell(let event, let consumer, let source):
      consumer.resume(returning: event)
      source.resume(returning: true)
    case .tell(let isWanted, let source): source.resume(returning: isWanted)
    case .giveEnd(let consumers, let source):
      for consumer in consumers { consumer.resume(returning: nil) }
      source?.resume(returning: false)
    }
  }
}
