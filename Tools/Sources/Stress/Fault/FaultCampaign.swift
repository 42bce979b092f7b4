import Foundation

/// Every call to the system on a store's path does not go well, once and from then on.
struct FaultCampaign: Campaign {
  static let name = "fault"
  static let summary = "every call fails, is cut short or is the last: no false word, nothing leaks"
  static let mutants = [Mutation.library("swallowed-commit"), .worker("retried-flush")]

  static func obstacle() -> String? { FaultShim.obstacle() }

  /// One point of one scenario.
  struct Target {
    let scenario: FaultScenario
    let point: FaultShim.Point
    var isKill: Bool { point.effect == .kill || point.effect == .torn }
  }

  func run(_ trial: Trial) throws -> Tally {
    let scratch = try Scratch("fault-\(trial.mutation?.name ?? "")")
    var stage = try FaultStage(
      trial, folder: scratch.url, environment: try FaultShim.build(in: trial.folder))
    var tally = try attack(trial, &stage)
    if !tally.isClean, trial.mutation == nil {
      try scratch.keep(in: trial.folder)
      tally.faults.append("the store of the last point is kept")
    }
    return tally
  }

  private func attack(_ trial: Trial, _ stage: inout FaultStage) throws -> Tally {
    var tally = Tally()
    var generator = trial.generator(1)
    var targets: [Target] = []
    for scenario in FaultScenario.all where trial.mutation == nil || scenario.name == "save" {
      let (counts, faults) = try stage.count(scenario)
      tally.faults += faults.map { "\(scenario.name) without a fault: \($0)" }
      targets += counts.flatMap { kind, count in
        Self.points(kind, count).map { Target(scenario: scenario, point: $0) }
      }
    }
    if trial.mutation != nil {
      targets = targets.filter {
        ["pwrite", "writev", "fdatasync"].contains($0.point.kind) && !$0.isKill
      }
    }
    let all = targets.count
    if trial.mutation == nil { targets.shuffle(using: &generator) }
    if trial.scale == .quick, trial.mutation == nil {
      // A process for each kill takes its time.
      targets = targets.filter { !$0.isKill } + targets.filter(\.isKill).prefix(20)
      targets.shuffle(using: &generator)
    }
    // All of them, and then again with other nonces; only some where time is short.
    let isShort = trial.scale == .quick || trial.mutation != nil
    let asked = trial.cycles(quick: 250, nightly: 5000, release: 50_000, mutant: all)
    let wanted = isShort ? asked : max(asked, all)
    while tally.cycles < wanted {
      for target in targets.prefix(wanted - tally.cycles) {
        trial.progress.report(
          "\(Self.name): \(tally.cycles) of \(wanted), \(target.scenario.name) \(target.point)")
        let nonce = String(generator.next(), radix: 36)
        let seen = try target.isKill ? stage.kill(target, nonce) : stage.attempt(target, nonce)
        tally.add(seen)
        // What is broken on purpose needs to be noticed once.
        if !seen.isClean, trial.mutation != nil || tally.faults.count > 40 { return tally }
      }
    }
    if trial.mutation == nil { tally.count("points", all) }
    return tally
  }

  /// How each call of a kind can fail.
  private static func points(_ kind: String, _ count: Int) -> [FaultShim.Point] {
    let errors: [String: [Int32]] = [
      "open": [EIO, ENOSPC, EMFILE], "pwrite": [EIO, ENOSPC], "write": [EIO, ENOSPC],
      "writev": [EIO, ENOSPC], "fsync": [EIO, ENOSPC], "fdatasync": [EIO, ENOSPC],
      "ftruncate": [EIO, ENOSPC], "fallocate": [EIO, ENOSPC], "mmap": [ENOMEM],
      "malloc": [ENOMEM], "pthread_create": [EAGAIN], "mkdir": [EIO, ENOSPC],
      "rename": [EIO, ENOSPC],
    ]
    let cut: Set = ["pwrite", "write", "writev"]
    let changing: Set = [
      "open", "pwrite", "write", "writev", "fsync", "fdatasync", "ftruncate", "fallocate", "rename",
      "unlink", "mkdir", "rmdir",
    ]
    guard count > 0 else { return [] }
    return (1...count).flatMap { number -> [FaultShim.Point] in
      var points: [FaultShim.Point] = []
      for isSticky in [false, true] {
        for error in errors[kind] ?? [EIO] {
          points.append(
            FaultShim.Point(
              kind: kind, number: number, effect: .fail, error: error, isSticky: isSticky))
        }
        if cut.contains(kind) {
          points.append(
            FaultShim.Point(kind: kind, number: number, effect: .short, isSticky: isSticky))
        }
      }
      if changing.contains(kind) {
        points.append(FaultShim.Point(kind: kind, number: number, effect: .kill))
      }
      if cut.contains(kind) {
        points.append(FaultShim.Point(kind: kind, number: number, effect: .torn))
      }
      return points
    }
  }
}
