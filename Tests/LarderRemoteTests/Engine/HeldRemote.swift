import LarderLMDB
import LarderRemote
import LarderTestKit
import LarderTesting

/// A remote that does at once what it is asked, and whose answers to pushes wait until a test lets them go.
final class HeldRemote: Remote {
  private struct State {
    var requests: [PushRequest] = []
    var underWayCount = 0
    var mostUnderWay = 0
    var held: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// What was decided before somebody waited for it.
    var decided: [Int: Result<Void, any Error>] = [:]
    var isOpen = false
  }

  let server: InMemoryRemote
  private let state = Locked(State())

  /// - Parameter most: Pushes at once at most; each has two edits.
  init(_ server: InMemoryRemote, most: Int = 2) {
    var facts = RemoteFacts.ofInMemoryRemote
    facts.maximumMutationCount = 2
    facts.maximumConcurrentPushCount = most
    server.currentFacts = facts
    self.server = server
  }

  /// The pushes so far, in the order in which they came.
  var requests: [PushRequest] { state.withLock { $0.requests } }
  var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

  func waitForRequests(_ count: Int) async throws -> [PushRequest] {
    guard try await eventually({ requests.count >= count }) else {
      throw Missing(description: "\(requests.count) pushes came, and not \(count)")
    }
    return requests
  }

  struct Missing: Error { let description: String }

  /// Lets the answer to a push go, the first being 0; or has it fail.
  func release(_ number: Int, _ result: Result<Void, any Error> = .success(())) {
    let held = state.withLock { state in
      if state.decided[number] == nil { state.decided[number] = result }
      return state.held.removeValue(forKey: number)
    }
    held?.resume(with: result)
  }

  /// Lets all answers go from now on.
  func open() {
    let held = state.withLock { state in
      state.isOpen = true
      defer { state.held = [:] }
      return Array(state.held.values)
    }
    for answer in held { answer.resume() }
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    let number = state.withLock { state in
      state.requests.append(request)
      state.underWayCount += 1
      state.mostUnderWay = max(state.mostUnderWay, state.underWayCount)
      return state.requests.count - 1
    }
    defer { state.withLock { $0.underWayCount -= 1 } }
    let results = try await server.push(request)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<Void, any Error>? in
          if let result = state.decided[number] { return result }
          if state.isOpen { return .success(()) }
          state.held[number] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      release(number, .failure(CancellationError()))
    }
    return results
  }

  func facts() async throws -> RemoteFacts { try await server.facts() }
  func pull(_ request: PullRequest) async throws -> PullAnswer { try await server.pull(request) }
  func count(_ scope: String) async throws -> Int? { try await server.count(scope) }
  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await server.manifest(request)
  }
}
