import Foundation

/// The processes that check the images of one record, one after the other where one ends early.
struct PowerImageRun {
  /// As in `session 3`.
  let place: String
  let role: String
  /// What stands before the seed.
  let arguments: [String]
  let seed: UInt64
  let imageCount: Int
  let folder: String
  let kept: String
  /// Whether images stand on file systems that have to be let go of.
  var isMounted = false

  func run() throws -> Tally {
    try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
    var tally = Tally()
    var next = 0
    while next < imageCount, tally.isClean {
      let numbers = ["\(seed)", "\(imageCount)", "\(next)"]
      let checker = try ChildProcess(
        [CommandLine.executable, "worker", role] + arguments + numbers + [folder, kept],
        ["SWIFT_BACKTRACE": "enable=no"])
      listen(to: checker, &next, &tally)
      let status = checker.end()
      if isMounted { Mounting.unmount(folder) }
      if status == 1 { throw ChildProcess.Failed(description: "no images of \(place)") }
      guard status != 0 else { continue }
      if status == nil { tally.count("hangs") } else { tally.signals += 1 }
      tally.faults.append(
        "\(place), image \(next - 1): \(status.map { "signal \(-$0)" } ?? "silent for a minute")"
          + " (stress worker \((["\(role)"] + arguments + numbers).joined(separator: " ")) ...)")
    }
    if tally.isClean { try FileManager.default.removeItem(atPath: kept) }
    return tally
  }

  /// Until the process ends.
  private func listen(to checker: ChildProcess, _ next: inout Int, _ tally: inout Tally) {
    while let line = checker.line() {
      let words = line.split(separator: " ", maxSplits: 3).map(String.init)
      switch words.first {
      case "at":
        next = (Int(words[1]) ?? next) + 1
        tally.cycles += 1
      case "end":
        tally.acked += Int(words[1]) ?? 0
        next = imageCount
      case "bad":
        switch PowerHistory.Fault(rawValue: words[2]) {
        case .lost: tally.lost += 1
        case .phantom: tally.phantom += 1
        default: tally.corrupt += 1
        }
        tally.faults.append("\(place), image \(words.dropFirst().joined(separator: " "))")
      default: tally.faults.append(line)
      }
    }
  }
}
