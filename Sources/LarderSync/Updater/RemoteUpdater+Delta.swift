public import Larder

extension RemoteUpdater {
  /// An updater that asks for what has changed since the last time, page by page. Each page is saved as
  /// it comes, together with the token up to which it goes: what breaks off goes on from there.
  ///
  /// - Parameters:
  ///   - limiter: Shared by updaters that ask the same remote for the same thing, and by no others.
  ///   - since: Up to where changes were saved; of this updater alone.
  ///   - log: Told what became of each page and of a failure; silent if nil.
  ///   - fetch: Asks the remote for what has changed since a token; nil for everything. Throws
  ///     ``DeltaError/tokenExpired`` where the remote knows nothing of the token any more; it is then
  ///     asked for everything.
  ///   - save: Saves a page, in one transaction, which the token goes into, and returns its report. Its
  ///     second argument is `ChangeOrigin.sync`, to be handed on to the save.
  public init<Content: Sendable>(
    limiter: FetchLimiter = FetchLimiter(), since: SinceToken,
    log: (@Sendable (LogEvent) -> Void)? = nil,
    fetch: @escaping @Sendable (_ token: String?) async throws -> Fetched<Delta<Content>>,
    save: @escaping @Sendable (Content, ChangeOrigin) async throws -> SaveReport
  ) {
    self.init(limiter: limiter, log: log) {
      var isChanged = false
      var hasExpired = false
      var token = try since.current()
      while true {
        let answer: Fetched<Delta<Content>>
        do {
          answer = try await fetch(token)
        } catch DeltaError.tokenExpired where token != nil && !hasExpired {
          // Once: a remote that gives tokens and knows none would be asked for ever.
          hasExpired = true
          try await since.forget()
          token = nil
          continue
        }
        guard case .fromRemote(let page) = answer else { break }
        let byteCount = page.token.utf8.count
        guard byteCount <= SinceToken.maximumByteCount else {
          throw DeltaError.tokenTooLong(byteCount: byteCount)
        }
        try Task.checkCancellation()
        let report = try await since.keeping(page.token) {
          guard page.isLast else { return try await save(page.content, .sync) }
          return try await limiter.noting { try await save(page.content, .sync) }
        }
        log?(.saved(report))
        if report.changed > 0 { isChanged = true }
        if page.isLast { return isChanged ? .updated : .alreadyCurrent }
        if page.token == token { throw DeltaError.noProgress(token: page.token) }
        token = page.token
      }
      if !isChanged { log?(.nothingNew) }
      return isChanged ? .updated : .alreadyCurrent
    }
  }
}
