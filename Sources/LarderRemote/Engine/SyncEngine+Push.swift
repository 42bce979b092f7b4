internal import Larder
internal import LarderLMDB

// Edits that go up. Some requests are under way at once, no two of them with the same document: while the remote
// works on one, the next is noted and sent, and the last answer is saved.

extension SyncEngine {
  /// As often one edit is sent in a sync: a document that somebody else changes all the time must not keep the
  /// others waiting.
  private static let mostSends = 8

  /// What has come of the edits of one sync so far.
  private struct Course {
    /// How often each was sent.
    var sends: [RemoteKey: Int] = [:]
    /// Why some were not answered although the remote answers others; they are sent again by a later sync.
    var failure: (any Error)?
    var forbidden: [String: String]

    mutating func isSentEnough(_ name: RemoteKey) { sends[name] = SyncEngine.mostSends }
  }

  /// A request, and the answer to it.
  private struct Exchange: Sendable {
    let request: PushRequest
    let flight: Flight
    var answer: Result<[PushResult], any Error>?
  }

  /// Sends what is due.
  ///
  /// - Returns: Why edits were not answered although the remote answers others.
  func push(
    _ facts: RemoteFacts, _ forbidden: inout [String: String]
  ) async throws -> (any Error)? {
    var course = Course(forbidden: forbidden)
    defer { forbidden = course.forbidden }
    while true {
      let due = try tables.dueEdits().filter { course.sends[$0.name, default: 0] < Self.mostSends }
      if due.isEmpty { return course.failure }
      try await send(due, facts, &course)
    }
  }

  /// Sends each of these edits once.
  private func send(
    _ due: [DueEdit], _ facts: RemoteFacts, _ course: inout Course
  ) async throws {
    var line = Line(due: due[...])
    try await withThrowingTaskGroup(of: Exchange.self) { group in
      // Nothing is sent after an error that ends the sync, but answers that are on their way are saved.
      var end: RemoteError?
      while true {
        while end == nil, let next = try next(in: &line, facts, &course) {
          group.addTask { [self] in
            var exchange = next
            exchange.answer = await answer(to: next.request)
            return exchange
          }
        }
        guard let exchange = try await group.next() else { break }
        line.underWayCount -= 1
        line.underWayEditCount -= exchange.request.mutations.count
        do {
          try await take(exchange, &course, isEnding: end != nil)
        } catch let error as RemoteError {
          end = end ?? error
        }
      }
      if let end { throw end }
    }
  }

  /// Edits that are still to be sent, in their order.
  private struct Line {
    /// Those that are not noted as sent yet.
    var due: ArraySlice<DueEdit>
    /// Those that are.
    var ready: [Exchange] = []
    /// Requests without an answer, and their edits.
    var underWayCount = 0
    var underWayEditCount = 0
  }

  /// The next request, of which it is noted that it is sent; nil where there is none, or where it has to wait for
  /// those that are under way.
  private func next(
    in line: inout Line, _ facts: RemoteFacts, _ course: inout Course
  ) throws -> Exchange? {
    guard line.underWayCount < max(1, facts.maximumConcurrentPushCount) else { return nil }
    while line.ready.isEmpty {
      guard let first = line.due.first else { return nil }
      // An edit that may be why an answer is missing is sent alone.
      if first.isSuspected, line.underWayCount > 0 { return nil }
      try checkGoesOn()
      enter(.pushing(line.due.count + line.underWayEditCount))
      let flight = try tables.begin(
        line.due.prefix(first.isSuspected ? 1 : max(1, facts.maximumMutationCount)),
        mostByteCount: facts.maximumPushByteCount)
      for edit in line.due.prefix(flight.visitedCount) { course.sends[edit.name, default: 0] += 1 }
      for name in flight.waiting { course.isSentEnough(name) }
      line.due = line.due.dropFirst(flight.visitedCount)
      line.ready = flight.requests.map { Exchange(request: $0, flight: flight) }
    }
    let next = line.ready.removeFirst()
    line.underWayCount += 1
    line.underWayEditCount += next.request.mutations.count
    return next
  }

  private func answer(to request: PushRequest) async -> Result<[PushResult], any Error> {
    do {
      return .success(try await asking { try await remote.push(request) })
    } catch {
      return .failure(error)
    }
  }

  /// Saves what has come of a request.
  ///
  /// - Parameter isEnding: Whether the sync is about to fail, so that nothing more is asked.
  private func take(
    _ exchange: Exchange, _ course: inout Course, isEnding: Bool
  ) async throws {
    guard let answer = exchange.answer else { return }
    if isEnding, case .failure = answer { return }
    do {
      let unanswered = try await settle(
        exchange.request, answer, of: exchange.flight, &course.failure)
      for mutation in unanswered { course.isSentEnough(mutation.key) }
    } catch RemoteError.forbidden(let reason) {
      course.forbidden[exchange.request.scope] = reason
      for mutation in exchange.request.mutations { course.isSentEnough(mutation.key) }
    }
  }

  /// Saves the answer to a request; where the remote has none, although it answers others, sends it in halves, so
  /// that one edit that nobody can answer is found and set aside.
  ///
  /// - Returns: What was not answered.
  private func settle(
    _ request: PushRequest, _ answer: Result<[PushResult], any Error>, of flight: Flight,
    _ failure: inout (any Error)?
  ) async throws -> [Mutation] {
    do {
      try tables.finish(request, answer.get(), of: flight, mend: options.mend)
      return []
    } catch RemoteError.tooLarge(let reason) {
      guard request.mutations.count > 1 else {
        try tables.hold(request, in: flight, code: "too-large", reason)
        return []
      }
      return try await sendHalves(request, of: flight, &failure)
    } catch RemoteError.unavailable(let reason, retryAfter: nil) {
      // Where nothing else is answered either, the edits are not at fault.
      let error = RemoteError.unavailable(reason)
      guard (try? await asking { try await self.remote.facts() }) != nil else { throw error }
      guard request.mutations.count > 1 else {
        try tables.noteFailure(of: request, in: flight)
        failure = error
        return request.mutations
      }
      return try await sendHalves(request, of: flight, &failure)
    }
  }

  private func sendHalves(
    _ request: PushRequest, of flight: Flight, _ failure: inout (any Error)?
  ) async throws -> [Mutation] {
    let middle = request.mutations.count / 2
    var unanswered: [Mutation] = []
    for half in [request.mutations[..<middle], request.mutations[middle...]] {
      let request = PushRequest(scope: request.scope, mutations: Array(half))
      unanswered += try await settle(request, await answer(to: request), of: flight, &failure)
    }
    return unanswered
  }
}
