import Foundation

/// There is no room left: on the disk, below the quota, for readers, for descriptors.
struct FullCampaign: Campaign {
  static let name = "full"
  static let summary =
    "disks of three file systems, quota, readers and descriptors used up; nothing is lost"
  static let mutants = [
    Mutation.library("reserve-off"), .library("reader-check-off"), .library("sparse-lock"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    // Thousands of saves, of which none has to survive a loss of power: in memory where that is.
    let scratch = try Scratch("full-\(trial.mutation?.name ?? "")")
    let tally = try run(trial, in: scratch.url)
    if !tally.isClean, trial.mutation == nil { try scratch.keep(in: trial.folder) }
    return tally
  }

  private func run(_ trial: Trial, in base: URL) throws -> Tally {
    var tally = Tally()
    let cases = FullCase.all.filter { next in
      guard let obstacle = next.obstacle() else { return true }
      // Said aloud, once: what was not tried has not passed.
      if trial.mutation == nil {
        say("  \(Self.name): NOT RUN, \(next.name): \(obstacle)")
        tally.count("not-run")
      }
      return false
    }
    let rounds = trial.cycles(quick: 1, nightly: 25, release: 250, mutant: 3)
    for round in 0..<rounds {
      for (part, next) in cases.enumerated() {
        trial.progress.report("\(Self.name): \(round + 1) of \(rounds), \(next.name)")
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
  /// Why it cannot be tried here; nil where it can.
  let obstacle: @Sendable () -> String?
  let run: @Sendable (Scene) throws -> Void

  init(_ name: String, needsRoot: Bool = false, _ run: @escaping @Sendable (Scene) throws -> Void) {
    self.init(
      name, obstacle: { needsRoot && geteuid() != 0 ? "needs root, to mount" : nil }, run)
  }

  init(
    _ name: String, obstacle: @escaping @Sendable () -> String?,
    _ run: @escaping @Sendable (Scene) throws -> Void
  ) {
    self.name = name
    self.obstacle = obstacle
    self.run = run
  }

  static let all = space + readers + disks
}
