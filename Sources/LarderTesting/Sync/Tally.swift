internal import LarderLMDB

/// A list that only grows, and that a test can wait for: the way to know that something happened
/// without sleeping.
final class Tally<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(number: Int, count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    var waitCount = 0
  }

  private let state = Locked(State())

  var elements: [Element] { state.withLock { $0.elements } }

  @discardableResult
  func append(_ element: Element) -> Int {
    let (count, ready) = state.withLock { state in
      state.elements.append(element)
      let count = state.elements.count
      let ready = state.waiting.filter { $0.count <= count }.map(\.continuation)
      state.waiting.removeAll { $0.count <= count }
      return (count, ready)
    }
    for continuation in ready { continuation.resume() }
    return count
  }

  /// Returns when there are `count` elements, or when the task is cancelled: a test that has reached its
  /// time limit ends, instead of waiting for ever.
  func wait(for count: Int) async {
    let number = state.withLock { state in
      state.waitCount += 1
      return state.waitCount
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          if Task.isCancelled || state.elements.count >= count { return true }
          state.waiting.append((number, count, continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }
          .map { state.waiting.remove(at: $0).continuation }
      }
      continuation?.resume()
    }
  }
}
