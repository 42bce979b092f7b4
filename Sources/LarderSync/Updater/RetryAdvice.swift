/// An error that knows whether trying again is of use: what a ``FetchLimiter`` with a ``Backoff`` asks the
/// errors of its fetches.
///
/// ```swift
/// extension ServerError: RetryAdvising {
///   var retryAdvice: RetryAdvice {
///     RetryAdvice(httpStatus: statusCode, retryAfter: retryAfterHeader)
///   }
/// }
/// ```
/// After errors of other types the limiter tries again as its backoff says.
public protocol RetryAdvising: Error {
  var retryAdvice: RetryAdvice { get }
}

/// When a failed request is made again without anybody asking for it. ``SyncTiming/afterNow`` and
/// ``SyncTiming/afterChange`` always make a request at once.
public enum RetryAdvice: Sendable, Hashable {
  /// As the limiter's ``Backoff`` says.
  case backoff
  /// Not before so long, nor before the backoff says so: the remote has asked for this, as with HTTP's
  /// `Retry-After`. A ``RefreshTrigger`` does not end the wait, because the remote would still refuse.
  /// The limiter waits for a day at most.
  case after(Duration)
  /// Not until something changes, such as the user's account: not before a ``RefreshTrigger`` fires, or
  /// a day has passed.
  case whenTriggered
}
