internal import Larder

/// The names of a CSV file's columns, and the fields that they mean.
struct CSVHeader {
  private(set) var columns: [Column] = []
  private(set) var fields: [CSVField] = []
  private let file: String

  /// Names in the path of one column, far more than anyone means.
  private static let maximumDepth = 64

  struct Column {
    let name: String
    let path: FieldPath
    /// What the catalogue knows of it.
    let place: FieldPlace?
    let position: TextPosition
  }

  /// Takes the names from the options, or else from the first row.
  ///
  /// - Throws: ``ImportError`` for input that is refused or cannot be read.
  init(
    _ options: CSVOptions, _ types: [String: ImportType], _ reader: inout CSVReader,
    place: FieldPlace?, keyField: String
  ) throws(ImportError) {
    file = reader.text.source.name
    var names = (options.columns ?? []).map { (name: $0, position: TextPosition.start) }
    if options.columns == nil {
      guard try reader.next() else {
        throw reader.text.error(
          .shape, at: reader.text.position, found: "the end of the file",
          expected: "a header with the names of the columns")
      }
      for (index, position) in reader.positions().enumerated() {
        let name = reader.withCell(index) { String(decoding: $0, as: UTF8.self) }
        // As the index of a data frame has none.
        names.append((name.isEmpty ? "column \(index + 1)" : name, position))
      }
    }
    var tree = CSVFieldTree(allowsNil: true)
    let allNames = Set(names.lazy.compactMap { FieldPath($0.name)?.names })
    for (name, position) in names {
      guard !name.isEmpty else {
        throw error(.shape, position, found: "a column without a name", expected: "a name for each")
      }
      // The key is a field of the document itself, also where its name has a point.
      let path =
        name == keyField
        ? FieldPath(field: name) : Self.path(of: name, place, beside: allNames)
      guard path.names.count <= Self.maximumDepth else {
        throw error(
          .limit(.depth), position, found: "a column of a field \(path.names.count) documents deep",
          expected: "at most \(Self.maximumDepth) (depth)")
      }
      let column = Column(
        name: name, path: path, place: path.names.reduce(place) { $0?.member($1) },
        position: position)
      columns.append(column)
      do throws(CSVFieldTree.Clash) {
        try tree.add(columns.count - 1, path.names[...], place)
      } catch {
        throw self.error(
          .duplicateKey, position, error.isSecond ? .repeatedColumn : nil,
          found: error.isSecond ? "a second \(quoted(name))" : quoted(name),
          expected: error.isSecond
            ? "each name once"
            : "an embedded document in one column or in several, not both; a field whose name has a "
              + "point stands in backquotes, as in `` `geo.lat` ``")
      }
    }
    fields = tree.fields
    let known = Set(columns.map(\.name))
    if let unknown = types.keys.sorted().first(where: { !known.contains($0) }) {
      throw noColumn(
        found: "no column \(quoted(unknown)), whose type is declared",
        expected: "the name of a column: \(known.sorted().prefix(20).joined(separator: ", "))")
    }
  }

  /// - Parameter isMade: Whether the documents get new keys.
  /// - Throws: ``ImportError`` where no column is the key's; or one is, although keys are made.
  func require(_ keyField: String, isMade: Bool) throws(ImportError) {
    let column = columns.first { $0.path.names == [keyField] }
    switch column {
    case let column? where isMade:
      throw error(
        .shape, column.position, .madeKeyColumn, found: "a column \(quoted(keyField))",
        expected: "none of that name, for the keys that are made stand in it")
    case nil where !isMade:
      let names = columns.map(\.name).prefix(20).joined(separator: ", ")
      throw noColumn(
        found: "no column \(quoted(keyField))",
        expected: "one of that name, for it is the key; there are \(names)")
    default: break
    }
  }

  /// The field that a column's name means. Where there is a column `fuel`, `fuel.type` is the name of a
  /// field, and no member of a document; unless the catalogue has a document `fuel`. Where it has fields by both
  /// meanings, the name is read as an export writes it.
  private static func path(
    of name: String, _ place: FieldPlace?, beside names: Set<[String]>
  ) -> FieldPath {
    guard let path = FieldPath(name) else { return FieldPath(field: name) }
    if place?.member(name) != nil {
      let isThere = path.names.reduce(place) { $0?.member($1) } != nil
      return isThere ? path : FieldPath(field: name)
    }
    // Beside a column that is deeper than the limit nothing is read: that one is refused itself.
    let isBeside = (1..<min(path.names.count, maximumDepth + 1)).contains { count in
      let outer = path.names.prefix(count)
      guard names.contains(Array(outer)) else { return false }
      switch outer.reduce(place, { $0?.member($1) })?.kind {
      case .document, .dictionary: return false
      default: return true
      }
    }
    return isBeside ? FieldPath(field: name) : path
  }

  private func noColumn(found: String, expected: String) -> ImportError {
    error(
      .shape, .start, .noColumn(among: columns.map(\.name)), found: found, expected: expected)
  }

  private func error(
    _ kind: ImportError.Kind, _ position: TextPosition, _ reason: ImportError.Reason? = nil,
    found: String, expected: String
  ) -> ImportError {
    var error = ImportError(kind, file: file, position: position, found: found, expected: expected)
    error.reason = reason
    return error
  }
}
