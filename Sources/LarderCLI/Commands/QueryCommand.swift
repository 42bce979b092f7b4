internal import Larder
internal import LarderImport

enum QueryCommand: Command {
  static let name = "query"
  static let summary = "print the documents that an expression holds for"
  static let help = """
    larder query COLLECTION --where EXPR --store DIR

    Prints documents as a table, in which long values are cut, or whole in another format.

      --format FORMAT   table (default), json, ndjson or csv
    \(Option.selectingHelp)
      --store DIR       the store's folder; else the environment's LARDER_STORE

    \(Option.expressionHelp)

    Examples:
      larder query contacts --where 'city == "Oslo"' --sort name --limit 20 --store ./data
      larder query books --where 'price < 10 && genres contains "novel"' --select isbn,title

    Exit codes: 0 printed, 1 no such collection or failure, 2 wrong usage.
    """
  static let options: [Option] = Option.selecting + [.store, Option("format", takes: "FORMAT")]

  static func run(_ arguments: Arguments) throws -> ExitCode {
    let name = try arguments.operands("COLLECTION")[0]
    let collection = try arguments.storeToRead().existing(name).collection
    return try output(try arguments.query(of: collection), of: collection, arguments)
  }

  /// Prints what a query selects, as the options say.
  static func output(
    _ query: DynamicQuery, of collection: DynamicCollection, _ arguments: Arguments
  ) throws -> ExitCode {
    let formatName = arguments["format"] ?? "table"
    let format = ExportFormat(rawValue: formatName)
    guard format != nil || formatName == "table" else {
      throw UsageError(
        "there is no format \(formatName.inQuotes)"
          + Spelling.suggestion(
            formatName, among: ["table"] + ExportFormat.allCases.map(\.rawValue)))
    }
    var options = try ExportOptions(arguments, collection)
    guard let format else {
      try print(query, collection, options.fields)
      return .success
    }
    options.isForTerminal = Console.outputIsTerminal
    try collection.write(query, as: format, to: .standardOutput, options)
    return .success
  }

  // MARK: Tables

  /// Rows that are aligned with one another before they are printed.
  private static let tableRowCount = 1_000
  /// Characters of a cell.
  private static let cellLength = 40

  private static func print(
    _ query: DynamicQuery, _ collection: DynamicCollection, _ fields: [FieldPath]?
  ) throws {
    let place = try collection.place()
    let paths = fields ?? (place?.fieldNames ?? []).map(FieldPath.init(field:))
    let headings = paths.map { path in
      let isNumber = path.names.reduce(place) { $0?.member($1) }?.kind.isNumber ?? false
      return ("\(path)", isNumber ? Table.Alignment.right : .left)
    }
    var table = Table(headings)
    var widths = headings.map { _ in 0 }
    var isFirst = true
    func flush() throws {
      widths = zip(widths, table.widths).map(max)
      for line in table.lines(widths: widths).dropFirst(isFirst ? 0 : 1) {
        try Console.print(line)
      }
      table = Table(headings)
      isFirst = false
    }
    Interruption.watch()
    try collection.forEach(query) { document in
      if Interruption.isWished { throw Failure("the query was stopped") }
      var next = 0
      table.add(paths.map { cell(document.value(at: $0, from: &next)) })
      if table.count == tableRowCount { try flush() }
    }
    if isFirst || table.count > 0 { try flush() }
  }

  private static func cell(_ value: Value?) -> String {
    guard let value, value != .null else { return "" }
    let text = value.plainText ?? JSONOutput.text(of: value)
    // A look at few scalars says whether it is long: characters are slow to count.
    guard text.unicodeScalars.count > cellLength, text.count > cellLength else { return text }
    return text.prefix(cellLength - 1) + "…"
  }
}

extension Kind {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .float, .double, .decimal: true
    default: false
    }
  }
}
