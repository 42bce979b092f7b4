internal import LarderLMDB
internal import LarderRemote

/// What a sync has done so far.
struct SyncCounts: Sendable, Equatable {
  /// Changes that came down, without those that were sent from here.
  var pulled = 0
  /// Edits that the server has taken.
  var pushed = 0
  /// Documents that were edited on both sides, and merged.
  var merged = 0
}

/// Counts what passes between an engine and its remote. Safe to use from any thread.
final class SyncTally: Sendable {
  private let state = Locked(State())

  private struct State {
    var counts = SyncCounts()
    /// Revisions of edits that were sent from here, which come back with a pull.
    var own: Set<String> = []
  }

  var counts: SyncCounts { state.withLock { $0.counts } }

  func noteMerge() { state.withLock { $0.counts.merged += 1 } }

  fileprivate func note(_ results: [PushResult]) {
    state.withLock { state in
      for case .accepted(let revision) in results {
        state.counts.pushed += 1
        state.own.insert(revision)
      }
    }
  }

  fileprivate func note(_ changes: [RemoteChange], of collections: Set<String>) {
    state.withLock { state in
      for change in changes where collections.contains(change.key.collection) {
        if state.own.remove(change.revision) == nil { state.counts.pulled += 1 }
      }
    }
  }
}

/// A remote whose answers are counted, and otherwise passed on as they are.
struct CountedRemote: Remote {
  let remote: any Remote
  let collections: Set<String>
  let tally: SyncTally

  func facts() async throws -> RemoteFacts { try await remote.facts() }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    let answer = try await remote.pull(request)
    tally.note(answer.changes, of: collections)
    return answer
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    let results = try await remote.push(request)
    tally.note(results)
    return results
  }

  func hints(_ scopes: [String]) -> AsyncThrowingStream<String, any Error>? { remote.hints(scopes) }

  func count(_ scope: String) async throws -> Int? { try await remote.count(scope) }

  func manifest(_ request: ManifestRequest) async throws -> ManifestAnswer {
    try await remote.manifest(request)
  }
}
