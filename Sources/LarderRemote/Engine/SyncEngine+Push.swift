internal import Larder
internal import LarderLMDB
internal import LarderSync

// Edits that go up. Some requests are under way at once, no two of them with the same document: while the remote
// works on one, the next is noted and sent, and the last answer is saved.

extension SyncEngine {
  /// As often one edit is sent in a sync: a document that somebody else changes all the time must not keep the
  /// others waiting.
  private static let mostSends = 8

  /// What has come of the edits of one sync so far.
  struct Course {
    /// How often each was sent.
    fileprivate var sends: [RemoteKey: Int] = [:]
    /// Why the last of those without an answer has none; they are sent again by a later sync.
    fileprivate var failure: (any Error)?
    /// Edits that met another version of the remote. They are sent behind the pulls, which tell whether it has
    /// taken the document to another scope: sent at once, the edit would take it back.
    /// Nil behind them.
    var waitsForPull: Set<RemoteKey>? = []
    /// How many edits the last push before the end of the pulls has left.
    var leftCount = 0
    /// Why the remote takes no pushes in this sync, although it may answer pulls.
    var pushFailure: RemoteError?
    /// Why scopes may not be used, by their names.
    var forbidden: [String: String] = [:]
    /// The scopes with requests that were answered.
    fileprivate var answeredScopes: Set<String> = []
    /// How many requests of a scope were not.
    fileprivate var failureCounts: [String: Int] = [:]
    /// Scopes whose edits are not sent any more in this sync, and why: none is answered, or one has let us wait for
    /// long.
    fileprivate var failedScopes: [String: RemoteError] = [:]
    /// Those of them that let us wait for long, with how many edits the request had.
    fileprivate var slowScopes: [String: Int] = [:]
    /// Those of them with edits that are left to the next sync.
    fileprivate var leftScopes: Set<String> = []
    /// Edits that were sent alone, and not answered, with their scopes and names.
    fileprivate var unanswered: [(scope: String, name: RemoteKey, edit: SyncTables.Unanswered)] = []
    /// How many edits the request had for whose answer the remote has asked to wait.
    fileprivate var putOffCount: Int?
    /// Whether an edit is sent alone, behind all others.
    fileprivate var hasSuspect = false

    fileprivate mutating func isSentEnough(_ name: RemoteKey) { sends[name] = SyncEngine.mostSends }

    /// Leaves edits of a scope that has failed to the next sync.
    fileprivate mutating func leave(_ mutations: some Sequence<Mutation>, of scope: String) {
      for mutation in mutations { isSentEnough(mutation.key) }
      leftScopes.insert(scope)
    }

    /// Adds the edit of a request that has one and was not answered.
    fileprivate mutating func addUnanswered(
      _ request: PushRequest, in flight: Flight, _ reason: String
    ) {
      guard let mutation = request.mutations.first,
        let (collection, key) = flight.places[mutation.key]
      else { return }
      isSentEnough(mutation.key)
      let edit = SyncTables.Unanswered(
        collection: collection, key: key, mutation: mutation.id, reason: reason)
      unanswered.append((request.scope, mutation.key, edit))
    }
  }

  /// A request, and the answer to it.
  private struct Exchange: Sendable {
    let request: PushRequest
    let flight: Flight
    var answer: Answer?
  }

  private struct Answer: Sendable {
    let results: Result<[PushResult], any Error>
    /// How long it took.
    let wait: Duration
  }

  /// Sends what is due.
  func push(_ facts: RemoteFacts, _ course: inout Course) async throws {
    while true {
      let due = try tables.dueEdits().filter {
        course.sends[$0.name, default: 0] < Self.mostSends
          && course.waitsForPull?.contains($0.name) != true
      }
      guard let last = due.last else { return }
      course.hasSuspect = course.hasSuspect || last.isSuspected
      if course.sends.isEmpty {
        demoted.withLock { if !$0.isEmpty { $0.formIntersection(due.map(\.name)) } }
      }
      // Those that nobody answered alone come behind the others, that these are not kept by a dozen of them.
      let demoted = demoted.withLock { $0 }
      let isDemoted = { (edit: DueEdit) in demoted.contains(edit.name) }
      let ordered = demoted.isEmpty ? due : due.filter { !isDemoted($0) } + due.filter(isDemoted)
      try await send(ordered, facts, &course)
    }
  }

  /// Notes which edits were not answered in a sync that has sent everything.
  ///
  /// - Throws: Why they were not, unless others were: then it is these edits that are at fault.
  func end(_ course: inout Course) throws {
    try noteUnanswered(&course)
    for (scope, failure) in course.failedScopes.sorted(by: { $0.key < $1.key })
    where course.answeredScopes.isEmpty || course.leftScopes.contains(scope) {
      throw failure
    }
    if course.answeredScopes.isEmpty, let failure = course.failure { throw failure }
  }

