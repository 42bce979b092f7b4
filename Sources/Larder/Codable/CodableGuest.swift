/// Encodes `Codable` values into one writer, and keeps what it learns from one to the next.
final class CodableGuest: DeclaringGuest {
  /// Used again from value to value; nil while one is being encoded.
  private var output: CodableOutput?
  /// What the types of the documents that were written know of their fields.
  var codableKnowledge = CodableKnowledge()
  /// The fields of documents that need some which the catalogue does not have.
  private var shapes: CodableShapes?
  /// Finds out what only the type's own `init(from:)` can tell, by documents like the first one.
  private var probe: ((CollectionBinding) -> FieldProbe)?
  private var lacksFields = false

  var knowledge: (any FieldKnowledge)? { codableKnowledge.isEmpty ? nil : codableKnowledge }

  func takeLack() -> Bool {
    defer { lacksFields = false }
    return lacksFields
  }

  /// Notes what the catalogue has to know of a model that `output` has encoded.
  func noteLack<Model: Codable & Identifiable & Sendable>(
    of model: Model, _ output: CodableOutput
  ) where Model.ID: DocumentKey {
    lacksFields = true
    probe = probe ?? { FieldProbe(model, $0) }
    shapes = shapes ?? CodableShapes(of: Model.self)
    shapes?.add(output)
  }

  func missingFields(in collection: Collection) throws -> Declaration? {
    guard var shapes, let probe else { return nil }
    let stored = collection.description
    if let (field, first, second) = shapes.conflict {
      throw StoreError.kindMismatch(
        collection: stored.name, field: field, stored: first, declared: second)
    }
    var description = stored
    do throws(StoreError) {
      try description.merge(shapes.shape)
    } catch .kindMismatch {
      // Whether the collection can take them, the declaration will say.
      return try Declaration(
        name: stored.name, keyKind: stored.keyKind, keyField: nil, shape: shapes.shape)
    }
    guard description != stored else {
      // Declaring it again would never come to an end.
      throw StoreError.unwritable(
        collection: stored.name, key: "",
        reason: .invalid("its values do not fit the fields that were declared for them"))
    }
    let probed = probe(
      CollectionBinding(Collection(description, documents: collection.documents)))
    if let key = probed.lostKey {
      throw StoreError.unwritable(
        collection: stored.name, key: key,
        reason: .field(
          "id",
          .invalid(
            "the value has another one when it is decoded. Write `var id`, not `let id = ...`, and name it in "
              + "`CodingKeys`")))
    }
    for name in probed.requiredFields where stored.fields.slot(of: name) == nil {
      shapes.setRequired(name)
    }
    return try Declaration(
      name: stored.name, keyKind: stored.keyKind, keyField: probed.keyField, shape: shapes.shape)
  }

  /// Lends an output that has encoded a value.
  ///
  /// - Throws: ``RecordError`` with the coding path.
  func withOutput<Value: Encodable>(
    of value: Value, _ userInfo: [CodingUserInfoKey: any Sendable] = [:],
    _ body: (CodableOutput) throws -> Void
  ) throws(RecordError) {
    var output = output ?? CodableOutput()
    self.output = nil
    do {
      try output.encode(value, userInfo)
      try body(output)
    } catch {
      throw RecordError(encoding: error)
    }
    // A type may have kept its encoder, and write to it at any time.
    if isKnownUniquelyReferenced(&output) { self.output = output }
  }
}

extension RecordWriter {
  /// The guest of this writer that encodes `Codable` values.
  var codableGuest: CodableGuest {
    mutating get {
      if let known = guest as? CodableGuest { return known }
      let new = CodableGuest()
      guest = new
      return new
    }
  }
}

/// Which fields a `Codable` type knows: those that a type of keys has a key for with which the
/// values of one batch were encoded. What it does not know stays in records that it replaces.
struct CodableKnowledge: FieldKnowledge {
  private var pairs: [(keys: any CodingKey.Type, table: Int)] = []

  var isEmpty: Bool { pairs.isEmpty }

  /// Notes that a record of a table was encoded with keys of a type.
  mutating func add(_ keys: any CodingKey.Type, table: Int) {
    for pair in pairs where pair.keys == keys && pair.table == table { return }
    pairs.append((keys, table))
  }

  func knows(_ name: String, table: Int) -> Bool {
    pairs.contains {
      $0.table == table && ($0.keys.takesAnyName || $0.keys.init(stringValue: name) != nil)
    }
  }
}
