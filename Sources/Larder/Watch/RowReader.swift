internal import LarderLMDB

/// Tells which documents a watched query is about, and where they stand in its result.
struct RowReader<Entity: Document, Model: Sendable>: Sendable {
  /// The collection that the documents are in.
  let collection: String
  /// How the type stands to the collection; nil where there is none.
  let binding: @Sendable (Catalogue) throws -> CollectionBinding?
  private let selection: Selection
  private let convert: @Sendable (Entity) -> Model?
  /// Whether entities may have no model, and then are in no result.
  private let asksModel: Bool

  /// For documents without a mapper.
  init(_ selection: Selection) where Model == Entity {
    collection = Entity.schema.name
    binding = { try $0.binding(of: Entity.self) }
    self.selection = selection
    convert = { $0 }
    asksModel = false
  }

  init(_ selection: Selection, mappedBy convert: @escaping @Sendable (Entity) -> Model?) {
    collection = Entity.schema.name
    binding = { try $0.binding(of: Entity.self) }
    self.selection = selection
    self.convert = convert
    asksModel = true
  }

  /// For plain values, in a collection of any name.
  init(_ selection: Selection, in collection: String) where Entity == CodableDocument<Model> {
    self.collection = collection
    self.selection = selection
    binding = { try $0.binding(of: Entity.self, in: collection) }
    convert = { $0.model }
    asksModel = false
  }

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
        selection.filter, order: selection.order, in: binding.collection),
      hasOrder: !selection.order.isEmpty)
  }

  /// The row of a document, if it matches.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func row(
    _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ bound: Bound,
    _ bytes: inout IndexBytes
  ) throws -> Row? {
    let binding = bound.binding
    guard try binding.matches(bound.evaluation, key: key, record: record) else { return nil }
    if asksModel, try model(key, record, binding) == nil { return nil }
    return try row(ofMatch: key, record, bound, &bytes)
  }

  private func row(
    ofMatch key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer, _ bound: Bound,
    _ bytes: inout IndexBytes
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
    try binding.reading(record, key: key) { convert(try Entity(from: $0)) }
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
        guard let model = convert(try Entity(from: record)) else {
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

  /// The first rows of the result, in its order.
  ///
  /// - Parameters:
  ///   - wanted: How many, at most.
  ///   - body: Lent each row with its place and its model, for those whose place is in `visible`.
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func rows(
    _ wanted: Int, _ bound: Bound, _ transaction: borrowing some Transaction & ~Copyable,
    visible: Range<Int> = 0..<0, _ body: (Model) -> Void = { _ in }
  ) throws -> [Row] {
    if wanted == 0 { return [] }
    var selection = selection
    selection.maximum = wanted == .max ? nil : wanted
    selection.skipped = 0
    let binding = bound.binding
    var rows: [Row] = []
    var bytes = IndexBytes()
    try transaction.execution(of: selection, binding)
      .forEach(in: transaction, wanted: asksModel ? .max : wanted) { key, record in
        let isVisible = visible.contains(rows.count)
        if asksModel || isVisible {
          guard let model = try model(key, record, binding) else { return true }
          if isVisible { body(model) }
        }
        rows.append(try row(ofMatch: key, record, bound, &bytes))
        return rows.count < wanted
      }
    return rows
  }
}
