import LarderRemote
import LarderTestKit
import LarderTesting

@testable import LarderLMDB

/// When a process ends.
final class Lifetime: Sendable {
  private struct State {
    /// Moments until its end; nil where it goes on.
    var left: Int?
    var isOver = false
  }

  private let state = Locked(State())

  func begin(_ moments: Int?) { state.withLock { $0 = State(left: moments) } }

  /// - Returns: Whether it was over.
  func end() -> Bool {
    state.withLock { state in
      defer { state = State() }
      return state.isOver
    }
  }

  /// Another moment; false where it is over.
  func passes() -> Bool {
    state.withLock { state in
      guard let left = state.left else { return true }
      if left == 0 { state.isOver = true }
      state.left = max(0, left - 1)
      return !state.isOver
    }
  }
}

/// The server as one process sees it until it ends: it does not hear what comes after that. The server may end too, in
/// the middle of what it was sent.
struct MortalRemote: Remote {
  let server: InMemoryRemote
  let life: Lifetime
  let weather: Weather
  let departures: Departures
  let judge: Judge?

  /// What a proxy between them lets through, of which the server's facts do not tell: more than any document needs
  /// whose title is short.
  private static let maximumByteCount = 800

  private func living<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
    // Nothing is done after this error but to count what is pending.
    guard life.passes() else { throw CancellationError() }
    let answer: Answer
    do {
      answer = try await body()
    } catch {
      guard life.passes() else { throw CancellationError() }
      throw error
    }
    guard life.passes() else { throw CancellationError() }
    return answer
  }

  func facts() async throws -> RemoteFacts { try await living { try await server.facts() } }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    try await living { try await server.pull(request) }
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    try await living {
      let byteCount = request.mutations.reduce(0) { $0 + ($1.document?.json.count ?? 0) }
      guard byteCount <= Self.maximumByteCount else {
        throw RemoteError.tooLarge("a proxy takes \(Self.maximumByteCount) bytes at most")
      }
      if let count = weather.endsServer(after: request.mutations.count) {
        let begun = PushRequest(
          scope: request.scope, mutations: Array(request.mutations.prefix(count)))
        judge?.noteSeen(begun)
        _ = try await departures.watching(begun) { try await server.push(begun) }
        throw RemoteError.unavailable("the server has ended")
      }
      let judged = judge?.split(request) ?? Judged(sent: request, isRejected: [])
      if judged.sent.mutations.isEmpty { return judged.joined([]) }
      return judged.joined(
        try await departures.watching(judged.sent) { try await server.push(judged.sent) })
    }
  }

  func count(_ scope: String) async throws -> Int? {
    try await living { try await server.count(scope) }
  }

  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await living { try await server.manifest(request) }
  }
}

/// Live documents that a push took from one scope into another. Only the server's backend moves documents here, so no
/// edit may.
final class Departures: Sendable {
  private let server: InMemoryRemote
  private let scopes: [String]
  private let asked = Locked<Set<String>>([])
  private let noted = Locked<[String]>([])

  init(_ server: InMemoryRemote, scopes: [String]) { (self.server, self.scopes) = (server, scopes) }

  var problems: [String] { noted.withLock { $0 } }

  /// Somebody has saved a document whose edit was set aside because the document had left: once it may be taken back.
  func allow(_ id: String) { asked.withLock { _ = $0.insert(id) } }

  func watching<Answer>(
    _ request: PushRequest, _ push: () async throws -> Answer
  ) async throws -> Answer {
    let keys = request.mutations.map(\.key)
    let before = places(keys)
    defer {
      let after = places(keys)
      for (key, scope) in before {
        guard let now = after[key], now != scope else { continue }
        if asked.withLock({ $0.remove(key.key) }) == nil {
          noted.withLock { $0.append("a push took \(key) from \(scope) to \(now)") }
        }
      }
    }
    return try await push()
  }

  private func places(_ keys: [RemoteKey]) -> [RemoteKey: String] {
    var places: [RemoteKey: String] = [:]
    for scope in scopes {
      let there = server.documents(in: scope)
      for key in keys where there[key]?.document != nil { places[key] = scope }
    }
    return places
  }
}

/// Refuses some edits before anybody looks at them, and never one that may have been accepted.
final class Judge: Sendable {
  private let weather: Weather
  private let seen = Locked<Set<String>>([])

  init(_ weather: Weather) { self.weather = weather }

  func noteSeen(_ request: PushRequest) {
    seen.withLock { $0.formUnion(request.mutations.map(\.id)) }
  }

  func split(_ request: PushRequest) -> Judged {
    let isRejected = request.mutations.map { mutation in
      !seen.withLock { $0.contains(mutation.id) } && weather.rejects()
    }
    let sent = PushRequest(
      scope: request.scope,
      mutations: zip(request.mutations, isRejected).filter { !$1 }.map(\.0))
    noteSeen(sent)
    return Judged(sent: sent, isRejected: isRejected)
  }
}

/// A request, and which of its edits go no further.
struct Judged {
  let sent: PushRequest
  let isRejected: [Bool]

  /// The answers to all of them.
  func joined(_ answers: [PushResult]) -> [PushResult] {
    if isRejected.isEmpty { return answers }
    var rest = answers[...]
    return isRejected.map { $0 ? .rejected(code: "closed", reason: "not now") : rest.removeFirst() }
  }
}
