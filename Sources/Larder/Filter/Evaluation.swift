/// A filter made ready for one collection: names became slots, text became bytes.
final class Evaluation: Sendable {
  private let program: FilterProgram
  /// What each step of the program asks where bytes are not enough.
  private let questions: [Question]
  private let order: [(operand: Place, isReversed: Bool)]
  private let tables: [FieldTable]
  /// The place that documents have to come behind.
  private let position: (test: PositionTest, order: [Place])?
  let matchesAll: Bool

  init(_ filter: FilterNode, order: [SortKey] = [], in collection: Collection) {
    tables = collection.tables
    matchesAll = filter == .constant(true)
    position = filter.splitAtPosition.0.map { position in
      (PositionTest(position), position.order.map { Place($0.operand, in: collection) })
    }
    program = FilterProgram(filter, in: collection.description.fields)
    questions = program.tests.map { Question($0, in: collection) }
    self.order = order.map { (Place($0.operand, in: collection), $0.isReversed) }
  }

  /// What every document matches.
  static let everything = Evaluation(.constant(true), in: CollectionBinding.none.collection)

  /// What most records that do not match are held back by; nil where there is no such test.
  func sieve(_ binding: CollectionBinding) -> RecordSieve? {
    program.sieve(tableCount: binding.root.tableCount)
  }

  /// Whether a record matches, where its bytes alone tell at once; nil where they do not, or
  /// cannot be read.
  @inline(__always)
  func quickAnswer(_ record: UnsafeRawBufferPointer, _ binding: CollectionBinding) -> Bool? {
    switch program.quickAnswer(record, binding) {
    case .no: false
    case .yes: position == nil ? true : nil
    case .ask: nil
    }
  }

  /// Whether the document in `record` matches. Reads only the fields that the filter names.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func matches(_ record: borrowing RecordReader) throws(RecordError) -> Bool {
    try program.matches(record) { (step, record) throws(RecordError) in
      try matches(questions[step], record)
    }
  }

  /// Whether a document that matches comes behind the place in an order that the filter names.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func isBehindPosition(
    _ record: borrowing RecordReader, key: UnsafeRawBufferPointer
  ) throws(RecordError) -> Bool {
    guard let position else { return true }
    return try position.test.isBehind(key) { (bytes) throws(RecordError) in
      for (place, sortKey) in zip(position.order, position.test.order) {
        let start = bytes.count
        try putSortValue(place, record, into: &bytes)
        if sortKey.isReversed { bytes.complement(from: start) }
      }
    }
  }

  /// For reading fields and no condition.
  convenience init(reading operands: [Operand], in collection: Collection) {
    self.init(
      .constant(true), order: operands.map { SortKey(operand: $0, isReversed: false) },
      in: collection)
  }

  /// The value of an operand, or sort key, of this number.
  ///
  /// - Throws: ``RecordError`` when the field cannot be read.
  func value(_ number: Int, _ record: borrowing RecordReader) throws(RecordError) -> Value {
    try value(order[number].operand, record)
  }

  /// Appends the value of an operand as it stands in index entries.
  ///
  /// - Throws: ``RecordError`` when the field cannot be read.
  func putValue(
    _ number: Int, _ record: borrowing RecordReader, into bytes: inout IndexBytes
  ) throws(RecordError) {
    try putSortValue(order[number].operand, record, into: &bytes)
  }

  /// The values that the document in `record` is sorted by.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func sortValues(_ record: borrowing RecordReader) throws(RecordError) -> [Value] {
    var values: [Value] = []
    for key in order { values.append(try value(key.operand, record).sortable) }
    return values
  }

  /// Whether documents with the first sort values come before those with the second.
  func precedes(_ first: [Value], _ second: [Value]) -> Bool? {
    for (index, key) in order.enumerated() {
      let comparison = first[index].totalOrder(second[index])
      if comparison != 0 { return (comparison < 0) != key.isReversed }
    }
    return nil
  }

  /// Appends the values that the document in `record` is sorted by, as bytes in their order.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func putSortValues(
    _ record: borrowing RecordReader, into bytes: inout IndexBytes
  ) throws(RecordError) {
    for key in order {
      let start = bytes.count
      try putSortValue(key.operand, record, into: &bytes)
      if key.isReversed { bytes.complement(from: start) }
    }
  }

  private func putSortValue(
    _ place: Place, _ record: borrowing RecordReader, into bytes: inout IndexBytes
  ) throws(RecordError) {
    if case .slot(let slot, _, let inner, let kind) = place, inner.isEmpty,
      let scalar = IndexScalar(kind), var reader = try record.value(inSlot: slot)
    {
      let start = bytes.count
      bytes.put(&reader, as: scalar, limit: .max - 1)
      if bytes.bytes[start] != IndexTag.unreadable { return }
      bytes.truncate(to: start)
    }
    bytes.put(whole: try value(place, record))
  }
}

extension Evaluation {
  /// What is asked of a record where bytes alone do not tell.
  private enum Question {
    case test(Place, Test)
    case relation(Place, Relation, Place)

