/// What makes streams wait or not between two flights, apart from time: a state machine that knows no
/// lock, task or clock.
struct FetchRest {
  /// Somebody has said that it is worth a try, and none has begun since.
  private(set) var isAwaited = false
  /// The last flight has ended in a way that calls for no other one: it was called off, was not needed where no
  /// interval says when one may be, or has failed without being retried.
  private(set) var isOver = false
  /// Somebody has said, during the flight under way, that it is worth a try: if it fails, then for what
  /// was so before.
  private(set) var isOutdated = false

  mutating func takeOff() {
    isAwaited = false
    isOver = false
    isOutdated = false
  }

  /// - Parameters:
  ///   - isRetried: Whether failures are.
  ///   - hasInterval: Whether an interval decides when the next one is due.
  ///   - isForgotten: Whether its success does not count.
  mutating func land(
    _ result: Result<UpdateStatus, any Error>, isRetried: Bool, hasInterval: Bool, isForgotten: Bool
  ) {
    defer { isOutdated = false }
    switch result {
    case .success where isForgotten: isAwaited = !hasInterval
    case .success(let status): isOver = status == .skipped && !hasInterval
    case .failure where isOutdated: isAwaited = !hasInterval
    case .failure(let error): isOver = error is CancellationError || !isRetried
    }
  }

  /// The flight under way is called off, whoever has said what before.
  mutating func cancel() { isOutdated = false }

  /// Somebody says that it is worth a try.
  mutating func wake(isFlying: Bool, hasInterval: Bool) {
    isOver = false
    if isFlying { isOutdated = true } else if !hasInterval { isAwaited = true }
  }
}
