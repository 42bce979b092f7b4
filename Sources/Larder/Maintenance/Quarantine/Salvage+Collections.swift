internal import LarderLMDB

// How the collections of a damaged file, and where their migrations stand, come into the store.

extension Salvage {
  /// Finds the collections that are still described, and makes those that the store lacks.
  mutating func readCatalogue(_ progress: (StoreProgress) throws -> Void) throws {
    var descriptions: [String: CollectionDescription] = [:]
    var states: [MigrationState.Subject: MigrationState] = [:]
    var pages = try PageSalvage(path: path)
    let pageCount = pages.pageCount
    try pages.forEachRecord { database, key, value, read in
      try tell(progress, read, of: pageCount, isSecond: false)
      if database == nil || database == Layout.migrationsName,
        let subject = MigrationState.Subject(key: key),
        let state = try? MigrationState(value, of: subject)
      {
        states[subject] = state
        return
      }
      guard database == nil || database == Layout.catalogueName,
        let name = String(validating: key, as: UTF8.self),
        (try? Layout.checkedCollectionName(name)) == name,
        // Without its checksum it is none.
        let description = try? CollectionDescription(name: name, value)
      else { return }
      descriptions[name] = description
    }
    if descriptions.values.contains(where: \.isSynced) { try store.prepareOutbox() }
    // A state that is missing may stand on a page that could not be read.
    let isWhole = pages.skippedPageCount == 0
    func state(_ subject: MigrationState.Subject) -> MigrationState? {
      states[subject] ?? (isWhole ? MigrationState() : nil)
    }
    let isOfStore = try settle(state(.store), of: .store)
    for description in descriptions.values.sorted(by: { $0.name < $1.name }) {
      let refusal =
        isOfStore
        ? try prepare(description, state(.collection(description.name)))
        : "the whole file is of another version than the store, or may be"
      // Where there is none, nothing is saved either.
      let documents = store.engine.catalogue[description.name]?.documents ?? .main
      sources[description.name] = Source(
        binding: CollectionBinding(Collection(description, documents: documents)),
        refusal: refusal)
    }
  }

  /// Makes a collection where the store has none.
  ///
  /// - Parameter state: Of its migrations, in the file; nil where that is not known.
  /// - Returns: Why its documents cannot stand beside what the store has; nil where they can.
  private func prepare(
    _ description: CollectionDescription, _ state: MigrationState?
  ) throws -> String? {
    let engine = store.engine
    let here = engine.catalogue[description.name]?.description
    if let reason = here?.disagreement(with: description) { return reason }
    // First: where this ends between the two, the next call finds no collection yet.
    guard try settle(state, of: .collection(description.name)) else {
      return "they are of another version than the store's, or may be"
    }
    if here == nil {
      try engine.writer.run { try engine.declare(Declaration(restoring: description)) }
    }
    return nil
  }

  /// Notes where a migration stands: it would be run again otherwise, or never.
  ///
  /// - Parameter state: Of the file; nil where it is not known.
  /// - Returns: False where the store is elsewhere, and has documents for which that is so.
  private func settle(
    _ state: MigrationState?, of subject: MigrationState.Subject
  ) throws -> Bool {
    let stored = try store.migrationState(of: subject)
    guard let state else { return stored == MigrationState() }
    if stored == state { return true }
    let engine = store.engine
    return try engine.writer.run {
      let migrations = try engine.madeMigrations()
      return try engine.perform { scope in
        let stored = try scope.transaction.migrationState(of: subject, in: migrations)
        if stored == state { return true }
        guard try scope.mayStandElsewhere(subject, stored) else { return false }
        try scope.put(state, of: subject, in: migrations)
        return true
      }
    }
  }

  /// Whether the store reads records of the file without changing them.
  func readsAsTheyAre(_ source: Source) -> Bool {
    store.engine.catalogue[source.description.name]?.description.reads(
      recordsOf: source.description) ?? false
  }
}

extension WriteScope {
  /// Whether no document stands where a migration is said to stand.
  fileprivate borrowing func mayStandElsewhere(
    _ subject: MigrationState.Subject, _ stored: MigrationState
  ) throws -> Bool {
    switch subject {
    case .store:
      for collection in catalogue.collections.values {
        guard try transaction.statistics(of: collection.documents).entryCount == 0 else {
          return false
        }
      }
      return true
    case .collection(let name):
      guard let collection = catalogue[name] else { return true }
      // A type may have declared its newest fields already.
      return try stored == MigrationState()
        && transaction.statistics(of: collection.documents).entryCount == 0
    }
  }
}

extension Declaration {
  /// A collection as it was described in a store that was damaged.
  fileprivate init(restoring restored: CollectionDescription) {
    name = restored.name
    keyKind = restored.keyKind
    keyField = restored.keyField
    declares = { description in
      if description.tables == [FieldTable()] { description = restored }
    }
  }
}

extension CollectionDescription {
  /// Why documents of a collection that is described so cannot be among these; nil where they can.
  fileprivate func disagreement(with other: CollectionDescription) -> String? {
    if keyKind != other.keyKind {
      return "their keys are \(other.keyKind), and the store's are \(keyKind)"
    }
    if let keyField, let otherField = other.keyField, keyField != otherField {
      return "their key is the field `\(otherField)`, and the store's is `\(keyField)`"
    }
    if migratingTo != other.migratingTo {
      return "they are not in the same migration as the store's"
    }
    return nil
  }

  /// Whether records that were written by another description can be read by this one.
  func reads(recordsOf other: CollectionDescription) -> Bool {
    keyKind == other.keyKind && documentTable == other.documentTable
      && migratingTo == other.migratingTo && tables.count >= other.tables.count
      && zip(tables, other.tables).allSatisfy { table, other in
        table.fields.count >= other.fields.count
          && zip(table.fields, other.fields).allSatisfy { field, other in
            field.name == other.name && field.kind.reads(other.kind)
          }
      }
  }
}

extension Kind where Reference == Int {
  /// Whether a value that was written as another kind is one of this, as where a kind was widened.
  fileprivate func reads(_ other: Kind) -> Bool {
    switch (self, other) {
    case (_, .null): true
    case (.any, _): !other.holdsDocuments
    case (.optional(let inner), .optional(let other)): inner.reads(other)
    // A level of a nested optional is marked in the record.
    case (.optional(let inner), _): !inner.isOptional && inner.reads(other)
    case (.array(let element), .array(let other)), (.set(let element), .set(let other)),
      (.set(let element), .array(let other)):
      element.reads(other)
    case (.dictionary(let key, let value), .dictionary(let otherKey, let otherValue)):
      key.reads(otherKey) && value.reads(otherValue)
    // Records say themselves which table they have.
    case (.document, .document): true
    default: Kind.widened(self, other) == self
    }
  }
}
