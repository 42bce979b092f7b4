import Foundation
import Larder

/// Campaign 3: processes read and write one store, and all that they are told fits into one order
/// of things, which real time agrees with.
struct HistoryCampaign: Campaign {
  static let name = "history"
  static let summary = "what processes read and write fits into one history"
  static let mutants: [Mutation] = [
    .library("snapshot-guard"), .library("snapshot-held"), .library("log-apart"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    let operations = trial.cycles(
      quick: 800_000, nightly: 100_000_000, release: 100_000_000, mutant: 20_000_000)
    let scratch = try Scratch("history-\(trial.mutation?.name ?? "")")
    let run = try HistoryRun(trial, in: scratch.url)
    defer {
      run.end()
      // Without the store there is still what was seen.
      if !run.tally.isClean, trial.mutation == nil { try? scratch.keep(in: trial.folder) }
    }
    try run.start()
    while run.tally.cycles < operations, run.tally.isClean {
      trial.progress.report("history: \(run.tally.cycles) of \(operations) operations")
      try run.round()
    }
    return run.tally
  }
}

/// The processes of a history, and what is known of it so far.
final class HistoryRun {
  private let trial: Trial
  private let folder: URL
  private let control: HistoryControl
  private let store: Store
  private let logs: [HistoryLog]
  private var children: [ChildProcess] = []
  private var cells = [UInt64](repeating: 0, count: HistoryCell.count)
  private var token: ChangeToken?
  private(set) var tally = Tally()

  private static let writerCount = 2
  private static let readerCount = 4

  init(_ trial: Trial, in folder: URL) throws {
    self.trial = trial
    self.folder = folder
    control = try HistoryControl(in: folder)
    // Broken ones are soon seen; the others read long enough to get apart.
    let capacity = trial.mutation != nil ? 4_000 : trial.scale == .quick ? 20_000 : 500_000
    logs = try (0..<Self.writerCount + Self.readerCount).map {
      try HistoryLog(in: folder, process: $0, capacity: capacity)
    }
    store = try Store(at: HistoryStore.folder(in: folder), options: HistoryStore.options)
    for name in ["order", "content", "log", "torn"] { tally.count(name, 0) }
  }

  func start() throws {
    let isRush = trial.mutation?.name == "snapshot-guard"
    var generator = trial.generator(10)
    for process in logs.indices {
      let isWriter = process < Self.writerCount
      // One of each always meets the moments that are rare otherwise: a commit that is not
      // published yet, a reader that was stopped anywhere in between.
      let isSlow = isRush || process == 0 || process == Self.writerCount
      children.append(
        try trial.start(
          HistoryProcess.role, folder.path, "\(process)",
          "\(UInt64.random(in: 0 ... .max, using: &generator))", "\(logs[process].capacity)",
          isWriter ? "write" : "read", isSlow ? "300" : "0",
          environment: isRush ? ["STRESS_RUSH": "1"] : [:]))
    }
    for child in children { _ = try child.expect("open") }
  }

  func end() {
    for child in children { child.kill() }
    children = []
    try? store.close()  // Nothing of this process is reading.
  }

  /// Lets all processes work until the readers have filled their logs, and compares.
  func round() throws {
    for log in logs { log.count = 0 }
    control.round += 1
    let current = control.round
    let isThere = waits(seconds: 300) {
      logs.dropFirst(Self.writerCount).allSatisfy { $0.finishedRound == current }
        || children.contains { !$0.isAlive }
    }
    control.round += 1
    guard isThere, waits(seconds: 60, for: { logs.allSatisfy { $0.finishedRound >= current } })
    else { return tellOfChildren() }
    let truth = try HistoryTruth(store, after: token, cells, fault)
    var check = HistoryCheck(truth, logs.map(\.all), fault)
    check.run()
    cells = truth.last
    token = truth.token
    tally.acked += check.acknowledged
    tally.cycles += logs.reduce(0) { $0 + $1.count }
    if children.contains(where: { !$0.isAlive }) { tellOfChildren() }
  }

  private func tellOfChildren() {
    for (process, child) in children.enumerated() where !child.isAlive {
      let status = child.wait()
      if status < 0 { tally.signals += 1 }
      let words = child.lines().last ?? ""
      tally.faults.append("process \(process) ended with status \(status): \(words)")
    }
    if tally.faults.isEmpty { tally.faults.append("a process did not answer for minutes") }
  }

  private func fault(_ count: String, _ text: String) {
    switch count {
    case "lost": tally.lost += 1
    case "phantom": tally.phantom += 1
    default: tally.count(count)
    }
    if tally.faults.count < 20 { tally.faults.append(text) }
  }
}
