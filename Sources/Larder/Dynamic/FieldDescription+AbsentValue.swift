extension FieldDescription {
  /// The value that a record without the field is read as having; nil if reading it is an error. Costs some
  /// microseconds for embedded documents.
  package var mergedAbsentValue: Value? {
    guard let defaultValue else { return kind.isOptional ? .null : nil }
    return kind.holdsDocuments ? heldValue(defaultValue) : Value(storing: defaultValue)
  }
}

/// Nil for one that cannot be stored.
private func heldValue<Held: Storable & Sendable>(_ held: Held) -> Value? {
  HeldValue(held).value
}

/// A document of one field, to see a value of any kind as one without a type: embedded documents are written with the
/// fields of a collection.
private struct HeldValue<Held: Storable & Sendable>: Document {
  var held: Held

  var entityAccessorKey: Int { 0 }

  // Computed, because a generic type cannot have a stored one.
  static var schema: Schema<Self> { Schema("held", fields: [Field("held", \.held)]) }

  init(_ held: Held) { self.held = held }

  func encode(into record: inout RecordWriter) { record.put(held, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { held = try record.get(0) }

  var value: Value? {
    guard let binding = try? CollectionBinding(undeclared: Self.self),
      let batch = try? [self].withUnsafeBufferPointer({ try Batch($0, binding) })
    else { return nil }
    return withExtendedLifetime(batch) {
      let entry = batch.entries[0]
      guard let record = try? binding.collection.verified(entry.record, key: entry.key) else {
        return nil
      }
      return try? DynamicDocument(record: record, binding: binding)["held"]
    }
  }
}
