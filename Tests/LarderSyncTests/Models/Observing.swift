import Observation

/// Waits until `condition` holds, or the test's time is over, by being told of what it reads: as a view is.
@MainActor
func observe(until condition: @MainActor () -> Bool) async {
  while !Task.isCancelled {
    let (changes, change) = AsyncStream<Void>.makeStream()
    let isTrue = withObservationTracking {
      condition()
    } onChange: {
      change.yield()
    }
    if isTrue { return }
    // It is told just before the change, which is made on the main actor: that is free after it.
    for await _ in changes { break }
  }
}
