internal import LarderLMDB

/// A collection and fields that the catalogue has to know before documents are written.
@usableFromInline struct Declaration: Sendable {
  let name: String
  let keyKind: KeyKind
  let keyField: String?
  /// Adds the fields to what the catalogue has.
  let merge: @Sendable (inout CollectionDescription) throws(StoreError) -> Void
  /// Indexes that the collection is to have besides those that it has.
  var indexes: [IndexDeclaration] = []

  init<Entity: Document>(_ type: Entity.Type) throws(StoreError) {
    let schema = Entity.schema
    guard try Layout.checkedCollectionName(schema.name).utf8.elementsEqual(schema.name.utf8) else {
      throw .collectionName(schema.name, reason: "it is not in Unicode's normalisation form C")
    }
    name = schema.name
    keyKind = Entity.Key.keyKind
    keyField = schema.keyField
    merge = { (description) throws(StoreError) in
      try description.merge(SchemaReference(type))
    }
    indexes = Entity.declaredIndexes
  }

  init(
    name: String, keyKind: KeyKind, keyField: String?, shape: some DocumentShape
  ) throws(StoreError) {
    self.name = try Layout.checkedCollectionName(name)
    self.keyKind = keyKind
    self.keyField = keyField
    merge = { (description) throws(StoreError) in try description.merge(shape) }
  }

  /// An index that no type declares, of a collection that exists.
  init(of index: IndexDeclaration, in description: CollectionDescription) {
    self.init(renewing: description)
    indexes = [index]
  }

  /// Changes nothing but what has become out of date.
  init(renewing description: CollectionDescription) {
    name = description.name
    keyKind = description.keyKind
    keyField = description.keyField
    merge = { _ in }
  }
}

extension Engine {
  /// Brings a collection, or fields or indexes of it, into being, in a transaction of its own.
  /// Called in the writer's line only.
  func declare(_ declaration: Declaration) throws {
    while !(try declareOnce(declaration)) {}
    scheduleIndexWork()
  }

  /// - Returns: False where another process came first, so that the plan is another one.
  private func declareOnce(_ declaration: Declaration) throws -> Bool {
    let known = catalogue
    let (expected, plan) = try plan(declaration, in: known)
    try refuseTooMany(declaration, plan, in: known)
    // Databases first: without the description they are never looked at, so that a crash in
    // between leaves nothing behind but an empty database.
    guard
      let descriptions = try environment.database(named: Layout.catalogueName, create: true),
      let documents = try environment.database(
        named: Layout.documentsName(of: declaration.name), create: true)
    else { return true }
    let numbers = Set(plan.records.keys)
    let indexRecords = numbers.isEmpty ? nil : try makeDatabases(plan)

    var scope = try WriteScope(self)
    let existing = scope.catalogue[declaration.name]?.description
    let (description, decided) = try self.plan(declaration, in: scope.catalogue)
    guard Set(decided.records.keys) == numbers, description == expected else { return false }
    if description == existing, decided.records.isEmpty { return true }

    if description != existing {
      try description.encoded().withUnsafeBytes { value in
        var name = declaration.name
        try name.withUTF8 { key in
          try scope.transaction.put(value, for: UnsafeRawBufferPointer(key), in: descriptions)
        }
      }
    }
    var records = scope.catalogue.indexes.merging(decided.records) { _, new in new }
    if let indexRecords {
      let collection = Collection(description, documents: documents)
      for (number, record) in decided.records {
        let built = try scope.builtAtOnce(record, number, collection)
        records[number] = built
        try scope.put(built, number: number, in: indexRecords)
      }
    }
    let (catalogue, version) = (scope.catalogue, scope.state.catalogueVersion + 1)
    try scope.commitCatalogue()
    adopt(
      Catalogue(
        version: version,
        collections: catalogue.collections.merging(
          [
            description.name: try Collection(
              description, documents: documents,
              indexes: openIndexes(
                records.filter { $0.value.definition.collection == description.name }, description),
              log: log)
          ], uniquingKeysWith: { _, new in new }),
        indexes: records))
    return true
  }

  /// What the catalogue is to have.
  private func plan(
    _ declaration: Declaration, in catalogue: Catalogue
  ) throws(StoreError) -> (CollectionDescription, IndexPlan) {
    try catalogue[declaration.name]?.checkMigrated()
    var description =
      catalogue[declaration.name]?.description
      ?? CollectionDescription(
        name: declaration.name, keyKind: declaration.keyKind, keyField: declaration.keyField)
    guard description.keyKind == declaration.keyKind else {
      throw StoreError.keyKind(
        collection: declaration.name, stored: description.keyKind, found: declaration.keyKind)
    }
    try declaration.merge(&description)
    description.keyField = description.keyField ?? declaration.keyField
    return (
      description, try IndexPlan(declaration.indexes, catalogue.indexes, in: description)
    )
  }

  /// Makes the databases of new indexes; returns the one of their records, which comes first.
  private func makeDatabases(_ plan: IndexPlan) throws -> Database? {
    let records = try environment.database(named: Layout.indexesName, create: true)
    for (number, record) in plan.records where record.isInUse {
      _ = try environment.database(named: Layout.indexName(number), create: true)
    }
    return records
  }

  /// LMDB would take one collection more, and then have no handle left to open the store with.
  private func refuseTooMany(
    _ declaration: Declaration, _ plan: IndexPlan, in catalogue: Catalogue
  ) throws {
    let limit = environment.options.maximumDatabases - StoreOptions.spareDatabaseCount
    let newIndexes = plan.records.keys.count { catalogue.indexes[$0] == nil }
    let newCount = newIndexes + (catalogue[declaration.name] == nil ? 1 : 0)
    let count = catalogue.collections.count + catalogue.indexes.count
    guard newCount > 0, count + newCount > limit else { return }
    throw LMDBError(
      .databasesFull, operation: "declare", path: environment.folder,
      detail: "the store has \(catalogue.collections.count) collections and "
        + "\(catalogue.indexes.count) indexes, so \(declaration.name) cannot have \(newCount) more; "
        + "raise `maximumDatabases` of the store's options")
  }
}

extension WriteScope {
  /// Commits a change of the catalogue, which takes no sequence number.
  consuming func commitCatalogue() throws {
    state.transaction = UInt64(transaction.id)
    state.catalogueVersion += 1
    try transaction.put(state)
    try transaction.commit()
  }
}
