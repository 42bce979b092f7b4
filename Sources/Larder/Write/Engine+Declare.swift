internal import LarderLMDB

extension Engine {
  /// Brings a collection, or fields or indexes of it, into being, in a transaction of its own.
  /// Called in the writer's line only.
  ///
  /// New indexes of a small collection are complete then, if there is room for them; others are built
  /// in steps.
  func declare(_ declaration: Declaration) throws {
    while !(try declareOnce(declaration)) {}
  }

  /// Makes the databases that a declaration needs, before the write that makes the declaration. Called
  /// in the writer's line only.
  ///
  /// - Returns: What the collection is to be, and the indexes that change.
  fileprivate func prepare(
    _ declaration: Declaration
  ) throws -> (expected: CollectionDescription, numbers: Set<UInt32>) {
    for index in declaration.indexes { tokenizers.add(index.tokenizer) }
    let known = catalogue
    let (expected, plan) = try plan(declaration, in: known) {
      try environment.beginRead().keeps($1, of: $0, under: $2)
    }
    try refuseTooMany(declaration, plan, in: known)
    try makeDatabases(of: declaration.name, plan)
    return (expected, Set(plan.records.keys))
  }

  /// - Returns: False where another process came first, so that the plan is another one.
  private func declareOnce(_ declaration: Declaration) throws -> Bool {
    let (expected, numbers) = try prepare(declaration)
    do {
      return try perform {
        try $0.declare(declaration, expected, numbers, buildsAtOnce: true)
      }
    } catch  where !numbers.isEmpty && shortage(error) != nil {
      return try perform {
        try $0.declare(declaration, expected, numbers, buildsAtOnce: false)
      }
    }
  }

  /// What the catalogue is to have.
  ///
  /// - Parameter keeps: Whether what documents of a collection hold is kept under another description.
  fileprivate func plan(
    _ declaration: Declaration, in catalogue: Catalogue,
    keeps: (Collection, Declaration.KeptContent, CollectionDescription) throws -> Bool
  ) throws -> (CollectionDescription, IndexPlan) {
    let collection = catalogue[declaration.name]
    try collection?.checkMigrated()
    // One that is declared anew takes the place of what has its name, which need not be kept.
    let kept = collection?.definitions.filter { index in
      !declaration.indexes.contains { $0.name == index.name }
    }
    let description = try declaration.applied(
      to: collection?.description, keeping: kept ?? []
    ) { content, description in
      try collection.map { try keeps($0, content, description) } ?? true
    }
    return (
      description,
      try IndexPlan(
        declaration.indexes, catalogue.indexes, in: description, isExplicit: declaration.isExplicit)
    )
  }

  /// Makes the databases that are needed, the catalogue's own first. Before the catalogue names them
  /// they are never looked at, so that a crash in between leaves nothing behind but empty ones.
  private func makeDatabases(of name: String, _ plan: IndexPlan) throws {
    _ = try madeDatabase(named: Layout.catalogueName)
    _ = try madeDatabase(named: Layout.documentsName(of: name))
    if plan.records.isEmpty { return }
    _ = try madeDatabase(named: Layout.indexesName)
    for (number, record) in plan.records where record.isInUse {
      _ = try madeDatabase(named: Layout.indexName(number))
    }
  }

  /// LMDB would take one collection more, and then have no handle left to open the store with. What a
  /// declaration has made that was refused then, for want of room, counts as well: it has a handle.
  private func refuseTooMany(
    _ declaration: Declaration, _ plan: IndexPlan, in catalogue: Catalogue
  ) throws {
    let limit = environment.options.maximumDatabaseCount - StoreOptions.spareDatabaseCount
    let indexNames = plan.records.filter(\.value.isInUse).map { Layout.indexName($0.key) }
    let names = [Layout.documentsName(of: declaration.name)] + indexNames
    let newCount = names.count { environment.knownDatabase(named: $0) == nil }
    let count = environment.knownDatabaseCount(of: [Layout.documentsPrefix, Layout.indexPrefix])
    guard newCount > 0, count + newCount > limit else { return }
    let left = count - catalogue.collections.count - catalogue.indexes.count
    throw LMDBError(
      .databasesFull, operation: "declare", path: environment.folder,
      detail: "the store has \(catalogue.collections.count) collections and "
        + "\(catalogue.indexes.count) indexes"
        + (left > 0 ? ", and \(left) that were refused," : ",")
        + " so \(declaration.name) cannot have \(newCount) more; "
        + "raise `maximumDatabaseCount` of the store's options")
  }
}

