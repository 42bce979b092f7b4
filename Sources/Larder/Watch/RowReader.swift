internal import LarderLMDB

/// Tells which documents a watched query is about, and where they stand in its result.
struct RowReader<Entity: Document, Model: Sendable>: Sendable {
  let form: ModelForm<Model, Entity>
  private var selection: Selection
  /// Without the statistics of a rank.
  private let given: Selection

  init(_ selection: Selection, _ form: ModelForm<Model, Entity>) {
    self.selection = selection
    given = selection
    self.form = form.skipping(selection.unreadable)
  }

  /// For documents without a mapper.
  init(_ selection: Selection) where Model == Entity { self.init(selection, .documents) }

  /// Whether it is sorted by a rank, whose statistics change with the data.
  var isRanked: Bool { selection.order.contains { $0.rank != nil } }
  var needsStatistics: Bool { selection.needsStatistics }

  /// - Throws: ``StoreError/queryTooDeep(limit:)``.
  func checkDepth() throws(StoreError) { try selection.checkDepth() }

  /// Takes statistics for a rank that has none.
  mutating func rank(by statistics: (SearchCondition) throws -> SearchStatistics) rethrows {
    selection = try selection.ranked(by: statistics)
  }

  /// The same in a store.
  mutating func rank(
    in binding: CollectionBinding, _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    selection = try LentTransaction(transaction).ranked(selection, binding).0
  }

  mutating func forgetStatistics() { selection = given }

  /// The reader of one binding: names have become slots.
  struct Bound {
    let binding: CollectionBinding
    fileprivate let evaluation: Evaluation
    fileprivate let hasOrder: Bool
  }

  func bound(to binding: CollectionBinding) -> Bound {
    Bound(
      binding: binding,
      evaluation: Evaluation(
        selection.filter, order: selection.order, in: binding.collection,
        passesUnreadable: selection.unreadable != nil),
      hasOrder: !selection.order.isEmpty)
  }

  /// The row of a document, if it matches.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func row(
    _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ bound: Bound,
    _ bytes: inout OrderedBytes
  ) throws -> Row? {
    let binding = bound.binding
    if form.isWhole, bound.evaluation.isRankedSearch {
      bytes.removeAll()
      let matches = try binding.reading(record, key: key) {
        try bound.evaluation.putRank(ofMatch: $0, into: &bytes)
      }
      return matches ? Row(sortValues: bytes.bytes, key: key, record: record) : nil
    }
    guard try binding.matches(bound.evaluation, key: key, record: record) else { return nil }
    if !form.isWhole, try model(key, record, binding) == nil { return nil }
    return try row(ofMatch: key, record, bound, &bytes)
  }

  /// The row of a document that is known to match, whether it has a model or not.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func row(
    ofMatch key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ bound: Bound,
    _ bytes: inout OrderedBytes
  ) throws -> Row {
    bytes.removeAll()
    if bound.hasOrder {
      try bound.binding.reading(record, key: key) {
        try bound.evaluation.putSortValues($0, into: &bytes)
      }
    }
    return Row(sortValues: bytes.bytes, key: key, record: record)
  }

  /// The model of a document, if it has one.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func model(
    _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ binding: CollectionBinding
  ) throws -> Model? {
    try form.model(record, key: key, binding)
  }

  /// The model of a row that was found at this moment.
  ///
  /// - Throws: ``StoreError/inconsistentMapper(collection:key:)`` where the mapper gives none any
  ///   more; ``StoreError/damagedRecord(collection:key:reason:)``.
  func model(
    of row: Row, _ binding: CollectionBinding,
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> Model {
    try row.key.withUnsafeBytes { key in
      let collection = binding.collection
      let found = try transaction.withRecord(for: key, binding) { record in
        guard let model = try form.model(record) else {
          throw StoreError.inconsistentMapper(
            collection: collection.name, key: collection.keyKind.text(of: key))
        }
        return model
      }
      guard let found else {
        throw StoreError.damagedChangeLog(
          "it keeps back that \(collection.name) \(collection.keyKind.text(of: key)) is gone")
      }
      return found
    }
  }

  /// Rows that were read.
  struct Found {
    var rows: [Row] = []
    /// Whether a document that cannot be read stands behind them, so that there may be more.
    var isCut = false
  }

  /// The first rows of the result, in its order.
  ///
  /// - Parameters:
  ///   - wanted: How many, at most.
  ///   - needed: How many of them somebody has asked for. The others are read so that they are there when
  ///     they are: one that cannot be read is no error yet, and ends the rows.
  ///   - last: A row of this moment that they come behind; nil for the first ones of all.
  ///   - body: Lent each row with its place and its model, for those whose place is in `visible`.
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func rows(
    _ wanted: Int, needed: Int, behind last: Row? = nil, _ bound: Bound,
    _ transaction: borrowing some Transaction & ~Copyable, visible: Range<Int> = 0..<0,
    _ body: (Model) -> Void = { _ in }
  ) throws -> Found {
    if wanted == 0 { return Found() }
    var selection = selection
    if let last {
      let (_, rest) = selection.filter.splitAtPosition
      selection.filter = .all([rest, .behind(try position(of: last, bound, transaction))])
    }
    selection.maximum = wanted == .max ? nil : wanted
    selection.skipped = 0
    let binding = bound.binding
    var found = Found()
    var bytes = OrderedBytes()
    do {
      try transaction.execution(of: selection, binding)
        .forEach(in: transaction, wanted: form.isWhole ? wanted : .max) { key, record in
          let isVisible = visible.contains(found.rows.count)
          if !form.isWhole || isVisible {
            guard let model = try model(key, record, binding) else { return true }
            if isVisible { body(model) }
          }
          found.rows.append(try row(ofMatch: key, record, bound, &bytes))
          return found.rows.count < wanted
        }
    } catch let error as StoreError
      where found.rows.count >= needed && UnreadableDocument(error) != nil
    {
      found.isCut = true
    }
    return found
  }

  /// Where a row of this moment stands, for who reads on behind it.
  private func position(
    of row: Row, _ bound: Bound, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> Position {
    let values = try row.key.withUnsafeBytes { key in
      try transaction.withRecord(for: key, bound.binding) { record in
        try bound.evaluation.sortValues(record)
      }
    }
    // Its record is gone, which the log has not told: whoever reads anew finds out what there is.
    guard let values else { throw ResultRows.Inconsistent() }
    return Position(order: selection.order, values: values, key: Array(row.key))
  }
}
