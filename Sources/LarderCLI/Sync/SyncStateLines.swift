internal import LarderRemote

/// The lines that `larder sync --watch` prints: one where a state says something new.
struct SyncStateLines {
  private var last: String?
  private var counted = SyncCounts()

  /// - Parameter counts: What was done so far.
  /// - Returns: Nil while something is under way, and where nothing is new.
  mutating func line(for state: SyncState, _ counts: SyncCounts) -> String? {
    guard let sentence = Self.sentence(state) else { return nil }
    let done = Self.list([
      (counts.pulled - counted.pulled, "pulled"), (counts.pushed - counted.pushed, "pushed"),
      (counts.merged - counted.merged, "merged"),
    ])
    let waiting = Self.list([
      (state.pendingCount, "pending"), (state.conflictCount, "in conflict"),
      (state.rejectedCount, "rejected"),
    ])
    let standing = sentence + waiting
    guard !done.isEmpty || standing != last else { return nil }
    counted = counts
    last = standing
    return sentence + done + waiting
  }

  private static func list(_ counts: [(count: Int, word: String)]) -> String {
    counts.filter { $0.count > 0 }.map { ", \(Console.grouped($0.count)) \($0.word)" }.joined()
  }

  private static func sentence(_ state: SyncState) -> String? {
    switch state.phase {
    // Before the first sync nothing is known.
    case .idle: state.lastSynced == nil ? nil : "in step"
    case .offline(let reason): "offline (\(reason)); it tries again by itself"
    case .needsSignIn: "the server does not know the token; start again with another --token"
    case .forbidden(let scope): "this user may not use the scope \(scope.inQuotes)"
    case .stopped(let reason): "the server cannot be used: \(reason)"
    case .pulling, .pushing, .paused: nil
    }
  }
}
