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
    static let stallStarts = 5
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

  /// When those writes began that took more than two seconds although the process itself was not kept waiting. The
  /// first of them: there is not room for all.
  var stallStarts: [UInt64] {
    (0..<min(Int(words[Place.stalls]), Self.head - Place.stallStarts))
      .map { words[Place.stallStarts + $0] }
  }

  func addStall(of index: Int, isStarved: Bool) {
    guard !isStarved else { return words.add(1, at: Place.starved) }
    let place = Place.stallStarts + Int(words[Place.stalls])
    if place < Self.head { words[place] = start(of: index) }
    words.add(1, at: Place.stalls)
  }

  func forgetStalls() { words[Place.stalls] = 0 }

  /// When the write began that is under way; nil where none is.
  var pendingStart: UInt64? {
    let index = count - 1
    guard index >= 0, entry(index)?.isAcknowledged == false else { return nil }
    return start(of: index)
  }

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
