internal import LarderLMDB
internal import LarderRemote

/// The remote of one user of an ``InMemoryRemote``.
struct InMemoryClient: Remote {
  let server: InMemoryRemote
  let user: String

  func facts() async throws -> RemoteFacts {
    try await server.perform(.facts) { state, _ in state.facts }
  }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    try await server.perform(.pull(request)) { state, _ in
      try requireReadable(request.scope, state)
      guard request.limit > 0 else {
        throw RemoteError.malformed("the limit is a whole number above zero")
      }
      var request = request
      request.limit = min(request.limit, state.facts.maximumChangeCount)
      return try state.tables.pull(request)
    }
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    try await server.perform(.push(request)) { state, fault in
      try requireReadable(request.scope, state)
      guard state.access[user]?.writable.contains(request.scope) ?? true else {
        throw RemoteError.forbidden("\(user) may not write into \(request.scope)")
      }
      let facts = state.facts
      guard request.mutations.count <= facts.maximumMutationCount else {
        throw RemoteError.tooLarge("a push has \(facts.maximumMutationCount) mutations at most")
      }
      let byteCount = request.mutations.reduce(0) { $0 + ($1.document?.json.count ?? 0) }
      guard byteCount <= facts.maximumPushByteCount else {
        throw RemoteError.tooLarge("a push has \(facts.maximumPushByteCount) bytes at most")
      }
      var most = Int.max
      if case .putsOff(let count) = fault { most = count }
      let access = state.access[user]
      return request.mutations.enumerated().map { index, mutation in
        guard index < most else { return .retry }
        return state.tables.apply(mutation, to: request.scope, of: user, access)
      }
    }
  }

  func count(_ scope: String) async throws -> Int? {
    try await server.perform(.count(scope)) { state, _ in
      try requireReadable(scope, state)
      return state.facts.hasCount ? state.tables.documents(in: scope).count : nil
    }
  }

  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await server.perform(.manifest(request)) { state, _ in
      try requireReadable(request.scope, state)
      let entries = state.tables.documents(in: request.scope)
        .filter { row in request.after.map { $0 < row.key } ?? true }
        .map { ManifestAnswer.Entry($0.key, revision: $0.value.revision) }
        .sorted { $0.key < $1.key }
      let limit = max(request.limit, 1)
      return ManifestAnswer(
        entries: Array(entries.prefix(limit)), hasMore: entries.count > limit)
    }
  }

  func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? {
    let (stream, continuation) = AsyncThrowingStream.makeStream(of: String.self)
    let number = server.state.withLock { state in
      state.listenerCount += 1
      state.listeners[state.listenerCount] = InMemoryListener(
        scopes: Set(scopes), continuation: continuation)
      return state.listenerCount
    }
    continuation.onTermination = { [server] _ in
      server.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
    }
    for scope in scopes { continuation.yield(scope) }
    return stream
  }

  private func requireReadable(_ scope: String, _ state: InMemoryRemote.State) throws {
    guard state.access[user]?.readable.contains(scope) ?? true else {
      throw RemoteError.forbidden("\(user) may not read \(scope)")
    }
  }
}
