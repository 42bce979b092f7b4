/// What is timed by a study of its own, because it needs tasks or other processes; its rows stand in
/// the same reports. The raw value is its name on the command line and in reports.
enum StudiedOperation: String, CaseIterable, Sendable {
  /// From the return of a save to the consumer that holds the difference, for the contacts of one
  /// city in their order; nothing where it has it before. SQLite runs its query again.
  case watchRelevant = "watch-relevant-change"

  /// The same from before the save.
  case watchRelevantWithSave = "watch-relevant-change-with-save"

  /// The same, less a save that nobody watches: how much later than such a save returns the consumer
  /// holds the difference, whoever did the work of it.
  case watchRelevantBeyondSave = "watch-relevant-change-beyond-save"

  /// What each of 1,000 watchers of ranges adds to a save that concerns none of them.
  case watchIrrelevant = "watch-irrelevant-change"

  /// What 1,000 watchers of one city each, all different, add together to such a save.
  case watchDistinct = "watch-1000-distinct-cities"

  /// What each of 10,000 such watchers adds.
  case watchIdle = "watch-10000-idle"

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
