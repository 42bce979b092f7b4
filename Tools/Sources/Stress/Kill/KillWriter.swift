import CStress
import Foundation
import Larder

/// Writes without end, and notes each write before it and after it.
///
/// Arguments: folder, number of the writer, seed, then words: `wait` opens only when it is told to,
/// `delay` is slow inside LMDB's opening, `inner` has watchers of its own.
enum KillWriter: Worker {
  static let role = "kill-writer"

  static func run(_ arguments: [String]) throws {
    stress_end_with_parent()
    guard arguments.count >= 3, let writer = Int(arguments[1]), let seed = UInt64(arguments[2])
    else { throw UsageError("kill-writer FOLDER WRITER SEED WORD...") }
    let folder = URL(fileURLWithPath: arguments[0], isDirectory: true)
    let flags = Set(arguments.dropFirst(3))
    let journal = try KillJournal(in: folder, writer: writer)
    let control = try KillControl(in: folder)
    var generator = SeededGenerator(seed: seed)
    if flags.contains("wait") {
      say("up")
      _ = readLine()
    }
    if flags.contains("delay") {
      stress_delay_opening(UInt32.random(in: 1500...5000, using: &generator))
    }
    let store = try Store(at: KillStore.folder(in: folder), options: KillStore.options)
    stress_delay_opening(0)
    if flags.contains("inner") {
      KillConsumer.start(store, "inner-\(writer)")
      try KillWitness.start(store, KillWitness.Sightings(in: folder, "inner-\(writer)"))
    }
    let heart = Heartbeat(folder.appendingPathComponent("beat-\(writer)"), journal)
    while true {
      wait(control, journal)
      let operation = KillOperation.random(using: &generator)
      let index = journal.begin(operation)
      if Mutation.isOn("ack-before-commit") { journal.acknowledge(index) }
      try operation.run(in: store, writer: writer)
      journal.acknowledge(index)
      guard journal.nanoseconds(of: index) > 2_000_000_000 else { continue }
      journal.addStall(of: index, isStarved: heart.wasStarved(since: journal.start(of: index)))
    }
  }

  private static func wait(_ control: KillControl, _ journal: KillJournal) {
    guard control.isPause || journal.isFull else { return }
    journal.isPaused = true
    while control.isPause || journal.isFull { usleep(100) }
    journal.isPaused = false
  }
}

enum KillStore {
  static func folder(in folder: URL) -> URL {
    folder.appendingPathComponent("store", isDirectory: true)
  }

  /// Everything that has happened between two checks is still to be told then.
  static var options: StoreOptions {
    var options = StoreOptions()
    options.changeLog = ChangeLogRetention(maximumByteCount: 1 << 32)
    return options
  }
}

/// A plain loop beside the writer that flushes a small file of its own: how long that takes at most
/// tells what the machine itself lets wait.
// Guard: the lock.
private final class Heartbeat: @unchecked Sendable {
  private let lock = NSLock()
  private var slow: [(start: UInt64, nanoseconds: UInt64)] = []
  private var last = stress_now()

  init(_ file: URL, _ journal: KillJournal) {
    let descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    Thread.detachNewThread { [self] in
      var byte: UInt8 = 0
      while true {
        usleep(100_000)
        byte &+= 1
        if descriptor >= 0 {
          _ = pwrite(descriptor, &byte, 1, 0)
          fdatasync(descriptor)
        }
        lock.withLock {
          let now = stress_now()
          if now - last > 700_000_000 { slow.append((last, now - last)) }
          slow.removeFirst(max(0, slow.count - 100))
          last = now
        }
        journal.beat()
      }
    }
  }

  /// Whether this loop, too, had to wait long since then.
  func wasStarved(since start: UInt64) -> Bool {
    lock.withLock { slow.contains { $0.start + $0.nanoseconds > start } }
  }
}
