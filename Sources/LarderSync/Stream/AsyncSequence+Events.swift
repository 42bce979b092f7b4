// What may be done with events, on every sequence of them. No operator ends a sequence that goes
// on, and each asks for the next event only when it is asked itself.

extension AsyncSequence where Element: EventConvertible {
  /// The values alone, after `handler` was given each failure.
  ///
  /// ```swift
  /// for await contacts in events.flatMapError({ await presenter.showMessage("\($0)") }) {
  ///   show(contacts)
  /// }
  /// ```
  /// The sequence waits for the handler; what changes meanwhile comes afterwards, in two values at
  /// most. A handler that is to hold up nothing begins a task of its own.
  ///
  /// - Parameter handler: Nil drops failures.
  public func flatMapError(
    _ handler: (@Sendable (any Error) async -> Void)? = nil
  ) -> AsyncCompactMapSequence<Self, Element.Value> {
    compactMap { element in
      switch element.event {
      case .value(let value): return value
      case .failure(let error):
        await handler?(error)
        return nil
      }
    }
  }

  /// The values alone, after what `handler` makes of each failure has come to its end, as
  /// ``MessagePresenter/showMessage(_:withEvent:)`` does with the user's answer. Its elements are
  /// dropped, and so is an error that ends it: the handler is where failures stop.
  public func flatMapError<Handled: AsyncSequence & SendableMetatype>(
    _ handler: @escaping @Sendable (any Error) async -> Handled
  ) -> AsyncCompactMapSequence<Self, Element.Value>
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
