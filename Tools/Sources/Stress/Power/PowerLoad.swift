import Foundation
import Larder

/// Writes to a store whose disk is recorded, and says in a file what it does: `power-load FOLDER
/// MARKS SEED STEPS`.
///
/// One to three writers at a time, whose transactions share commits; between them the store is
/// compacted, backed up, restored, and opened again.
struct PowerLoad: Worker {
  static let role = "power-load"
  static let writers = 0..<3

  private let folder: String
  private let marks: MarkFile
  private var random: SeededGenerator
  private var backupCount = 0
  private var durability = StoreOptions.Durability.durable

  static func run(_ arguments: [String]) throws {
    var load = try PowerLoad(
      arguments[0], marks: arguments[1], seed: UInt64(arguments[2]) ?? 0)
    try load.run(stepCount: Int(arguments[3]) ?? 0)
  }

  private init(_ folder: String, marks: String, seed: UInt64) throws {
    self.folder = folder
    random = SeededGenerator(seed: seed)
    self.marks = try MarkFile(marks)
    if Mutation.isOn("no-sync") {
      durability = .volatile
    } else if Mutation.isOn("no-metasync") {
      durability = .recentCommitsMayBeLost
    } else if Int.random(in: 0..<5, using: &random) == 0 {
      durability = .recentCommitsMayBeLost
      try self.marks.put(.mayLoseRecent)
    }
  }

  private var options: StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.mapByteCount = 64 << 20
    options.reserveByteCount = 0
    return options
  }

  private var path: String { folder + "/store" }

  private mutating func run(stepCount: Int) throws {
    var store = try Store(at: path, options: options)
    var left = stepCount
    while left > 0 {
      let count = min(left, Int.random(in: 1...12, using: &random))
      left -= count
      try write(count, to: store)
      switch Int.random(in: 0..<8, using: &random) {
      case 0: try store.compact()
      case 1, 2:
        backupCount += 1
        try marks.put(.backupBegun(backupCount))
        try store.backup(to: folder + "/backup-\(backupCount)")
        try marks.put(.backupDone(backupCount))
      case 3:
        try store.close()
        if backupCount > 0 {
          try marks.put(.restoreBegun(backupCount))
          _ = try Store.restore(from: folder + "/backup-\(backupCount)", to: path)
          try marks.put(.restoreDone)
        }
        store = try Store(at: path, options: options)
      default: break
      }
    }
    // Some end without closing, as the power does.
    if Bool.random(using: &random) { try store.close() }
    _exit(0)
  }

  /// Lets one writer, or all at the same time, do so many steps.
  private mutating func write(_ count: Int, to store: Store) throws {
    let isShared = Bool.random(using: &random)
    var steps: [[Step]] = Self.writers.map { _ in [] }
    let writer = Self.writers.randomElement(using: &random) ?? 0
    for number in 0..<count {
      let writer = isShared ? number % Self.writers.count : writer
      steps[writer].append(Step(writer, using: &random))
    }
    let failures = Failures()
    let all = DispatchGroup()
    for steps in steps where !steps.isEmpty {
      all.enter()
      Task { [marks] in
        defer { all.leave() }
        do {
          for step in steps {
            let isTold = !Mutation.isOn("unannounced") || step.nonce % 4 != 0
            if isTold { try marks.put(.begun(step)) }
            try await store.write { scope in try step.apply(to: &scope) }
            if isTold { try marks.put(.done(writer: step.writer)) }
          }
        } catch {
          failures.add(error)
        }
      }
    }
    all.wait()
    if let first = failures.first { throw first }
  }
}

/// What went wrong in tasks.
private final class Failures: @unchecked Sendable {
  // Guard: the lock.
  private let lock = NSLock()
  private var all: [any Error] = []

  func add(_ error: any Error) { lock.withLock { all.append(error) } }
  var first: (any Error)? { lock.withLock { all.first } }
}
