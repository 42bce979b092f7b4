public import Larder

/// What a remote answered. What it could not answer, it throws.
public enum Fetched<Content: Sendable>: Sendable {
  /// The remote's own answer.
  case fromRemote(Content)
  /// The remote says that nothing has changed, as with HTTP status 304, or only a cache answered.
  case prefetched
}

extension Fetched: Equatable where Content: Equatable {}

/// An updater made of three closures: one fetches, one decodes, one saves.
///
/// ```swift
/// let updater = RemoteUpdater(limiter: limiter) {
///   .fromRemote(try await server.get("contacts.json"))
/// } decode: { data in
///   try JSONDecoder().decode([Contact].self, from: data)
/// } save: { page in
///   try await contacts.save(page, clearBeforeSaving: Contact.all)
/// }
/// ```
/// Nothing is saved unless the fetch and the decoder have succeeded. A sync whose save finds every
/// model unchanged has written nothing and woken nobody, and is ``UpdateStatus/alreadyCurrent``.
public struct RemoteUpdater: Updater {
  /// Decides which calls make a request.
  public let limiter: FetchLimiter
  private let update: @Sendable () async throws -> UpdateStatus

  /// - Parameters:
  ///   - limiter: Shared by updaters that ask the same remote for the same thing, and by no others.
  ///   - fetch: Asks the remote.
  ///   - decode: Makes models of the answer; called on the concurrent pool.
  ///   - save: Saves the models, in one transaction, and returns its report.
  public init<Content: Sendable, Models: Sendable>(
    limiter: FetchLimiter = FetchLimiter(),
    fetch: @escaping @Sendable () async throws -> Fetched<Content>,
    decode: @escaping @Sendable (Content) throws -> Models,
    save: @escaping @Sendable (Models) async throws -> SaveReport
  ) {
    self.limiter = limiter
    update = {
      switch try await fetch() {
      case .prefetched: return .alreadyCurrent
      case .fromRemote(let content):
        let models = try decode(content)
        // The save would be the first to leave something behind.
        try Task.checkCancellation()
        return try await save(models).changes > 0 ? .updated : .alreadyCurrent
      }
    }
  }

  /// Without a decoder, for remotes that give models.
  ///
  /// - Parameters:
  ///   - limiter: Shared by updaters that ask the same remote for the same thing, and by no others.
  ///   - fetch: Asks the remote.
  ///   - save: Saves the models, in one transaction, and returns its report.
  public init<Models: Sendable>(
    limiter: FetchLimiter = FetchLimiter(),
    fetch: @escaping @Sendable () async throws -> Fetched<Models>,
    save: @escaping @Sendable (Models) async throws -> SaveReport
  ) {
    self.init(limiter: limiter, fetch: fetch, decode: { $0 }, save: save)
  }

  @discardableResult
  public func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    try await limiter.run(timing, update)
  }
}
