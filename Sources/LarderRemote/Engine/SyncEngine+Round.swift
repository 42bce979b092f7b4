internal import Larder
internal import LarderLMDB
internal import LarderSync

// One sync, from the first request to the last.

extension SyncEngine {
  /// As often one edit is sent in a sync: a document that somebody else changes all the time must not keep the
  /// others waiting.
  private static let mostSends = 8

  func round() async throws -> UpdateStatus {
    var forbidden: [String: String] = [:]
    do {
      let before = try store.read { $0.sequence }
      try tables.beginNew()
      try retryRefused()
      let facts = try await currentFacts()
      var failure: (any Error)? = try await push(facts, &forbidden)
      for scope in tables.scopes {
        do {
          try await pull(scope, facts)
        } catch RemoteError.forbidden(let reason) {
          // One scope that may not be used keeps nobody from the others.
          if forbidden[scope] == nil { forbidden[scope] = reason }
        }
      }
      failure = try await push(facts, &forbidden) ?? failure
      // What was refused may fit now, such as where a unique value has become free.
      try retryRefused()
      try renewCounts()
      if let failure { throw failure }
      // Where others work, the state tells of it, and the interval goes on.
      if let (_, reason) = forbidden.first, forbidden.count == tables.scopes.count {
        throw RemoteError.forbidden(reason)
      }
      let status: UpdateStatus =
        try store.read { $0.sequence } == before ? .alreadyCurrent : .updated
      let date = limiter.date
      let refusing = tables.scopes.first { forbidden[$0] != nil }
      change { state in
        state.lastSynced = date
        if state.phase != .paused { state.phase = refusing.map { .forbidden($0) } ?? .idle }
      }
      return status
    } catch {
      try? renewCounts()
      tell(error, forbidden: tables.scopes.first { forbidden[$0] != nil })
      throw error
    }
  }

  /// Tries once more to save what was refused: first of all, and whenever the store has changed since.
  private func retryRefused() throws {
    let sequence = try store.read { $0.sequence }
    guard retriedRefused.withLock({ $0 }) != sequence else { return }
    try tables.retryRefused()
    let now = try store.read { $0.sequence }
    retriedRefused.withLock { $0 = now }
  }

  func currentFacts() async throws -> RemoteFacts {
    if let known = facts.withLock({ $0 }) { return known }
    let new = try await asking { try await self.remote.facts() }
    facts.withLock { $0 = new }
    return new
  }

