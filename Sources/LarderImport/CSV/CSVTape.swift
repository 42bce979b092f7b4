internal import Larder

/// Rows of a table as entries of a `DocumentTape`, one at a time, in memory of its own.
///
/// Text stays where it is; numbers and booleans, which are most of a table, become entries at once, and
/// all other kinds go by way of a `Value`. JSON in a field is scanned as that of a file is.
struct CSVTape: ~Copyable, Sendable {
  private var entries = Slab<Entry>(capacity: 32, filler: Entry(head: 0, payload: 0))
  private var scanner: TapeScanner
  private var values: ValueRow
  private let fields: [Field]
  private let columns: [Column]
  /// Of all columns, for what is no plain number.
  private let notations: [CSVNotation]
  /// The columns of every field that is a document; ``Field/columns`` is a range of these.
  private let columnsOfFields: [Int]
  /// The names of all fields, one behind the other: what stands first among the reader's resolved bytes.
  let names: [UInt8]

  typealias Entry = DocumentTape.Entry

  /// A field of a document; fields inside of it follow.
  private struct Field: Sendable {
    /// Its name among ``CSVTape/names``, with a number that is counted from 1 on in each document.
    let name: Entry
    /// -1 where it is a document.
    let column: Int
    /// The columns in it, however deep, as a range of ``CSVTape/columnsOfFields``.
    let columns: Range<Int>
    let allowsNil: Bool
    /// Behind the fields inside.
    var end: Int
  }

  private struct Column: Sendable {
    let form: Form
    let empty: CSVNotation.Empty
    /// Whether its kind is what the rows so far have shown.
    let isGuessed: Bool
  }

  private enum Form: UInt8, Sendable {
    case string, bool, integer, double, json
    /// By way of a `Value`.
    case other
  }

  /// What the numbers of bytes and columns on a tape can tell apart.
  private static let mostByteCount = JSONLimits.mostByteCount

  init(_ table: CSVTable) {
    scanner = TapeScanner(limits: table.jsonLimits.honoured)
    var (names, fields, columnsOfFields): ([UInt8], [Field], [Int]) = ([], [], [])
    Self.flatten(table.fields, &fields, &names, &columnsOfFields)
    (self.names, self.fields, self.columnsOfFields) = (names, fields, columnsOfFields)
    notations = table.columns.map(\.notation)
    columns = notations.enumerated().map { index, notation in
      Column(
        form: Self.form(of: notation), empty: notation.empty,
        isGuessed: table.guess?.kind(of: index) == notation.kind)
    }
    values = ValueRow(count: table.columns.count)
  }

  private static func flatten(
    _ fields: [CSVField], _ flat: inout [Field], _ names: inout [UInt8],
    _ columnsOfFields: inout [Int]
  ) {
    for (index, field) in fields.enumerated() {
      let name = Entry.made(
        .resolvedName, at: 0, from: names.count, count: field.name.utf8.count, name: index + 1)
      names += field.name.utf8
      let place = flat.count
      let firstColumn = columnsOfFields.count
      switch field.content {
      case .column(let column):
        flat.append(
          Field(
            name: name, column: column, columns: firstColumn..<firstColumn, allowsNil: true,
            end: place + 1))
      case .document(let document):
        columnsOfFields += document.columns
        flat.append(
          Field(
            name: name, column: -1, columns: firstColumn..<columnsOfFields.count,
            allowsNil: document.allowsNil, end: place + 1))
        flatten(document.fields, &flat, &names, &columnsOfFields)
        flat[place].end = flat.count
      }
    }
  }

  private static func form(of notation: CSVNotation) -> Form {
    switch notation.kind {
    case .string, .null: .string
    case .bool: .bool
    case .integer(.int64): .integer
    case .double: .double
    default: notation.isJSON ? .json : .other
    }
  }

