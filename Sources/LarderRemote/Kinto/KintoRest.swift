/// How often, and for how long, a call waits where Kinto asks for it. So it does wherever PostgreSQL could not bring a
/// transaction into an order with another one.
struct KintoPatience {
  private static let longestWait = Duration.seconds(5)
  private var waitsLeft = 2

  /// Waits for as long as an error says, before the same is asked again.
  ///
  /// - Throws: The error, where it says nothing of the kind or has come too often; `CancellationError`.
  mutating func wait(after error: any Error) async throws {
    guard case RemoteError.unavailable(_, let pause?) = error, pause <= Self.longestWait,
      waitsLeft > 0
    else { throw error }
    waitsLeft -= 1
    // By lot, so that those who met do not meet again.
    try await Task.sleep(for: pause + .milliseconds(Int.random(in: 0...1000)))
  }
}

/// When a server that is busy wants to be left alone, as its `Backoff` field says.
struct KintoRest {
  /// A sync that has begun is brought to its end, if it does not take longer: what is begun anew each time would never
  /// be finished.
  static let grace = Duration.seconds(10)

  private var begin: ContinuousClock.Instant?
  private var end: ContinuousClock.Instant?

  /// Notes that the server has asked for a pause, unless one is coming already.
  mutating func begin(_ pause: Duration, at now: ContinuousClock.Instant) {
    if let end, now < end { return }
    begin = now + Self.grace
    end = now + Self.grace + pause
  }

  /// How long no request may be sent; nil if one may be.
  func remaining(at now: ContinuousClock.Instant) -> Duration? {
    guard let begin, let end, now >= begin, now < end else { return nil }
    return end - now
  }
}
