internal import Observation

/// Returns when a condition holds that reads observed state, such as a `QueryModel` or an object of your own
/// that is `@Observable`. It is told of changes as a view is, and neither sleeps nor asks again and again.
///
/// ```swift
/// let model = QueryModel(contacts, Contact.all.sorted(by: \.name))
/// model.start()
/// await waitUntil { model.isLoaded }
/// #expect(model.rows.count == 3)
/// ```
/// It also returns when the task is cancelled, so that a test ends at its time limit.
///
/// - Parameter condition: Asked at once, and after each change of what it has read.
@MainActor
public func waitUntil(_ condition: @MainActor () -> Bool) async {
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
