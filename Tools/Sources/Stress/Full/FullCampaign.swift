import Foundation

/// There is no room left: on the disk, below the quota, for readers, for descriptors.
struct FullCampaign: Campaign {
  static let name = "full"
  static let summary =
    "disk, quota, readers and descriptors used up; deletes go on, nothing is lost"
  static let mutants = [Mutation.library("reserve-off"), .library("reader-check-off")]

  func run(_ trial: Trial) throws -> Tally {
    // Thousands of saves, of which none has to survive a loss of power: in memory where that is.
    let scratch = try Scratch("full-\(trial.mutation?.name ?? "")")
    let tally = try run(trial, in: scratch.url)
    if !tally.isClean, trial.mutation == nil { try scratch.keep(in: trial.folder) }
    return tally
  }

  private func run(_ trial: Trial, in base: URL) throws -> Tally {
    var tally = Tally()
    let isRoot = geteuid() == 0
    let rounds = trial.cycles(quick: 1, nightly: 25, release: 250, mutant: 3)
    for round in 0..<rounds {
      for (part, next) in FullCase.all.enumerated() {
        trial.progress.report("\(Self.name): \(round + 1) of \(rounds), \(next.name)")
        if next.needsRoot, !isRoot {
          tally.count("skipped")
          continue
        }
        let scene = try Scene("\(next.name)-\(round)", trial, part: round * 100 + part, in: base)
        do { try next.run(scene) } catch { scene.fault("\(error)") }
        tally.add(scene.end())
        // What is broken on purpose needs to be noticed once, and a fault should be looked at.
        if !tally.isClean { return tally }
        try? FileManager.default.removeItem(atPath: scene.folder)  // Only in the way.
      }
    }
    return tally
  }
}

struct FullCase: Sendable {
  /// Also the name of its folder.
  let name: String
  let needsRoot: Bool
  let run: @Sendable (Scene) throws -> Void

  init(_ name: String, needsRoot: Bool = false, _ run: @escaping @Sendable (Scene) throws -> Void) {
    self.name = name
    self.needsRoot = needsRoot
    self.run = run
  }

  static let all = space + readers
}
