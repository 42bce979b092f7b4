import Foundation

/// Runs a campaign by the rules: first what is broken on purpose, each of which must be caught,
/// then the library as it is.
struct CampaignRun {
  let campaign: any Campaign.Type
  let scale: Scale
  let seed: UInt64
  let keep: URL
  var cycles: Int?

  /// Whether it passed; the closing line is printed.
  func run() -> Bool {
    let progress = Progress()
    if let obstacle = campaign.obstacle() {
      say("CAMPAIGN \(campaign.name) RESULT=not-run: \(obstacle)")
      return true
    }
    var caught = 0
    var tally = Tally()
    for mutation in campaign.mutants {
      progress.report("\(campaign.name): \(mutation.name), broken on purpose")
      let seen = attempt(mutation, progress)
      if seen.isClean {
        tally.faults.append("\(mutation.name), broken on purpose, was not noticed")
      } else {
        caught += 1
        progress.note("\(mutation.name), noticed: \(seen.faults.first ?? seen.figures)")
      }
    }
    tally.add(attempt(nil, progress))
    progress.clear()
    for fault in tally.faults.prefix(60) { say("  \(campaign.name): \(fault)") }
    let result = tally.isClean ? "pass" : "FAIL"
    say(
      "CAMPAIGN \(campaign.name) seed=\(seed) \(tally.figures) "
        + "mutants=\(caught)/\(campaign.mutants.count) RESULT=\(result)")
    return tally.isClean
  }

  /// One trial. An attack that cannot go on has failed, unless something was broken on purpose:
  /// then it is what was noticed.
  private func attempt(_ mutation: Mutation?, _ progress: Progress) -> Tally {
    let name = "\(campaign.name)-\(seed)" + (mutation.map { "-" + $0.name } ?? "")
    let folder = keep.appendingPathComponent(name, isDirectory: true)
    var tally = Tally()
    do {
      try? FileManager.default.removeItem(at: folder)  // Of an earlier run with this seed.
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let trial = Trial(
        scale: scale, seed: seed, mutation: mutation, folder: folder, progress: progress,
        wantedCycles: cycles)
      tally = try campaign.init().run(trial)
    } catch {
      tally.faults.append("\(error)")
    }
    if tally.isClean || mutation != nil {
      try? FileManager.default.removeItem(at: folder)  // In a place for temporary files.
    } else {
      tally.faults.append("kept: \(folder.path)")
    }
    return tally
  }
}
