/// A remote that is made of closures, for an API of your own.
///
/// ```swift
/// let remote = ClosureRemote { request in
///   let page = try await api.changes(of: request.scope, after: request.cursor, limit: request.limit)
///   return PullAnswer(changes: page.items.map(RemoteChange.init), cursor: page.next, hasMore: page.hasMore)
/// } push: { request in
///   try await api.apply(request.mutations, to: request.scope)
/// }
/// ```
/// A ``RemoteKey`` has UUIDs in small letters, where Swift writes capitals: `id.uuidString.lowercased()`.
///
/// The two closures keep the promises of ``Remote``. `RemoteConformance` says whether they do.
public struct ClosureRemote: Remote {
  private let askFacts: @Sendable () async throws -> RemoteFacts
  private let doPull: @Sendable (PullRequest) async throws -> PullAnswer
  private let doPush: @Sendable (PushRequest) async throws -> [PushResult]
  private let listen: (@Sendable ([String]) -> AsyncThrowingStream<String, any Error>)?
  private let doCount: (@Sendable (String) async throws -> Int?)?
  private let doManifest: (@Sendable (ManifestRequest) async throws -> ManifestAnswer)?

  /// A remote of closures, of which `pull` and `push` are enough.
  ///
  /// - Parameters:
  ///   - facts: What the remote can do. `hasCount` and `hasManifest` hold only where there is a closure.
  ///   - pull: What ``Remote/pull(_:)`` does.
  ///   - push: What ``Remote/push(_:)`` does.
  ///   - hints: What ``Remote/hints(_:)`` does.
  ///   - count: What ``Remote/count(_:)`` does.
  ///   - manifest: What ``Remote/manifest(_:)`` does.
  public init(
    facts: @escaping @Sendable () async throws -> RemoteFacts = { RemoteFacts() },
    pull: @escaping @Sendable (PullRequest) async throws -> PullAnswer,
    push: @escaping @Sendable (PushRequest) async throws -> [PushResult],
    hints: (@Sendable ([String]) -> AsyncThrowingStream<String, any Error>)? = nil,
    count: (@Sendable (String) async throws -> Int?)? = nil,
    manifest: (@Sendable (ManifestRequest) async throws -> ManifestAnswer)? = nil
  ) {
    askFacts = facts
    doPull = pull
    doPush = push
    listen = hints
    doCount = count
    doManifest = manifest
  }

  public func facts() async throws -> RemoteFacts {
    var facts = try await askFacts()
    facts.hasCount = facts.hasCount && doCount != nil
    facts.hasManifest = facts.hasManifest && doManifest != nil
    return facts
  }

  public func pull(_ request: PullRequest) async throws -> PullAnswer { try await doPull(request) }

  public func push(_ request: PushRequest) async throws -> [PushResult] {
    try await doPush(request)
  }

  public func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? {
    listen?(scopes)
  }

  public func count(_ scope: String) async throws -> Int? { try await doCount?(scope) }

  public func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await doManifest?(request) ?? ManifestAnswer(entries: [], hasMore: false)
  }
}