  /// What is thrown that is none of the remote's own errors means that it could not answer.
  private func asking<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    do {
      return try await body()
    } catch let error as RemoteError {
      throw error
    } catch is CancellationError {
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
      case .gone(let text), .malformed(let text): state.phase = .stopped(text)
      case .unavailable(let text, _), .tooLarge(let text): state.phase = .offline(text)
      case .cursorExpired: state.phase = .idle
      case nil: state.phase = error is CancellationError ? .idle : .stopped("\(error)")
      }
    }
    options.log?(
      LogEvent(
        level: .warning, message: "a sync has failed", metadata: ["error": "\(type(of: error))"]))
  }

  // MARK: Up

  /// Sends what is due.
  ///
  /// - Returns: Why edits were not answered although the remote answers others; they are sent again by a later
  ///   sync.
  private func push(
    _ facts: RemoteFacts, _ forbidden: inout [String: String]
  ) async throws -> (any Error)? {
    var sends: [RemoteKey: Int] = [:]
    var failure: (any Error)?
    while true {
      let due = try tables.dueEdits().filter { sends[$0.name, default: 0] < Self.mostSends }
      if due.isEmpty { return failure }
      var left = due[...]
      while !left.isEmpty {
        try checkGoesOn()
        enter(.pushing(left.count))
        let isAlone = left.first?.isSuspected == true
        let flight = try tables.begin(
          left.prefix(isAlone ? 1 : max(1, facts.maximumMutationCount)),
          mostByteCount: facts.maximumPushByteCount)
        for edit in left.prefix(flight.visitedCount) { sends[edit.name, default: 0] += 1 }
        for name in flight.waiting { sends[name] = Self.mostSends }
        left = left.dropFirst(flight.visitedCount)
        for request in flight.requests {
          do {
            for mutation in try await send(request, in: flight, &failure) {
              sends[mutation.key] = Self.mostSends
            }
          } catch RemoteError.forbidden(let reason) {
            forbidden[request.scope] = reason
            for mutation in request.mutations { sends[mutation.key] = Self.mostSends }
          }
        }
      }
    }
  }

  private func checkGoesOn() throws {
    try Task.checkCancellation()
    if state.withLock({ $0.phase == .paused }) { throw CancellationError() }
  }

  /// Sends a request; where the remote does not answer it, although it answers others, in halves, so that one
  /// edit that nobody can answer is found and set aside.
  ///
  /// - Returns: What was not answered.
  private func send(
    _ request: PushRequest, in flight: Flight, _ failure: inout (any Error)?
  ) async throws -> [Mutation] {
    do {
      let results = try await asking { try await self.remote.push(request) }
      try tables.finish(request, results, of: flight, mend: options.mend)
      return []
    } catch RemoteError.tooLarge(let reason) {
      guard request.mutations.count > 1 else {
        try tables.hold(request, in: flight, code: "too-large", reason)
        return []
      }
      return try await sendHalves(request, in: flight, &failure)
    } catch RemoteError.unavailable(let reason, retryAfter: nil) {
      // Where nothing else is answered either, the edits are not at fault.
      let error = RemoteError.unavailable(reason)
      guard (try? await asking { try await self.remote.facts() }) != nil else { throw error }
      guard request.mutations.count > 1 else {
        try tables.noteFailure(of: request, in: flight)
        failure = error
        return request.mutations
      }
      return try await sendHalves(request, in: flight, &failure)
    }
  }

  private func sendHalves(
    _ request: PushRequest, in flight: Flight, _ failure: inout (any Error)?
  ) async throws -> [Mutation] {
    let middle = request.mutations.count / 2
    var unanswered: [Mutation] = []
    for half in [request.mutations[..<middle], request.mutations[middle...]] {
      let request = PushRequest(scope: request.scope, mutations: Array(half))
      unanswered += try await send(request, in: flight, &failure)
    }
    return unanswered
  }

  // MARK: Down

  private func pull(_ scope: String, _ facts: RemoteFacts) async throws {
    do {
      try await pullOnce(scope, facts)
    } catch RemoteError.cursorExpired {
      // From the beginning, once: what does not come again is dropped, and edits are kept.
      try tables.restart(scope)
      try await pullOnce(scope, facts)
    }
  }

  private func pullOnce(_ scope: String, _ facts: RemoteFacts) async throws {
    var note = try tables.note(of: scope)
    var count = 0
    enter(.pulling(0))
    var next: PullAnswer? = try await ask(note, facts)
    // One more request, where it takes so long that somebody wants to know.
    let total = note.isLoading && next?.hasMore == true ? await total(of: scope, facts) : nil
    while let answer = next {
      try checkGoesOn()
      if tables.hasOthers(answer) { note.hasOthers = true }
      // Nothing new: nothing is written.
      if answer.changes.isEmpty, answer.cursor == note.cursor, !answer.hasMore, !note.isLoading,
        note.hasMissed != true
      {
        break
      }
      let page = note
      note.cursor = answer.cursor
      let ahead = note
      // The next page is on its way while this one is saved.
      async let following: PullAnswer? = answer.hasMore ? ask(ahead, facts) : nil
      try tables.apply(answer, page, isLast: !answer.hasMore && !page.isLoading)
      if !answer.hasMore, page.isLoading {
        // What did not come again is dropped before it is noted that all was loaded.
        note.hasMissed = try tables.sweep(note)
        note.isLoading = false
        try tables.keep(note)
      } else if !answer.hasMore, note.hasMissed == true {
        try tables.sweepMissed(note)
        note.hasMissed = nil
        try tables.keep(note)
      }
      count += answer.changes.count
      enter(.pulling(count, of: total.map { max($0, count) }))
      next = try await following
    }
    try await audit(note, facts)
  }

  /// How many documents a scope has; nil where the remote does not say.
  private func total(of scope: String, _ facts: RemoteFacts) async -> Int? {
    guard facts.hasCount else { return nil }
    // Nothing depends on it: what keeps the remote from counting shows with the next page.
    return (try? await remote.count(scope)) ?? nil
  }

  private func ask(_ note: ScopeNote, _ facts: RemoteFacts) async throws -> PullAnswer {
    var request = PullRequest(
      scope: note.scope, cursor: note.cursor, limit: max(1, facts.maximumChangeCount))
    while true {
      do {
        return try await asking { [request] in try await self.remote.pull(request) }
      } catch RemoteError.tooLarge(let reason) {
        guard request.limit > 1 else { throw RemoteError.tooLarge(reason) }
        request.limit /= 2
      }
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
    guard let there = try await asking({ try await self.remote.count(note.scope) }) else { return }
    if try tables.baseCount(of: note.scope) == there {
      audits.withLock { $0[note.scope] = 0 }
    } else if count > interval {
      // What was just written may not show in both: only what differs twice is wrong.
      audits.withLock { $0[note.scope] = 0 }
      try tables.restart(note.scope)
    }
  }
}
