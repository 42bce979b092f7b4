internal import LarderLMDB

/// How many rows of a watched query are wanted: a limit that can grow while the query is watched, as for
/// a list that shows more when the user scrolls to its end.
///
/// ```swift
/// let limit = GrowingLimit(50)
/// for try await change in contacts.watch(query, upTo: limit) { list.apply(change) }
/// ...
/// limit.grow(by: 50)  // The next step has the rows that were missing.
/// ```
public final class GrowingLimit: Sendable {
  private struct State {
    var count: Int
    /// Each wakes a watcher, unless it is gone.
    var watchers: [Int: @Sendable () -> Bool] = [:]
    var lastNumber = 0
  }

  private let state: Locked<State>

  /// - Parameter count: How many rows are wanted at first.
  public init(_ count: Int) { state = Locked(State(count: max(0, count))) }

  /// How many rows are wanted.
  public var count: Int { state.withLock { $0.count } }

  /// Wants more rows than before.
  ///
  /// - Returns: Whether a watcher follows. One of a repository that does not know growing limits does
  ///   not, and goes on with the limit that it has begun with.
  @discardableResult
  public func grow(by more: Int) -> Bool {
    let watchers = state.withLock { state in
      let sum = state.count.addingReportingOverflow(max(0, more))
      state.count = sum.overflow ? .max : sum.partialValue
      return state.watchers
    }
    // Not under the lock: whoever is woken may ask.
    let gone = watchers.filter { !$0.value() }
    if !gone.isEmpty {
      state.withLock { state in for number in gone.keys { state.watchers[number] = nil } }
    }
    return gone.count < watchers.count
  }

  /// - Parameter wake: Called when the limit has grown; says whether the watcher is still there.
  /// - Returns: The number to leave by.
  func follow(_ wake: @escaping @Sendable () -> Bool) -> Int {
    state.withLock { state in
      state.lastNumber += 1
      state.watchers[state.lastNumber] = wake
      return state.lastNumber
    }
  }

  /// Ends what ``follow(_:)`` has begun.
  func leave(_ number: Int) { state.withLock { _ = $0.watchers.removeValue(forKey: number) } }

  /// How many watchers follow.
  var watcherCount: Int { state.withLock { $0.watchers.count } }
}

extension GrowingLimit: Equatable {
  /// Whether both are one.
  public static func == (left: GrowingLimit, right: GrowingLimit) -> Bool { left === right }
}

/// How a query's limit grows.
struct Growth: Sendable, Equatable {
  let limit: GrowingLimit
  /// The limit that the query has itself.
  let ceiling: Int

  /// How many rows are wanted now.
  var count: Int { min(limit.count, ceiling) }
}
