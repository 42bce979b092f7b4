internal import LarderLMDB

/// A list that only grows, and that a test can wait for: the way to know that something happened
/// without sleeping.
final class Tally<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
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

  /// Returns when there are `count` elements.
  func wait(for count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.elements.count >= count { return true }
        state.waiting.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}
