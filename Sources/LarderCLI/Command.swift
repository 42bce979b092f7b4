/// One thing that `larder` does.
protocol Command {
  /// The word that calls it.
  static var name: String { get }
  /// A line for the list of commands.
  static var summary: String { get }
  /// How it is called, what it does, its options, examples.
  static var help: String { get }
  static var options: [Option] { get }
  /// Whether a word with one minus in front, such as `-order`, is an operand.
  static var takesMinus: Bool { get }

  /// Does it. Results go to standard output; what is thrown goes to standard error.
  static func run(_ arguments: Arguments) throws -> ExitCode
}

extension Command {
  static var takesMinus: Bool { false }
}

extension Option {
  static let store = Option("store", takes: "DIR")
  static let delimiter = Option("delimiter", takes: "CHAR")
}
