/// A context service: made for one screen, and told by the router what the reader does there.
@MainActor protocol ViewModel: AnyObject {
  /// Told when something that a screen shows has changed.
  var onChange: () -> Void { get set }
  /// Ends it with nothing done: the reader goes back, or the router has no place for it. Does
  /// nothing where there is no way back.
  func close()
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
