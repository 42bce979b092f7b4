internal import LarderRemote
internal import LarderSync

/// Keeps the reader's stars and basket in step with those on the reader's other devices.
///
/// It reads and writes the same repositories as the others, below them: who gives stars does not know of it.
@MainActor protocol SyncService: AnyObject {
  /// Begins, and returns at once.
  func start()
  /// How things stand, now and whenever that changes. Gives nothing where there is no server.
  func statuses() -> EventStream<SyncStatus>
}

final class EngineSync: SyncService {
  private let engine: SyncEngine?
  private var running: Task<Void, Never>?

  /// - Parameter engine: Nil where there is no server.
  init(engine: SyncEngine?) { self.engine = engine }

  deinit { running?.cancel() }

  func start() {
    guard running == nil, let engine else { return }
    running = Task { await engine.run() }
  }

  func statuses() -> EventStream<SyncStatus> {
    guard let engine else { return EventStream { { nil } } }
    return EventStream {
      let states = States(engine.states)
      return { await states.next().map { .value(SyncStatus($0)) } }
    }
  }
}

/// One iteration of an engine's states.
private struct States: Sendable {
  let states: AsyncStream<SyncState>

  init(_ states: AsyncStream<SyncState>) { self.states = states }

  /// An iterator has no state of its own: each takes what comes next.
  func next() async -> SyncState? {
    var iterator = states.makeAsyncIterator()
    return await iterator.next()
  }
}

extension SyncStatus {
  init(_ state: SyncState) {
    let count = state.pendingCount
    self =
      switch state.phase {
      case .idle, .paused: count == 0 ? .synced : .sending(count)
      case .pulling, .pushing: .sending(count)
      case .offline: .offline(count)
      case .needsSignIn, .forbidden, .stopped: .refused(count)
      }
  }
}
