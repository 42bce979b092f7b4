/// What a watched query, document or count is, and then each time what it has become.
///
/// Every iteration is a watcher of its own and begins with what is stored. Elements are made when
/// they are asked for: a consumer that is slow, or does not ask for a while, gets one step that
/// has everything in it, and costs no memory meanwhile. Reading and comparing is done on the
/// concurrent pool, never on the caller's actor.
///
/// A watcher keeps its store from being released, and ends with its iteration: by leaving the loop,
/// by cancelling its task, or by releasing the
/// iterator. Closing the store ends it with ``StoreError/closed``. An error ends it for good.
public struct WatchSequence<Element: Sendable>: AsyncSequence, Sendable {
  private let makeNext: @Sendable () -> @Sendable () async throws -> Element?
  /// Begins an iteration that can be looked at without waiting; nil where ``makeNext`` is all there is.
  let makeWatcher: (@Sendable () -> Watcher<Element>)?

  /// For repositories that are no part of Larder.
  ///
  /// - Parameter makeNext: Begins an iteration and returns what gives its elements, one at a call,
  ///   until it gives nil. The iteration is over when that is released.
  public init(_ makeNext: @escaping @Sendable () -> @Sendable () async throws -> Element?) {
    self.makeNext = makeNext
    makeWatcher = nil
  }

  init(_ makeWatcher: @escaping @Sendable () -> Watcher<Element>) {
    self.makeWatcher = makeWatcher
    makeNext = {
      let watcher = makeWatcher()
      return { try await watcher.next() }
    }
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    let step: @Sendable () async throws -> Element?

    /// Waits for the next element; nil at the end.
    ///
    /// - Throws: ``StoreError``, such as ``StoreError/closed``; there are no more elements then.
    public mutating func next() async throws -> Element? { try await step() }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(step: makeNext()) }
}
