internal import LarderLMDB

/// All documents of one kind in a store, as the catalogue describes them at one version.
@usableFromInline final class Collection: Sendable {
  let description: CollectionDescription
  let documents: Database
  /// Those that are not dropped.
  let indexes: [CollectionIndex]
  /// Told of damaged records.
  let log: StoreLog
  /// Told of damaged search indexes.
  let damagedSearches: DamagedSearches
  /// Those that this process can keep search indexes with.
  let tokenizers: KnownTokenizers
  /// What checksums begin with, before the key: a record that lands in another collection is
  /// found out.
  let checksumSeed: UInt64

  init(
    _ description: CollectionDescription, documents: Database, indexes: [CollectionIndex] = [],
    log: StoreLog = .silent, damagedSearches: DamagedSearches = .unheard,
    tokenizers: KnownTokenizers = .none
  ) {
    self.tokenizers = tokenizers
    self.log = log
    self.damagedSearches = damagedSearches
    self.description = description
    self.documents = documents
    self.indexes = indexes
    mayRefuse = indexes.contains { $0.mayRefuse }
    var name = description.name
    checksumSeed = name.withUTF8 { Checksum.hash(UnsafeRawBufferPointer($0), seed: 0) }
  }

  /// Whether an index may refuse a document, so that saves have to be undone one by one.
  @usableFromInline let mayRefuse: Bool

  var name: String { description.name }
  var keyKind: KeyKind { description.keyKind }
  /// Field tables, append-only: the documents' own, those that they had before they were
  /// migrated, and those of embedded documents.
  var tables: [FieldTable] { description.tables }
  /// The table that documents are written with.
  var documentTable: Int { description.documentTable }

  /// - Throws: ``StoreError/unfinishedMigration(collection:version:)``.
  func checkMigrated() throws(StoreError) {
    guard let version = description.migratingTo else { return }
    throw .unfinishedMigration(collection: name, version: version)
  }

  /// The record without its checksum, which must fit.
  ///
  /// - Throws: ``RecordError/checksum`` or ``RecordError/truncated``.
  @usableFromInline func verified(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) throws(RecordError) -> UnsafeRawBufferPointer {
    let count = record.count - RecordFormat.checksumByteCount
    guard count > 0 else { throw .truncated }
    let body = UnsafeRawBufferPointer(rebasing: record[..<count])
    #if LARDER_MUTANTS
      if Mutant.checksum.isOn { return body }
    #endif
    let stored = UInt64(
      littleEndian: record.loadUnaligned(fromByteOffset: count, as: UInt64.self))
    guard Checksum.hash(body, seed: Checksum.hash(key, seed: checksumSeed)) == stored else {
      throw .checksum
    }
    return body
  }
}

/// The names and kinds of the fields of one kind of record. A field's place is its slot in the
/// records; places are never given to another field.
struct FieldTable: Equatable, Sendable {
  private(set) var fields: [StoredField] = []
  private var slots: [String: Int] = [:]

  func slot(of name: String) -> Int? { slots[name] }

  func field(named name: String) -> StoredField? { slots[name].map { fields[$0] } }

  mutating func append(_ field: StoredField) {
    slots[field.name] = fields.count
    fields.append(field)
  }

  subscript(slot: Int) -> StoredField {
    get { fields[slot] }
    set {
      precondition(newValue.name == fields[slot].name, "a slot keeps its name for ever")
      fields[slot] = newValue
    }
  }
}

/// A field as the catalogue keeps it.
struct StoredField: Equatable, Sendable {
  let name: String
  var kind: Kind<Int>
  /// Whether a Swift type declared the whole kind; otherwise it is inferred from values. A `Codable` type
  /// that has encoded only nils or empty containers leaves the rest of the kind to values, too.
  var isDeclared: Bool
  /// Whether the type that declared it last cannot read a record without it.
  var isRequired: Bool

  init(name: String, kind: Kind<Int>, isDeclared: Bool, isRequired: Bool) {
    self.name = name
    self.kind = kind
    self.isDeclared = isDeclared && !kind.isOpen
    self.isRequired = isRequired
  }
}
