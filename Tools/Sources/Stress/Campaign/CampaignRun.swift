import Foundation

/// Runs a campaign by the rules: first what is broken on purpose, each of which must be caught,
/// then the library as it is.
struct CampaignRun {
  let campaign: any Campaign.Type
  let scale: Scale
  let seed: UInt64
  let keep: URL
  var cycles: Int?

  /// Prints what it saw, and returns the lines that tell of faults: none where it passed.
  func run() -> [String] {
    let progress = Progress()
    if let obstacle = campaign.obstacle() {
      say("CAMPAIGN \(campaign.name) RESULT=not-run: \(obstacle)")
      return []
    }
    defer { campaign.end() }
    var caught = 0
    var tally = Tally()
    for mutation in campaign.mutants {
      progress.report("\(campaign.name): \(mutation.name), broken on purpose")
      let (seen, failure) = attempt(mutation, progress)
      if seen.isClean {
        // An attack that could not go on has noticed nothing, whatever stopped it.
        let how = failure.map { "could not be tried: \($0)" } ?? "was not noticed"
        tally.faults.append("\(mutation.name), broken on purpose, \(how)")
      } else {
        caught += 1
        progress.note("\(mutation.name), noticed: \(seen.faults.first ?? seen.figures)")
      }
    }
    let (seen, failure) = attempt(nil, progress)
    tally.add(seen)
    if let failure { tally.faults.append("\(failure)") }
    progress.clear()
    let result = tally.isClean ? "pass" : "FAIL"
    var lines = tally.faults.prefix(60).map { "  \(campaign.name): \($0)" }
    lines.append(
      "CAMPAIGN \(campaign.name) seed=\(seed) \(tally.figures) "
        + "mutants=\(caught)/\(campaign.mutants.count) RESULT=\(result)")
    for line in lines { say(line) }
    return tally.isClean ? [] : lines
  }

  /// One trial, and what kept it from going on to its end.
  private func attempt(
    _ mutation: Mutation?, _ progress: Progress
  ) -> (tally: Tally, failure: (any Error)?) {
    let name = "\(campaign.name)-\(seed)" + (mutation.map { "-" + $0.name } ?? "")
    let folder = keep.appendingPathComponent(name, isDirectory: true)
    var tally = Tally()
    var failure: (any Error)?
    do {
      try? FileManager.default.removeItem(at: folder)  // Of an earlier run with this seed.
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let trial = Trial(
        scale: scale, seed: seed, mutation: mutation, folder: folder, progress: progress,
        wantedCycles: cycles)
      tally = try campaign.init().run(trial)
    } catch {
      failure = error
    }
    if tally.isClean && failure == nil || mutation != nil {
      try? FileManager.default.removeItem(at: folder)  // In a place for temporary files.
    } else {
      tally.faults.append("kept: \(folder.path)")
    }
    return (tally, failure)
  }
}
