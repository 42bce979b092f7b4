internal import LarderRemote

/// The lines that `larder sync --watch` prints: one where a state says something new.
struct SyncStateLines {
  private var last: String?
  private var counted = SyncCounts()

  /// - Parameter counts: What was done so far.
  /// - Returns: Nil while something is under way, and where nothing is new.
  mutating func line(for state: SyncState, _ counts: SyncCounts) -> String? {
    guard let sentence = Self.sentence(state) else { return nil }
    let waiting = Self.list([
      (state.pendingCount, "pending"), (state.conflictCount, "in conflict"),
      (state.rejectedCount, "rejected"), (state.refusedCount, "that cannot be saved here"),
    ])
    let standing = sentence + waiting
    // What was done is said behind it, and not while more is under way.
    let done = state.phase == .idle && !state.hasDueEdits ? news(counts) : ""
    guard !done.isEmpty || standing != last else { return nil }
    if !done.isEmpty { counted = counts }
    last = standing
    return sentence + done + waiting
  }

  private func news(_ counts: SyncCounts) -> String {
    Self.list([
      (counts.pulled - counted.pulled, "pulled"), (counts.pushed - counted.pushed, "pushed"),
      (counts.merged - counted.merged, "merged"),
    ])
  }

  private static func list(_ counts: [(count: Int, word: String)]) -> String {
    counts.filter { $0.count > 0 }.map { ", \(Console.grouped($0.count)) \($0.word)" }.joined()
  }

  private static func sentence(_ state: SyncState) -> String? {
    switch state.phase {
    // Before the first sync nothing is known.
    case .idle where state.lastSynced == nil: nil
    case .idle: state.hasDueEdits ? "waiting" : "in step"
    case .offline(let reason): "offline (\(reason)); it tries again by itself"
    case .needsSignIn: "the server does not know the token; start again with another --token"
    case .forbidden(let scope): "this user may not use the scope \(scope.inQuotes)"
    case .stopped(let reason): "the server cannot be used: \(reason)"
    case .pulling, .pushing, .paused: nil
    }
  }
}

extension SyncState {
  /// Whether there are edits that go with the next sync.
  fileprivate var hasDueEdits: Bool { pendingCount > conflictCount + rejectedCount }
}
