internal import Larder

enum CheckCommand: Command {
  static let name = "check"
  static let summary = "read every page and record of a store and say what is wrong"
  static let help = """
    larder check --store DIR

    Reads every page, before LMDB does, and then every record: pages are what LMDB takes for granted,
    checksums hold, fields can be read and are of their catalogued kinds, keys are in order, counts
    agree. Changes nothing. Problems are listed, one in a line, at most 100.

      --store DIR  the store's folder; else the environment's LARDER_STORE

    Example:
      larder check --store ./data

    Exit codes: 0 sound, 1 problems or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    let store = try arguments.storeToRead(checksPages: true)
    let report = try store.checkedInSight()
    for problem in report.problems { try Console.print("\(problem)") }
    guard report.isSound else {
      let more = report.problems.count >= CheckReport.maximumProblemCount ? " or more" : ""
      throw Failure("the store has \(report.problems.count)\(more) problems")
    }
    try Console.print("sound: \(Console.number(report.documentCount)) documents checked")
    return .success
  }
}

extension Store {
  /// Checks every page and record, and shows how far it is.
  func checkedInSight() throws -> CheckReport {
    var line = ProgressLine()
    defer { line.clear() }
    return try check { checked, total in
      line.show("checking", fraction: Double(checked) / Double(max(total, 1))) { seconds in
        [
          "\(Console.grouped(checked)) documents",
          "\(Console.grouped(Int(Double(checked) / max(seconds, 0.001))))/s",
        ]
      }
      return true
    }
  }
}