  /// Takes the latest row of `reader`, whose resolved bytes begin with ``names``; false for one that has a
  /// value which the tape has nothing for.
  mutating func take(_ reader: inout CSVReader) -> Bool {
    guard reader.text.next - reader.text.start <= Self.mostByteCount else { return false }
    entries.removeAll(keepingUpTo: 1 << 16)
    entries.reserve(2 * fields.count + 1)
    entries.append(Entry.made(.object, at: 0, 0))
    guard put(0..<fields.count, in: 0, &reader) else { return false }
    return reader.resolved.count <= Self.mostByteCount
  }

  /// The row that was taken, as long as it is the reader's latest.
  func tape(of reader: borrowing CSVReader) -> DocumentTape {
    DocumentTape(
      entries: UnsafePointer(entries.base),
      text: UnsafePointer(reader.text.bytes.base + reader.text.start),
      resolved: UnsafePointer(reader.resolved.base), generation: scanner.names.generation,
      values: values.base)
  }

  /// Puts fields as the members of the object at an index.
  private mutating func put(
    _ range: Range<Int>, in object: Int, _ reader: inout CSVReader
  ) -> Bool {
    var index = range.lowerBound
    var count = 0
    while index < range.upperBound {
      let name = entries.count
      let field = fields[index]
      entries.append(field.name)
      let isPut =
        field.column >= 0 ? put(field.column, &reader) : put(document: index, field, &reader)
      guard isPut else { return false }
      // Nothing was put for a field that the row lacks.
      if entries.count == name + 1 { entries.count = name } else { count += 1 }
      index = field.end
    }
    entries.base[object].payload =
      UInt64(truncatingIfNeeded: entries.count - object) << 32 | UInt64(truncatingIfNeeded: count)
    return true
  }

  private mutating func put(
    document index: Int, _ field: Field, _ reader: inout CSVReader
  ) -> Bool {
    var (isMissing, isNil) = (true, true)
    for place in field.columns {
      let column = columnsOfFields[place]
      if reader.isMissing(column) { continue }
      isMissing = false
      if !reader.cells[column].isNil {
        isNil = false
        break
      }
    }
    if isMissing { return true }
    if isNil, field.allowsNil {
      entries.append(Entry.made(.null, at: 0, 0))
      return true
    }
    let object = entries.count
    entries.append(Entry.made(.object, at: 0, 0))
    return put(index + 1..<field.end, in: object, &reader)
  }

  /// Puts what stands in a column; false for what is left to others.
  private mutating func put(_ index: Int, _ reader: inout CSVReader) -> Bool {
    let cell = reader.cells[index]
    let column = columns[index]
    if cell.isNil { return putEmpty(column.empty) }
    if reader.isMissing(index) { return true }
    switch column.form {
    case .string: put(text: cell)
    case .bool:
      guard let bool = reader.withCell(index, { CSVNotation.bool($0) }) else {
        return put(other: index, cell, &reader)
      }
      entries.append(Entry.made(bool ? .true : .false, at: cell.offset, 0))
      // `0` and `1` are numbers.
      if column.isGuessed, !cell.isQuoted, cell.count > 1 { reader.confirmGuess(index) }
    case .integer:
      guard let number = reader.withCell(index, { PlainNumber.integer($0) }) else {
        return put(other: index, cell, &reader)
      }
      entries.append(Entry.made(.integer, at: cell.offset, UInt64(bitPattern: number)))
      if column.isGuessed, !cell.isQuoted { reader.confirmGuess(index) }
    case .double:
      guard let number = reader.withCell(index, { PlainNumber.double($0) }) else {
        return put(other: index, cell, &reader)
      }
      entries.append(Entry.made(.double, at: cell.offset, number.bitPattern))
      if column.isGuessed, !cell.isQuoted { reader.confirmGuess(index) }
    case .json: return put(json: cell, &reader)
    case .other: return put(other: index, cell, &reader)
    }
    return true
  }

  /// Puts what stands in a column as text that means nothing else.
  @inline(__always)
  private mutating func put(text cell: CSVReader.Cell) {
    entries.append(
      Entry.made(
        cell.isResolved ? .resolvedString : .string, at: cell.offset, from: cell.start,
        count: cell.count, name: 1))
  }

