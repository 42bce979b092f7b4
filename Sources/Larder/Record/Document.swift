/// A value type that is stored as a record of its own, under its entity-accessor key.
///
/// ``Document(as:)`` writes the conformance of a struct. By hand it is:
///
/// ```swift
/// struct Contact: Document, Identifiable {
///   var id: String
///   var phone = ""
///
///   static let schema = Schema<Contact>(
///     "Contact", key: \.id, fields: [Field("id", \.id), Field("tel", \.phone, default: "")])
///
///   func encode(into record: inout RecordWriter) {
///     record.put(id, at: 0)
///     record.put(phone, at: 1)
///   }
/// }
///
/// extension Contact {
///   init(from record: borrowing RecordReader) throws(RecordError) {
///     self.init(id: try record.get(0), phone: try record.get(1))
///   }
/// }
/// ```
/// Reading into the memberwise initializer is faster than assigning property by property, where
/// Swift builds a second copy.
public protocol Document: EmbeddedDocument {
  associatedtype Key: DocumentKey

  /// What identifies this document in its collection. A type that is `Identifiable` with an
  /// `ID` that can be a key has it already.
  var entityAccessorKey: Key { get }

  /// Indexes over several fields, partial ones, and those of fields in embedded documents; none
  /// by default.
  static var indexes: [Index<Self>] { get }

  /// Which documents go by themselves, as they get old or too many; none by default.
  static var ageing: [Ageing<Self>] { get }
}

extension Document where Self: Identifiable, ID: DocumentKey {
  public var entityAccessorKey: ID { id }
}

/// A value type that is stored inside the record of a document.
public protocol EmbeddedDocument: Storable, Sendable {
  /// The type's stored fields. A `static let`: it is read on every save.
  static var schema: Schema<Self> { get }

  /// Puts every field, by its number in ``schema``. A number that the schema does not have
  /// traps; a field that is not put reads as missing.
  func encode(into record: inout RecordWriter)

  /// Gets every field, by its number in ``schema``.
  ///
  /// - Throws: ``RecordError`` when bytes are damaged or a field does not fit its type.
  init(from record: borrowing RecordReader) throws(RecordError)
}

extension EmbeddedDocument {
  public static var _kind: Kind<SchemaReference> { .document(SchemaReference(Self.self)) }

  @inlinable public func _store(into writer: inout RecordWriter) {
    guard let outer = writer.beginEmbedded(ObjectIdentifier(Self.self)) else { return }
    encode(into: &writer)
    writer.endEmbedded(outer)
  }

  @inlinable public static func _load(
    from reader: inout ValueReader
  ) throws(RecordError) -> Self {
    let record = try reader.embeddedRecord(ObjectIdentifier(Self.self))
    return try Self(from: record)
  }
}
