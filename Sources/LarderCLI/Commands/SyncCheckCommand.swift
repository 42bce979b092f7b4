internal import LarderRemote

enum SyncCheckCommand: Command {
  static let name = "sync-check"
  static let summary = "try whether a sync server keeps the promises of the protocol"
  static let help = """
    larder sync-check URL --token TOKEN --scope NAME [--other-scope NAME] [options]

    Tries whether the server at URL keeps the promises of the sync protocol: several clients race, send
    again what was answered, read while others write, and send what servers choke on. Each promise is
    a line of the report. Documents are made in the collection `conformance` alone, and are deleted at
    the end.

      --token TOKEN       who asks; else the environment's LARDER_TOKEN
      --scope NAME        a scope that this user may read and write
      --other-scope NAME  another one, for documents that move between scopes
      --clients COUNT     how many clients race; 4 by default
      --rounds COUNT      how often each race is run; 12 by default
      --patience SECONDS  how long one promise may take; 60 by default
      --seed NUMBER       of an earlier report, to repeat its run

    Example:
      larder sync-check http://127.0.0.1:8000/v1 --token "$TOKEN" --scope a --other-scope b

    Exit codes: 0 nothing was found, 1 a promise is broken or failure, 2 wrong usage.
    """
  static let options: [Option] = [
    Option("token", takes: "TOKEN"), Option("scope", takes: "NAME"),
    Option("other-scope", takes: "NAME"), Option("clients", takes: "COUNT"),
    Option("rounds", takes: "COUNT"), Option("patience", takes: "SECONDS"),
    Option("seed", takes: "NUMBER"),
  ]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let url = try arguments.server(arguments.operands("URL")[0])
    guard let scope = arguments["scope"] else {
      throw UsageError("which scope? Give --scope NAME")
    }
    let token = try arguments.token()
    var conformance = RemoteConformance()
    if let count = try arguments.count("clients", 2...100) { conformance.clientCount = count }
    if let count = try arguments.count("rounds", 1...10_000) { conformance.roundCount = count }
    if let seconds = try arguments.count("patience", 1...86_400) {
      conformance.patience = .seconds(seconds)
    }
    if let text = arguments["seed"] {
      guard let seed = UInt64(text) else { throw UsageError("--seed takes a number") }
      conformance.seed = seed
    }
    let other = arguments["other-scope"]
    // Pushes go as they are, so that the server's own limits are met.
    var options = HTTPRemoteOptions()
    options.maximumPushBodyByteCount = .max
    Interruption.watch()
    let report = try finished(endsAtInterruption: true) { [conformance, options] in
      await conformance.check(scope: scope, otherScope: other) {
        HTTPRemote(url: url, options: options) { _ in token }
      }
    }
    try Console.whileRead { try Console.print(report.description) }
    if Interruption.isWished { throw Failure("it was stopped before it came to the end") }
    return report.isGood ? .success : .failure
  }
}

extension Arguments {
  /// The whole number behind an option; nil where it was not given.
  fileprivate func count(_ name: String, _ range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let count = Int(text), range.contains(count) else {
      throw UsageError("--\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return count
  }
}
