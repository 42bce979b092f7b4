internal import LarderLMDB

/// Tells limiters that it is worth trying again: that the app has become active, or that there is a
/// network again.
///
/// ```swift
/// let trigger = RefreshTrigger(NetworkReachability())  // One for the app.
/// let limiter = FetchLimiter(minimumInterval: .seconds(900), trigger: trigger)
/// ...
/// .onChange(of: scenePhase) { if scenePhase == .active { trigger.fire() } }
/// ```
/// Each limiter whose last fetch has failed lets it be tried again at once, and its pauses begin anew. A
/// limiter within its interval stays quiet. Streams that wait make one request for each limiter
/// together. A limiter without an interval refreshes its open streams each time. A fetch that is under
/// way when this is said, and then fails, is tried again once.
///
/// Limiters are not kept alive. Safe to use from any thread.
public final class RefreshTrigger: Sendable {
  private struct Member {
    weak let limiter: FetchLimiter?
  }

  private let members: Locked<[ObjectIdentifier: Member]>
  private let listening: Task<Void, Never>?

  /// - Parameter reachability: Fires each time that there is a network again; nil for an app that calls
  ///   ``fire()`` by itself.
  public init(_ reachability: (any Reachability)? = nil) {
    let members = Locked<[ObjectIdentifier: Member]>([:])
    self.members = members
    // It holds the members and not this trigger, which could not be let go of otherwise.
    listening = reachability.map { reachability in
      Task { for await _ in reachability.connections() { Self.fire(members) } }
    }
  }

  deinit { listening?.cancel() }

  /// Says that it is worth trying again: when the app has become active, or knows of a network.
  public func fire() { Self.fire(members) }

  private static func fire(_ members: Locked<[ObjectIdentifier: Member]>) {
    let limiters = members.withLock { $0.values.compactMap(\.limiter) }
    for limiter in limiters { limiter.wake() }
  }

  func add(_ limiter: FetchLimiter) {
    members.withLock { $0[ObjectIdentifier(limiter)] = Member(limiter: limiter) }
  }

  func remove(_ limiter: FetchLimiter) {
    members.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(limiter)) }
  }
}
