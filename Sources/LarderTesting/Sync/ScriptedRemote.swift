internal import LarderLMDB
public import LarderSync

/// A remote without a network: it counts requests, and answers as a test says.
///
/// ```swift
/// let remote = ScriptedRemote<Data>()
/// let updater = RemoteUpdater(fetch: remote.fetch, decode: decoder.decode, save: ...)
/// ...
/// await remote.waitForRequests(1)
/// remote.answer(.success(.fromRemote(data)))
/// ```
public final class ScriptedRemote<Content: Sendable>: Sendable {
  /// What a request is answered with.
  public typealias Answer = Result<Fetched<Content>, any Error>

  private let requests = Tally<Void>()
  private let ends = Tally<Void>()
  private let held = HeldCalls<Fetched<Content>>()
  private let script: Locked<(@Sendable (_ request: Int) -> Answer)?>

  /// - Parameter script: Answers the request of this number, the first being 1; nil holds requests
  ///   until ``answer(_:)``.
  public init(_ script: (@Sendable (_ request: Int) -> Answer)? = nil) {
    self.script = Locked(script)
  }

  /// How often it was asked.
  public var requestCount: Int { requests.elements.count }
  /// Requests that have no answer yet.
  public var openRequestCount: Int { requests.elements.count - ends.elements.count }

  /// What an updater is given to fetch with.
  ///
  /// - Throws: The failure that a test has answered with; `CancellationError` when the task is
  ///   cancelled before there is an answer.
  public func fetch() async throws -> Fetched<Content> {
    defer { ends.append(()) }
    guard let script = script.withLock({ $0 }) else {
      return try await held.hold { requests.append(()) }
    }
    return try script(requests.append(())).get()
  }

  /// Answers the request that has waited longest; false when none does.
  @discardableResult
  public func answer(_ answer: Answer) -> Bool { held.endFirst(answer) }

  /// Returns when there were so many requests.
  public func waitForRequests(_ count: Int) async { await requests.wait(for: count) }

  /// Returns when so many requests are over.
  public func waitForEnds(_ count: Int) async { await ends.wait(for: count) }
}
