import Testing

@testable import Bookshop

/// What a remote-control router has told, and a way to wait for what it is going to tell.
@MainActor final class EventLog {
  private(set) var all: [RemoteEvent] = []
  private struct Waiter {
    let number: Int
    let condition: @MainActor (RemoteEvent) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private var waiters: [Waiter] = []
  private var waiterCount = 0

  func note(_ event: RemoteEvent) {
    all.append(event)
    end(with: true) { $0.condition(event) }
  }

  private func end(with answer: Bool, _ condition: (Waiter) -> Bool) {
    let ready = waiters.filter(condition)
    waiters.removeAll { waiter in ready.contains { $0.number == waiter.number } }
    for waiter in ready { waiter.continuation.resume(returning: answer) }
  }

  /// Returns when there is, or was, such an event; what does not come at all fails the test.
  func wait(
    sourceLocation: SourceLocation = #_sourceLocation,
    for condition: @escaping @MainActor (RemoteEvent) -> Bool
  ) async {
    if all.contains(where: condition) { return }
    waiterCount += 1
    let number = waiterCount
    let watchdog = Task {
      try await Task.sleep(for: .seconds(1000))
      end(with: false) { $0.number == number }
    }
    let isThere = await withCheckedContinuation {
      waiters.append(Waiter(number: number, condition: condition, continuation: $0))
    }
    watchdog.cancel()
    if !isThere {
      let last = all.last.map { "\($0)".prefix(500) } ?? "nothing"
      Issue.record("it did not come; last was \(last)", sourceLocation: sourceLocation)
    }
  }
}
