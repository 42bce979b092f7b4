import Foundation

/// The power goes at any moment; the disk has kept what it was told to keep, and of the rest what it
/// liked.
///
/// A load is recorded at the level of system calls. Of the record disks are made as they could have
/// been found at random moments: writes dropped, reordered and torn, names missing. The library
/// opens each of them.
struct PowerCampaign: Campaign {
  static let name = "power"
  static let summary = "no loss of power loses what was acknowledged, or leaves half of a write"
  static let mutants: [Mutation] = [
    .worker("no-sync"), .worker("no-metasync"), .worker("no-fdatasync"), .worker("no-folder-sync"),
    .worker("unannounced"),
  ]

  static func obstacle() -> String? {
    #if os(Linux)
      nil
    #else
      "the recorder stands in front of the C library of Linux"
    #endif
  }

  func run(_ trial: Trial) throws -> Tally {
    let scratch = try Scratch("power-\(trial.mutation?.name ?? "")")
    let recorder = try Recorder(in: scratch.path)
    let imageCount = trial.cycles(quick: 600, nightly: 100_000, release: 400_000, mutant: 6_000)
    // Not every load exposes what a mutant breaks: many short loads find it sooner than a long one.
    let isShort = trial.scale == .quick || trial.mutation != nil
    let perSession = min(imageCount, isShort ? 150 : 500)
    let path = scratch.path
    return try inLanes((imageCount + perSession - 1) / perSession) { number in
      trial.progress.report("power: \(number * perSession) of \(imageCount) images")
      let session = PowerSession(
        trial: trial, number: number, folder: "\(path)/\(number)", recorder: recorder)
      return try session.run(imageCount: perSession)
    }
  }
}

/// One recorded load, and the disks that it could have left.
private struct PowerSession {
  let trial: Trial
  let number: Int
  let folder: String
  let recorder: Recorder

  private var record: String { folder + "/record" }

  func run(imageCount: Int) throws -> Tally {
    let manager = FileManager.default
    let root = folder + "/disk"
    try manager.createDirectory(atPath: root, withIntermediateDirectories: true)
    defer { try? manager.removeItem(atPath: folder) }  // In a place for temporary files.
    var random = trial.generator(number)
    let load = try trial.start(
      PowerLoad.role, root, root + "/" + MarkFile.name, "\(random.next())",
      "\(Int.random(in: 5...60, using: &random))",
      environment: recorder.environment(root: root, record: record))
    let words = load.lines()
    guard load.wait() == 0 else {
      throw ChildProcess.Failed(description: "the load ended early: \(words)")
    }
    let kept = trial.folder.appendingPathComponent("session-\(number)").path
    let tally = try PowerImageRun(
      place: "session \(number)", role: PowerImagesWorker.role, arguments: [record],
      seed: random.next(), imageCount: imageCount, folder: folder + "/image", kept: kept
    ).run()
    if !tally.isClean, trial.mutation == nil {
      try manager.copyItem(atPath: record, toPath: kept + "/record")
    }
    return tally
  }
}
