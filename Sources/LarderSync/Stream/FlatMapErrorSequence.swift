/// The values of a sequence of events, while its failures are handled beside them: what
/// `flatMapError(_:)` makes.
public struct FlatMapErrorSequence<Base: AsyncSequence>: AsyncSequence
where Base.Element: EventConvertible {
  public typealias Element = Base.Element.Value
  public typealias Failure = Base.Failure

  let base: Base
  let handler: FailureDesk.Handler?

  public struct AsyncIterator: AsyncIteratorProtocol {
    var base: Base.AsyncIterator
    let desk: FailureDesk?

    /// Waits for the next value; nil at the end of the sequence, once all failures were handled, or
    /// when the task is cancelled.
    ///
    /// - Throws: What the sequence throws; what is being handled is cancelled then.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Base.Failure) -> Base.Element.Value? {
      do {
        while let element = try await base.next(isolation: actor) {
          switch element.event {
          case .value(let value): return value
          case .failure(let error): desk?.take(error)
          case .refresh: break
          }
        }
      } catch {
        desk?.close()
        throw error
      }
      await desk?.drain()
      return nil
    }
  }

  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(base: base.makeAsyncIterator(), desk: handler.map { FailureDesk($0) })
  }
}

extension FlatMapErrorSequence: Sendable where Base: Sendable {}

@available(*, unavailable)
extension FlatMapErrorSequence.AsyncIterator: Sendable {}
