enum HelpCommand: Command {
  static let name = "help"
  static let summary = "print this, or how a command is used"
  static let help = """
    larder help [COMMAND]

    Prints the commands, or how one of them is used.

    Example:
      larder help import

    Exit codes: 0 printed, 2 wrong usage.
    """
  static let options: [Option] = []

  static func run(_ arguments: Arguments) throws -> ExitCode {
    guard arguments.operands.count <= 1 else { throw UsageError("one command at a time") }
    guard let name = arguments.operands.first else {
      try Console.print(overview)
      return .success
    }
    try Console.print(try Program.command(named: name).help)
    return .success
  }

  private static var overview: String {
    var table = Table(("", .left), ("", .left))
    for command in Program.commands { table.add("  " + command.name, command.summary) }
    return """
      larder: documents in a store on LMDB

      usage: larder COMMAND [operands] [options]

      \(table.lines.dropFirst().joined(separator: "\n"))

      The store's folder is given by --store DIR or by LARDER_STORE in the environment. Options may
      stand anywhere behind the command, as `--store DIR` or `--store=DIR`; `--` ends them. Results
      go to standard output, everything else to standard error.

      Exit codes: 0 success, 1 failure (not found, problems, bad input), 2 wrong usage.

      `larder help COMMAND` shows examples; `larder --version` prints the version.
      """
  }
}
