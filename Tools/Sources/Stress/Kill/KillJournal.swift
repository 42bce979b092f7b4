import CStress
import Foundation

/// What a writer was about to do and what it was told is kept, in memory that outlives it.
struct KillJournal {
  let words: MappedFile

  static let capacity = 1 << 16
  private static let head = 16
  private static let perEntry = 4

  private enum Place {
    static let count = 0
    static let isPaused = 1
    static let stalls = 2
    static let starved = 3
    static let beats = 4
  }

  init(in folder: URL, writer: Int) throws {
    words = try MappedFile(
      folder.appendingPathComponent("journal-\(writer)"),
      wordCount: Self.head + Self.capacity * Self.perEntry)
  }

  /// Writes that were begun.
  var count: Int {
    get { Int(words[Place.count]) }
    nonmutating set { words[Place.count] = UInt64(newValue) }
  }

  /// Whether the writer waits because it was asked to.
  var isPaused: Bool {
    get { words[Place.isPaused] == 1 }
    nonmutating set { words[Place.isPaused] = newValue ? 1 : 0 }
  }

  /// Writes that took more than two seconds although the process itself was not kept waiting.
  var stalls: Int { Int(words[Place.stalls]) }
  func addStall(isStarved: Bool) { words.add(1, at: isStarved ? Place.starved : Place.stalls) }

  /// Counts up while the writer's process is given time.
  var beats: UInt64 { words[Place.beats] }
  func beat() { words.add(1, at: Place.beats) }

  var isFull: Bool { count == Self.capacity }

  func begin(_ operation: KillOperation) -> Int {
    let index = count
    let place = Self.head + index * Self.perEntry
    words[place] = operation.nonce
    words[place + 1] = operation.word
    words[place + 2] = stress_now()
    words[place + 3] = 0
    count = index + 1
    return index
  }

  func acknowledge(_ index: Int) { words[Self.head + index * Self.perEntry + 3] = stress_now() }

  func nanoseconds(of index: Int) -> UInt64 {
    let place = Self.head + index * Self.perEntry
    return words[place + 3] - words[place + 2]
  }

  /// How long the last writes took, on average.
  var recentMicroseconds: Int {
    let times = (max(0, count - 9)..<max(0, count - 1)).filter { entry($0)?.isAcknowledged == true }
      .map { Int(nanoseconds(of: $0) / 1000) }
    return times.isEmpty ? 1000 : min(100_000, times.reduce(0, +) / times.count)
  }

  func start(of index: Int) -> UInt64 { words[Self.head + index * Self.perEntry + 2] }

  /// An entry, and whether it was acknowledged.
  func entry(_ index: Int) -> (operation: KillOperation, isAcknowledged: Bool)? {
    let place = Self.head + index * Self.perEntry
    return KillOperation(word: words[place + 1], nonce: words[place]).map {
      ($0, words[place + 3] != 0)
    }
  }
}

/// What the campaign asks of all its writers.
struct KillControl {
  private let words: MappedFile

  init(in folder: URL) throws {
    words = try MappedFile(folder.appendingPathComponent("control"), wordCount: 8)
  }

  var isPause: Bool {
    get { words[0] == 1 }
    nonmutating set { words[0] = newValue ? 1 : 0 }
  }
}
