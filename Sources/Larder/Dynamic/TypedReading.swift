/// What a type makes of documents that came without it.
///
/// A field of any kind takes whatever an import has for it, which its type may not be able to read; and
/// where JSON has text for a date or a UUID, only the type knows that it is one.
struct TypedReading<Entity: Document> {
  private let collection: Collection
  private let binding: CollectionBinding
  private let textReading = TextReading()

  /// - Parameter collection: As it will be when the documents are saved.
  init(_ type: Entity.Type, _ collection: Collection) {
    self.collection = collection
    binding = CollectionBinding(
      ObjectIdentifier(type), type.schema, in: collection, isDeclared: true,
      textReading: textReading)
  }

  /// Makes sure that the type can read every document.
  ///
  /// - Throws: ``RecordError`` for the first that it cannot read.
  func check(_ batch: Batch) throws(RecordError) {
    for entry in batch.entries { _ = try entity(entry) }
  }

  /// Whether the type can read a record, which is without its checksum.
  func canRead(_ record: UnsafeRawBufferPointer) -> Bool {
    do {
      _ = try Entity(from: RecordReader(record, binding: binding, schema: binding.root, depth: 1))
      return true
    } catch {
      return false  // Why, is said where the document is saved by its names.
    }
  }

  /// The document as the type would have written it, but for what the type does not know.
  ///
  /// - Throws: ``RecordError``, ``StoreError`` for one that it cannot read or write.
  func document(_ document: DynamicDocument, _ key: [UInt8]) throws -> DynamicDocument {
    let encoded = try entry(CollectionBinding(collection)) { builder in
      try key.withUnsafeBytes { try builder.append(document, key: $0) }
    }
    let entity = try entity(encoded.entries[0])
    guard textReading.takeHasRead() else { return document }
    let written = try entry(binding) { try $0.append(entity) }
    let record = try collection.verified(written.entries[0].record, key: written.entries[0].key)
    let typed = try DynamicDocument(record: record, binding: binding)
    let place = FieldPlace(collection.tables, table: collection.documentTable)
    return document.with(anyOf: typed, place)
  }

  private func entity(_ entry: Batch.Entry) throws(RecordError) -> Entity {
    let record = try collection.verified(entry.record, key: entry.key)
    return try Entity(
      from: RecordReader(record, binding: binding, schema: binding.root, depth: 1))
  }

  private func entry(
    _ binding: CollectionBinding, _ append: (inout BatchBuilder) throws -> Void
  ) throws -> Batch {
    var builder = BatchBuilder(binding, count: 1)
    try append(&builder)
    return Batch(builder)
  }
}

extension DynamicDocument {
  /// This document with the values of any kind of another.
  fileprivate func with(anyOf typed: DynamicDocument, _ place: FieldPlace) -> DynamicDocument {
    DynamicDocument(
      uniqueFields: fields.map { field in
        guard let value = typed[field.name], let place = place.member(field.name) else {
          return field
        }
        return Field(field.name, field.value.with(anyOf: value, place))
      })
  }
}

extension Value {
  fileprivate func with(anyOf typed: Value, _ place: FieldPlace) -> Value {
    switch (self, typed) {
    case _ where place.kind == .any: return typed
    case (.document(let own), .document(let typed)):
      return .document(own.with(anyOf: typed, place))
    case (.document(let own), .dictionary(let typed)):
      let fields = typed.compactMap { pair in
        guard case .string(let name) = pair.key else { return nil as DynamicDocument.Field? }
        return DynamicDocument.Field(name, pair.value)
      }
      return .document(own.with(anyOf: DynamicDocument(fields), place))
    case (.array(let own), .array(let typed)) where own.count == typed.count:
      // A set has another order.
      guard case .array = place.kind, let element = place.element else { return self }
      return .array(zip(own, typed).map { $0.with(anyOf: $1, element) })
    default: return self
    }
  }
}