  private mutating func putEmpty(_ meaning: CSVNotation.Empty) -> Bool {
    switch meaning {
    case .null: entries.append(Entry.made(.null, at: 0, 0))
    case .text: entries.append(Entry.made(.string, at: 0, from: 0, count: 0, name: 1))
    case .missing: break
    case .refused: return false
    }
    return true
  }

  private mutating func put(
    other index: Int, _ cell: CSVReader.Cell, _ reader: inout CSVReader
  ) -> Bool {
    let value = reader.withCell(index) { notations[index].value($0, isQuoted: cell.isQuoted) }
    guard let value else { return false }
    switch value {
    case .string: put(text: cell)
    case .bool(let value): entries.append(Entry.made(value ? .true : .false, at: cell.offset, 0))
    case .integer(let value):
      entries.append(Entry.made(.integer, at: cell.offset, UInt64(bitPattern: value)))
    case .unsigned(let value): entries.append(Entry.made(.unsigned, at: cell.offset, value))
    case .double(let value): entries.append(Entry.made(.double, at: cell.offset, value.bitPattern))
    case .date, .uuid, .url, .data, .decimal:
      values.base[index] = value
      entries.append(Entry.made(.value, at: cell.offset, UInt64(index)))
    case .null, .array, .dictionary, .document: return false
    }
    return true
  }

  // MARK: JSON

  private mutating func put(json cell: CSVReader.Cell, _ reader: inout CSVReader) -> Bool {
    let first = cell.isResolved ? reader.resolved.base : reader.text.bytes.base + reader.text.start
    let text = UnsafePointer(first + cell.start)
    scanner.begin()
    guard
      case .done = scanner.scan(text, to: cell.count, isFinal: true, linesEnd: false),
      (scanner.next..<cell.count).allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains(text[$0]) })
    else { return false }
    let count = scanner.tape.entries.count
    let start = reader.resolved.count
    if scanner.tape.resolved.count > 0 {
      let (bytes, byteCount) = (scanner.tape.resolved.base, scanner.tape.resolved.count)
      reader.appendResolved(atMost: byteCount) {
        $0.update(from: bytes, count: byteCount)
        return byteCount
      }
    }
    entries.reserve(count + 2 * fields.count)
    for index in 0..<count {
      entries.append(moved(scanner.tape.entries[index], cell, resolvedAt: start))
    }
    return true
  }

  /// An entry of JSON in a field as one of the row.
  private func moved(
    _ entry: Entry, _ cell: CSVReader.Cell, resolvedAt start: Int
  ) -> Entry {
    var kind = entry.kind
    let move: Int
    switch kind {
    case .string, .name, .number:
      if cell.isResolved { kind = kind == .name ? .resolvedName : .resolvedString }
      // What others than the plan need of a number is in the document that is made of the row.
      if entry.kind == .number { return Entry.made(.number, at: cell.offset, from: 0, count: 0) }
      move = cell.start
    case .resolvedString, .resolvedName: move = start
    default: return entry
    }
    return Entry.made(
      kind, at: entry.offset, from: entry.start + move, count: entry.count, name: entry.name)
  }
}

/// One value for each column, at an address that stays the same.
private struct ValueRow: ~Copyable {
  let base: UnsafeMutablePointer<Value>
  private let count: Int

  init(count: Int) {
    self.count = count
    base = .allocate(capacity: max(count, 1))
    base.initialize(repeating: .null, count: count)
  }

  deinit {
    base.deinitialize(count: count)
    base.deallocate()
  }
}

// It owns its memory alone, as it cannot be copied.
extension ValueRow: @unchecked Sendable {}

extension CSVReader {
  /// Whether a field says that the document lacks it.
  @inline(__always)
  func isMissing(_ index: Int) -> Bool {
    let cell = cells[index]
    return cell.count == 2 && !cell.isQuoted && withCell(index) { CSVNotation.isMissing($0) }
  }
}
