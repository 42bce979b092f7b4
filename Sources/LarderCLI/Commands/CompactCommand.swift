internal import Larder

enum CompactCommand: Command {
  static let name = "compact"
  static let summary = "give the free pages of a store back to the disk"
  static let help = """
    larder compact --store DIR

    Writes the store's file anew without its free pages, and says how many bytes the disk has back.
    No other process may have the store open; one that opens it meanwhile waits. Needs as much free
    disk as the documents take. Control-C, or a crash, leaves the store as it was.

      --wait SECONDS  how long to wait for others to close the store (default 5)
      --store DIR     the store's folder; else the environment's LARDER_STORE

    Example:
      larder compact --store ./data

    Exit codes: 0 done, 1 in use or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store, Option("wait", takes: "SECONDS")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    _ = try arguments.operands()
    var seconds = 5.0
    if let text = arguments["wait"] {
      guard let given = Double(text), (0...86_400).contains(given) else {
        throw UsageError("--wait takes seconds, 0 to 86400, not \(text.inQuotes)")
      }
      seconds = given
    }
    let store = try arguments.storeToChange()
    let report = try CopyLine.following { progress in
      try store.compact(timeout: .seconds(seconds), progress: progress)
    }
    try Console.print(
      "compacted: \(Console.number(report.byteCountBefore)) bytes before, "
        + "\(Console.number(report.byteCountAfter)) now, "
        + "\(Console.number(report.freedByteCount)) freed")
    try store.close()
    return .success
  }
}
