internal import LarderLMDB
public import LarderSync

/// A network that comes back when a test says so.
///
/// ```swift
/// let network = ManualReachability()
/// let trigger = RefreshTrigger(network)
/// await network.waitForObservers(1)
/// network.connect()
/// ```
public final class ManualReachability: Reachability {
  private let began = Tally<Void>()
  private let observers = Locked<[UInt64: AsyncStream<Void>.Continuation]>([:])
  private let count = Locked<UInt64>(0)

  /// A network that has not come back yet.
  public init() {}

  /// Observations that have not ended.
  public var observerCount: Int { observers.withLock { $0.count } }

  public func connections() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let number = count.withLock { count in
      count += 1
      return count
    }
    observers.withLock { $0[number] = continuation }
    continuation.onTermination = { [observers] _ in
      let last = observers.withLock { $0.removeValue(forKey: number) }
      withExtendedLifetime(last) {}
    }
    began.append(())
    return stream
  }

  /// There is a network again.
  public func connect() {
    for observer in observers.withLock({ Array($0.values) }) { observer.yield() }
  }

  /// Returns when so many observations were begun.
  public func waitForObservers(_ count: Int) async { await began.wait(for: count) }
}
