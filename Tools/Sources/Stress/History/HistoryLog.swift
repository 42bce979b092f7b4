import CStress
import Foundation

/// One operation of the history campaign, as the process that did it saw it. The keys of one
/// transaction have an entry each, with the same times.
struct HistoryEntry {
  enum Kind: UInt64 {
    /// One cell; the place in time alone; one cell written; what has come into the log.
    case read, look, save, delete, readLog
  }

  var word: UInt64
  /// When it was begun and when it was answered, by the clock that all processes share.
  var invoked: UInt64
  var answered: UInt64
  /// Of the snapshot that it read; of the last change that it was told of the log.
  var sequence: UInt64
  /// That it read, 0 for no document; that it wrote; that it deleted. What it was told of the log,
  /// in one number.
  var nonce: UInt64

  init(_ kind: Kind, key: Int, invoked: UInt64) {
    word = kind.rawValue << 32 | UInt64(key)
    self.invoked = invoked
    (answered, sequence, nonce) = (0, 0, 0)
  }

  var kind: Kind { Kind(rawValue: word >> 32) ?? .read }
  var key: Int { Int(word & 0xFFFF_FFFF) }
  var isWrite: Bool { kind == .save || kind == .delete }

  static let wordCount = 5
}

/// What one process did in a round, in memory that the checker reads once the process waits.
final class HistoryLog {
  private let file: MappedFile
  private let entries: UnsafeMutablePointer<HistoryEntry>
  let capacity: Int

  private static let head = 16

  init(in folder: URL, process: Int, capacity: Int) throws {
    self.capacity = capacity
    file = try MappedFile(
      folder.appendingPathComponent("history-\(process)"),
      wordCount: Self.head + capacity * HistoryEntry.wordCount)
    entries = UnsafeMutableRawPointer(file.words + Self.head)
      .bindMemory(to: HistoryEntry.self, capacity: capacity)
  }

  var count: Int {
    get { Int(file[0]) }
    set { file[0] = UInt64(newValue) }
  }

  /// The round that is done, or has its log full.
  var finishedRound: Int {
    get { Int(file[1]) }
    set { file[1] = UInt64(newValue) }
  }

  var all: UnsafeBufferPointer<HistoryEntry> {
    UnsafeBufferPointer(start: entries, count: count)
  }

  /// False where there is no room for so many more.
  func hasRoom(for more: Int) -> Bool { count + more <= capacity }

  func append(_ entry: HistoryEntry) {
    let count = count
    precondition(count < capacity, "no room was asked for")
    (entries + count).initialize(to: entry)
    self.count = count + 1
  }
}

/// Which round the processes are in; an even number asks them to wait.
struct HistoryControl {
  private let words: MappedFile

  init(in folder: URL) throws {
    words = try MappedFile(folder.appendingPathComponent("control"), wordCount: 8)
  }

  var round: Int {
    get { Int(words[0]) }
    nonmutating set { words[0] = UInt64(newValue) }
  }

  var isRunning: Bool { round % 2 == 1 }

  /// Waits for the next round to begin, having said that this one is done.
  func waitForRound(_ log: HistoryLog) {
    let done = round
    log.finishedRound = done
    while !isRunning || round == done { usleep(100) }
  }
}
