internal import Larder
internal import LarderCompression
internal import LarderImport

extension ImportCommand {
  /// How to import, as the options of the command say.
  static func importOptions(
    _ arguments: Arguments, of path: String
  ) throws(UsageError) -> ImportOptions {
    var options = ImportOptions()
    options.decompressors = systemDecompressors
    options.atomically = arguments.has("atomic")
    options.isDryRun = arguments.has("dry-run")
    options.allowsMixedKinds = arguments.has("mixed")
    try setFormat(arguments["format"] ?? "auto", of: &options)
    try setMember(arguments["at"], of: &options)
    try setTypes(arguments["types"], of: &options)
    try setRepeatedKeys(arguments["repeated"], of: &options)
    try setLimits(arguments["max-bytes"], of: &options)
    options.csv.delimiter = try arguments.delimiter()
    try setColumns(arguments["columns"], of: &options)
    try refuseWithoutEffect(arguments, isTable: options.format.resolved(for: path) == .csv)
    return options
  }

  /// - Throws: `UsageError` for options that mean nothing to the format.
  private static func refuseWithoutEffect(
    _ arguments: Arguments, isTable: Bool
  ) throws(UsageError) {
    let (names, format) = isTable ? (["at"], "JSON") : (["delimiter", "columns"], "CSV")
    for name in names where arguments.has(name) {
      throw UsageError(
        "--\(name) is for \(format)"
          + (isTable ? "" : "; if the file is a table, add --format csv"))
    }
  }

  private static func setFormat(
    _ name: String, of options: inout ImportOptions
  ) throws(UsageError) {
    if name == "auto" { return }
    let names = JSONShape.allCases.filter { $0 != .automatic }.map(\.rawValue) + ["csv"]
    guard names.contains(name) else {
      let guess = Spelling.suggestion(name, among: ["auto"] + names)
      throw UsageError(
        "there is no format \(name.inQuotes)"
          + (guess.isEmpty ? "; there are auto, \(names.joined(separator: ", "))" : guess))
    }
    options.format = name == "csv" ? .csv : .json
    options.shape = JSONShape(rawValue: name) ?? .automatic
  }

  private static func setMember(
    _ path: String?, of options: inout ImportOptions
  ) throws(UsageError) {
    guard let path else { return }
    guard options.format != .csv, options.shape != .lines, options.shape != .sequence else {
      throw UsageError("--at goes with the formats array and keyed, or with none")
    }
    options.documentsAt = FieldPath(path) ?? FieldPath(field: path)
  }

  private static func setTypes(
    _ list: String?, of options: inout ImportOptions
  ) throws(UsageError) {
    guard let list else { return }
    for part in try QuotedList(list, option: "types").parts {
      let text = part.text
      if text.isEmpty, part.name == nil { continue }
      guard let sign = text.lastIndex(of: "="), (part.name == nil) == (sign > text.startIndex)
      else { throw UsageError("--types takes a list such as `zip=string,\"a, b\"=decimal`") }
      let field = part.name ?? String(text[..<sign])
      let kind = String(text[text.index(after: sign)...])
      guard let type = ImportType(rawValue: kind) else {
        let kinds = ImportType.allCases.map(\.rawValue)
        throw UsageError(
          "there is no kind \(kind.inQuotes); there are \(kinds.joined(separator: ", "))"
            + Spelling.suggestion(kind, among: kinds))
      }
      guard options.types.updateValue(type, forKey: field) == nil else {
        throw UsageError("--types names \(field.inQuotes) twice")
      }
    }
  }

  private static func setColumns(
    _ list: String?, of options: inout ImportOptions
  ) throws(UsageError) {
    guard let list else { return }
    var names: [String] = []
    for part in try QuotedList(list, option: "columns").parts {
      guard part.name == nil || part.text.isEmpty else {
        throw UsageError("--columns takes a list such as `id,name,\"a, b\"`")
      }
      names.append(part.name ?? part.text)
    }
    options.csv.columns = names
  }

  private static func setRepeatedKeys(
    _ choice: String?, of options: inout ImportOptions
  ) throws(UsageError) {
    guard let choice else { return }
    guard choice == "last" else {
      throw UsageError("--repeated takes `last`, and not \(choice.inQuotes)")
    }
    options.repeatedKeys = .lastWins
  }

  private static func setLimits(
    _ size: String?, of options: inout ImportOptions
  ) throws(UsageError) {
    guard let size else { return }
    let units: [Character: Int] = ["K": 10, "M": 20, "G": 30]
    let shift = size.last.flatMap { units[Character($0.uppercased())] }
    let digits = shift == nil ? size[...] : size.dropLast()
    guard let count = Int(digits), (1...Int.max >> (shift ?? 0)).contains(count) else {
      throw UsageError("--max-bytes takes a size such as 512M, and not \(size.inQuotes)")
    }
    options.allowDocuments(ofByteCount: count << (shift ?? 0))
  }
}
