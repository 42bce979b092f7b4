internal import LarderLMDB

/// An index of a collection, as the store has it.
public struct IndexDescription: Sendable, Equatable {
  /// The name, unique in its collection.
  public let name: String
  /// Names of the fields, those of embedded documents with dots; a minus before descending ones.
  public let fields: [String]
  /// Whether no two documents may have the same values.
  public let isUnique: Bool
  /// The condition for being in the index; nil for all documents.
  public let condition: String?
  /// Whether queries can use it yet.
  public let state: State
  /// How many entries it has: one for each document, or for each element of an array. A search index
  /// has one for each document with a word.
  public let entryCount: Int
  /// Space that the entries take in the file.
  public let byteCount: Int
  /// What the building waits for; nil where it goes on, or where only another process has found that
  /// there is no room. See <doc:Space>.
  public let shortage: Shortage?
  /// The identifier of the ``Tokenizer`` of a search index that has one of its own; else nil.
  public let tokenizer: String?
  /// Whether the building waits for a process that has ``tokenizer``: this one does not, unless it uses the type that
  /// declares it, or has it in ``StoreOptions/tokenizers``.
  public let isMissingTokenizer: Bool

  /// How far an index has come.
  public enum State: Sendable, Equatable {
    /// Not used yet. Reading goes on without it, and writing keeps it.
    case building
    case complete
    /// Two documents have the same value in a unique index; the text says which. No query uses it
    /// until ``DynamicCollection/rebuildIndexes(progress:)`` succeeds. Saving goes on: it keeps the
    /// index, and lets no other document have a value that one has.
    case failed(String)
  }
}

extension DynamicCollection {
  /// The indexes of this collection, by name.
  ///
  /// - Throws: ``StoreError``.
  public func indexes() throws -> [IndexDescription] {
    try store.read { snapshot in
      guard let collection = snapshot.catalogue[name] else { return [] }
      return try snapshot.indexDescriptions(of: collection)
    }
  }

  /// Drops an index; false where there is none of this name. A type that declares it makes it
  /// again with its next save.
  ///
  /// Queries stop using it at once. Its space is given back in small steps, between the writes of
  /// others.
  ///
  /// - Throws: ``StoreError``; nothing is changed then.
  @discardableResult
  public func dropIndex(_ indexName: String) throws -> Bool {
    try changeIndexes { _, index, record in
      guard index.name == indexName.normalized() else { return record }
      return IndexRecord(record.definition, .dropped)
    }
  }

  /// Builds every index of the collection anew, and returns when they are complete. Search indexes whose tokenizer
  /// this process does not have are emptied, and wait for one that has it.
  ///
  /// Readers and writers go on meanwhile. For an index that ``Store/check(progress:)`` finds wrong,
  /// and for a unique one that failed, once the documents have been changed.
  ///
  /// - Throws: ``StoreError``, such as
  ///   ``StoreError/indexNotAllowed(collection:index:reason:)`` for a unique index that fails
  ///   again, and ``StoreError/unfinishedMigration(collection:version:)``, before anything is changed.
  public func rebuildIndexes(progress: (StoreProgress) throws -> Void = { _ in }) throws {
    let name = name
    try changeIndexes { scope, index, record in
      // Those whose fields change their kind wait for the end.
      try scope.catalogue[name]?.checkMigrated()
      try scope.transaction.empty(index.database)
      // Where it is at its beginning anyway, the record is the same, and what was found out since is not.
      scope.renewCatalogue()
      return record.becoming(.building(upTo: []))
    }
    try buildIndexes(progress: progress)
  }

