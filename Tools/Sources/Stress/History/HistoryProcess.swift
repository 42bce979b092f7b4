import CStress
import Foundation
import Larder

/// Reads or writes cells and notes when it asked and when it was answered.
///
/// Arguments: folder, number of the process, seed, room for entries, `write` or `read`, then how
/// long it is held or holds others up: microseconds.
enum HistoryProcess: Worker {
  static let role = "history"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count == 6, let process = Int(arguments[1]), let seed = UInt64(arguments[2]),
      let capacity = Int(arguments[3]), let delay = UInt32(arguments[5])
    else { throw UsageError("history FOLDER PROCESS SEED CAPACITY write|read MICROSECONDS") }
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let control = try HistoryControl(in: folder)
    let log = try HistoryLog(in: folder, process: process, capacity: capacity)
    let store = try Store(at: HistoryStore.folder(in: folder), options: HistoryStore.options)
    say("open")
    let isWriter = arguments[4] == "write"
    if isWriter {
      stress_delay_publication(delay)
    } else if delay > 0 {
      let status = stress_hold_thread(delay, 400, seed)
      guard status == 0 else { throw UsageError("no timer: \(String(cString: strerror(status)))") }
    }
    var hand = HistoryHand(store, log, SeededGenerator(seed: seed))
    while true {
      control.waitForRound(log)
      while control.isRunning {
        guard try isWriter ? hand.write() : hand.read() else { break }
        if isWriter { usleep(hand.pause()) }
      }
    }
  }
}

enum HistoryStore {
  static func folder(in folder: URL) -> URL {
    folder.appendingPathComponent("store", isDirectory: true)
  }

  /// What is looked at is the order of things, not what survives a loss of power: many commits.
  static var options: StoreOptions {
    var options = StoreOptions(durability: .volatile)
    options.changeLog = ChangeLogRetention(maximumByteCount: 1 << 30)
    return options
  }
}

/// The operations of one process.
struct HistoryHand {
  private let store: Store
  private let log: HistoryLog
  private var generator: SeededGenerator
  private var token: ChangeToken?
  /// Looks at the place in time alone, as often as it can.
  private let isRush = getenv("STRESS_RUSH") != nil

  init(_ store: Store, _ log: HistoryLog, _ generator: SeededGenerator) {
    (self.store, self.log, self.generator) = (store, log, generator)
  }

  mutating func pause() -> UInt32 { UInt32.random(in: 0..<300, using: &generator) }

  private mutating func key() -> Int {
    // Half of them of few cells, so that writes meet.
    let word = generator.next()
    return Int(word >> 1) % (word & 1 == 0 ? 16 : HistoryCell.count)
  }

  // MARK: Writing

  /// Saves or deletes one to four cells in one transaction; false where the log is full.
  mutating func write() throws -> Bool {
    let keys = Set((0..<Int.random(in: 1...4, using: &generator)).map { _ in key() }).sorted()
    guard log.hasRoom(for: keys.count) else { return false }
    let isDelete = Int.random(in: 0..<8, using: &generator) == 0
    let cells = keys.map { HistoryCell(id: $0, nonce: Int(generator.next() >> 1) | 1) }
    let invoked = stress_now()
    var written: [(key: Int, nonce: Int)] = []
    try store.write { tx in
      written = []
      if isDelete {
        for key in keys {
          guard let cell = try tx.get(HistoryCell.self, key) else { continue }
          written.append((key, cell.nonce))
        }
        try tx.delete(HistoryCell.self, keys: keys)
      } else {
        try tx.save(cells)
        written = cells.map { ($0.id, $0.nonce) }
      }
    }
    let answered = stress_now()
    for (key, nonce) in written {
      var entry = HistoryEntry(isDelete ? .delete : .save, key: key, invoked: invoked)
      entry.answered = answered
      entry.nonce = UInt64(nonce)
      log.append(entry)
    }
    return true
  }

  // MARK: Reading

  /// Reads one cell or some, or what has come into the log; false where there is no room.
  mutating func read() throws -> Bool {
    let choice = generator.next() % 256
    if isRush || choice < 32 { return try look() }
    if choice == 32 { return try readLog() }
    let count = choice < 128 ? 1 : 12
    guard log.hasRoom(for: count) else { return false }
    let invoked = stress_now()
    var entries: [HistoryEntry] = []
    entries.reserveCapacity(count)
    let keys = (0..<count).map { _ in key() }
    try store.read { snapshot in
      for key in keys {
        var entry = HistoryEntry(.read, key: key, invoked: invoked)
        entry.sequence = snapshot.sequence
        if let cell = try snapshot.get(HistoryCell.self, key) {
          // Half a document has a nonce that nobody wrote.
          entry.nonce = cell.isWhole ? UInt64(cell.nonce) : .max
        }
        entries.append(entry)
      }
    }
    let answered = stress_now()
    for var entry in entries {
      entry.answered = answered
      log.append(entry)
    }
    return true
  }

  private func look() throws -> Bool {
    guard log.hasRoom(for: 1) else { return false }
    var entry = HistoryEntry(.look, key: 0, invoked: stress_now())
    entry.sequence = try store.read { $0.sequence }
    entry.answered = stress_now()
    log.append(entry)
    return true
  }

  private mutating func readLog() throws -> Bool {
    guard log.hasRoom(for: 1) else { return false }
    guard let start = token else {
      token = try store.changeToken()
      return true
    }
    var entry = HistoryEntry(.readLog, key: Int(start.sequence), invoked: stress_now())
    let batch = try store.history(since: start, limit: 300)
    entry.answered = stress_now()
    entry.sequence = batch.token.sequence
    entry.nonce = batch.isReset ? 0 : HistoryDigest.of(batch.changes)
    log.append(entry)
    token = batch.token
    return true
  }
}

/// What a part of the change log says, in one number.
enum HistoryDigest {
  static func of(_ changes: [DocumentChange]) -> UInt64 {
    changes.reduce(into: 1) { digest, change in
      var key = UInt64.max
      if case .integer(let id) = change.key { key = UInt64(bitPattern: id) }
      digest = fold(digest, change.sequence, key, change.kind)
    }
  }

  static func fold(
    _ digest: UInt64, _ sequence: UInt64, _ key: UInt64, _ kind: DocumentChange.Kind
  ) -> UInt64 {
    let code: UInt64 = kind == .inserted ? 1 : kind == .updated ? 2 : kind == .deleted ? 3 : 4
    return ((digest ^ (sequence << 20) ^ (key << 3) ^ code) &* 0x9E37_79B9_7F4A_7C15)
      ^ (digest >> 31)
  }
}
