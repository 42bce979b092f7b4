import Foundation

/// Four clients with stores of their own edit the same documents, and sync them with two HTTP processes over one
/// PostgreSQL. All of these are killed at any moment.
struct SyncCampaign: Campaign {
  static let name = "sync"
  static let summary =
    "clients and servers are killed; each edit arrives once, all copies become equal"
  static let mutants: [Mutation] = [
    .library("outbox-early"), .library("bases-unsent"), .library("renamed-edits"),
    .library("bases-dropped"), .library("outbox-cleared"),
  ]

  static func obstacle() -> String? {
    do {
      if SyncServer.shared == nil { SyncServer.shared = try SyncServer() }
      return nil
    } catch {
      return "\(error)"
    }
  }

  static func end() {
    SyncServer.shared?.end()
    SyncServer.shared = nil
  }

  func run(_ trial: Trial) throws -> Tally {
    guard let server = SyncServer.shared else { throw UsageError("there is no server") }
    var tally = Tally()
    for name in ["killed", "divergent", "dirty"] { tally.count(name, 0) }
    let seeds = trial.cycles(quick: 20, nightly: 500, release: 2_000, mutant: 40)
    let scratch = try Scratch("sync-\(trial.mutation?.name ?? "")")
    defer { if !tally.isClean, trial.mutation == nil { try? scratch.keep(in: trial.folder) } }
    for number in 0..<seeds where tally.isClean {
      trial.progress.report("sync: \(number) of \(seeds) seeds")
      let folder = scratch.url.appendingPathComponent("seed-\(number)", isDirectory: true)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let run = try SyncRun(trial, number, server, in: folder)
      defer { run.end() }
      try run.run()
      tally.add(run.tally)
      if tally.isClean { try? FileManager.default.removeItem(at: folder) }  // Only in the way.
    }
    return tally
  }
}
