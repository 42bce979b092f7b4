/// A filter and an order made ready for one collection: names became slots, text became bytes.
final class Evaluation: Sendable {
  private let program: FilterProgram
  private let order: [(place: Place, isReversed: Bool)]
  /// What is asked of a document's key.
  private let keyTest: KeyTest?
  let matchesAll: Bool
  /// Whether a document matches, and sorts as if the field were nil, when a field cannot be read.
  /// Whoever asks for this decodes them afterwards and leaves them out.
  private let passesUnreadable: Bool
  /// Whether the filter is a search, and documents are sorted by its rank and by nothing else.
  let isRankedSearch: Bool

  init(
    _ filter: FilterNode, order: [SortKey] = [], in collection: Collection,
    passesUnreadable: Bool = false
  ) {
    self.passesUnreadable = passesUnreadable
    let fields = collection.description.fields
    matchesAll = filter == .constant(true)
    let position = filter.splitAtPosition.0.map { position in
      (PositionTest(position), position.order.map { Place($0.operand, in: fields) })
    }
    let key = filter.askedKey
    keyTest = position != nil || key != nil ? KeyTest(key: key, position: position) : nil
    program = FilterProgram(filter, in: fields)
    self.order = order.map { (Place($0.operand, in: fields), $0.isReversed) }
    isRankedSearch =
      if case .search(let condition) = filter, !passesUnreadable, order.count == 1,
        let rank = order[0].rank
      { rank.statistics != nil && rank.condition == condition } else { false }
  }

  /// What every document matches.
  static let everything = Evaluation(.constant(true), in: CollectionBinding.none.collection)

  /// What most records that do not match are held back by; nil where there is no such test.
  func sieve(_ binding: CollectionBinding) -> RecordSieve? {
    program.sieve(tableCount: binding.root.tableCount)
  }

  /// What holds documents back of which only the first ones in this order are wanted; nil where the order
  /// begins with a value that has no key.
  func sortGate(_ binding: CollectionBinding) -> SortGate? {
    guard let first = order.first, case .field(let path) = first.place.operand, path.count == 1,
      let kind = IndexScalar(path[0].kind)
    else { return nil }
    return SortGate(
      slot: first.place.slot, kind, isReversed: first.isReversed,
      tableCount: binding.root.tableCount)
  }

  /// Whether the document in `record` matches. Reads only the fields that the filter names.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  @inline(__always)
  func matches(_ record: borrowing RecordReader) throws(RecordError) -> Bool {
    do {
      return try program.holds(for: record)
    } catch {
      guard passes(error) else { throw error }
      return true
    }
  }

  /// A predicate that throws says nothing of the record.
  private func passes(_ error: RecordError) -> Bool {
    if case .predicate = error { false } else { passesUnreadable }
  }

  private struct KeyTest {
    let key: [UInt8]?
    /// The place that it has to come behind.
    let position: (test: PositionTest, order: [Place])?
  }

  /// Whether a document that matches has the key that the filter names, or comes behind the place in an order
  /// that it names.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func isInPlace(
    _ record: borrowing RecordReader, key: UnsafeRawBufferPointer
  ) throws(RecordError) -> Bool {
    guard let keyTest else { return true }
    if let wanted = keyTest.key, !wanted.withUnsafeBytes({ Bytes.equal($0, key) }) { return false }
    guard let position = keyTest.position else { return true }
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
    try order[number].place.value(in: record)
  }

  /// Appends the value of an operand as it stands in index entries.
  ///
  /// - Throws: ``RecordError`` when the field cannot be read.
  func putValue(
    _ number: Int, _ record: borrowing RecordReader, into bytes: inout OrderedBytes
  ) throws(RecordError) {
    try putSortValue(order[number].place, record, into: &bytes)
  }

  /// The values that the document in `record` is sorted by.
  ///
  /// - Throws: ``RecordError`` when a field cannot be read.
  func sortValues(_ record: borrowing RecordReader) throws(RecordError) -> [Value] {
    var values: [Value] = []
    for key in order { values.append(try key.place.value(in: record).sortable) }
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
    _ record: borrowing RecordReader, into bytes: inout OrderedBytes
  ) throws(RecordError) {
    for key in order {
      let start = bytes.count
      try putSortValue(key.place, record, into: &bytes)
      if key.isReversed { bytes.complement(from: start) }
    }
  }

  /// Appends the rank of the document if it matches the search. Its words are read once for both.
  ///
  /// - Precondition: ``isRankedSearch``.
  /// - Returns: Whether it matches.
  /// - Throws: ``RecordError`` when a field cannot be read.
  func putRank(
    ofMatch record: borrowing RecordReader, into bytes: inout OrderedBytes
  ) throws(RecordError) -> Bool {
    let (place, isReversed) = order[0]
    guard let score = try place.score(ofMatch: record) else { return false }
    let start = bytes.count
    bytes.put(sortValue: .double(score), of: place.operand)
    if isReversed { bytes.complement(from: start) }
    return true
  }

  private func putSortValue(
    _ place: Place, _ record: borrowing RecordReader, into bytes: inout OrderedBytes
  ) throws(RecordError) {
    let start = bytes.count
    do {
      try putReadableSortValue(place, record, into: &bytes)
    } catch {
      guard passes(error) else { throw error }
      bytes.truncate(to: start)
      bytes.put(whole: .null)
    }
  }

  private func putReadableSortValue(
    _ place: Place, _ record: borrowing RecordReader, into bytes: inout OrderedBytes
  ) throws(RecordError) {
    if case .field(let path) = place.operand, path.count == 1,
      let scalar = IndexScalar(path[0].kind), var reader = try record.value(inSlot: place.slot)
    {
      let start = bytes.count
      bytes.put(&reader, as: scalar, limit: .max - 1)
      if bytes.bytes[start] != IndexTag.unreadable { return }
      bytes.truncate(to: start)
    }
    bytes.put(sortValue: try place.value(in: record), of: place.operand)
  }
}

extension Value {
  /// This value as a field of `kind` compares it, where numbers of another width were stored. One that
  /// the kind cannot hold, and that a type of this kind cannot read, is NaN, as it is in indexes.
  func read(as kind: Kind<SchemaReference>) -> Value {
    switch (kind, self) {
    case (.double, .integer), (.double, .unsigned): number.map { .double($0) } ?? self
    case (.float, .integer), (.float, .unsigned), (.float, .double):
      floatNumber.map { .double($0) } ?? self
    case (.integer, .double(let value)):
      Int64(exactly: value).map { .integer($0) } ?? UInt64(exactly: value).map { .unsigned($0) }
        ?? self
    case (.optional(let kind), _): read(as: kind)
    case (.array(let kind), .array(let values)), (.set(let kind), .array(let values)):
      .array(values.map { $0.read(as: kind) })
    default: self
    }
  }
}
