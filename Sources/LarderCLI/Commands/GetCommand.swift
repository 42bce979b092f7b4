internal import Larder
internal import LarderImport

enum GetCommand: Command {
  static let name = "get"
  static let summary = "print a document as JSON"
  static let help = """
    larder get COLLECTION KEY --store DIR

    Prints the document under a key as JSON, in one line, as `larder export` writes it. Dates are
    text in ISO 8601, data is text in Base64; decimals, NaN and the infinities are text, too. In a
    field that holds any kind these stand in an object that names their kind, as {"$date": "..."}.

      --pretty     every member in a line of its own
      --store DIR  the store's folder; else the environment's LARDER_STORE

    Examples:
      larder get contacts seller-00000042 --store ./data
      larder get --pretty cities 3143244 --store ./data
      larder get contacts --store ./data -- --a-key-with-dashes

    Exit codes: 0 printed, 1 no such document or failure, 2 wrong usage.
    """
  static let options: [Option] = [.store, Option("pretty")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let operands = try arguments.operands("COLLECTION", "KEY")
    let (name, text) = (operands[0], operands[1])
    let store = try arguments.storeToRead()
    let (collection, keyKind) = try store.existing(name)
    guard let key = Value(keyText: text, kind: keyKind) else {
      throw Failure("\(text.inQuotes) is no key of \(name): its keys are of kind \(keyKind)")
    }
    guard let document = try collection.get(key) else {
      throw Failure("\(name) has no document under \(text.inQuotes)")
    }
    try Console.print(
      JSONOutput.text(of: document, in: collection.place(), pretty: arguments.has("pretty")))
    return .success
  }
}
