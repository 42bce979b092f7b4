internal import Larder
internal import LarderLMDB
internal import LarderSync

// One sync, from the first request to the last.

extension SyncEngine {
  func round() async throws -> UpdateStatus {
    var course = Course()
    do {
      // Whoever paused before this flight began has not stopped it.
      try checkGoesOn()
      let before = try store.read { $0.sequence }
      try tables.checkOwner()
      roundCount.withLock { $0 += 1 }
      pages.withLock { pages in
        for scope in pages.keys { pages[scope]?.grow() }
      }
      try tables.beginNew()
      renewPendingCount()
      try retryRefused()
      let facts = try await currentFacts()
      try await pushAhead(facts, &course)
      var tooLarge = try await pull(facts, &course)
      if try tables.beginSweepLeft() {
        // A document that has left one scope may have come to another that was read before.
        tooLarge = try await pull(facts, &course) ?? tooLarge
        if tooLarge == nil, await areSettled(facts) { try tables.endSweepLeft() }
      }
      if let failure = course.pushFailure { throw failure }
      course.waitsForPull = nil
      let shortened = try tables.shortened()
      if !shortened.isEmpty, await areSettled(facts) { try tables.send(shortened) }
      try await push(facts, &course)
      // What was refused may fit now, such as where a unique value has become free.
      try retryRefused()
      try end(&course)
      if let tooLarge { throw tooLarge }
      try renewCounts()
      // Where others work, the state tells of it, and the interval goes on.
      if let (_, reason) = course.forbidden.first, course.forbidden.count == tables.scopes.count {
        throw RemoteError.forbidden(reason)
      }
      let status: UpdateStatus =
        try store.read { $0.sequence } == before ? .alreadyCurrent : .updated
      let date = limiter.date
      let refusing = tables.scopes.first { course.forbidden[$0] != nil }
      change { state in
        state.lastSynced = date
        if state.phase != .paused { state.phase = refusing.map { .forbidden($0) } ?? .idle }
      }
      return status
    } catch {
      try? noteUnanswered(&course)
      try? renewCounts()
      tell(error, forbidden: tables.scopes.first { course.forbidden[$0] != nil })
      throw error
    }
  }

  /// When it was tried last to save what was refused.
  struct RefusedRetries {
    /// The store's last change and how much was refused until then; nil before the first attempt.
    fileprivate var moment: (sequence: UInt64, refusals: SyncTables.Refusals)?
    /// The note that the last attempts have come to; nil where they begin anew.
    fileprivate(set) var last: String?
    /// How many clashes there had been when all were tried, and how many there were to try.
    fileprivate var whole = (clashCount: 0, count: 0)
  }

  /// Refused documents that are tried again in a sync: a thousand of them must not make each edit slow.
  private static let mostRefused = 32
  /// Where one was refused that has a value of another document, all of them are tried in one of so many syncs, and sooner
  /// where one in so many is new: any of them may have values of any other.
  private static let wholeInterval = 16

  /// Tries once more to save what was refused: first of all, and whenever the store has changed or more was refused.
  private func retryRefused() throws {
    let before = refusedRetries.withLock { $0 }
    var retries = before
    // A pass that was begun is finished first. Another one begins only if something has changed.
    if retries.last == nil {
      let now = (sequence: try store.read { $0.sequence }, tables.refusals.withLock { $0 })
      if let moment = before.moment, moment == now { return }
      retries.moment = now
    }
    let clashCount = tables.refusals.withLock { $0.clashCount }
    let newCount = clashCount - retries.whole.clashCount
    // The first time all of it: another version of the app may know more fields.
    let isWhole =
      before.moment == nil
      || newCount > 0
        && (roundCount.withLock { $0 } % Self.wholeInterval == 0
          || newCount * Self.wholeInterval >= retries.whole.count)
    let count = try tables.retryRefused(
      after: &retries.last, most: isWhole ? nil : Self.mostRefused)
    if isWhole { retries.whole = (clashCount, count) }
    refusedRetries.withLock { [retries] in $0 = retries }
  }

