internal import LarderLMDB

/// A collection and fields that the catalogue has to know before documents are written.
struct Declaration: Sendable {
  let name: String
  let keyKind: KeyKind
  let keyField: String?
  /// Adds the fields to what the catalogue has.
  let merge: @Sendable (inout CollectionDescription) throws(StoreError) -> Void

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
  }

  init(
    name: String, keyKind: KeyKind, keyField: String?, shape: InferredShape
  ) throws(StoreError) {
    self.name = try Layout.checkedCollectionName(name)
    self.keyKind = keyKind
    self.keyField = keyField
    merge = { (description) throws(StoreError) in try description.merge(shape) }
  }
}

extension Engine {
  /// Brings a collection, or fields of it, into being, in a transaction of its own. Called in
  /// the writer's line only.
  func declare(_ declaration: Declaration) throws {
    try refuseTooMany(declaration)
    // Databases first: without the description they are never looked at, so that a crash in
    // between leaves nothing behind but an empty database.
    guard
      let descriptions = try environment.database(named: Layout.catalogueName, create: true),
      let documents = try environment.database(
        named: Layout.documentsName(of: declaration.name), create: true)
    else { return }
    var scope = try WriteScope(self)
    let existing = scope.catalogue[declaration.name]?.description
    var description =
      existing
      ?? CollectionDescription(
        name: declaration.name, keyKind: declaration.keyKind, keyField: declaration.keyField)
    guard description.keyKind == declaration.keyKind else {
      throw StoreError.keyKind(
        collection: declaration.name, stored: description.keyKind, found: declaration.keyKind)
    }
    try declaration.merge(&description)
    description.keyField = description.keyField ?? declaration.keyField
    if description == existing { return }

    try description.encoded().withUnsafeBytes { value in
      var name = declaration.name
      try name.withUTF8 { key in
        try scope.transaction.put(value, for: UnsafeRawBufferPointer(key), in: descriptions)
      }
    }
    scope.state.catalogueVersion += 1
    let catalogue = scope.catalogue.adding(
      Collection(description, documents: documents), version: scope.state.catalogueVersion)
    try scope.commitDeclaration()
    adopt(catalogue)
  }

  /// LMDB would take one collection more, and then have no handle left to open the store with.
  private func refuseTooMany(_ declaration: Declaration) throws {
    let catalogue = catalogue
    let limit = environment.options.maximumDatabases - StoreOptions.spareDatabaseCount
    guard catalogue[declaration.name] == nil, catalogue.collections.count >= limit else { return }
    throw LMDBError(
      .databasesFull, operation: "declare", path: environment.folder,
      detail: "the store has \(catalogue.collections.count) collections, so \(declaration.name) "
        + "cannot be made")
  }
}

extension WriteScope {
  /// Commits a change of the catalogue, which takes no sequence number.
  fileprivate consuming func commitDeclaration() throws {
    state.transaction = UInt64(transaction.id)
    try transaction.put(state)
    try transaction.commit()
  }
}
