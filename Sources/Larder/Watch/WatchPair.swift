internal import LarderLMDB

/// One iteration of two watches side by side: gives the elements of both as they come. Each is asked for
/// one element at a time, and only when somebody waits for one.
final class WatchPair<First: Sendable, Second: Sendable>: Sendable {
  enum Element: Sendable {
    case first(First)
    case second(Second)
  }

  private struct State {
    var found: [Result<Element?, any Error>] = []
    /// The tasks that wait for the next element of each; nil for one that is to be asked.
    var tasks: (first: Task<Void, Never>?, second: Task<Void, Never>?)
    var isOver = false
    /// One, unless somebody lets two tasks wait at one iterator.
    var waiting: [UnsafeContinuation<Void, Never>] = []
  }

  private let state = Locked(State())
  private let first: @Sendable () async throws -> First?
  private let second: @Sendable () async throws -> Second?

  init(
    _ first: @escaping @Sendable () async throws -> First?,
    _ second: @escaping @Sendable () async throws -> Second?
  ) {
    self.first = first
    self.second = second
  }

  deinit { Self.end(state) }

  /// The next element of either; nil when one has ended, or the task is cancelled.
  ///
  /// - Throws: What one of them throws; both are over then.
  func next() async throws -> Element? {
    try await withTaskCancellationHandler {
      while !Task.isCancelled {
        let (isOver, found) = state.withLock { state in
          (state.isOver, state.found.isEmpty ? nil : state.found.removeFirst())
        }
        if isOver { return nil }
        guard let found else {
          await wait()
          continue
        }
        do {
          if let element = try found.get() { return element }
        } catch {
          Self.end(state)
          throw error
        }
        Self.end(state)
      }
      return nil
    } onCancel: { [state] in
      Self.end(state)
    }
  }

  /// Returns when there is something to take, or nothing will be.
  private func wait() async {
    await withUnsafeContinuation { waiting in
      let isThere = state.withLock { [first, second, state = self.state] current in
        if current.isOver || !current.found.isEmpty { return true }
        current.waiting.append(waiting)
        // They hold the state and not this pair, which could not be released otherwise.
        if current.tasks.first == nil {
          current.tasks.first = Task {
            let found = await Self.ask { try await first().map { .first($0) } }
            Self.put(found, state) { $0.tasks.first = nil }
          }
        }
        if current.tasks.second == nil {
          current.tasks.second = Task {
            let found = await Self.ask { try await second().map { .second($0) } }
            Self.put(found, state) { $0.tasks.second = nil }
          }
        }
        return false
      }
      if isThere { waiting.resume() }
    }
  }

  private static func ask(
    _ body: () async throws -> Element?
  ) async -> Result<Element?, any Error> {
    do { return .success(try await body()) } catch { return .failure(error) }
  }

  private static func put(
    _ found: Result<Element?, any Error>, _ state: Locked<State>, _ clear: (inout State) -> Void
  ) {
    let waiting = state.withLock { state in
      clear(&state)
      state.found.append(found)
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Ends both, and the waiting for them.
  private static func end(_ state: Locked<State>) {
    let (tasks, waiting) = state.withLock { state in
      defer {
        state.isOver = true
        state.tasks = (nil, nil)
        state.waiting = []
        state.found = []
      }
      return (state.tasks, state.waiting)
    }
    tasks.first?.cancel()
    tasks.second?.cancel()
    for continuation in waiting { continuation.resume() }
  }
}
