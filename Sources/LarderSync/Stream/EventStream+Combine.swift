// Untested: nothing here is compiled on Linux.
#if canImport(Combine)
  public import Combine
  internal import LarderLMDB

  extension EventStream {
    /// The stream as a publisher that never fails. Every subscriber has an iteration of its own, in
    /// which an event is asked for when the subscriber demands one. Not tested, as the project has
    /// no Apple system.
    public var publisher: some Publisher<Event<Value>, Never> { EventPublisher(stream: self) }
  }

  private struct EventPublisher<Value: Sendable>: Publisher {
    typealias Output = Event<Value>
    typealias Failure = Never

    let stream: EventStream<Value>

    func receive(subscriber: some Subscriber<Event<Value>, Never>) {
      subscriber.receive(subscription: EventSubscription(stream, subscriber))
    }
  }

  // Guard: `state`; the subscriber is called by the one task that runs.
  private final class EventSubscription<Value: Sendable>: Subscription, @unchecked Sendable {
    private struct State {
      var demand = Subscribers.Demand.none
      var task: Task<Void, Never>?
      var isOver = false
    }

    private let iterator: Locked<EventStream<Value>.AsyncIterator>
    private let receive: (Event<Value>) -> Subscribers.Demand
    private let complete: () -> Void
    private let state = Locked(State())

    init(_ stream: EventStream<Value>, _ subscriber: some Subscriber<Event<Value>, Never>) {
      iterator = Locked(stream.makeAsyncIterator())
      receive = { subscriber.receive($0) }
      complete = { subscriber.receive(completion: .finished) }
    }

    func request(_ demand: Subscribers.Demand) {
      state.withLock { state in
        state.demand += demand
        guard state.task == nil, !state.isOver, state.demand > .none else { return }
        state.task = Task { [self] in await serve() }
      }
    }

    func cancel() {
      let task = state.withLock { state in
        state.isOver = true
        defer { state.task = nil }
        return state.task
      }
      task?.cancel()
    }

    /// Runs while there is demand.
    private func serve() async {
      var iterator = iterator.withLock { $0 }
      while takeDemand() {
        guard let event = await iterator.next(isolation: nil) else {
          if !Task.isCancelled { complete() }
          return cancel()
        }
        if Task.isCancelled { return }
        let more = receive(event)
        state.withLock { $0.demand += more }
      }
    }

    private func takeDemand() -> Bool {
      state.withLock { state in
        guard !state.isOver, state.demand > .none else {
          state.task = nil
          return false
        }
        state.demand -= 1
        return true
      }
    }
  }
#endif
