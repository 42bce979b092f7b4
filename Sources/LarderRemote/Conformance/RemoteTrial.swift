internal import Larder
internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The clients of a run, and what its promises are tried with.
struct RemoteTrial: Sendable {
  let clients: [any Remote]
  let facts: RemoteFacts
  let scope: String
  let otherScope: String?
  let restart: (@Sendable () async throws -> Void)?
  let roundCount: Int
  private let run = UUID.random().uuidString.lowercased().prefix(8)
  private let state: Locked<State>

  private struct State {
    var random: SeededNumbers
    var keyCount = 0
    var promiseCount = 0
    var keys: Set<RemoteKey> = []
  }

  init(
    clients: [any Remote], facts: RemoteFacts, scope: String, otherScope: String?,
    restart: (@Sendable () async throws -> Void)?, seed: UInt64, roundCount: Int
  ) {
    (self.clients, self.facts, self.scope) = (clients, facts, scope)
    (self.otherScope, self.restart, self.roundCount) = (otherScope, restart, roundCount)
    state = Locked(State(random: SeededNumbers(state: seed)))
  }

  /// The next promise.
  func begin() -> RemoteTrial {
    state.withLock { $0.promiseCount += 1 }
    return self
  }

  var first: any Remote { clients[0] }
  var second: any Remote { clients[1] }

  func number(_ range: ClosedRange<Int>) -> Int {
    state.withLock { Int.random(in: range, using: &$0.random) }
  }

  /// A key that nobody has used.
  func newKey(_ text: String = "") -> RemoteKey {
    state.withLock { state in
      state.keyCount += 1
      let key = RemoteKey(
        "conformance", "\(run)-\(state.promiseCount)-\(state.keyCount)\(text)")
      state.keys.insert(key)
      return key
    }
  }

  /// How many keys were given out.
  var keyCount: Int { state.withLock { $0.keys.count } }

  func isOurs(_ key: RemoteKey) -> Bool { state.withLock { $0.keys.contains(key) } }

  /// Waits, as an engine does, while the server asks for it.
  static func whenAvailable<Answer>(
    _ body: () async throws -> Answer
  ) async throws -> Answer {
    for _ in 0..<20 {
      do {
        return try await body()
      } catch RemoteError.unavailable(_, let pause?) {
        try await Task.sleep(for: min(pause, .seconds(2)))
      }
    }
    return try await body()
  }

  // MARK: Writing

  func document(_ text: String) -> RemoteDocument { RemoteDocument(json: Data(text.utf8)) }

  func mutation(
    _ key: RemoteKey, _ base: String? = nil, _ document: RemoteDocument?
  ) -> Mutation {
    Mutation(id: UUID.random().uuidString.lowercased(), key: key, base: base, document: document)
  }

  /// Sends mutations as an engine does: again, under their ids, where there was no answer for them.
  func push(
    _ client: any Remote, _ mutations: [Mutation], to scope: String? = nil
  ) async throws -> [PushResult] {
    var results = [PushResult](repeating: .retry, count: mutations.count)
    for _ in 0..<20 {
      let open = results.indices.filter { results[$0] == .retry }
      if open.isEmpty { break }
      let sent = open.map { mutations[$0] }
      let answer: [PushResult]
      do {
        answer = try await client.push(PushRequest(scope: scope ?? self.scope, mutations: sent))
      } catch RemoteError.unavailable(_, let pause) {
        try await Task.sleep(for: min(pause ?? .milliseconds(50), .seconds(2)))
        continue
      }
      guard answer.count == sent.count else {
        throw BrokenPromise("\(answer.count) results came for \(sent.count) mutations")
      }
      for (index, result) in zip(open, answer) { results[index] = result }
    }
    return results
  }

  func push(
    _ client: any Remote, _ mutation: Mutation, to scope: String? = nil
  ) async throws -> PushResult {
    try await push(client, [mutation], to: scope)[0]
  }

  /// Stores or deletes a document, which nobody else writes; its revision.
  @discardableResult
  func store(
    _ key: RemoteKey, _ base: String? = nil, _ document: RemoteDocument?, in scope: String? = nil,
    by client: (any Remote)? = nil
  ) async throws -> String {
    let sent = mutation(key, base, document)
    let result = try await push(client ?? first, sent, to: scope)
    return try accepted(result, "\(key), which nobody else writes,")
  }

  func accepted(_ result: PushResult, _ what: String) throws -> String {
    guard case .accepted(let revision) = result else {
      throw BrokenPromise("\(what) should be accepted, and came back as \(result.phrase)")
    }
    guard (1...200).contains(revision.utf8.count) else {
      throw BrokenPromise("the revision of \(what) has \(revision.utf8.count) bytes, not 1 to 200")
    }
    return revision
  }