  /// Notes which edits were not answered although others were.
  ///
  /// A remote that asks to wait, or that takes long to answer nothing, is not asked again in the same sync, so that
  /// what it cannot answer is not found there by halves. It is found by the next syncs: each that comes to nothing
  /// makes requests half as large, and an edit that is put off alone, again and again, is sent behind the others from
  /// then on. It is one at a time, as all are put off where a remote is out of order for long.
  func noteUnanswered(_ course: inout Course) throws {
    let failed = course.failedScopes
    let edits = course.unanswered.filter {
      failed[$0.scope] == nil || course.slowScopes[$0.scope] != nil
    }.map(\.edit)
    let last = course.unanswered.filter { failed[$0.scope] != nil }.map(\.name)
    course.unanswered = []
    demoted.withLock { $0.formUnion(last) }
    slowSizes.withLock { sizes in
      for scope in course.answeredScopes { sizes[scope] = nil }
      for (scope, count) in course.slowScopes { sizes[scope] = max(1, count / 2) }
    }
    if !course.answeredScopes.isEmpty {
      putOff.withLock { $0 = PutOff() }
      return try tables.noteFailure(of: edits)
    }
    guard let count = course.putOffCount else { return }
    let isRepeated = putOff.withLock { putOff in
      putOff.syncCount += 1
      if putOff.syncCount > 1 { putOff.mostMutations = max(1, count / 2) }
      return putOff.syncCount > 1
    }
    if isRepeated, !course.hasSuspect { try tables.noteFailure(of: edits) }
  }

  /// What is known of pushes that the remote put off, while it answers none.
  struct PutOff {
    /// Syncs in a row that came to nothing.
    fileprivate var syncCount = 0
    /// Edits in a request at most.
    fileprivate var mostMutations = Int.max
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
    while true {
      if let ready = line.ready.first {
        guard course.failedScopes[ready.request.scope] != nil else { break }
        course.leave(ready.request.mutations, of: ready.request.scope)
        line.ready.removeFirst()
        continue
      }
      guard let first = line.due.first else { return nil }
      // An edit that may be why an answer is missing is sent alone.
      if first.isSuspected, line.underWayCount > 0 { return nil }
      try checkGoesOn()
      let leftCount = line.due.count + line.underWayEditCount
      let flight = try tables.begin(
        line.due.prefix(first.isSuspected ? 1 : mutationCount(facts)),
        mostByteCount: facts.maximumPushByteCount)
      // Behind it, so that whoever follows the edits sees them as sent.
      enter(.pushing(leftCount))
      for edit in line.due.prefix(flight.visitedCount) { course.sends[edit.name, default: 0] += 1 }
      for name in flight.waiting { course.isSentEnough(name) }
      for name in flight.moving {
        if course.waitsForPull == nil { course.isSentEnough(name) }
        course.waitsForPull?.insert(name)
      }
      line.due = line.due.dropFirst(flight.visitedCount)
      line.ready = flight.requests.flatMap(parts).map { Exchange(request: $0, flight: flight) }
    }
    let next = line.ready.removeFirst()
    line.underWayCount += 1
    line.underWayEditCount += next.request.mutations.count
    return next
  }

  /// A request as its scope takes it, which may have let us wait for a larger one.
  private func parts(_ request: PushRequest) -> [PushRequest] {
    let size = slowSizes.withLock { $0[request.scope] ?? .max }
    guard request.mutations.count > size else { return [request] }
    return stride(from: 0, to: request.mutations.count, by: size).map { start in
      PushRequest(
        scope: request.scope, mutations: Array(request.mutations[start...].prefix(size)))
    }
  }

  /// How many edits a request has at most.
  private func mutationCount(_ facts: RemoteFacts) -> Int {
    max(1, min(facts.maximumMutationCount, putOff.withLock { $0.mostMutations }))
  }

  private func answer(to request: PushRequest) async -> Answer {
    let start = clock.elapsed
    let results: Result<[PushResult], any Error>
    do {
      results = .success(try await asking { try await remote.push(request) })
    } catch {
      results = .failure(error)
    }
    return Answer(results: results, wait: clock.elapsed - start)
  }

