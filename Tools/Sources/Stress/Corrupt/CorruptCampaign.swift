import Foundation

/// Files of stores are damaged in thirteen classes, and used: whatever is in a file, no answer is
/// wrong, no process ends, and damage that does harm is told.
struct CorruptCampaign: Campaign {
  static let name = "corrupt"
  static let summary = "no damaged file ends the process, hangs it, or gives a wrong document"
  static let mutants: [Mutation] = [
    .library("preflight"), .library("checksum"), .library("file-stamp"),
    .library("index-entries"),
  ]

  func run(_ trial: Trial) throws -> Tally {
    let scratch = try Scratch("corrupt-\(trial.mutation?.name ?? "")")
    let bases = scratch.path + "/bases"
    try FileManager.default.createDirectory(atPath: bases, withIntermediateDirectories: true)
    var random = trial.generator(0)
    let seed = random.next()
    let maker = try trial.start(CorruptBases.role, bases, "\(seed)")
    guard maker.wait() == 0 else {
      throw ChildProcess.Failed(description: "no stores to damage: \(maker.lines())")
    }
    let count = trial.cycles(quick: 2_000, nightly: 100_000, release: 1_000_000, mutant: 8_000)
    let perPart = min(count, 500)
    let path = scratch.path
    return try inLanes((count + perPart - 1) / perPart) { number in
      trial.progress.report("corrupt: \(number * perPart) of \(count) files")
      let part = CorruptPart(
        trial: trial, bases: bases, folder: "\(path)/image-\(number)",
        kept: trial.folder.appendingPathComponent("part-\(number)").path,
        seed: seed &+ UInt64(number), count: perPart)
      let tally = try part.run()
      if !tally.isClean, trial.mutation == nil {
        try? FileManager.default.copyItem(
          atPath: bases, toPath: trial.folder.path + "/bases")  // Another part may have done it.
      }
      return tally
    }
  }
}

/// Some of the files, in processes that are started again where one ends.
private struct CorruptPart {
  let trial: Trial
  let bases: String
  let folder: String
  let kept: String
  let seed: UInt64
  let count: Int

  func run() throws -> Tally {
    var tally = Tally()
    for name in ["refused", "told", "late", "harmless", "wrong", "hangs"] { tally.count(name, 0) }
    var next = 0
    while next < count, tally.isClean {
      let arguments = ["\(seed)", "\(count)", "\(next)"]
      let images = try trial.start(
        CorruptImages.role, bases, arguments[0], arguments[1], arguments[2], folder, kept,
        environment: ["SWIFT_BACKTRACE": "enable=no"])
      var last = ""
      while let line = images.line() {
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch words.first {
        case "at":
          next += 1
          tally.cycles += 1
          last = line
        case "end": break
        case "wrong":
          tally.count("wrong")
          tally.faults.append(line)
        case "error": tally.faults.append(line)
        default: tally.count(line)
        }
        if trial.mutation != nil, !tally.isClean { return tally }
      }
      let status = images.end()
      guard status != 0 || next < count else { break }
      let isHang = status == nil || status == -SIGPROF
      if isHang { tally.count("hangs") } else { tally.signals += 1 }
      let how = status.map { "status \($0)" } ?? "a minute of silence"
      tally.faults.append(
        "\(how) at \(last) (stress worker \(CorruptImages.role) BASES"
          + " \(arguments.joined(separator: " ")))")
    }
    try? FileManager.default.removeItem(atPath: folder)  // In a place for temporary files.
    return tally
  }
}
