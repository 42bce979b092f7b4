// What may be done with events, on every sequence of them. No operator ends a sequence that goes
// on, and each asks for the next event only when it is asked itself.

extension AsyncSequence where Element: EventConvertible {
  /// The values alone, while `handler` is given the failures.
  ///
  /// ```swift
  /// for await contacts in events.flatMapError({ await presenter.showMessage("\($0)") }) {
  ///   show(contacts)
  /// }
  /// ```
  /// Values do not wait for the handler: while a message is on the screen, the list behind it goes
  /// on. The handler runs in a task of the iteration, for one failure at a time. Of the failures that
  /// come while it is busy the latest is kept for afterwards; those whose text is that of the failure
  /// in hand are dropped.
  ///
  /// The handler is cancelled when the loop is left, when its task is cancelled, and when the
  /// sequence throws. When the sequence comes to its own end, as the stream of a store that is closed
  /// does, the loop ends once the handler is done.
  ///
  /// - Parameter handler: Nil drops failures.
  public func flatMapError(
    _ handler: (@Sendable (any Error) async -> Void)? = nil
  ) -> FlatMapErrorSequence<Self> {
    FlatMapErrorSequence(base: self, handler: handler)
  }

  /// The values alone, while each failure is given to `handler` and what it returns is followed to its
  /// end, as with the user's answer of ``MessagePresenter/showMessage(_:withEvent:)``. Its elements are
  /// dropped, and so is an error that ends it: the handler is where failures stop.
  ///
  /// As `flatMapError` of a handler that returns nothing otherwise.
  public func flatMapError<Handled: AsyncSequence & SendableMetatype>(
    _ handler: @escaping @Sendable (any Error) async -> Handled
  ) -> FlatMapErrorSequence<Self>
  where Handled.AsyncIterator: SendableMetatype {
    flatMapError { error in
      do {
        for try await _ in await handler(error) {}
      } catch {
        // As said above.
      }
    }
  }

  /// The values alone; failures are dropped.
  public var values: AsyncCompactMapSequence<Self, Element.Value> {
    compactMap { $0.event.value }
  }

  /// The failures alone; values are dropped.
  public var failures: AsyncCompactMapSequence<Self, any Error> {
    compactMap { $0.event.error }
  }
}

extension AsyncSequence
where Element: EventConvertible, Element.Value: Collection, Element.Value.Element: Sendable {
  /// The first model of each result that has one, for a query that is to find one; failures stay.
  ///
  /// ```swift
  /// for await contact in events.first.flatMapError() { phone.text = contact.phone }
  /// ```
  public var first: AsyncCompactMapSequence<Self, Event<Element.Value.Element>> {
    compactMap { $0.event.compactMap(\.first) }
  }
}
