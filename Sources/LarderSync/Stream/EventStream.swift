/// Values, failures, and how fresh the values are, in the order in which they come.
///
/// ```swift
/// for await event in contacts.stream(query, refreshedBy: updater) {
///   switch event {
///   case .value(let contacts): show(contacts)
///   case .failure(let error): complain(error)
///   case .refresh(let state): spinner.isHidden = !state.isRefreshing
///   }
/// }
/// ```
/// Every iteration is one of its own. It ends when its task is cancelled, when the loop is left or
/// the iterator released, or when the store is closed, and never because something failed.
public struct EventStream<Value: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Event<Value>
  public typealias Failure = Never

  private let makeNext: @Sendable () -> @Sendable () async -> Event<Value>?

  /// For sources that are no repository.
  ///
  /// - Parameter makeNext: Begins an iteration and returns what gives its events, one at a call,
  ///   until it gives nil. The iteration is over when that is released.
  public init(_ makeNext: @escaping @Sendable () -> @Sendable () async -> Event<Value>?) {
    self.makeNext = makeNext
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let step: @Sendable () async -> Event<Value>?

    /// Waits for the next event; nil at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> Event<Value>? {
      await step()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(step: makeNext()) }
}
