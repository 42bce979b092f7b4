import Foundation

/// One setting of the kill campaign: its processes, what they must have left behind, and what was
/// seen instead.
final class KillRun {
  let trial: Trial
  let setting: KillSetting
  let folder: URL
  var tally = Tally()
  var generator: SeededGenerator
  let control: KillControl
  var books: [KillBook]
  var writers: [ChildProcess?]
  var watchers: [KillRole: ChildProcess] = [:]
  var audit: KillAudit
  private let stallWatch: StallWatch

  init(_ trial: Trial, _ setting: KillSetting, in parent: URL) throws {
    self.trial = trial
    self.setting = setting
    folder = parent.appendingPathComponent(setting.rawValue, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let parts = KillSetting.allCases.firstIndex(of: setting) ?? 0
    generator = trial.generator(1 + parts)
    control = try KillControl(in: folder)
    books = try (0..<setting.writerCount).map { [folder] in try KillBook(in: folder, writer: $0) }
    writers = Array(repeating: nil, count: setting.writerCount)
    audit = KillAudit(folder)
    stallWatch = StallWatch(books.map(\.journal))
  }

  var isClean: Bool { tally.isClean }

  func fault(_ count: String, _ text: String, _ number: Int = 1) {
    switch count {
    case "lost": tally.lost += number
    case "phantom": tally.phantom += number
    case "corrupt": tally.corrupt += number
    case "signals": tally.signals += number
    case "": break
    default: tally.count(count, number)
    }
    tally.faults.append("\(setting.rawValue), cycle \(tally.cycles): \(text)")
  }

  /// Ends every process.
  func end() {
    control.isPause = false
    stallWatch.end()
    for child in writers.compactMap({ $0 }) + watchers.values { child.kill() }
    writers = writers.map { _ in nil }
    watchers = [:]
  }

  func run() throws {
    if setting != .opening {
      // The first consumer and the watcher begin with a store that has nothing in it.
      try startWatchers()
    }
    if setting == .threeWriters {
      for writer in writers.indices { writers[writer] = try start(writer) }
    }
    let cycles = setting.cycles(trial)
    while tally.cycles < cycles, isClean {
      trial.progress.report("kill, \(setting.rawValue): \(tally.cycles) of \(cycles)")
      try cycle()
      tally.cycles += 1
      if isClean, tally.cycles % setting.cyclesPerCheck == 0 || tally.cycles == cycles {
        try checkAll()
      }
    }
    tally.acked = books.reduce(0) { $0 + $1.acknowledgedCount }
  }

  private func cycle() throws {
    switch setting {
    case .oneWriter: try killWriter(0)
    case .threeWriters: try killWriter(Int.random(in: 0..<3, using: &generator))
    case .opening: try killOpener()
    }
  }

  // MARK: One of the writers

  func start(_ writer: Int, _ words: String...) throws -> ChildProcess {
    let seed = String(UInt64.random(in: 0 ... .max, using: &generator))
    let isWatching = setting != .opening && Bool.random(using: &generator)
    return try trial.startKilled(
      KillWriter.role,
      [folder.path, "\(writer)", seed] + words + (isWatching ? ["inner"] : []))
  }

  private func killWriter(_ writer: Int) throws {
    let book = books[writer]
    if writers[writer] == nil { writers[writer] = try start(writer) }
    let start = book.journal.count
    // Mostly in a write, now and then while it starts and opens.
    let isEarly = Int.random(in: 0..<8, using: &generator) == 0
    let wanted = isEarly ? 0 : Int.random(in: 1...6, using: &generator)
    let isThere = waits { book.journal.count >= start + wanted || writers[writer]?.isAlive != true }
    // Anywhere in a write or the one after it, however long they take here.
    let span = isEarly ? 30_000 : 2 * book.journal.recentMicroseconds
    usleep(UInt32.random(in: 0..<UInt32(max(100, span)), using: &generator))
    kill(writer)
    guard isThere || !isClean else {
      return fault("", "writer \(writer) wrote nothing for a minute")
    }
    if isClean, Int.random(in: 0..<6, using: &generator) == 0 { try killWatcher() }
    try settle([writer])
    if isClean, setting == .threeWriters { writers[writer] = try self.start(writer) }
  }

  /// Kills a process that should still be there.
  func kill(_ writer: Int) {
    guard let child = writers[writer] else { return }
    writers[writer] = nil
    note(child, "writer \(writer)")
  }

  private func note(_ child: ChildProcess, _ name: String) {
    Foundation.kill(child.id, SIGKILL)
    let status = child.wait()
    let words = child.lines().filter { $0.hasPrefix("error") }
    if status < 0, status != -SIGKILL {
      fault("signals", "\(name) was ended by signal \(-status)")
    } else if status != -SIGKILL || !words.isEmpty {
      fault("", "\(name): \(words.first ?? "ended with status \(status)")")
    }
  }

  // MARK: One of two openers

  private func killOpener() throws {
    let first = Int.random(in: 0..<2, using: &generator)
    let second = 1 - first
    let book = books[second]
    // Nobody has the store open now, so that the first one resets what LMDB shares.
    let opener = try start(first, "wait", "delay")
    let follower = try start(second, "wait")
    (writers[first], writers[second]) = (opener, follower)
    for child in [opener, follower] { _ = try child.expect("up") }
    opener.say()
    usleep(UInt32.random(in: 0..<1500, using: &generator))
    follower.say()
    usleep(UInt32.random(in: 0..<10_000, using: &generator))
    let start = book.journal.count
    kill(first)
    let wanted = Int.random(in: 1...6, using: &generator)
    let isThere = waits { book.journal.count >= start + wanted || !follower.isAlive }
    kill(second)
    if !isThere { fault("", "writer \(second) wrote nothing for a minute") }
    try settle([first, second])
  }

  // MARK: Watchers

  private func startWatchers() throws {
    for role in KillRole.allCases where watchers[role] == nil {
      watchers[role] = try trial.startKilled(role.worker, [folder.path] + role.arguments)
    }
  }

  private func killWatcher() throws {
    let role = KillRole.allCases[
      // Consumers have something to resume; the witness is to survive much.
      Int.random(in: 0..<12, using: &generator) == 0 ? 0 : Int.random(in: 1...2, using: &generator)]
    if let child = watchers.removeValue(forKey: role) { note(child, "\(role)") }
    if isClean { try startWatchers() }
  }

  // MARK: What must hold

  /// Compares what is in the store of writers that do not run, or wait, with what they noted.
  func settle(_ writers: [Int]) throws {
    let store = FileManager.default.fileExists(
      atPath: KillStore.folder(in: folder).appendingPathComponent("data.mdb").path)
    // Killed before it had made anything.
    guard store else { return }
    do {
      let raw = try RawStore(KillStore.folder(in: folder))
      for writer in writers { try books[writer].settle(raw, fault) }
      let leaked = try raw.leakedPageCount()
      if leaked != 0 { fault("leaked", "\(leaked) pages are in no tree and not free", abs(leaked)) }
    } catch let error as RawStore.Failed where isUnfinished(error) {
      return
    }
  }

  /// Whether nothing was ever acknowledged: then the creation may have been cut short.
  private func isUnfinished(_ error: RawStore.Failed) -> Bool {
    books.allSatisfy { $0.acknowledgedCount == 0 && !$0.hasAcknowledged }
  }

  private func checkAll() throws {
    control.isPause = true
    defer { control.isPause = false }
    for (number, writer) in writers.enumerated() where writer != nil {
      guard waits(for: { books[number].journal.isPaused || writer?.isAlive == false }) else {
        return fault("stalls", "writer \(number) did not end its write for a minute")
      }
    }
    try settle(Array(books.indices))
    guard isClean else { return }
    try audit.run(self)
    for (number, writer) in writers.enumerated() where isClean {
      for reason in books[number].journal.stallStarts.compactMap(stallWatch.fault) {
        fault("stalls", "writer \(number) was kept waiting for over 2 s; \(reason)")
      }
      if writer != nil || setting != .threeWriters { books[number].turnPage() }
    }
  }
}

/// Who watches in a process of its own.
enum KillRole: CaseIterable {
  case witness, firstConsumer, secondConsumer

  var worker: String { self == .witness ? KillWitness.role : KillConsumer.role }
  var consumer: String? {
    switch self {
    case .witness: nil
    case .firstConsumer: "first"
    case .secondConsumer: "second"
    }
  }
  var arguments: [String] { consumer.map { [$0] } ?? [] }
}

extension Trial {
  /// Starts a process that is killed some time.
  func startKilled(_ role: String, _ arguments: [String]) throws -> ChildProcess {
    try ChildProcess(
      [CommandLine.executable, "worker", role] + arguments, mutation?.environment ?? [:])
  }
}
