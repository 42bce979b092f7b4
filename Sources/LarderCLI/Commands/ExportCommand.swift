internal import Larder
internal import LarderImport

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

enum ExportCommand: Command {
  static let name = "export"
  static let summary = "write documents as CSV, JSON or NDJSON"
  static let help = """
    larder export COLLECTION --store DIR

    Writes the documents of a collection, all from one snapshot. Importing them into a collection with
    the same fields gives equal documents. Results go to standard output, or to a file, which is
    created or replaced once everything is written.

      --format FORMAT   ndjson (default), json (one array) or csv; or by the file's name
      --output FILE     the file; `-` is standard output
    \(Option.selectingHelp)
      --store DIR       the store's folder; else the environment's LARDER_STORE

    In CSV, arrays and embedded documents are JSON in one field; nil is an empty field, `\\N` a field
    that the document lacks, `""` an empty text. Values are written as they are: a spreadsheet may take
    fields that begin with = + - or @ for formulas.

    \(Option.expressionHelp)

    Examples:
      larder export contacts --output contacts.csv --store ./data
      larder export contacts --where 'city == "Oslo"' --sort -order --format json --store ./data

    Exit codes: 0 written, 1 no such collection or failure, 2 wrong usage.
    """
  static let options: [Option] =
    Option.selecting + [.store, Option("format", takes: "FORMAT"), Option("output", takes: "FILE")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let name = try arguments.operands("COLLECTION")[0]
    let file = arguments["output"].flatMap { $0 == "-" ? nil : $0 }
    if let file { try refuse(file, ofStoreAt: try arguments.storePath()) }
    let format = try format(arguments["format"], file)
    let collection = try arguments.storeToRead().existing(name).collection
    let query = try arguments.query(of: collection)
    var options = try ExportOptions(arguments, collection)
    options.isForTerminal = file == nil && Console.outputIsTerminal
    try collection.write(
      query, as: format, to: file.map(ExportTarget.file) ?? .standardOutput, options)
    return .success
  }

  /// - Throws: `UsageError` for a file that an export cannot be.
  private static func refuse(_ file: String, ofStoreAt path: String) throws(UsageError) {
    for (ending, program) in [(".gz", "gzip"), (".zst", "zstd")]
    where file.lowercased().hasSuffix(ending) {
      throw UsageError(
        "exports are not compressed; leave --output out, and write ... | \(program) > \(file)")
    }
    func resolved(_ path: String) -> URL { URL(fileURLWithPath: path).resolvingSymlinksInPath() }
    let (target, store) = (resolved(file), resolved(path))
    if target.deletingLastPathComponent().path == store.path,
      ["data.mdb", "lock.mdb", "larder.lock"].contains(target.lastPathComponent)
    {
      throw UsageError("\(file.inQuotes) is a file of the store itself")
    }
  }

  private static func format(
    _ name: String?, _ file: String?
  ) throws(UsageError) -> ExportFormat {
    guard let name else { return file.flatMap(ExportFormat.init(fileName:)) ?? .ndjson }
    if let format = ExportFormat(rawValue: name) { return format }
    throw UsageError(
      "there is no format \(name.inQuotes)"
        + Spelling.suggestion(name, among: ExportFormat.allCases.map(\.rawValue)))
  }
}

extension ExportOptions {
  /// What the options say of the fields of a collection.
  init(_ arguments: Arguments, _ collection: DynamicCollection) throws {
    self.init()
    delimiter = try arguments.delimiter()
    fields = try arguments.fields(of: collection)
  }
}

extension DynamicCollection {
  /// Exports, until Control-C.
  func write(
    _ query: DynamicQuery, as format: ExportFormat, to target: ExportTarget,
    _ options: ExportOptions
  ) throws {
    Interruption.watch()
    var options = options
    options.onTemporaryFile = Watchdog.noteUnfinished
    do {
      try store.export(
        collection: name, query, as: format, to: target, options: options
      ) { _ in try Interruption.check() }
    } catch is CancellationError {
      throw Failure("the export was stopped; it is not whole")
    }
  }
}
