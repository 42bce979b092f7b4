internal import LarderLMDB

// How indexes come into the catalogue, change, and leave it.

/// What a declaration does to the indexes of its collection.
struct IndexPlan {
  /// By number, what the catalogue is to have.
  var records: [UInt32: IndexRecord] = [:]

  /// - Parameters:
  ///   - declared: What a type declares; those of the catalogue that it does not name stay.
  ///   - existing: What the catalogue has, of all collections.
  ///   - changed: Whether the collection's fields have just changed.
  /// - Throws: ``StoreError/indexNotAllowed(collection:index:reason:)``.
  init(
    _ declared: [IndexDeclaration], _ existing: [UInt32: IndexRecord],
    in description: CollectionDescription, isExplicit: Bool = false
  ) throws(StoreError) {
    var wanted: [IndexDefinition] = []
    for declaration in declared {
      let definition = try IndexDefinition(declaration, in: description)
      if let same = wanted.first(where: { $0.name == definition.name }), same != definition {
        throw .indexNotAllowed(
          collection: description.name, index: definition.name,
          reason: "two indexes have this name; give one of them another by `name:`")
      }
      if !wanted.contains(definition) { wanted.append(definition) }
    }
    var taken = Set(existing.keys)
    var free = existing.filter { $0.value.state == .free }.keys.sorted()
    func dropped(_ record: IndexRecord) -> IndexRecord {
      IndexRecord(record.definition, .dropped)
    }
    var superseded: [String: [UInt64]] = [:]
    for (number, record) in existing.sorted(by: { $0.key < $1.key })
    where record.definition.collection == description.name && record.isInUse {
      let definition = record.definition
      if let same = wanted.firstIndex(where: { $0.name == definition.name }) {
        if definition.stands(for: wanted[same]) {
          wanted.remove(at: same)
          continue
        }
        // Two versions of an app that write by turns would else drop and build each other's.
        let isOlder = !isExplicit && record.isNewer(than: wanted[same])
        // Whoever means to let duplicates in says so.
        if isExplicit, definition.isUnique, !wanted[same].isUnique {
          throw .indexNotAllowed(
            collection: description.name, index: definition.name,
            reason: "a unique index has this name, and keeps duplicates out; drop that one first, "
              + "or give this one another name")
        }
        guard isOlder else {
          records[number] = dropped(record)
          superseded[definition.name] = record.superseded(by: wanted[same])
          continue
        }
        wanted.remove(at: same)
      }
      if let renewed = definition.renewed(in: description) {
        guard renewed != definition else { continue }
        records[number] = dropped(record)
        superseded[definition.name] = record.superseded
        wanted.append(renewed)
      } else {
        records[number] = dropped(record)
      }
    }
    for definition in wanted {
      let number = free.popLast() ?? (taken.max() ?? 0) + 1
      taken.insert(number)
      records[number] = IndexRecord(
        definition, .building(upTo: []), superseded: superseded[definition.name] ?? [])
    }
  }
}

extension WriteScope {
  /// Replaces the records of a collection's indexes that are in use; returns whether one has changed.
  @discardableResult
  mutating func changeIndexes(
    of name: String,
    _ change: (inout WriteScope, CollectionIndex, IndexRecord) throws -> IndexRecord
  ) throws -> Bool {
    guard let collection = catalogue[name], !collection.indexes.isEmpty,
      let database = engine.environment.knownDatabase(named: Layout.indexesName)
    else { return false }
    var records = catalogue.indexes
    var isChanged = false
    for index in collection.indexes {
      // How far one is built is known to the store alone.
      guard let record = try transaction.indexRecord(index.number, in: database) else { continue }
      let new = try change(&self, index, record)
      guard new != record else { continue }
      records[index.number] = new
      try put(new, number: index.number)
      isChanged = true
    }
    if isChanged { try adopt(records, of: name) }
    return isChanged
  }

  /// Logs that an index goes which nobody has dropped.
  func tellOfDropped(_ index: IndexDefinition) {
    engine.log.tell(
      .warning, "an index is dropped: a field of it has another kind, which cannot be indexed",
      ["collection": index.collection, "index": index.name])
  }

  /// Writes an index's record into the catalogue.
  mutating func put(_ record: IndexRecord, number: UInt32) throws {
    guard let database = engine.environment.knownDatabase(named: Layout.indexesName) else {
      throw StoreError.damagedCatalogue("\(Layout.indexesName) is missing")
    }
    hasWrittenMore = true
    try record.encoded(number: number).withUnsafeBytes { value in
      try withUnsafeBytes(of: number.bigEndian) { key in
        try transaction.put(value, for: key, in: database)
      }
    }
  }
}
