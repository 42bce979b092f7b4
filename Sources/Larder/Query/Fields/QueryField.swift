/// The fields of a document type, as a condition's closure names them: `$0.city`.
@dynamicMemberLookup
public struct Fields<Entity: Document>: Sendable {
  /// The field that a property of the document is stored as.
  public subscript<Value>(
    dynamicMember path: any KeyPath<Entity, Value> & Sendable
  ) -> QueryField<Entity, Value> {
    QueryField(path)
  }
}

/// One field in a condition, or a property that is computed from fields.
///
/// `Entity` is the document type, or ``ElementOf`` it in a condition on the elements of an array.
@dynamicMemberLookup
public struct QueryField<Entity, Value>: Sendable {
  typealias Reading = @Sendable (ValueReader) throws(RecordError) -> Value

  /// What the record has of it; nil where it can only be computed.
  let stored: Operand?
  /// The value, from a reader in front of the document or of the element.
  let read: Reading
  /// The name of a computed property for error messages; nil if its key path does not carry it.
  let computedName: String?

  init(
    stored: Operand?, computedName: @autoclosure () -> String? = nil, read: @escaping Reading
  ) {
    self.stored = stored
    self.read = read
    // Key paths are described slowly.
    self.computedName = stored == nil ? computedName() : nil
  }

  /// The way down to the field; nil where it can only be computed.
  var storedPath: [FieldStep]? {
    if case .field(let path)? = stored { path } else { nil }
  }

  /// The name of the field for error messages; nil if it is not known.
  var nameInErrors: String? { stored.map { "\($0)" } ?? computedName }

  /// What the condition looks at, given how a value is stored.
  func operand(_ value: @escaping @Sendable (Value) -> Larder.Value) -> Operand {
    if let stored { return stored }
    let read = read
    return .computed(
      Operand.Computed { (reader) throws(RecordError) in value(try read(reader)) })
  }

  /// A condition that only Swift can tell: it has the value decoded.
  func computed(_ holds: @escaping @Sendable (Value) -> Bool) -> Filter<Entity> {
    let read = read
    let computed = Operand.Computed { (reader) throws(RecordError) in
      .bool(holds(try read(reader)))
    }
    return filter(.computed(computed), .equal(.bool(true)))
  }

  func filter(_ operand: Operand, _ comparison: Comparison) -> Filter<Entity> {
    Filter(node: .test(operand, comparison))
  }

  /// A field that is made from this one.
  func map<Other>(
    stored: Operand?, computedName: @autoclosure () -> String? = nil,
    _ change: @escaping @Sendable (Value) -> Other
  ) -> QueryField<Entity, Other> {
    let read = read
    return QueryField<Entity, Other>(
      stored: stored, computedName: computedName(),
      read: { (reader) throws(RecordError) in change(try read(reader)) })
  }

  /// What is made of the stored value; nil where nothing is stored.
  func derived(_ derivation: Derivation) -> Operand? {
    storedPath.map { .derived($0, derivation) }
  }
}

extension QueryField where Entity: Document {
  init(_ path: any KeyPath<Entity, Value> & Sendable) {
    self.init(
      stored: Entity.schema.path(to: path).map(Operand.field), computedName: path.propertyName,
      read: { (reader) throws(RecordError) in try Entity(document: reader)[keyPath: path] })
  }
}

extension Document {
  /// The document that `reader` stands in front of.
  init(document reader: ValueReader) throws(RecordError) {
    var reader = reader
    // Not `load(from:)`, which reads a plain `Codable` type as the value of a field.
    let record = try reader.embeddedRecord(ObjectIdentifier(Self.self))
    self = try Self(from: record)
  }
}

// MARK: Embedded documents

extension QueryField {
  /// A field of an embedded document: `$0.geo.lat`.
  public subscript<Inner>(
    dynamicMember inner: any KeyPath<Value, Inner> & Sendable
  ) -> QueryField<Entity, Inner> where Value: EmbeddedDocument {
    map(stored: path(adding: Value.schema.step(to: inner)), computedName: name(adding: inner)) {
      $0[keyPath: inner]
    }
  }

  /// A field of an embedded document that may be nil; the field then is nil too.
  public subscript<Wrapped: EmbeddedDocument, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner> & Sendable
  ) -> QueryField<Entity, Inner?> where Value == Wrapped? {
    map(stored: path(adding: Wrapped.schema.step(to: inner)), computedName: name(adding: inner)) {
      $0?[keyPath: inner]
    }
  }

  /// A field that may be nil, of an embedded document that may be nil: one optional, as with
  /// Swift's `?.`.
  public subscript<Wrapped: EmbeddedDocument, Inner>(
    dynamicMember inner: any KeyPath<Wrapped, Inner?> & Sendable
  ) -> QueryField<Entity, Inner?> where Value == Wrapped? {
    map(stored: path(adding: Wrapped.schema.step(to: inner)), computedName: name(adding: inner)) {
      $0.flatMap { $0[keyPath: inner] }
    }
  }

  private func path(adding step: FieldStep?) -> Operand? {
    guard let storedPath, let step else { return nil }
    return storedPath.appending([step]).map(Operand.field)
  }

  private func name(adding inner: AnyKeyPath) -> String? {
    guard let outer = nameInErrors, let name = inner.propertyName else { return nil }
    return "\(outer).\(name)"
  }
}

extension AnyKeyPath {
  /// The property behind `\Contact.city`; nil where the path does not know its name, as with computed
  /// properties wherever the symbols of a program are not at hand.
  fileprivate var propertyName: String? {
    let text = "\(self)"
    let root = "\\\(Self.rootType)."
    let name = text.dropFirst(root.count)
    return text.hasPrefix(root) && !name.contains("<") ? String(name) : nil
  }
}