extension Store {
  /// Runs `body` in one transaction that makes a declaration first: both are kept, or neither.
  ///
  /// New indexes of a small collection are complete when `body` begins, if there is room for them.
  ///
  /// - Throws: Whatever `body` throws, or ``StoreError``; what is left then are empty databases that the
  ///   catalogue does not name.
  func write<Result>(
    declaring declaration: Declaration, as origin: ChangeOrigin,
    _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    var buildsAtOnce = true
    while true {
      try checkOpen()
      let (expected, numbers) = try engine.storing {
        try engine.writer.run { try engine.prepare(declaration) }
      }
      do {
        let result = try write(as: origin) { scope -> Result? in
          // Where another process came first the plan is another one.
          guard try scope.declare(declaration, expected, numbers, buildsAtOnce: buildsAtOnce) else {
            return nil
          }
          return try body(&scope)
        }
        if let result { return result }
      } catch  where buildsAtOnce && !numbers.isEmpty && engine.shortage(error) != nil {
        buildsAtOnce = false
      }
    }
  }
}

extension WriteScope {
  /// Makes a declaration in this transaction; false, and nothing is changed, where it takes a database that is
  /// new, which could not be used in it.
  ///
  /// - Throws: ``StoreError``; the scope is never committed then.
  mutating func declareHere(_ declaration: Declaration) throws -> Bool {
    guard catalogue[declaration.name] != nil else { return false }
    let (description, plan) = try plan(declaration)
    guard plan.records.isEmpty else { return false }
    return try wholly { try $0.declare(declaration, description, [], buildsAtOnce: false) }
  }

  /// Writes what a declaration changes in the catalogue.
  ///
  /// - Parameters:
  ///   - expected: What the collection is to be, by the plan that databases were made for.
  ///   - numbers: The indexes that the plan changes.
  ///   - buildsAtOnce: Whether new indexes of a small collection are filled.
  /// - Returns: False where the plan is another one by now; nothing is changed then.
  /// - Throws: ``StoreError``, as ``checkKeepsIntegers(_:_:)`` does before anything is changed.
  fileprivate mutating func declare(
    _ declaration: Declaration, _ expected: CollectionDescription, _ numbers: Set<UInt32>,
    buildsAtOnce: Bool
  ) throws -> Bool {
    let existing = catalogue[declaration.name]?.description
    let (description, plan) = try plan(declaration)
    guard Set(plan.records.keys) == numbers, description == expected,
      let documents = engine.environment.knownDatabase(
        named: Layout.documentsName(of: declaration.name))
    else { return false }
    if description == existing, plan.records.isEmpty { return true }
    try checkKeepsIntegers(declaration, description)

    // An index that takes the place of another needs no more than that had.
    let newCount = plan.records.values.count(where: \.isInUse)
    hasSaved = description != existing || newCount > plan.records.count - newCount
    if description != existing { try put(description) }
    var records = catalogue.indexes.merging(plan.records) { _, new in new }
    let collection = Collection(description, documents: documents, tokenizers: engine.tokenizers)
    tellOfTokenizers(plan)
    tellOfDefaults(plan)
    tellOfDropped(plan)
    for (number, record) in plan.records {
      let new = buildsAtOnce ? try builtAtOnce(record, number, collection) : record
      records[number] = new
      try put(new, number: number)
    }
    try adopt(description, documents: documents, records)
    return true
  }

  private func plan(
    _ declaration: Declaration
  ) throws -> (CollectionDescription, IndexPlan) {
    try engine.plan(declaration, in: catalogue) {
      try transaction.keeps($1, of: $0, under: $2)
    }
  }

  /// Logs the search indexes of a plan that take the place of one with another tokenizer.
  private func tellOfTokenizers(_ plan: IndexPlan) {
    for record in plan.records.values where record.isInUse && record.definition.weights != nil {
      let new = record.definition
      let old = catalogue.indexes.values.first {
        $0.isInUse && $0.definition.collection == new.collection && $0.definition.name == new.name
      }
      guard let old, old.definition.weights != nil, old.definition.unicode != new.unicode else {
        continue
      }
      engine.log.tell(
        .info, "a search index is built anew: its tokenizer is another one",
        [
          "collection": new.collection, "index": new.name,
          "tokenizer": new.tokenizer ?? StandardTokenizer().identifier,
        ])
    }
  }

  /// Logs the indexes of a plan that go, and in whose place comes no other: a type has given a field a kind that
  /// none can be made of.
  private func tellOfDropped(_ plan: IndexPlan) {
    let kept = Set(plan.records.values.filter(\.isInUse).map(\.definition.name))
    for record in plan.records.values
    where !record.isInUse && !kept.contains(record.definition.name) {
      tellOfDropped(record.definition)
    }
  }

  /// Logs the indexes of a plan that take the place of one which has nothing but another default: by the
  /// values alone, one that a new version has cannot be told from one that each process makes.
  private func tellOfDefaults(_ plan: IndexPlan) {
    for record in plan.records.values where record.isInUse {
      let new = record.definition
      let isOther = catalogue.indexes.values.contains {
        $0.isInUse && $0.definition.name == new.name && $0.definition.differsOnlyInAbsent(from: new)
      }
      guard isOther, engine.indexWork.withLock({ $0.isFirstTold(of: new) }) else { continue }
      engine.log.tell(
        .warning,
        "an index is built anew: the default of a field is another one than before. One that depends on"
          + " the day, or on a setting, has that happen whenever it changes",
        ["collection": new.collection, "index": new.name])
    }
  }
}