  func currentFacts() async throws -> RemoteFacts {
    if let known = facts.withLock({ $0 }) { return known }
    let new = try await asking { try await self.remote.facts() }
    facts.withLock { $0 = new }
    return new
  }

  /// What is thrown that is none of the remote's own errors means that it could not answer.
  func asking<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do {
      return try await body()
    } catch let error as RemoteError {
      throw error
    } catch is CancellationError where Task.isCancelled {
      throw CancellationError()
    } catch {
      throw RemoteError.unavailable("\(error)")
    }
  }

  private func tell(_ error: any Error, forbidden scope: String?) {
    if error is RemoteError { facts.withLock { $0 = nil } }
    change { state in
      guard state.phase != .paused else { return }
      switch error as? RemoteError {
      case .needsSignIn: state.phase = .needsSignIn
      case .forbidden: state.phase = .forbidden(scope ?? tables.scopes[0])
      case .gone(let text), .malformed(let text), .tooLarge(let text):
        state.phase = .stopped(text)
      case .unavailable(let text, _): state.phase = .offline(text)
      case .cursorExpired: state.phase = .offline("\(error)")
      case nil: state.phase = error is CancellationError ? .idle : .stopped("\(error)")
      }
    }
    options.log?(
      LogEvent(
        level: .warning, message: "a sync has failed", metadata: ["error": "\(type(of: error))"]))
  }

  func checkGoesOn() throws {
    try Task.checkCancellation()
    if isPaused { throw CancellationError() }
  }

  // MARK: Down

  /// As often a pull goes on from where another engine has come to meanwhile.
  private static let mostOvertakings = 5

  /// Reads all scopes.
  ///
  /// - Returns: Why one of them has a document that does not come.
  private func pull(_ facts: RemoteFacts, _ course: inout Course) async throws -> RemoteError? {
    var tooLarge: RemoteError?
    var failure: RemoteError?
    for scope in tables.scopes {
      do {
        try await pull(scope, facts, &course)
      } catch RemoteError.forbidden(let reason) {
        // One scope that may not be used keeps nobody from the others.
        if course.forbidden[scope] == nil { course.forbidden[scope] = reason }
      } catch RemoteError.tooLarge(let reason) {
        // Neither does a document that is larger than any answer may be.
        tooLarge = RemoteError.tooLarge(reason)
      } catch let error as RemoteError where error.mayBeOfOneScope {
        // Nor one that it has no answer about. One that cannot be reached would keep us waiting for each scope.
        guard (try? await asking { try await self.remote.facts() }) != nil else { throw error }
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return tooLarge
  }

  private func pull(
    _ scope: String, _ facts: RemoteFacts, _ course: inout Course
  ) async throws {
    var hasExpired = false
    var overtakenCount = 0
    while true {
      var note = try tables.note(of: scope)
      do {
        return try await pullOnce(&note, facts, &course)
      } catch let shortage as PageShortage {
        // A smaller page may fit: after each one the ageing rules delete old documents.
        options.log?(
          LogEvent(
            level: .info, message: "a page does not fit, and a smaller one is tried",
            metadata: ["scope": scope, "changes": "\(shortage.changeCount)"]))
        pages.withLock {
          $0[scope] = PageSize(limit: shortage.changeCount / 2, isForSpace: true)
        }
      } catch RemoteError.cursorExpired where !hasExpired {
        // From the beginning, once: what does not come again is dropped, and edits are kept.
        hasExpired = true
        try tables.restart(note)
      } catch is Overtaken where overtakenCount < Self.mostOvertakings {
        // The other one may have saved a part and then failed, so that its pull does not stand for this one.
        overtakenCount += 1
      } catch is Overtaken {
        // Behind a pause that is drawn by lot, one of the two gets through.
        throw RemoteError.unavailable("another engine reads \(scope) as well")
      }
    }
  }

  /// - Parameter note: How far the scope was read, also when this throws.
  private func pullOnce(
    _ note: inout ScopeNote, _ facts: RemoteFacts, _ course: inout Course
  ) async throws {
    let scope = note.scope
    var (count, pageCount) = (0, 0)
    var cursors: Set<[UInt8]> = []
    enter(.pulling(0))
    var next: PullAnswer? = try await ask(note, facts)
    // One more request, where it takes so long that somebody wants to know.
    let total = note.isLoading && next?.hasMore == true ? await total(of: scope, facts) : nil
    while let answer = next {
      try checkGoesOn()
      if answer.hasMore,
        answer.cursor == note.cursor || !cursors.insert(Array(answer.cursor.utf8)).inserted
      {
        throw RemoteError.malformed(
          "a pull of \(scope) has more, and a cursor that was sent before: it would never end")
      }
      if tables.hasOthers(answer) { note.hasOthers = true }
      // Nothing new: nothing is written.
      if answer.changes.isEmpty, answer.cursor == note.cursor, !answer.hasMore, !note.isLoading,
        note.hasMissed != true
      {
        break
      }
      let page = note
      note.cursor = answer.cursor
      note.replaced = nil
      let ahead = note
      pageCount += 1
      let pushes =
        try answer.hasMore && pageCount.isMultiple(of: Self.pagesBetweenPushes)
        && hasNewEdits(course)
      // The next page is on its way while this one is saved; but not where edits are sent between the two: it would show
      // the remote as it was before them.
      async let following: PullAnswer? = answer.hasMore && !pushes ? ask(ahead, facts) : nil
      do {
        try tables.apply(answer, page, isLast: !answer.hasMore && !page.isLoading)
      } catch StoreError.full where answer.changes.count > 1 {
        throw PageShortage(changeCount: answer.changes.count)
      }
      pages.withLock { $0[scope]?.growInSpace() }
      if !answer.hasMore, page.isLoading {
        // What did not come again is dropped before it is noted that all was loaded.
        note.hasMissed = try tables.sweep(note)
        note.isLoading = false
        try tables.keep(note)
      } else if !answer.hasMore, note.hasMissed == true, await isSettled(scope, facts) {
        try tables.sweepMissed(note)
        note.hasMissed = nil
        try tables.keep(note)
      }
      count += answer.changes.count
      enter(.pulling(count, of: total.map { max($0, count) }))
      next = try await following
      if pushes {
        try await pushAhead(facts, &course)
        // An answer may have noted that something did not come with the last loading.
        if try tables.note(of: scope).hasMissed == true { note.hasMissed = true }
        enter(.pulling(count, of: total.map { max($0, count) }))
        next = try await ask(ahead, facts)
      }
    }
    try await audit(note, facts)
  }

  /// Pages behind which a long pull sends what was edited meanwhile. All of a first load may take minutes.
  private static let pagesBetweenPushes = 4

  /// Sends what is due while there is more to pull. Where the remote takes no pushes it may still answer pulls: that is
  /// thrown behind these.
  private func pushAhead(_ facts: RemoteFacts, _ course: inout Course) async throws {
    guard course.pushFailure == nil else { return }
    do {
      try await push(facts, &course)
    } catch let error as RemoteError where error.isOfPushAlone {
      course.pushFailure = error
    }
    course.leftCount = try store.read { try $0.outboxCount() }
  }

  /// Whether there are other edits than those which the last push has left: thousands of these may wait for somebody, and
  /// are not looked at for each few pages.
  private func hasNewEdits(_ course: Course) throws -> Bool {
    try course.pushFailure == nil && store.read { try $0.outboxCount() } != course.leftCount
  }

  /// After so many syncs pulls count as complete although the remote does not say so: edits wait for it.
  private static let mostUnsettled = 20

  /// Whether pulls have given everything that was accepted before, in all scopes.
  private func areSettled(_ facts: RemoteFacts) async -> Bool {
    var areSettled = true
    // All are asked, as each has its own patience.
    for scope in tables.scopes {
      if await !isSettled(scope, facts) { areSettled = false }
    }
    return areSettled
  }

  /// Whether a pull has given everything that was accepted before. A remote that never says so is believed, at once
  /// where it cannot count, and after some syncs where it fails to.
  private func isSettled(_ scope: String, _ facts: RemoteFacts) async -> Bool {
    guard facts.hasCount else { return true }
    if await total(of: scope, facts) != nil {
      unsettled.withLock { $0[scope] = nil }
      return true
    }
    let now = roundCount.withLock { $0 }
    return unsettled.withLock { unsettled in
      let known = unsettled[scope].flatMap { $0.upperBound >= now - 1 ? $0.lowerBound : nil }
      unsettled[scope] = (known ?? now)...now
      return now - (known ?? now) >= Self.mostUnsettled
    }
  }

  /// How many documents a scope has; nil where the remote does not say.
  private func total(of scope: String, _ facts: RemoteFacts) async -> Int? {
    guard facts.hasCount else { return nil }
    // Nothing depends on it: what keeps the remote from counting shows with the next page.
    return (try? await remote.count(scope)) ?? nil
  }

  private func ask(_ note: ScopeNote, _ facts: RemoteFacts) async throws -> PullAnswer {
    var request = PullRequest(
      scope: note.scope, cursor: note.cursor, limit: limit(of: note.scope, facts))
    while true {
      let start = clock.elapsed
      do {
        let answer = try await asking { [request] in try await self.remote.pull(request) }
        if answer.changes.count >= request.limit {
          pages.withLock { $0[note.scope]?.mayGrow = true }
        }
        return answer
      } catch RemoteError.tooLarge(let reason) {
        guard request.limit > 1 else {
          throw RemoteError.tooLarge(
            "the next change of \(note.scope) alone is larger than an answer may be, which keeps those behind it: "
              + reason)
        }
        request.limit /= 2
        pages.withLock { $0[note.scope] = PageSize(limit: request.limit) }
      } catch let error as RemoteError where error.mayBeOfOneScope {
        // A page that takes longer than anybody waits is asked for in halves by the next syncs.
        if clock.elapsed - start >= Self.longWait {
          pages.withLock { $0[note.scope] = PageSize(limit: max(1, request.limit / 2)) }
        }
        throw error
      }
    }
  }

  private func limit(of scope: String, _ facts: RemoteFacts) -> Int {
    pages.withLock { min(max(1, facts.maximumChangeCount), $0[scope]?.limit ?? .max) }
  }

  /// A page found no room in the store.
  private struct PageShortage: Error {
    /// More than one.
    let changeCount: Int
  }

  /// How many changes a page has at most, where larger pages have turned out to be too large, or too slow.
  struct PageSize {
    fileprivate(set) var limit: Int
    /// Whether a whole page of this size has come.
    fileprivate var mayGrow = false

    /// Whether a larger one found no room in the store.
    private let isForSpace: Bool

    fileprivate init(limit: Int, isForSpace: Bool = false) {
      (self.limit, self.isForSpace) = (limit, isForSpace)
    }

    /// A page has found room: the next one may be larger.
    fileprivate mutating func growInSpace() {
      if isForSpace { limit = limit > .max / 2 ? .max : limit * 2 }
    }

    /// A new sync tries larger ones again.
    fileprivate mutating func grow() {
      if mayGrow { limit = limit > .max / 2 ? .max : limit * 2 }
      mayGrow = false
    }
  }

  /// Now and then compares how many documents there are. Where a remote has gaps, or forgot what it had, the
  /// scope is loaded anew by the next pull, and what is gone is dropped.
  private func audit(_ note: ScopeNote, _ facts: RemoteFacts) async throws {
    // Documents of collections that are not followed here are counted there.
    guard facts.hasCount, options.auditInterval > 0, note.hasOthers != true else { return }
    let interval = facts.hasGaps ? min(5, options.auditInterval) : options.auditInterval
    let count = audits.withLock { audits in
      audits[note.scope, default: 0] += 1
      return audits[note.scope] ?? 0
    }
    guard count >= interval else { return }
    let there: Int
    do {
      guard let count = try await asking({ try await remote.count(note.scope) }) else { return }
      there = count
    } catch {
      // Nobody has to be able to count.
      return audits.withLock { $0[note.scope] = 0 }
    }
    if try tables.baseCount(of: note.scope) == there {
      audits.withLock { $0[note.scope] = 0 }
    } else if count > interval {
      // What was just written may not show in both: only what differs twice is wrong.
      audits.withLock { $0[note.scope] = 0 }
      try tables.restart(note)
    }
  }
}
