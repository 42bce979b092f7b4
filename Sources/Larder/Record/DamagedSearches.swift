internal import LarderLMDB

/// The search indexes of a store that queries have found damaged, by number, until the background builds them
/// anew.
final class DamagedSearches: Sendable {
  private struct State {
    var numbers: Set<UInt32> = []
    var wake: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Of collections that belong to no store.
  static let unheard = DamagedSearches()

  var first: UInt32? { state.withLock { $0.numbers.min() } }

  /// - Parameter wake: Called when there is another one, from any thread.
  func start(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wake = wake } }

  /// Notes a damaged index.
  ///
  /// - Returns: Whether it was not known yet.
  func add(_ number: UInt32) -> Bool {
    let (isNew, wake) = state.withLock { ($0.numbers.insert(number).inserted, $0.wake) }
    if isNew { wake?() }
    return isNew
  }

  func remove(_ number: UInt32) { _ = state.withLock { $0.numbers.remove(number) } }
}
