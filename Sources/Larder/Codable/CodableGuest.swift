/// Encodes `Codable` values into one writer, and keeps what it learns from one to the next.
final class CodableGuest: DeclaringGuest {
  /// Used again from value to value; nil while one is being encoded.
  private var output: CodableOutput?
  /// What the types of the documents that were written know of their fields.
  var codableKnowledge = CodableKnowledge()
  /// Fields that documents need and the catalogue does not have.
  private var undeclared: UndeclaredFields?
  private var lacksFields = false

  var knowledge: (any FieldKnowledge)? { codableKnowledge.isEmpty ? nil : codableKnowledge }

  func takeLack() -> Bool {
    defer { lacksFields = false }
    return lacksFields
  }

  func missingFields(in collection: Collection) throws -> Declaration? {
    try undeclared?.declaration(in: collection)
  }

  /// Notes what the catalogue has to know of a model that `output` has encoded.
  func noteLack<Model: Codable & Identifiable & Sendable>(
    of model: Model, _ output: CodableOutput
  ) where Model.ID: DocumentKey {
    lacksFields = true
    if undeclared == nil { undeclared = UndeclaredFields(model) }
    undeclared?.shapes.add(output)
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
      throw RecordError(coding: error)
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
