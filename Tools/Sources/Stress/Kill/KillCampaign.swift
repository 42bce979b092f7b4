import Foundation

/// Campaign 1: processes are killed at any moment, and nothing that was acknowledged is lost, torn
/// or told wrongly, and nobody else is kept waiting.
struct KillCampaign: Campaign {
  static let name = "kill"
  static let summary = "acknowledged writes, watchers and pages survive kill -9"
  static let mutants: [Mutation] = [
    .worker("ack-before-commit"),
    .worker("two-transactions"),
    .library("log-apart"),
    .worker("acknowledge-apart"),
    .library("reset-at-batch"),
    .library("search-removals"),
    .worker("step-dropped"),
    .worker("long-turn"),
    .library("open-guard"),
    // What the second guard notices, and the campaign without it.
    .library("open-guard,lock-table-check"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    let settings: [KillSetting] =
      switch trial.mutation?.name {
      case "open-guard", "open-guard,lock-table-check": [.opening]
      case nil: KillSetting.allCases
      default: [.oneWriter]
      }
    var tally = Tally()
    for name in ["torn", "leaked", "stalls", "missed", "duplicates", "search"] {
      tally.count(name, 0)
    }
    // A process that is killed leaves the system's memory alone: what is on the disk by then, or
    // whether there is one, makes no difference but to how many are killed in an hour.
    let scratch = try Scratch("kill-\(trial.mutation?.name ?? "")")
    defer { if !tally.isClean, trial.mutation == nil { try? scratch.keep(in: trial.folder) } }
    for setting in settings {
      let run = try KillRun(trial, setting, in: scratch.url)
      defer { run.end() }
      try run.run()
      tally.add(run.tally)
      guard tally.isClean else { break }
    }
    return tally
  }
}

/// Who is killed.
enum KillSetting: String, CaseIterable {
  /// One process writes and is killed, again and again; others watch.
  case oneWriter = "one"
  /// Three write, and one of them is killed.
  case threeWriters = "three"
  /// One is killed while it opens the store, and another one waits to open it.
  case opening

  func cycles(_ trial: Trial) -> Int {
    switch self {
    case .oneWriter: trial.cycles(quick: 25, nightly: 10_000, release: 10_000, mutant: 120)
    case .threeWriters: trial.cycles(quick: 25, nightly: 10_000, release: 10_000, mutant: 120)
    case .opening: trial.cycles(quick: 25, nightly: 10_000, release: 10_000, mutant: 5_000)
    }
  }

  /// After how many cycles everything is compared with everything.
  var cyclesPerCheck: Int {
    switch self {
    case .oneWriter, .threeWriters: 25
    case .opening: 50
    }
  }

  var writerCount: Int { self == .oneWriter ? 1 : self == .threeWriters ? 3 : 2 }
}
