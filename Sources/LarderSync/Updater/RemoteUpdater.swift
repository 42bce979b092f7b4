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
/// } save: { page, origin in
///   try await contacts.save(page, clearBeforeSaving: Contact.all, as: origin)
/// }
/// ```
/// Nothing is saved unless the fetch and the decoder have succeeded. A sync whose save finds every
/// model unchanged has written nothing and woken nobody, and is ``UpdateStatus/alreadyCurrent``.
public struct RemoteUpdater: Updater {
  /// Decides which calls make a request.
  public let limiter: FetchLimiter
  public var schedule: FetchLimiter? { limiter }
  private let update: @Sendable () async throws -> UpdateStatus

  /// - Parameters:
  ///   - limiter: Shared by updaters that ask the same remote for the same thing, and by no others.
  ///   - log: Told what became of each request, once for all who waited; silent if nil. It may be
  ///     what `StoreOptions.log` is.
  ///   - fetch: Asks the remote.
  ///   - decode: Makes models of the answer; called on the concurrent pool.
  ///   - save: Saves the models, in one transaction, and returns its report. Its second argument is
  ///     `ChangeOrigin.sync`, to be handed on to the save: otherwise an outbox would send back what
  ///     was just pulled. The time of the success, which a limiter with a name keeps, goes into the
  ///     transaction of this save.
  public init<Content: Sendable, Models: Sendable>(
    limiter: FetchLimiter = FetchLimiter(), log: (@Sendable (LogEvent) -> Void)? = nil,
    fetch: @escaping @Sendable () async throws -> Fetched<Content>,
    decode: @escaping @Sendable (Content) throws -> Models,
    save: @escaping @Sendable (Models, ChangeOrigin) async throws -> SaveReport
  ) {
    self.init(limiter: limiter, log: log) {
      guard case .fromRemote(let content) = try await fetch() else {
        log?(.nothingNew)
        return .alreadyCurrent
      }
      let models = try decode(content)
      // The save would be the first to leave something behind.
      try Task.checkCancellation()
      let report = try await limiter.noting { try await save(models, .sync) }
      log?(.saved(report))
      return report.changed > 0 ? .updated : .alreadyCurrent
    }
  }

  init(
    limiter: FetchLimiter, log: (@Sendable (LogEvent) -> Void)?,
    update: @escaping @Sendable () async throws -> UpdateStatus
  ) {
    self.limiter = limiter
    self.update = {
      do {
        return try await update()
      } catch {
        if let log { for event in LogEvent.failed(error) { log(event) } }
        throw error
      }
    }
  }

  /// Without a decoder, for remotes that give models.
  ///
  /// - Parameters:
  ///   - limiter: Shared by updaters that ask the same remote for the same thing, and by no others.
  ///   - log: Told what became of each request, once for all who waited; silent if nil.
  ///   - fetch: Asks the remote.
  ///   - save: Saves the models, in one transaction, and returns its report. Its second argument is
  ///     `ChangeOrigin.sync`, to be handed on to the save: otherwise an outbox would send back what
  ///     was just pulled.
  public init<Models: Sendable>(
    limiter: FetchLimiter = FetchLimiter(), log: (@Sendable (LogEvent) -> Void)? = nil,
    fetch: @escaping @Sendable () async throws -> Fetched<Models>,
    save: @escaping @Sendable (Models, ChangeOrigin) async throws -> SaveReport
  ) {
    self.init(limiter: limiter, log: log, fetch: fetch, decode: { $0 }, save: save)
  }

  /// An updater that takes all models of a source, such as a server or a file, and puts them in a
  /// repository, in one transaction.
  ///
  /// ```swift
  /// let updater = RemoteUpdater(contacts, clearBeforeSaving: Contact.all) {
  ///   try await server.contacts()
  /// }
  /// ```
  /// - Parameters:
  ///   - repository: Where models are saved, as changes of the origin `ChangeOrigin.sync`.
  ///   - limiter: Shared by updaters that ask the same source for the same thing, and by no others.
  ///   - query: What it matches and the source no longer has is deleted in the same transaction; the
  ///     source is asked before anything is cleared. Nil deletes nothing.
  ///   - policy: Which one wins, of a stored model and one of the source.
  ///   - log: Told what became of each request, once for all who waited; silent if nil.
  ///   - source: Gives the models.
  public init<Model: Sendable, Entity>(
    _ repository: any Repository<Model, Entity>, limiter: FetchLimiter = FetchLimiter(),
    clearBeforeSaving query: Query<Entity>? = nil,
    onConflict policy: ConflictPolicy<Model> = .replace,
    log: (@Sendable (LogEvent) -> Void)? = nil,
    source: @escaping @Sendable () async throws -> [Model]
  ) {
    self.init(limiter: limiter, log: log) {
      .fromRemote(try await source())
    } save: { (models: [Model], origin) in
      try await repository.save(
        models, clearBeforeSaving: query, onConflict: policy, as: origin)
    }
  }

  @discardableResult
  public func sync(_ timing: SyncTiming) async throws -> UpdateStatus {
    try await limiter.run(timing, update)
  }
}

extension LogEvent {
  static var nothingNew: LogEvent {
    LogEvent(level: .debug, message: "the remote has nothing new")
  }

  static func saved(_ report: SaveReport) -> LogEvent {
    LogEvent(
      level: report.changed > 0 ? .info : .debug, message: "what the remote has was saved",
      metadata: ["report": "\(report)"])
  }

  /// An error's text may hold what the remote sent, which is data; its type is none.
  fileprivate static func failed(_ error: any Error) -> [LogEvent] {
    let message = "a sync has failed"
    return [
      LogEvent(level: .warning, message: message, metadata: ["error": "\(type(of: error))"]),
      LogEvent(level: .debug, message: message, metadata: ["reason": "\(error)"]),
    ]
  }
}
