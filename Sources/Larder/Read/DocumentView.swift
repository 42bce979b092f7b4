/// A stored document, of which only the fields that are asked for are read.
///
/// ```swift
/// let name = try snapshot.view(Contact.self, "c17") { contact in try contact.name }
/// ```
/// Lent to a closure; it cannot be copied or kept. A field costs its own
/// decoding and a look-up of its key path; one that is not stored as such, as a property that is
/// computed, costs the decoding of the whole document.
@dynamicMemberLookup
public struct DocumentView<Entity: Document>: ~Copyable {
  private let record: RecordReader

  init(_ record: consuming RecordReader) { self.record = record }

  /// The value of a stored field; its default where the record lacks it.
  ///
  /// - Throws: ``RecordError`` when it cannot be read.
  public subscript<Value: Storable>(dynamicMember path: KeyPath<Entity, Value>) -> Value {
    get throws(RecordError) {
      guard let field = Entity.schema.number(of: path) else {
        return try Entity(from: record)[keyPath: path]
      }
      return try record.get(field)
    }
  }

  /// A property that only the decoded document has.
  ///
  /// - Throws: ``RecordError`` when the document cannot be read.
  @_disfavoredOverload
  public subscript<Value>(dynamicMember path: KeyPath<Entity, Value>) -> Value {
    get throws(RecordError) { try Entity(from: record)[keyPath: path] }
  }

  /// The whole document.
  ///
  /// - Throws: ``RecordError`` when it cannot be read.
  public borrowing func decoded() throws(RecordError) -> Entity { try Entity(from: record) }
}

extension CollectionBinding {
  /// Verifies a record and lends a view of it.
  ///
  /// - Throws: As ``reading(_:key:_:)``.
  func viewing<Entity: Document, Result>(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, as type: Entity.Type,
    _ body: (borrowing DocumentView<Entity>) throws -> Result
  ) throws -> Result {
    do {
      let verified = try collection.verified(record, key: key)
      return try body(
        DocumentView(RecordReader(verified, binding: self, schema: root, depth: 1)))
    } catch let error as RecordError {
      throw damaged(key, error)
    }
  }
}
