internal import Larder
internal import LarderImport
internal import LarderLMDB

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// `larder`: the first word names a command, which gets the rest.
@main
struct Program {
  static let version = "0.1.0"

  /// In the order in which help lists them.
  static var commands: [any Command.Type] {
    [
      ImportCommand.self, ExportCommand.self, QueryCommand.self, SearchCommand.self,
      GetCommand.self, CountCommand.self, IndexCommand.self, StatCommand.self, CheckCommand.self,
      CompactCommand.self, BackupCommand.self, RestoreCommand.self, QuarantineCommand.self,
      SyncCommand.self, PendingCommand.self, ConflictsCommand.self, SyncCheckCommand.self,
      HelpCommand.self,
    ]
  }

  static func main() {
    // Before anything is opened that would get the number of one that is closed, and be read or printed to.
    SystemCall.keepStandardDescriptors()
    // A reader that has seen enough closes the pipe; writing then fails and says so.
    signal(SIGPIPE, SIG_IGN)
    exit(run().rawValue)
  }

  private static func run() -> ExitCode {
    do {
      return try perform(words())
    } catch is Console.OutputClosed {
      return .success
    } catch ExportError.readerGone {
      return .success
    } catch let error as UsageError {
      let topic = error.command.map { "larder help \($0)" } ?? "larder help"
      Console.complain("\(error.message)\nTry `\(topic)`.")
      return .usage
    } catch {
      Console.complain("\(error)")
      return .failure
    }
  }

  /// The words behind the program's name.
  ///
  /// - Throws: ``UsageError`` for one that is not UTF-8. `CommandLine.arguments` would have another text
  ///   in its place, which may be the name of another file.
  private static func words() throws(UsageError) -> [String] {
    var words: [String] = []
    for index in 1..<max(Int(CommandLine.argc), 1) {
      guard let word = CommandLine.unsafeArgv[index] else { break }
      words.append(try String(utf8: word, calledOnError: "argument \(index)"))
    }
    return words
  }

  private static func perform(_ words: [String]) throws -> ExitCode {
    guard let name = words.first else { throw UsageError("which command?") }
    switch name {
    case "--help", "-h": return try perform(["help"] + words.dropFirst())
    case "--version":
      try Console.print("larder \(version)")
      return .success
    default: break
    }
    let command = try command(named: name)
    let rest = words.dropFirst()
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      try Console.print(command.help)
      return .success
    }
    do {
      let arguments = try Arguments(
        Array(rest), options: command.options, takesMinus: command.takesMinus)
      return try command.run(arguments)
    } catch var error as UsageError {
      error.command = command.name
      throw error
    }
  }

  static func command(named name: String) throws -> any Command.Type {
    for command in commands where command.name == name { return command }
    if name.hasPrefix("-") {
      throw UsageError("the command comes first, and options such as \(name.inQuotes) behind it")
    }
    throw UsageError(
      "there is no command \(name.inQuotes)"
        + Spelling.suggestion(name, among: commands.map { $0.name }.filter { $0 != "help" }))
  }
}

/// What the shell is told.
enum ExitCode: Int32 {
  case success = 0
  /// Not found, problems, bad input.
  case failure = 1
  /// A command line that means nothing.
  case usage = 2
}

/// A command line that means nothing.
struct UsageError: Error {
  let message: String
  var command: String?

  init(_ message: String) { self.message = message }
}

/// Something that could not be done, as a sentence.
struct Failure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
