internal import Larder
internal import LarderLMDB

enum CheckCommand: Command {
  static let name = "check"
  static let summary = "read every page and record of a store and say what is wrong"
  static let help = """
    larder check --store DIR

    Checks every page before LMDB reads it, and then every record: its checksum, its fields and their
    kinds, the order of keys, the entries of indexes, and the counts. Changes nothing. Lists problems,
    one in a line, at most 100. Where pages are damaged, those are listed, and no record is read:
    `larder quarantine` saves the records that are whole.

      --store DIR  the store's folder; else the environment's LARDER_STORE

    Example:
      larder check --store ./data

    Exit codes: 0 sound, 1 problems or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    Interruption.watch()
    let report: CheckReport
    do {
      report = try arguments.storeToRead(checksPages: true).checkedInSight()
    } catch is CancellationError {
      throw Failure("it was stopped before it came to the end")
    } catch let error as StoreError {
      guard case .damagedFile = error else { throw error }
      let faults = Environment.pageFaults(of: try arguments.storePath())
      try Console.whileRead { for fault in faults { try Console.print(fault) } }
      throw error
    }
    try Console.whileRead { for problem in report.problems { try Console.print("\(problem)") } }
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
    return try check { news in
      try Interruption.check()
      line.show("checking", fraction: news.fraction) { seconds in
        [
          "\(Console.grouped(news.completed)) documents",
          "\(Console.grouped(Int(Double(news.completed) / max(seconds, 0.001))))/s",
        ]
      }
    }
  }
}
