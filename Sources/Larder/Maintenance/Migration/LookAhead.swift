internal import LarderLMDB

/// A pass over documents behind a batch, to see them as the closure of a migration will leave them: what kind a field
/// gets depends on all of them.
///
/// A batch that needs to know this throws it, and runs again when the pass is done. The pass reads snapshots, so that other
/// writers do not wait for it.
struct LookAhead: Error, Sendable {
  /// As it is while it is migrated.
  let collection: Collection
  let version: Int
  /// The fields whose kind it is about.
  let fields: Set<String>
  /// Which change of the store was the last one. As long as a migration has not begun, others may change the documents.
  let sequence: UInt64
  /// How many passes came to nothing before, because others had changed the documents.
  let earlierCount: Int
  /// How many documents there are behind the batch.
  let totalCount: Int
  private(set) var change: KindChange
  private(set) var visitedCount = 0
  /// Whether it has met what only a change of others can explain, and says nothing.
  private(set) var isBroken = false
  /// Nil where no documents are left.
  private var lastKey: [UInt8]?

  /// - Parameter change: What the batch has shown.
  init(
    behind batch: MigrationBatch, to version: Int, _ change: KindChange, sequence: UInt64,
    earlierCount: Int, totalCount: Int
  ) {
    collection = batch.collection
    self.version = version
    self.change = change
    fields = change.fields
    self.sequence = sequence
    self.earlierCount = earlierCount
    self.totalCount = totalCount
    lastKey = batch.isLast ? nil : batch.documents.last?.storedKey
  }

  /// How many are made in snapshots.
  static let mostCount = 3

  /// Whether nothing is left to be found out.
  var isDone: Bool { lastKey == nil || change.isEmpty }

  /// Reads the next documents.
  ///
  /// - Throws: As the migration of these documents will.
  mutating func visit(
    _ limits: MigrationLimits, in store: Store, _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    try store.checkOpen()
    try store.engine.storing {
      let snapshot = try store.engine.snapshot()
      guard let current = snapshot.catalogue[collection.name] else { return end() }
      // Others may have declared fields since.
      var description = current.description
      let hasBegun = description.migratingTo != nil
      if !hasBegun { try description.beginMigration(to: version) }
      let collection = Collection(description, documents: current.documents)
      do {
        try visit(collection, limits, snapshot.transaction, body)
      } catch {
        // It may be about a document that others have changed.
        if hasBegun || snapshot.sequence == sequence { throw error }
        end()
      }
    }
  }

  private mutating func end() {
    isBroken = true
    lastKey = nil
  }

  /// Reads all of them in a transaction.
  mutating func visitAll(
    _ limits: MigrationLimits, _ transaction: borrowing WriteTransaction,
    _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    while !isDone { try visit(collection, limits, transaction, body) }
  }

  private mutating func visit(
    _ collection: Collection, _ limits: MigrationLimits,
    _ transaction: borrowing some Transaction & ~Copyable,
    _ body: (inout MigratingDocument) throws -> Void
  ) throws {
    guard let key = lastKey else { return }
    var batch = try MigrationBatch(collection, after: key, limits, transaction)
    for index in batch.documents.indices {
      try batch.change(at: index, to: version, body)
      change.look(at: batch.documents[index].content)
    }
    visitedCount += batch.documents.count
    lastKey = batch.isLast ? nil : batch.documents.last?.storedKey
  }
}
