internal import Larder

enum CountCommand: Command {
  static let name = "count"
  static let summary = "print how many documents a collection has"
  static let help = """
    larder count COLLECTION --store DIR

    Prints how many documents a collection has.

      --store DIR  the store's folder; else the environment's LARDER_STORE

    Example:
      larder count contacts --store ./data

    Exit codes: 0 printed, 1 no such collection or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let name = try arguments.operands("COLLECTION")[0]
    let store = try arguments.storeToRead()
    try Console.print(Console.number(try store.existing(name).collection.count()))
    return .success
  }
}
