internal import LarderSync

/// A context service: made for one screen, and told by the router what the reader does there.
///
/// Each screen has an interface that refines this one, which routers see, and an implementation,
/// which its operation makes.
@MainActor protocol ViewModel: AnyObject {
  /// Told when something that a screen shows has changed.
  var onChange: () -> Void { get set }
  /// Ends it with nothing done: the reader goes back, or the router has no place for it. Does
  /// nothing where there is no way back.
  func close()
}

/// Follows a stream until it is let go of: values, failures and how fresh the values are go to a
/// function each. While a failure is being told of, values go on.
@MainActor final class Follower {
  private let task: Task<Void, Never>

  init<Value>(
    _ events: EventStream<Value>, onFailure: @escaping @MainActor @Sendable (any Error) -> Void,
    onRefresh: @escaping @MainActor @Sendable (RefreshState) -> Void = { _ in },
    onValue: @escaping @MainActor (Value) -> Void
  ) {
    task = Task {
      let heard = events.map { event in
        if let state = event.refresh { await onRefresh(state) }
        return event
      }
      for await value in heard.flatMapError({ await onFailure($0) }) {
        // Somebody else has taken its place meanwhile.
        if Task.isCancelled { return }
        onValue(value)
      }
    }
  }

  deinit { task.cancel() }
}

/// The one answer of something that is waited for. Later ones are not heard.
@MainActor final class Outcome<Value: Sendable> {
  private var answer: Value?
  private var waiting: CheckedContinuation<Value, Never>?

  var isSettled: Bool { answer != nil }

  func settle(_ value: Value) {
    guard answer == nil else { return }
    answer = value
    waiting?.resume(returning: value)
    waiting = nil
  }

  /// Waits for the answer; for one operation.
  var value: Value {
    get async {
      if let answer { return answer }
      return await withCheckedContinuation { continuation in
        precondition(waiting == nil, "two operations wait for one outcome")
        waiting = continuation
      }
    }
  }
}
