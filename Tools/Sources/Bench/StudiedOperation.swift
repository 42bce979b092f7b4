/// What is timed by a study of its own, because it needs tasks or other processes; its rows stand in
/// the same reports. The raw value is its name on the command line and in reports.
enum StudiedOperation: String, CaseIterable, Sendable {
  /// From before a save to the consumer that holds the difference, for the contacts of one city in their
  /// order. SQLite runs its query again.
  case watchRelevant = "watch-relevant-change"

  /// A save beside which nobody watches: what the other rows of watching are to be held against.
  case watchNone = "save-unwatched"

  /// A save that concerns none of 1,000 watchers of ranges, until one that it does concern has heard of
  /// the last.
  case watchIrrelevant = "save-beside-1000-watched-ranges"

  /// The same beside 1,000 watchers of one city each, all different.
  case watchDistinct = "save-beside-1000-watched-cities"

  /// The same beside 10,000 of them.
  case watchIdle = "save-beside-10000-watched-cities"

  /// From the return of a save in another process to the consumer, for the slowest of a hundred.
  case watchAcrossProcesses = "watch-across-processes-p99"

  /// From before a save that changes one document and moves it, to the consumer of a stream of all
  /// documents that holds the next result and still has the one before.
  case streamRelevant = "stream-relevant-change"

  /// The same for a stream of differences, which makes no results.
  case streamDifference = "stream-difference"

  /// The same save where nobody listens: what of both is the save alone.
  case streamUnwatched = "stream-unwatched-save"

  /// Saves of one document, each durable before its task goes on, by so many tasks at once; per
  /// document. In C they stand one after another.
  case durable1 = "durable-write-1-task"
  case durable8 = "durable-write-8-tasks"
  case durable64 = "durable-write-64-tasks"
  case durable512 = "durable-write-512-tasks"

  static let durableWrites: [StudiedOperation] = [.durable1, .durable8, .durable64, .durable512]
  static let streaming: [StudiedOperation] = [
    .streamRelevant, .streamDifference, .streamUnwatched,
  ]
  static let watching = allCases.filter { !durableWrites.contains($0) && !streaming.contains($0) }

  var taskCount: Int? {
    switch self {
    case .durable1: 1
    case .durable8: 8
    case .durable64: 64
    case .durable512: 512
    default: nil
    }
  }
}
