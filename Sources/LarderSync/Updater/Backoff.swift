/// How long to wait before a failed refresh is tried again: longer after each further failure, and at
/// random, so that devices which lost the same server do not all come back at the same moment.
///
/// After the n-th failure in a row the pause is drawn evenly from zero to `first * 2^(n - 1)`, at most
/// `longest`. This is "full jitter" as described by Marc Brooker in
/// [Exponential Backoff And Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/)
/// (AWS Architecture Blog, 2015).
public struct Backoff: Sendable {
  /// The longest pause after the first failure.
  public var first: Duration
  /// No pause is longer.
  public var longest: Duration
  private let random: @Sendable () -> Double

  /// - Parameters:
  ///   - first: The longest pause after the first failure; it doubles with each further one. Above zero.
  ///   - longest: Where the doubling ends. At least `first`.
  ///   - random: A number from 0 to 1 for each pause, evenly distributed; tests give their own.
  public init(
    first: Duration = .seconds(1), longest: Duration = .seconds(300),
    random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
  ) {
    precondition(first > .zero, "the first pause of a backoff is above zero")
    precondition(longest >= first, "the longest pause of a backoff is no shorter than the first")
    self.first = first
    self.longest = longest
    self.random = random
  }

  /// Draws a pause.
  ///
  /// - Parameter failureCount: Failures in a row, this one among them.
  public func pause(after failureCount: Int) -> Duration {
    var limit = first
    for _ in 1..<max(failureCount, 1) where limit < longest {
      // Doubling what is more than half of it might not fit.
      limit = limit > longest / 2 ? longest : limit * 2
    }
    return limit * min(max(random(), 0), 1)
  }
}
