/// A value of a plain `Codable & Identifiable` type, as a document of a collection.
///
/// What queries of a ``CodableRepository`` are about, and what a write scope takes:
/// `tx.save(CodableDocument(note))`. Each key that the type encodes by is a field, found by name
/// as those of other documents are. Properties are read through it: `document.title`.
@dynamicMemberLookup
public struct CodableDocument<Model: Codable & Identifiable & Sendable>: Document
where Model.ID: DocumentKey {
  /// The plain value.
  public var model: Model

  /// Wraps a model, to hand it to what takes documents.
  public init(_ model: Model) { self.model = model }

  /// Reads through to the model's own properties.
  public subscript<Value>(
    dynamicMember path: any KeyPath<Model, Value> & Sendable
  ) -> Value {
    model[keyPath: path]
  }

  public var entityAccessorKey: Model.ID { model.id }

  /// The collection is named after the type. The fields are those that its values encode, so that
  /// none stands here.
  public static var schema: Schema<CodableDocument> {
    Schema(String(describing: Model.self), fields: [])
  }

  public func encode(into record: inout RecordWriter) { record.putDocument(coding: model) }

  public init(from record: borrowing RecordReader) throws(RecordError) {
    model = try record.document(coding: Model.self)
  }
}

extension CodableDocument: Equatable where Model: Equatable {}
extension CodableDocument: Hashable where Model: Hashable {}

extension CodableDocument: Identifiable {
  public var id: Model.ID { model.id }
}

// In a field of another document it is a value like any that is `Codable`.
extension CodableDocument {
  public static var _kind: Kind<SchemaReference> { .any }
  public func _store(into writer: inout RecordWriter) { writer.putCoded(model) }
  public static func _load(from reader: inout ValueReader) throws(RecordError) -> Self {
    let model = try reader.coded(Model.self)
    try reader.skip()
    return Self(model)
  }
}

extension RecordWriter {
  /// Writes a model's fields into the outermost record, which was begun. Notes the fields that the
  /// catalogue lacks.
  mutating func putDocument<Model: Codable & Identifiable & Sendable>(
    coding model: Model
  ) where Model.ID: DocumentKey {
    let guest = codableGuest
    do {
      try guest.withOutput(of: model) { output in
        try output.checkIsDocument(Model.self)
        guard !output.putDocument(into: &self, guest) else { return }
        guest.noteLack(of: model, output)
        failure = failure ?? .invalid("its fields are not declared")
      }
    } catch {
      failure = failure ?? error
    }
  }
}

extension CodableOutput {
  /// - Throws: ``RecordError/invalid(_:)`` for a value that encoded no keys.
  fileprivate func checkIsDocument(_ type: Any.Type) throws(RecordError) {
    let node = state.pointee.entries[Self.root].node
    guard node < 0 || state.pointee.nodes[node].keys == nil else { return }
    throw .invalid(
      "a document needs a keyed container, and \(type) encodes itself as "
        + (node < 0 ? "a single value" : "an array"))
  }
}

extension RecordReader {
  /// Reads a model from the outermost record.
  func document<Model: Decodable>(coding type: Model.Type) throws(RecordError) -> Model {
    let reader = ValueReader(numbers - 2, end, binding: binding, depth: depth - 1)
    do {
      return try CodableInput.lend(reader, isDocument: true) { try Model(from: $0) }
    } catch {
      throw RecordError(decoding: error)
    }
  }
}