  /// Has the indexes that are being built finished, and returns when they are complete, apart from search
  /// indexes whose tokenizer this process does not have: ``IndexDescription/isMissingTokenizer``.
  ///
  /// They are finished in the background anyway; this is for those who want to wait for it, or to
  /// show how far it is. Where an index finds no room it waits, and takes nothing of what is kept for
  /// deleting; it goes on by itself once there is room.
  ///
  /// - Parameter progress: Told before each step, on the caller's thread; what it throws ends the waiting
  ///   but not the building.
  /// - Throws: ``StoreError``, such as
  ///   ``StoreError/indexNotAllowed(collection:index:reason:)`` for a unique index that two
  ///   documents have equal values in, and ``StoreError/full(_:)``; what `progress` throws;
  ///   `CancellationError` where the task was cancelled. What was built stays.
  public func buildIndexes(progress: (StoreProgress) throws -> Void = { _ in }) throws {
    try store.checkOpen()
    try store.engine.storing { try store.engine.renewIndexesFirst(of: name) }
    while true {
      let state = try indexes()
      let documentCount = try count()
      for index in state {
        if case .failed(let reason) = index.state {
          throw StoreError.indexNotAllowed(collection: name, index: index.name, reason: reason)
        }
      }
      let waiting = state.filter { $0.state == .building && !$0.isMissingTokenizer }
      guard let index = waiting.first else { return }
      try StoreProgress(
        .indexing, completed: index.entryCount, total: documentCount, subject: index.name
      ).tell(progress)
      let engine = store.engine
      _ = try engine.storing { try engine.takeIndexStep(of: name) }
    }
  }

  /// Builds what is not built yet, and empties what was dropped, for a program that ends behind it and
  /// has no background: until then queries read every document, and dropped indexes take their space.
  /// An index that stored documents contradict is left as ``IndexDescription/State/failed(_:)``.
  ///
  /// - Parameter goesOn: Asked before each step.
  /// - Throws: ``StoreError``, such as ``StoreError/full(_:)``. What was built stays.
  package func finishIndexes(while goesOn: () -> Bool) throws {
    try store.checkOpen()
    let engine = store.engine
    while goesOn() {
      let isAdvancing = try engine.storing { try engine.takeIndexStep(of: name) }
      if !isAdvancing { return }
    }
  }

  /// - Returns: Whether any index was changed.
  @discardableResult
  private func changeIndexes(
    _ change: (inout WriteScope, CollectionIndex, IndexRecord) throws -> IndexRecord
  ) throws -> Bool {
    try store.checkOpen()
    let engine = store.engine
    return try engine.storing {
      try engine.writer.run {
        try engine.perform { try $0.changeIndexes(of: name, change) }
      }
    }
  }
}

extension Snapshot {
  /// By name.
  borrowing func indexDescriptions(of collection: Collection) throws -> [IndexDescription] {
    let shortages = engine.indexWork.withLock { $0.shortages }
    var descriptions: [IndexDescription] = []
    for index in collection.indexes {
      let statistics = try transaction.statistics(of: index.database)
      let state = IndexDescription.State(index.state)
      let entryCount =
        index.isOfWords
        ? (try? transaction.searchHeader(in: index.database).documentCount) ?? 0
        : statistics.entryCount
      descriptions.append(
        IndexDescription(
          name: index.name, fields: index.definition.parts.map(\.name),
          isUnique: index.definition.isUnique, condition: index.filter.map { "\($0)" },
          state: state, entryCount: entryCount, byteCount: statistics.byteCount,
          shortage: state == .building ? shortages[index.number] : nil,
          tokenizer: index.definition.tokenizer,
          isMissingTokenizer: state == .building
            && engine.tokenizers[index.definition.tokenizer] == nil))
    }
    return descriptions.sorted { $0.name < $1.name }
  }
}

extension IndexDefinition.Part {
  fileprivate var name: String { (isDescending ? "-" : "") + path.joined(separator: ".") }
}

extension IndexDescription.State {
  fileprivate init(_ state: IndexState) {
    switch state {
    case .building, .dropped, .free: self = .building
    case .complete: self = .complete
    case .failed(let reason), .suspended(let reason): self = .failed(reason)
    }
  }
}
