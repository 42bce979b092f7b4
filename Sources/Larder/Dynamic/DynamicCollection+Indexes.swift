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
    /// until `rebuildIndexes()` succeeds. Saving goes on: it keeps the
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
    try changeIndexes(dropping(indexName))
  }

  /// Drops an index, on the store's own thread; as the synchronous one. Cancelling the task ends its waiting for
  /// other writes.
  ///
  /// - Throws: As the synchronous one, and `CancellationError`.
  @discardableResult
  public func dropIndex(_ indexName: String) async throws -> Bool {
    try await changeIndexes(dropping(indexName))
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
    try changeIndexes(emptying)
    try buildIndexes(progress: progress)
  }

  /// Builds every index of the collection anew, on the store's own thread, between the writes of others; as the
  /// synchronous one.
  ///
  /// - Throws: As the synchronous one; `CancellationError` where the task was cancelled. What is not built by then is
  ///   built in the background.
  public func rebuildIndexes(
    progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws {
    try await changeIndexes(emptying)
    try await buildIndexes(progress: progress)
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
    let engine = store.engine
    try engine.storing { try engine.renewIndexesFirst(of: name) }
    while let state = try buildingState() {
      try state.tell(progress)
      _ = try engine.storing { try engine.takeIndexStep(of: name) }
    }
  }

  /// Has the indexes that are being built finished, on the store's own thread, between the writes of others; as the
  /// synchronous one.
  ///
  /// - Parameter progress: Told before each step; what it throws ends the waiting but not the building.
  /// - Throws: As the synchronous one.
  public func buildIndexes(
    progress: @escaping @Sendable (StoreProgress) throws -> Void = { _ in }
  ) async throws {
    try store.checkOpen()
    let (engine, name) = (store.engine, name)
    if engine.hasNumbersToRenew {
      try await engine.inLine { _ in try engine.renewIndexes(of: name) }
    }
    while let state = try buildingState() {
      try state.tell(progress)
      _ = try await engine.takeIndexStep(of: name)
    }
  }

  /// How far the index is that is built next; nil where all are complete.
  ///
  /// - Throws: ``StoreError/indexNotAllowed(collection:index:reason:)`` for one that failed.
  private func buildingState() throws -> StoreProgress? {
    let state = try indexes()
    let documentCount = try count()
    for index in state {
      if case .failed(let reason) = index.state {
        throw StoreError.indexNotAllowed(collection: name, index: index.name, reason: reason)
      }
    }
    return state.first { $0.state == .building && !$0.isMissingTokenizer }.map {
      StoreProgress(
        .indexing, completed: $0.entryCount, total: documentCount, subject: $0.name)
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

  private typealias IndexChange =
    @Sendable (inout WriteScope, CollectionIndex, IndexRecord) throws -> IndexRecord

  private func dropping(_ indexName: String) -> IndexChange {
    { _, index, record in
      guard index.name == indexName.normalized() else { return record }
      return IndexRecord(record.definition, .dropped)
    }
  }

  private var emptying: IndexChange {
    { [name] scope, index, record in
      // Those whose fields change their kind wait for the end.
      try scope.catalogue[name]?.checkMigrated()
      try scope.transaction.empty(index.database)
      // Where it is at its beginning anyway, the record is the same, and what was found out since is not.
      scope.renewCatalogue()
      return record.becoming(.building(upTo: []))
    }
  }

  /// - Returns: Whether any index was changed.
  @discardableResult
  private func changeIndexes(_ change: IndexChange) throws -> Bool {
    try store.checkOpen()
    let engine = store.engine
    return try engine.storing {
      try engine.writer.run {
        try engine.perform { try $0.changeIndexes(of: name, change) }
      }
    }
  }

  @discardableResult
  private func changeIndexes(_ change: @escaping IndexChange) async throws -> Bool {
    try store.checkOpen()
    let (engine, name) = (store.engine, name)
    return try await engine.inLine { _ in
      try engine.perform { try $0.changeIndexes(of: name, change) }
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
