internal import LarderLMDB

// What becomes of indexes when the documents of a collection are migrated. Those whose fields
// keep their kinds are maintained as ever.

extension WriteScope {
  /// Why an index waits for the end of a migration.
  private static var suspended: IndexState {
    .suspended("a field of it changes its kind in a migration that is not finished")
  }
  private static var postponed: IndexState {
    .suspended("documents exchange its values in a migration that is not finished")
  }

  /// Empties the indexes whose fields have another kind now: until all documents have it, their
  /// values have no common order.
  mutating func suspendIndexes(of name: String) throws {
    guard let collection = catalogue[name] else { return }
    try changeIndexes(of: name) { scope, index, record in
      guard index.isMaintained,
        index.definition.renewed(in: collection.description) != index.definition
      else { return record }
      try scope.transaction.empty(index.database)
      return record.becoming(Self.suspended)
    }
  }

  /// Empties indexes that would refuse values which documents exchange.
  mutating func suspendIndexes(of name: String, named names: Set<String>) throws {
    if names.isEmpty { return }
    try changeIndexes(of: name) { scope, index, record in
      guard index.isMaintained, names.contains(index.name) else { return record }
      try scope.transaction.empty(index.database)
      return record.becoming(Self.postponed)
    }
  }

  /// Has indexes built anew whose fields have another kind than before, or dropped where nothing
  /// of that kind can be kept in one.
  mutating func renewIndexes(of name: String) throws {
    guard let collection = catalogue[name] else { return }
    try changeIndexes(of: name) { scope, index, record in
      guard let renewed = record.definition.renewed(in: collection.description) else {
        scope.tellOfDropped(record.definition)
        return IndexRecord(record.definition, .dropped)
      }
      let isWaiting = [Self.suspended, Self.postponed].contains(record.state)
      if renewed == record.definition, !isWaiting { return record }
      try scope.transaction.empty(index.database)
      return try scope.builtAtOnce(
        IndexRecord(renewed, .building(upTo: []), superseded: record.superseded), index.number,
        collection)
    }
  }

  /// Gives the indexes of a collection, with their entries, to one that will have its documents.
  mutating func moveIndexes(of name: String, to newName: String) throws {
    try changeIndexes(of: newName) { _, _, record in IndexRecord(record.definition, .dropped) }
    try changeIndexes(of: name) { _, _, record in
      let definition = record.definition
      return IndexRecord(
        IndexDefinition(
          collection: newName, name: definition.name, parts: definition.parts,
          isUnique: definition.isUnique, filter: definition.filter, weights: definition.weights,
          tokenizer: definition.tokenizer, unicode: definition.unicode),
        record.state, superseded: record.superseded)
    }
    try adopt(catalogue.indexes, of: newName)
  }
}
