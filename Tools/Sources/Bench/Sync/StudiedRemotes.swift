import Foundation
import LarderRemote

/// A remote that nobody reaches.
struct ClosedRemote: Remote {
  func pull(_ request: PullRequest) async throws -> PullAnswer {
    throw RemoteError.unavailable("closed")
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    throw RemoteError.unavailable("closed")
  }
}

/// Notes what another remote is asked.
final class RecordingRemote: Remote {
  private let remote: any Remote
  private let lock = NSLock()
  private nonisolated(unsafe) var pulls: [PullRequest] = []
  private nonisolated(unsafe) var calls = 0
  private nonisolated(unsafe) var pullStart: ContinuousClock.Instant?

  init(_ remote: any Remote) { self.remote = remote }

  var cursors: [PullRequest] { lock.withLock { pulls } }
  var callCount: Int { lock.withLock { calls } }
  /// When the first pull was asked for: behind the push of a sync, whose answers are saved by then.
  var firstPull: ContinuousClock.Instant? { lock.withLock { pullStart } }

  func reset() {
    lock.withLock {
      pulls = []
      calls = 0
      pullStart = nil
    }
  }

  private func note(_ request: PullRequest? = nil) {
    lock.withLock {
      calls += 1
      guard let request else { return }
      pullStart = pullStart ?? .now
      pulls.append(request)
    }
  }

  func facts() async throws -> RemoteFacts {
    note()
    return try await remote.facts()
  }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    note(request)
    return try await remote.pull(request)
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    note()
    return try await remote.push(request)
  }
}
