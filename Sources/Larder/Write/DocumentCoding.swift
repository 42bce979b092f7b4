internal import LarderLMDB

/// Makes records of documents, and documents of records, without a store: what a benchmark of the
/// coding alone needs.
@_spi(Benchmark) public struct DocumentCoding<Entity: Document>: ~Copyable {
  @usableFromInline let binding: CollectionBinding
  @usableFromInline var writer: RecordWriter

  /// - Parameter samples: Documents with every field, for types that have no schema.
  /// - Throws: ``StoreError`` for a type that cannot be declared.
  public init(_ samples: [Entity] = []) throws {
    binding = try CollectionBinding(undeclared: Entity.self).declaring(samples)
    writer = RecordWriter(binding: binding, capacity: 64 << 10)
  }

  /// Encodes the document at a place, and over the last one's bytes; returns how many bytes its record has.
  ///
  /// - Throws: ``RecordError`` for a document that cannot be stored.
  @inlinable public mutating func encode(_ document: UnsafePointer<Entity>) throws -> Int {
    try record(of: document).count
  }

  /// The record of a document.
  ///
  /// - Throws: ``RecordError`` for a document that cannot be stored.
  public mutating func bytes(of document: Entity) throws -> [UInt8] {
    let range = try withUnsafePointer(to: document) { try record(of: $0) }
    return writer.withBytes { [UInt8]($0[range]) }
  }

  @inlinable mutating func record(of document: UnsafePointer<Entity>) throws -> Range<Int> {
    try document.pointee.entityAccessorKey.withEncodedKey { key in
      writer.removeAll()
      writer.beginDocument()
      writer.putFields(of: document)
      return try writer.endDocument(key: key)
    }
  }

  /// The document in a record, whose checksum is verified first, as a store does.
  ///
  /// - Throws: ``RecordError`` for a record that cannot be read.
  @inlinable public func decode(_ record: [UInt8], key: Entity.Key) throws -> Entity {
    try record.withUnsafeBytes { record in
      let verified = try key.withEncodedKey { try binding.collection.verified(record, key: $0) }
      return try Entity(
        from: RecordReader(verified, binding: binding, schema: binding.root, depth: 1))
    }
  }
}

/// The checksum of records: what codecs have to pay too that are compared with Larder's.
@_spi(Benchmark) public enum RecordChecksum {
  /// Over a key and the bytes that are stored under it.
  @inlinable public static func of(
    _ bytes: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> UInt64 {
    Checksum.hash(bytes, seed: Checksum.hash(key, seed: 0))
  }
}

extension CollectionBinding {
  /// A binding to a collection that no catalogue knows.
  ///
  /// - Throws: ``StoreError`` for a type that cannot be declared, among them
  ///   ``StoreError/indexNotAllowed(collection:index:reason:)``.
  convenience init<Entity: Document>(undeclared type: Entity.Type) throws {
    let declaration = try Declaration(type)
    var description = CollectionDescription(
      name: declaration.name, keyKind: declaration.keyKind, keyField: declaration.keyField)
    try declaration.declares(&description)
    for index in declaration.indexes { _ = try IndexDefinition(index, in: description) }
    self.init(type, description)
  }

  private convenience init<Entity: Document>(
    _ type: Entity.Type, _ description: CollectionDescription
  ) {
    self.init(
      ObjectIdentifier(type), type.schema, in: Collection(description, documents: .main),
      isDeclared: true)
  }

  /// This binding, or one with the fields that it lacks for these documents, where they have no
  /// schema.
  ///
  /// - Throws: ``StoreError`` for a document that cannot be stored.
  func declaring<Entity: Document>(_ documents: [Entity]) throws -> CollectionBinding {
    do {
      _ = try documents.withUnsafeBufferPointer { try Batch($0, self) }
      return self
    } catch let needed as FieldsNeeded {
      var description = collection.description
      try needed.declaration.declares(&description)
      description.keyField = description.keyField ?? needed.declaration.keyField
      return CollectionBinding(Entity.self, description)
    }
  }
}