    init(_ node: FilterNode, in collection: Collection) {
      switch node {
      case .test(let operand, let comparison):
        self = .test(Place(operand, in: collection), Test(comparison))
      case .relation(let left, let relation, let right):
        self = .relation(Place(left, in: collection), relation, Place(right, in: collection))
      default: preconditionFailure("a program asks comparisons only")
      }
    }
  }

  private func matches(
    _ question: Question, _ record: borrowing RecordReader
  ) throws(RecordError) -> Bool {
    switch question {
    case .test(let place, let test): try matches(place, test, record)
    case .relation(let left, let relation, let right):
      relation.holds(try value(left, record), try value(right, record))
    }
  }

  /// Where a value is found in a record.
  private enum Place {
    case slot(Int, FieldStep, inner: [FieldStep], kind: Kind<SchemaReference>)
    case derived(Int, [FieldStep], Derivation)
    case computed(Operand.Computed)

    init(_ operand: Operand, in collection: Collection) {
      switch operand {
      case .field(let path):
        self = .slot(
          collection.description.fields.slot(of: path[0].name) ?? -1, path[0],
          inner: Array(path.dropFirst()), kind: path[path.count - 1].kind)
      case .derived(let path, let derivation):
        self = .derived(
          collection.description.fields.slot(of: path[0].name) ?? -1, path, derivation)
      case .computed(let computed): self = .computed(computed)
      }
    }
  }

  /// A comparison, with text as bytes.
  struct Test: Sendable {
    let comparison: Comparison
    /// The UTF-8 of the string that it compares with, if it does.
    let text: [UInt8]?
    let textIsASCII: Bool
    /// What is asked of elements, if it is.
    let elements: ElementFilter?

    init(_ comparison: Comparison) {
      self.comparison = comparison
      let string: String? =
        switch comparison {
        case .equal(.string(let text)), .less(.string(let text)), .lessOrEqual(.string(let text)),
          .greater(.string(let text)), .greaterOrEqual(.string(let text)),
          .containsElement(.string(let text)), .hasPrefix(let text), .hasSuffix(let text),
          .containsText(let text):
          text
        default: nil
        }
      text = string.map { Array($0.utf8) }
      textIsASCII = text?.allSatisfy { $0 < 0x80 } ?? false
      elements = if case .containsMatch(let node) = comparison { ElementFilter(node) } else { nil }
    }
  }

  private func matches(
    _ place: Place, _ test: Test, _ record: borrowing RecordReader
  ) throws(RecordError) -> Bool {
    switch place {
    case .computed(let computed): return test.holds(for: try computed.value(record))
    case .derived: return test.holds(for: try value(place, record))
    case .slot(let slot, let step, let inner, let kind):
      do throws(RecordError) {
        guard var reader = try record.value(inSlot: slot) else {
          guard let absent = step.absent else { throw RecordError.missing }
          return test.holds(for: absent)
        }
        if inner.isEmpty { return try test.holds(for: &reader, as: kind) }
        if test.elements != nil {
          switch try reader.destination(inner[...]) {
          case .absent(let value): return test.holds(for: value)
          case .value(var reader): return try test.holds(for: &reader, as: kind)
          }
        }
        return test.holds(for: try value(at: inner[...], &reader).read(as: kind))
      } catch {
        throw .field(step.name, error)
      }
    }
  }

  private func value(
    _ place: Place, _ record: borrowing RecordReader
  ) throws(RecordError) -> Value {
    switch place {
    case .computed(let computed): return try computed.value(record)
    case .derived(let slot, let path, let derivation):
      do throws(RecordError) {
        guard let reader = try record.value(inSlot: slot) else {
          guard let absent = path[0].absent else { throw RecordError.missing }
          return derivation(absent)
        }
        switch try reader.destination(path.dropFirst()) {
        case .absent(let value): return derivation(value)
        case .value(var reader): return try derivation(&reader, as: path[path.count - 1].kind)
        }
      } catch {
        throw .field(path[0].name, error)
      }
    case .slot(let slot, let step, let inner, let kind):
      do throws(RecordError) {
        guard var reader = try record.value(inSlot: slot) else {
          guard let absent = step.absent else { throw RecordError.missing }
          return absent
        }
        return try value(at: inner[...], &reader).read(as: kind)
      } catch {
        throw .field(step.name, error)
      }
    }
  }

  /// The value down `path`, from a reader in front of a value; nil inside nil is nil.
  private func value(
    at path: ArraySlice<FieldStep>, _ reader: inout ValueReader
  ) throws(RecordError) -> Value {
    guard let step = path.first else { return try reader.value() }
    if reader.nextIsNil { return .null }
    let bytes = UnsafeRawBufferPointer(start: reader.at, count: reader.left)
    let record = try RecordReader(
      bytes, binding: reader.binding, schema: reader.binding.anonymous, depth: reader.depth + 1)
    do throws(RecordError) {
      let slot = tables[record.table].slot(of: step.name) ?? -1
      guard var inner = try record.value(inSlot: slot) else {
        guard let absent = step.absent else { throw RecordError.missing }
        return absent
      }
      return try value(at: path.dropFirst(), &inner)
    } catch {
      throw .field(step.name, error)
    }
  }
}

