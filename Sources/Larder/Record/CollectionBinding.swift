internal import LarderLMDB

/// How a document type, and the types embedded in it, stand to a collection's field tables.
///
/// Made once per type and catalogue version; every read and write of the type goes through it,
/// so that a field is found by two array look-ups and no name is compared.
@usableFromInline final class CollectionBinding: @unchecked Sendable {  // Immutable after init.
  /// Whether it is for documents without a type.
  var isDynamic: Bool { type == ObjectIdentifier(DynamicDocument.self) }
  /// The document type's own schema comes first.
  let schemas: [SchemaBinding]
  /// The same with their types, for those who count no references.
  private let schemaTypes:
    UnsafeMutablePointer<(type: ObjectIdentifier, schema: Unmanaged<SchemaBinding>)>
  private let schemaCount: Int
  @usableFromInline let root: SchemaBinding
  /// What reads a record by the names of its table, whatever its type.
  let anonymous: SchemaBinding
  @usableFromInline let collection: Collection
  /// Whether the catalogue has everything that the type declares, so that it can be written.
  let isDeclared: Bool
  /// The type of ``root``, one step nearer to the hot path.
  let type: ObjectIdentifier
  /// ``Collection/checksumSeed``, one step nearer too.
  let checksumSeed: UInt64
  /// Set where documents are read that an import has made of text.
  let textReading: TextReading?

  /// - Parameter type: What the document type's schema is found under.
  init(
    _ type: ObjectIdentifier, _ schema: AnySchema, in collection: Collection, isDeclared: Bool,
    textReading: TextReading? = nil
  ) {
    self.textReading = textReading
    var found: [SchemaBinding] = []
    var seen: Set<ObjectIdentifier> = []
    var waiting = [(type, schema, collection.documentTable)]
    while let (type, schema, table) = waiting.popLast() {
      guard seen.insert(type).inserted else { continue }
      found.append(SchemaBinding(type, schema, table: table, in: collection))
      for field in schema.fields {
        let stored = collection.tables[table].field(named: field.name)?.kind
        for (reference, table) in field.kind.references(boundTo: stored) {
          waiting.append((reference.type, reference.schema, table))
        }
      }
    }
    schemas = found
    schemaCount = found.count
    schemaTypes = .allocate(capacity: found.count)
    for (place, schema) in found.enumerated() {
      (schemaTypes + place).initialize(to: (schema.type, .passUnretained(schema)))
    }
    root = found[0]
    anonymous = SchemaBinding(
      ObjectIdentifier(DynamicDocument.self),
      AnySchema(name: collection.name, keyField: nil, fields: []),
      table: collection.documentTable, in: collection)
    self.collection = collection
    self.isDeclared = isDeclared
    self.type = root.type
    checksumSeed = collection.checksumSeed
  }

  deinit { schemaTypes.deallocate() }

  /// A binding for documents without a Swift type.
  convenience init(_ collection: Collection) {
    self.init(
      ObjectIdentifier(DynamicDocument.self),
      AnySchema(name: collection.name, keyField: nil, fields: []), in: collection, isDeclared: true)
  }

  @usableFromInline func schema(of type: ObjectIdentifier) -> SchemaBinding {
    lastingSchema(of: type).takeUnretainedValue()
  }

  /// The same, without a reference that is counted: the binding holds it.
  @inline(__always)
  func lastingSchema(of type: ObjectIdentifier) -> Unmanaged<SchemaBinding> {
    // A handful at most: a search beats a hash.
    for place in 0..<schemaCount where schemaTypes[place].type == type {
      return schemaTypes[place].schema
    }
    preconditionFailure("an embedded document's type is not among the fields of its owner's schema")
  }
}

/// One schema, bound to the field tables of a collection.
@usableFromInline final class SchemaBinding: @unchecked Sendable {  // Immutable after init.
  let type: ObjectIdentifier
  @usableFromInline let fields: [FieldDescription]
  @usableFromInline let fieldCount: Int
  /// The table that records of this type are written with.
  @usableFromInline let table: Int
  /// From a field's number to its slot in ``table``.
  @usableFromInline let slots: UnsafePointer<UInt16>
  /// One more than the highest slot in ``slots``.
  @usableFromInline let slotCount: Int
  @usableFromInline let tableCount: Int
  /// For each table of the collection, from a field's number to its slot there, or -1.
  @usableFromInline let readSlots: UnsafeMutablePointer<Int32>
  /// Slots of ``table`` that this type knows.
  let knownSlots: Set<Int>
  /// Whether ``table`` has fields that this type does not know.
  let leavesFieldsUnknown: Bool

  init(_ type: ObjectIdentifier, _ schema: AnySchema, table: Int, in collection: Collection) {
    self.type = type
    self.table = table
    fields = schema.fields
    fieldCount = fields.count
    tableCount = collection.tables.count
    readSlots = .allocate(capacity: max(1, tableCount * fields.count))
    for (number, stored) in collection.tables.enumerated() {
      for (index, field) in fields.enumerated() {
        readSlots[number * fields.count + index] = Int32(stored.slot(of: field.name) ?? -1)
      }
    }
    let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: max(1, fields.count))
    var known: Set<Int> = []
    for index in fields.indices {
      // A type that was not declared to the catalogue yet is only read with this binding.
      let slot = Int(readSlots[table * fields.count + index])
      slots[index] = UInt16(max(0, slot))
      if slot >= 0 { known.insert(slot) }
    }
    self.slots = UnsafePointer(slots)
    slotCount = (known.max() ?? -1) + 1
    knownSlots = known
    leavesFieldsUnknown = known.count < collection.tables[table].fields.count
  }

  deinit {
    slots.deallocate()
    readSlots.deallocate()
  }
}

extension Kind where Reference == SchemaReference {
  /// The embedded documents in this kind, each with the table that the catalogue gives it.
  ///
  /// Where the catalogue knows nothing of the field yet, table 0 stands in: such a binding
  /// only reads, and reading goes by the table that a record names.
  func references(boundTo stored: Kind<Int>?) -> [(SchemaReference, Int)] {
    switch (self, stored?.unwrapped) {
    case (.document(let reference), .document(let table)?): [(reference, table)]
    case (.document(let reference), _): [(reference, 0)]
    case (.optional(let inner), let stored): inner.references(boundTo: stored)
    case (.array(let inner), .array(let stored)?), (.set(let inner), .set(let stored)?),
      (.set(let inner), .array(let stored)?), (.array(let inner), .set(let stored)?):
      inner.references(boundTo: stored)
    case (.array(let inner), _), (.set(let inner), _): inner.references(boundTo: nil)
    case (.dictionary(let key, let value), .dictionary(let storedKey, let storedValue)?):
      key.references(boundTo: storedKey) + value.references(boundTo: storedValue)
    case (.dictionary(let key, let value), _):
      key.references(boundTo: nil) + value.references(boundTo: nil)
    default: []
    }
  }
}

extension CollectionBinding {
  /// For values outside any collection: query operands, the catalogue itself.
  @usableFromInline static let none = CollectionBinding(
    Collection(CollectionDescription(name: "", keyKind: .string), documents: .main))
}