  // MARK: Reading

  /// A page, which keeps what every page has to.
  func page(_ client: any Remote, _ request: PullRequest) async throws -> PullAnswer {
    let answer = try await Self.whenAvailable { try await client.pull(request) }
    if answer.changes.count > request.limit {
      throw BrokenPromise("\(answer.changes.count) changes came with a limit of \(request.limit)")
    }
    let keys = Set(answer.changes.map(\.key))
    if keys.count != answer.changes.count {
      throw BrokenPromise("a page has a document twice: \(answer.changes.map(\.key))")
    }
    if answer.hasMore, answer.cursor == request.cursor {
      throw BrokenPromise("there is more, and the cursor is the one that was sent")
    }
    return answer
  }

  /// Reads to the end, and notes in `copy` what is ours; the cursor there.
  func read(
    _ client: (any Remote)? = nil, _ cursor: String? = nil, in scope: String? = nil,
    limit: Int? = nil, into copy: inout RemoteCopy
  ) async throws -> String {
    var cursor = cursor
    while true {
      let answer = try await page(
        client ?? second,
        PullRequest(
          scope: scope ?? self.scope, cursor: cursor, limit: limit ?? facts.maximumChangeCount))
      cursor = answer.cursor
      copy.take(answer.changes.filter { isOurs($0.key) })
      if !answer.hasMore { return answer.cursor }
    }
  }

  /// The cursor behind everything that is there now.
  func end(in scope: String? = nil) async throws -> String {
    var copy = RemoteCopy()
    return try await read(in: scope, into: &copy)
  }

  /// Reads on until the copy has what it should; a server may keep a change back until no older one can come.
  func read(
    _ client: (any Remote)? = nil, _ cursor: String?, in scope: String? = nil, limit: Int? = nil,
    into copy: inout RemoteCopy, until isThere: (RemoteCopy) -> Bool
  ) async throws -> String {
    var cursor = cursor
    for attempt in 0..<200 {
      cursor = try await read(client, cursor, in: scope, limit: limit, into: &copy)
      if isThere(copy) { break }
      try await Task.sleep(for: .milliseconds(attempt < 100 ? 5 : 50))
    }
    return cursor ?? ""
  }

  /// Deletes what the run has made; how many documents could not be.
  func removeAll() async -> Int {
    var leftOver: Set<RemoteKey> = []
    for scope in [scope, otherScope].compactMap(\.self) {
      var copy = RemoteCopy()
      guard (try? await read(in: scope, into: &copy)) != nil else { continue }
      let mutations = copy.versions.compactMap { key, version in
        version.document == nil ? nil : mutation(key, version.revision, nil)
      }
      for start in stride(from: 0, to: mutations.count, by: facts.maximumMutationCount) {
        let some = Array(mutations[start...].prefix(facts.maximumMutationCount))
        let results = try? await push(first, some, to: scope)
        for (index, mutation) in some.enumerated() {
          if case .accepted = results?[index] { continue }
          leftOver.insert(mutation.key)
        }
      }
    }
    return leftOver.count
  }
}

/// What a client has read.
struct RemoteCopy: Sendable, Equatable {
  /// Documents and tombstones.
  var versions: [RemoteKey: RemoteVersion] = [:]
  /// What has left the scope.
  var left: Set<RemoteKey> = []

  mutating func take(_ changes: [RemoteChange]) {
    for change in changes {
      left.remove(change.key)
      switch change.content {
      case .document(let document):
        versions[change.key] = RemoteVersion(revision: change.revision, document: document)
      case .deleted:
        versions[change.key] = RemoteVersion(revision: change.revision, document: nil)
      case .left:
        versions[change.key] = nil
        left.insert(change.key)
      }
    }
  }

  func has(_ key: RemoteKey, _ revision: String) -> Bool { versions[key]?.revision == revision }
}

extension PushResult {
  /// For a report, without the whole document.
  var phrase: String {
    switch self {
    case .accepted(let revision): "accepted as \(revision)"
    case .conflict(nil): "a conflict with nothing"
    case .conflict(let version?):
      "a conflict with \(version.revision)\(version.document == nil ? ", deleted" : "")"
    case .rejected(let code, let reason): "rejected: \(code), \(reason)"
    case .retry: "to be sent again, twenty times"
    }
  }
}

/// Numbers that come again with the same seed: SplitMix64.
struct SeededNumbers: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
