internal import Larder
internal import LarderImport

extension Option {
  /// What says which documents, in which order, and what of them.
  static let selecting = [
    Option("where", takes: "EXPR"), Option("sort", takes: "LIST"), Option("limit", takes: "N"),
    Option("offset", takes: "N"), Option("select", takes: "LIST"), delimiter,
  ]

  /// The lines of a command's help on ``selecting``.
  static let selectingHelp = """
      --where EXPR      only documents that the expression holds for; see below
      --sort LIST       the fields to sort by, as in `city,-order`; `-` reverses. Without it
                        documents come in the order of their keys, and what
                        a search has found best first
      --limit N         at most so many documents
      --offset N        without the first so many
      --select LIST     only these fields, as in `id,name,geo.lat`
      --delimiter CHAR  of CSV: comma (default), semicolon, tab (default for .tsv), pipe, or itself
    """

  /// What a command's help says of expressions.
  static let expressionHelp = """
    Expressions, such as  city == "Oslo" && (order < 5 || !tags contains "vip"):

      expression  = conjunction { "||" conjunction }
      conjunction = unary { "&&" unary }
      unary       = "!" unary | "(" expression ")" | condition
      condition   = "true" | "false" | field [ comparison ]
      comparison  = ( "==" | "!=" ) ( value | "nil" )
                  | ( "<" | "<=" | ">" | ">=" ) value
                  | "in" "[" [ value { "," value } ] "]"
                  | ( "contains" | "hasPrefix" | "hasSuffix" ) value
      value       = string | number | "true" | "false"
      field       = name { "." name }

    Strings stand between " or ', with the escapes \\\\ \\" \\' \\n \\r \\t \\u0041 \\u{1F98A}. A name that
    is not made of letters, digits, _ and - stands between backquotes. A string is read as a date
    (ISO 8601), a UUID, a URL, data (Base64) or a decimal where the field holds these. A field alone
    is a bool that is true. `!` is about the whole comparison behind it. A field that a document
    lacks is nil; nil is equal to nil alone, and neither below nor above anything. A number that would
    be rounded is refused.
    """
}

extension Arguments {
  /// What the options say of a collection's documents.
  ///
  /// - Throws: ``UsageError`` for an option that means nothing; `StoreError`.
  func query(of collection: DynamicCollection) throws -> DynamicQuery {
    var query = DynamicQuery()
    do {
      if let expression = self["where"] {
        query.filter = try FilterParser.filter(expression, in: collection)
      }
    } catch let error as FilterError {
      throw UsageError("\(error)")
    }
    for part in try list("sort") {
      let isReversed = part.hasPrefix("-")
      let path = try path(isReversed ? String(part.dropFirst()) : part, "sort")
      query.order.append(DynamicQuery.Order(path, isReversed: isReversed))
    }
    query.maximumCount = try count("limit")
    query.skippedCount = try count("offset") ?? 0
    try require(query.order.map(\.path), in: collection, "sort") { path in
      try collection.check(DynamicQuery().sorted(by: path))
    }
    return query
  }

  /// The fields that are asked for; nil for all of them.
  ///
  /// - Throws: ``UsageError`` for a list of none, of one twice, or of what the collection does not have.
  func fields(of collection: DynamicCollection) throws -> [FieldPath]? {
    let paths = try paths("select", of: collection)
    var seen: Set<FieldPath> = []
    if let twice = paths.first(where: { !seen.insert($0).inserted }) {
      throw UsageError("--select names \("\(twice)".inQuotes) twice")
    }
    return paths.isEmpty ? nil : paths
  }

  /// The fields that an option names; none where it is not given.
  ///
  /// - Throws: As ``fields(of:)``.
  func paths(_ option: String, of collection: DynamicCollection) throws -> [FieldPath] {
    let paths = try list(option).map { try path($0, option) }
    try require(paths, in: collection, option) { path in
      guard let place = try collection.place() else { return }
      var inner: FieldPlace? = place
      for (level, name) in path.names.enumerated() {
        let known = inner?.fieldNames ?? []
        inner = inner?.member(name)
        guard inner == nil else { continue }
        throw DynamicQueryError(
          collection: collection.name, path: path, unknownName: level, knownNames: known)
      }
    }
    return paths
  }

  private func require(
    _ paths: [FieldPath], in collection: DynamicCollection, _ option: String,
    _ check: (FieldPath) throws -> Void
  ) throws {
    for path in paths {
      do {
        try check(path)
      } catch let error as DynamicQueryError {
        guard case .name(let level) = error.part, !error.knownNames.isEmpty else {
          throw UsageError(
            "--\(option) \("\(path)".inQuotes): found \(error.found), expected \(error.expected)")
        }
        throw UsageError(
          "--\(option): \(collection.name) has no field \("\(path)".inQuotes)"
            + Spelling.suggestion(path.names[level], among: error.knownNames))
      }
    }
  }

  private func path(_ text: String, _ option: String) throws(UsageError) -> FieldPath {
    guard let path = FieldPath(text) else {
      throw UsageError(
        "--\(option): \(text.inQuotes) is no field; names of other signs than letters, digits, _ "
          + "and - stand between backquotes")
    }
    return path
  }

  private func list(_ option: String) throws(UsageError) -> [String] {
    self[option].map(Self.list) ?? []
  }

  /// What stands between the commas, of which those between backquotes are none.
  static func list(_ text: String) -> [String] {
    var parts = [""]
    var isQuoted = false
    for scalar in text.unicodeScalars {
      if scalar == "`" { isQuoted.toggle() }
      if scalar == ",", !isQuoted {
        parts.append("")
      } else {
        parts[parts.count - 1].unicodeScalars.append(scalar)
      }
    }
    return parts
  }

  private func count(_ option: String) throws(UsageError) -> Int? {
    guard let text = self[option] else { return nil }
    guard let count = Int(text), count >= 0 else {
      throw UsageError("--\(option) takes a number of 0 or more, not \(text.inQuotes)")
    }
    return count
  }

  /// What stands between two fields of CSV; nil where nothing is said.
  func delimiter() throws(UsageError) -> CSVDelimiter? {
    guard let text = self["delimiter"] else { return nil }
    let names: [String: CSVDelimiter] = [
      "comma": .comma, "semicolon": .semicolon, "tab": .tab, "\\t": .tab, "pipe": .pipe,
    ]
    if let delimiter = names[text] { return delimiter }
    if text.count == 1, let delimiter = text.first.flatMap(CSVDelimiter.init) { return delimiter }
    throw UsageError(
      "\(text.inQuotes) cannot be the delimiter; take comma, semicolon, tab, pipe, or another "
        + "ASCII sign")
  }
}
