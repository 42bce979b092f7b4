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
      // In a row.
      var outdatedCount = 0
      while true {
        // Each time from the store: the token may have been forgotten meanwhile.
        let start = try since.start()
        let answer: Fetched<Delta<Content>>
        do {
          answer = try await fetch(start.token)
        } catch DeltaError.tokenExpired where start.token != nil && !hasExpired {
          // Once: a remote that gives tokens and knows none would be asked for ever.
          hasExpired = true
          try await since.forget()
          continue
        }
        guard case .fromRemote(let page) = answer else { break }
        let byteCount = SinceToken.note(of: page.token).count
        guard byteCount <= SinceToken.maximumByteCount else {
          throw DeltaError.tokenTooLong(byteCount: byteCount)
        }
        try Task.checkCancellation()
        let report: SaveReport
        do {
          report = try await since.keeping(page.token, from: start) {
            guard page.isLast else { return try await save(page.content, .sync) }
            return try await limiter.noting { try await save(page.content, .sync) }
          }
        } catch let error as SinceToken.Outdated {
          // A save that forgets the token itself would be run for ever.
          // Where another process has gone past this one, there is a token, and less is left each time.
          outdatedCount = try since.start().token == nil ? outdatedCount + 1 : 0
          if outdatedCount > 5 { throw error }
          continue
        }
        outdatedCount = 0
        log?(.saved(report))
        if report.changed > 0 { isChanged = true }
        if page.isLast { return isChanged ? .updated : .alreadyCurrent }
        if page.token == start.token { throw DeltaError.noProgress(token: page.token) }
      }
      if !isChanged { log?(.nothingNew) }
      return isChanged ? .updated : .alreadyCurrent
    }
  }
}
