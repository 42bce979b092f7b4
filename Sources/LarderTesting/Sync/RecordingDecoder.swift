internal import LarderLMDB

/// A decoder that decodes nothing: it records what it was given, and returns what a test says.
public final class RecordingDecoder<Content: Sendable, Models: Sendable>: Sendable {
  private let given = Tally<Content>()
  private let next: Locked<Result<Models, any Error>>

  /// Gives this result each time.
  public init(_ result: Result<Models, any Error>) { next = Locked(result) }

  /// What every call from now on returns or throws.
  public var result: Result<Models, any Error> {
    get { next.withLock { $0 } }
    set { next.withLock { $0 = newValue } }
  }

  /// What it was given, in that order.
  public var contents: [Content] { given.elements }

  /// What an updater is given to decode with.
  ///
  /// - Throws: The failure that a test has set.
  public func decode(_ content: Content) throws -> Models {
    given.append(content)
    return try result.get()
  }
}
