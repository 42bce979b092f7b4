internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A letter as it was read.
struct Letter {
  let id: UUID
  let saves: [(inout WriteScope) throws -> SaveReport]
  let isForeign: Bool

  /// Nil where it has gone.
  static func read<each Entity: Document>(
    _ id: UUID, in mailbox: Mailbox, for store: Store, _ types: repeat (each Entity).Type
  ) throws -> Letter? {
    try Store.withScratch("letter") { scratch in
      let copy = scratch.appending(path: "data.mdb").path(percentEncoded: false)
      let isThere = try Engine.storing(at: mailbox.path) {
        try WholeFile.copy(mailbox.file(of: id), to: copy)
      }
      guard isThere else { return nil }
      do {
        return try read(id, copiedTo: scratch, for: store, repeat each types)
      } catch let error as StoreError {
        throw error.ofPublication(at: mailbox.file(of: id))
      }
    }
  }

  private static func read<each Entity: Document>(
    _ id: UUID, copiedTo scratch: URL, for store: Store, _ types: repeat (each Entity).Type
  ) throws -> Letter {
    let letter = try Store(published: scratch)
    defer { try? letter.close() }  // Nothing is lost with a copy that does not close.
    var known: Set<String> = []
    var saves: [(inout WriteScope) throws -> SaveReport] = []
    try letter.read { snapshot in
      repeat _ = known.insert((each Entity).schema.name)
      repeat saves.append(try saving(each types, of: snapshot, into: store))
    }
    let isForeign = try !known.isSuperset(of: letter.collectionNames())
    return Letter(id: id, saves: saves, isForeign: isForeign)
  }

  func remove(from mailbox: Mailbox) {
    // One that stays has its note, and is removed by the next collection.
    try? FileManager.default.removeItem(atPath: mailbox.file(of: id))
  }

  private static func saving<Entity: Document>(
    _ type: Entity.Type, of letter: borrowing Snapshot, into store: Store
  ) throws -> (inout WriteScope) throws -> SaveReport {
    // They must be readable by the type in any case.
    let documents = try letter.fetch(Entity.all)
    if documents.isEmpty { return { _ in SaveReport() } }
    guard let binding = try letter.catalogue.binding(of: type), binding.isOfAnotherVersion else {
      return { try $0.save(documents) }
    }
    let written = try WrittenDocuments(
      binding.collection, letter, store.collection(type.schema.name))
    return { try $0.save(written, as: type) }
  }
}

extension CollectionBinding {
  /// Whether the documents were written by a version of the type with other fields than this one has.
  fileprivate var isOfAnotherVersion: Bool {
    // Which fields a plain `Codable` type has, only its own encoding says.
    if root.fields.isEmpty { return false }
    return !isDeclared || schemas.contains(where: \.leavesFieldsUnknown)
  }
}

/// Documents that another version of a type has written, older or newer, with the fields that it knows. Read by this
/// one, they would lack some, and have values for others that nobody has given them.
struct WrittenDocuments {
  let collection: DynamicCollection
  fileprivate let description: CollectionDescription
  fileprivate var documents: [(key: [UInt8], document: DynamicDocument)] = []

  fileprivate init(
    _ stored: Collection, _ letter: borrowing Snapshot, _ collection: DynamicCollection
  ) throws {
    self.collection = collection
    description = stored.description
    let binding = CollectionBinding(stored)
    var cursor = try letter.transaction.cursor(in: stored.documents)
    var isThere = try cursor.first()
    while isThere {
      let document = try binding.reading(cursor.value, key: cursor.key) { try DynamicDocument($0) }
      documents.append(([UInt8](cursor.key), document))
      isThere = try cursor.next()
    }
  }
}

extension WriteScope {
  /// Saves documents with all of their fields. Stored fields that the version which has written them does not know stay.
  ///
  /// - Throws: ``StoreError``, as for documents of the type.
  fileprivate mutating func save<Entity: Document>(
    _ written: WrittenDocuments, as type: Entity.Type
  ) throws -> SaveReport {
    _ = try declared(type)
    guard let stored = catalogue[written.collection.name] else { return SaveReport() }
    let declaration = try Declaration(
      name: stored.name, keyKind: stored.keyKind, keyField: stored.description.keyField,
      shape: WrittenShape(written.description))
    if try !declareHere(declaration) {
      undeclared = declaration
      throw DeclarationNeeded()
    }
    guard let binding = catalogue.binding(ofCollection: stored.name) else { return SaveReport() }
    var builder = BatchBuilder(binding, count: written.documents.count)
    for (key, document) in written.documents {
      try key.withUnsafeBytes { try builder.append(document, key: $0) }
    }
    return try apply(
      Batch(builder), clearing: nil, binding,
      knowing: WrittenFields(written.description, binding.collection.description))
  }
}

/// The fields of documents as the store describes them that they were written to, by the type that it knew.
private struct WrittenShape: DocumentShape {
  /// Each stands for a table.
  private final class Identity: Sendable {}

  private final class Tables: Sendable {
    let tables: [FieldTable]
    let identities: [Identity]

    init(_ tables: [FieldTable]) {
      self.tables = tables
      identities = tables.map { _ in Identity() }
    }
  }

  private let tables: Tables
  private let table: Int

  init(_ description: CollectionDescription) {
    self.init(Tables(description.tables), description.documentTable)
  }

  private init(_ tables: Tables, _ table: Int) { (self.tables, self.table) = (tables, table) }

  static var isDeclared: Bool { true }
  var identity: ObjectIdentifier? { ObjectIdentifier(tables.identities[table]) }

  var fields: [ShapeField<WrittenShape>] {
    tables.tables[table].fields.compactMap { field in
      // Nobody has shown what is in it.
      if field.kind.unwrapped == .null { return nil }
      let kind = field.kind.mapReferences { WrittenShape(tables, $0) }
      return ShapeField(name: field.name, kind: kind, isRequired: false)
    }
  }

  static func == (left: Self, right: Self) -> Bool {
    left.table == right.table && left.tables === right.tables
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(table)
    hasher.combine(ObjectIdentifier(tables))
  }
}

/// Which fields documents know that were written with other field tables.
private struct WrittenFields: FieldKnowledge {
  /// By the table of the collection that they are saved in.
  private var names: [Int: Set<String>] = [:]

  init(_ written: CollectionDescription, _ stored: CollectionDescription) {
    add(written, written.documentTable, stored, stored.documentTable)
  }

  func knows(_ name: String, table: Int) -> Bool { names[table]?.contains(name) ?? true }

  private mutating func add(
    _ written: CollectionDescription, _ table: Int, _ stored: CollectionDescription,
    _ storedTable: Int
  ) {
    // A type may contain itself.
    guard names[storedTable] == nil else { return }
    names[storedTable] = Set(written.tables[table].fields.map(\.name))
    for field in written.tables[table].fields {
      guard let inner = field.kind.documentTable,
        let storedInner = stored.tables[storedTable].field(named: field.name)?.kind.documentTable
      else { continue }
      add(written, inner, stored, storedInner)
    }
  }
}

extension Kind<Int> {
  /// The field table of the documents that a field holds, be it in an array, a set or a dictionary.
  fileprivate var documentTable: Int? {
    switch unwrapped {
    case .document(let table): table
    case .array(let inner), .set(let inner), .dictionary(_, let inner): inner.documentTable
    default: nil
    }
  }
}