  /// Saves what has come of a request.
  ///
  /// - Parameter isEnding: Whether the sync is about to fail, so that nothing more is asked.
  private func take(
    _ exchange: Exchange, _ course: inout Course, isEnding: Bool
  ) async throws {
    guard let answer = exchange.answer else { return }
    if isEnding, case .failure = answer.results { return }
    do {
      try await settle(exchange.request, answer, of: exchange.flight, &course)
    } catch RemoteError.forbidden(let reason) {
      course.forbidden[exchange.request.scope] = reason
      for mutation in exchange.request.mutations { course.isSentEnough(mutation.key) }
    }
  }

  /// How many requests of a scope without an answer are sent in halves while none has one: enough to come down to one
  /// edit of a large request and back, and too few to knock at a remote that takes no pushes for long.
  private static let mostFailures = 24
  /// After such a wait without an answer the edits of a scope are left to the next sync: what others have changed must
  /// not wait for one deadline after the other.
  static let longWait = Duration.seconds(10)

  /// Saves the answer to a request; where the remote has none, although it answers others, sends it in halves, so
  /// that one edit that nobody can answer is found and set aside.
  private func settle(
    _ request: PushRequest, _ answer: Answer, of flight: Flight, _ course: inout Course
  ) async throws {
    do {
      let results = try answer.results.get()
      try tables.finish(request, results, of: flight, mend: options.mend)
      course.answeredScopes.insert(request.scope)
      for (mutation, result) in zip(request.mutations, results) {
        if case .conflict = result { course.waitsForPull?.insert(mutation.key) }
      }
      // A remote that does nothing with any of them is asked once more, and then by the next sync.
      if results.allSatisfy({ $0 == .retry }) {
        for mutation in request.mutations {
          course.sends[mutation.key, default: 0] += Self.mostSends / 2 - 1
        }
      }
    } catch RemoteError.tooLarge(let reason) {
      guard request.mutations.count > 1 else {
        try tables.hold(
          request, in: flight, code: SyncTables.tooLarge, reason, isUnknown: true,
          mend: options.mend)
        return
      }
      try await sendHalves(request, of: flight, &course)
    } catch let error as RemoteError where error.reasonOfNoAnswer != nil {
      // Where nothing else is answered either, the edits are not at fault.
      let scope = request.scope
      course.failureCounts[scope, default: 0] += 1
      guard (try? await asking { try await self.remote.facts() }) != nil else { throw error }
      let isSlow = answer.wait >= Self.longWait
      if isSlow
        || !course.answeredScopes.contains(scope)
          && course.failureCounts[scope, default: 0] >= Self.mostFailures
      {
        if isSlow {
          course.slowScopes[scope] = max(
            request.mutations.count, course.slowScopes[scope] ?? 0)
        }
        // It answers pulls, perhaps, and pushes of other scopes.
        course.failedScopes[scope] = error
        if request.mutations.count == 1 {
          course.addUnanswered(request, in: flight, error.reasonOfNoAnswer ?? "")
        } else {
          course.leave(request.mutations, of: scope)
        }
        return
      }
      guard request.mutations.count < 2 else {
        // The remote may have taken all of it.
        var flight = flight
        flight.repeated.formUnion(request.mutations.map(\.key))
        return try await sendHalves(request, of: flight, &course)
      }
      course.failure = error
      course.addUnanswered(request, in: flight, error.reasonOfNoAnswer ?? "")
    } catch RemoteError.unavailable(let reason, let pause) {
      course.putOffCount = request.mutations.count
      if request.mutations.count == 1 { course.addUnanswered(request, in: flight, reason) }
      throw RemoteError.unavailable(reason, retryAfter: pause)
    }
  }

  private func sendHalves(
    _ request: PushRequest, of flight: Flight, _ course: inout Course
  ) async throws {
    let middle = request.mutations.count / 2
    for half in [request.mutations[..<middle], request.mutations[middle...]] {
      let request = PushRequest(scope: request.scope, mutations: Array(half))
      if course.failedScopes[request.scope] != nil {
        course.leave(half, of: request.scope)
        continue
      }
      try await settle(request, await answer(to: request), of: flight, &course)
    }
  }
}

extension RemoteError {
  /// Why a push has no answer although the remote may have one for others: one edit may be what it stumbles over. Nil
  /// for other errors.
  fileprivate var reasonOfNoAnswer: String? {
    switch self {
    case .unavailable(let reason, retryAfter: nil), .malformed(let reason): reason
    default: nil
    }
  }

  /// Whether a remote that has answered a pull of one scope so may well answer that of another one.
  var mayBeOfOneScope: Bool {
    switch self {
    case .unavailable(_, retryAfter: nil), .malformed: true
    default: false
    }
  }

  /// Whether a remote that has answered a push so may well answer a pull.
  var isOfPushAlone: Bool {
    switch self {
    case .unavailable(_, retryAfter: .some), .malformed: true
    default: false
    }
  }
}
