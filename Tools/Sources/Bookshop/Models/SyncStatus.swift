/// How the reader's stars and basket stand with those on the reader's other devices.
enum SyncStatus: Equatable, Sendable {
  /// The server has everything.
  case synced
  /// Something is on its way, or about to be.
  case sending(Int)
  /// The server cannot be reached; so many edits wait.
  case offline(Int)
  /// The server refuses; so many edits wait.
  case refused(Int)
}

extension SyncStatus: CustomStringConvertible {
  var description: String {
    switch self {
    case .synced: "synced"
    case .sending(let count): count == 0 ? "syncing…" : "\(count) to send"
    case .offline(let count): count == 0 ? "offline" : "offline, \(count) to send"
    case .refused(let count): count == 0 ? "not synced" : "not synced, \(count) to send"
    }
  }
}