extension Evaluation.Test {
  /// Whether the comparison holds for the next value, which is not decoded where its bytes
  /// are enough.
  func holds(
    for reader: inout ValueReader, as kind: Kind<SchemaReference>
  ) throws(RecordError) -> Bool {
    if let text, reader.nextIsString {
      let bytes = try reader.stringBytes()
      if let answer = holds(forText: bytes, text) { return answer }
      guard let string = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
      return holds(for: .string(string))
    }
    if let elements { return try elements.holdsForAny(in: &reader) }
    if case .containsElement(.string) = comparison, let text {
      guard !reader.skipNil() else { return false }
      for _ in 0..<(try reader.arrayCount()) {
        guard reader.nextIsString else {
          try reader.skip()
          continue
        }
        let bytes = try reader.stringBytes()
        if text.withUnsafeBytes({ Bytes.equal($0, bytes) }) { return true }
        if textIsASCII && Bytes.areASCII(bytes) { continue }
        if String(decoding: bytes, as: UTF8.self) == String(decoding: text, as: UTF8.self) {
          return true
        }
      }
      return false
    }
    return holds(for: try reader.value().read(as: kind))
  }

  /// The answer by bytes alone; nil where only Swift's own comparison of strings can tell:
  /// canonical equivalents differ in bytes, and a grapheme may hide a prefix.
  private func holds(forText bytes: UnsafeRawBufferPointer, _ text: [UInt8]) -> Bool? {
    text.withUnsafeBytes { text in
      switch comparison {
      case .equal:
        if Bytes.equal(bytes, text) { return true }
        return textIsASCII && Bytes.areASCII(bytes) ? false : nil
      case .less, .lessOrEqual, .greater, .greaterOrEqual:
        guard textIsASCII, Bytes.areASCII(bytes) else { return nil }
        let order = Bytes.compare(bytes, text)
        switch comparison {
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        default: return order >= 0
        }
      case .hasPrefix where textIsASCII && bytes.isASCIIWithoutBreaks:
        return text.isWithoutBreaks && bytes.count >= text.count
          && Bytes.equal(UnsafeRawBufferPointer(rebasing: bytes[..<text.count]), text)
      case .hasSuffix where textIsASCII && bytes.isASCIIWithoutBreaks:
        return text.isWithoutBreaks && bytes.count >= text.count
          && Bytes.equal(
            UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - text.count)...]), text)
      default: return nil
      }
    }
  }

  /// Whether the comparison holds for `value`.
  func holds(for value: Value) -> Bool {
    switch comparison {
    case .equal(let other): return value.isEqual(to: other)
    case .isAny(let others): return value != .null && others.contains { value.isEqual(to: $0) }
    case .less(let other): return value.order(other) == .some(-1)
    case .lessOrEqual(let other): return value.isAtMost(other)
    case .greater(let other): return value.order(other) == .some(1)
    case .greaterOrEqual(let other): return other.isAtMost(value)
    case .containsElement(let element):
      if case .array(let elements) = value { return elements.contains { $0.isEqual(to: element) } }
    case .hasPrefix(let prefix):
      if case .string(let text) = value { return text.hasPrefix(prefix) }
    case .hasSuffix(let suffix):
      if case .string(let text) = value { return text.hasSuffix(suffix) }
    case .containsText(let part):
      if case .string(let text) = value { return text.contains(part) }
    case .containsMatch: return elements?.holdsForAny(in: value) ?? false
    }
    return false
  }
}

extension Value {
  /// This value as a field of `kind` reads it, where numbers of another width were stored.
  func read(as kind: Kind<SchemaReference>) -> Value {
    switch (kind, self) {
    case (.double, .integer), (.double, .unsigned): number.map { .double($0) } ?? self
    case (.float, .integer), (.float, .unsigned), (.float, .double):
      number.map { .double(Double(Float($0))) } ?? self
    case (.integer, .double(let value)): Int64(exactly: value).map { .integer($0) } ?? self
    case (.optional(let kind), _): read(as: kind)
    case (.array(let kind), .array(let values)), (.set(let kind), .array(let values)):
      .array(values.map { $0.read(as: kind) })
    default: self
    }
  }
}

extension ValueReader {
  var nextIsString: Bool {
    guard at < end else { return false }
    let tag = at.load(as: UInt8.self)
    return tag & 0xE0 == 0xA0 || (0xD9...0xDB).contains(tag)
  }
}

extension UnsafeRawBufferPointer {
  /// Without CR and LF, which Swift counts as one character when they stand together.
  var isWithoutBreaks: Bool { allSatisfy { $0 != 0x0D && $0 != 0x0A } }

  var isASCIIWithoutBreaks: Bool { allSatisfy { $0 < 0x80 && $0 != 0x0D && $0 != 0x0A } }
}
