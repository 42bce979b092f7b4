internal import LarderLMDB

/// How big a store is and what is in it, at one moment.
public struct StoreStatistics: Sendable, Equatable {
  /// The figures of one collection.
  public struct CollectionStatistics: Sendable, Equatable {
    /// The name of the collection.
    public let name: String
    /// How many documents it has.
    public let documentCount: Int
    /// Bytes of the pages that hold the documents.
    public let byteCount: Int
    /// Levels of the tree that a look-up walks down.
    public let depth: Int
    /// Names and kinds of the documents' fields, as the catalogue has them.
    public let fields: [(name: String, kind: String)]
    /// The indexes, with their states and sizes.
    public let indexes: [IndexDescription]

    public static func == (left: Self, right: Self) -> Bool {
      left.name == right.name && left.documentCount == right.documentCount
        && left.byteCount == right.byteCount && left.depth == right.depth
        && left.indexes == right.indexes
        && left.fields.elementsEqual(right.fields) { $0.name == $1.name && $0.kind == $1.kind }
    }
  }

  /// In the order of their names.
  public let collections: [CollectionStatistics]
  /// The number of the last changed document.
  public let sequence: UInt64
  /// Bytes of the store's file.
  public let fileByteCount: Int
  /// Bytes of pages in the file that are free to be used again.
  public let freeByteCount: Int
  /// Bytes of pages that hold something, which the quota limits.
  public let usedByteCount: Int
  /// Bytes that may be in use before saving is refused; see ``StoreOptions/quotaByteCount``.
  public let quotaByteCount: Int
  /// Bytes of pages that hold the log of changes.
  public let logByteCount: Int
  /// Bytes of pages that hold what sync needs beside the documents: edits that were not sent yet, and for each document
  /// that was loaded, also one that was evicted since, the server's version.
  public let syncByteCount: Int
  /// Bytes that the file may grow to.
  public let mapByteCount: Int
  /// Bytes of one page, the unit in which the file is used and grows.
  public let pageByteCount: Int
  /// Snapshots that are open or kept ready, in all processes together.
  public let readerCount: Int
  /// Snapshots that can be open at once; ``StoreOptions/maximumReaderCount``.
  public let maximumReaderCount: Int

  /// How many documents there are, in all collections.
  public var documentCount: Int { collections.reduce(0) { $0 + $1.documentCount } }
}

extension Store {
  /// Reads the store's statistics. Costs one look-up per collection and a walk over the list of
  /// free pages.
  ///
  /// - Throws: ``StoreError``.
  public func statistics() throws -> StoreStatistics {
    try checkOpen()
    defer { withExtendedLifetime(self) {} }
    return try engine.storing {
      let environment = try engine.environment.statistics()
      let snapshot = try engine.snapshot()
      let collections = try snapshot.catalogue.collections.values
        .sorted { $0.name < $1.name }
        .map { collection in
          let database = try snapshot.transaction.statistics(of: collection.documents)
          return StoreStatistics.CollectionStatistics(
            name: collection.name, documentCount: database.entryCount,
            byteCount: database.byteCount, depth: database.depth,
            fields: collection.description.fields.fields.map { ($0.name, "\($0.kind)") },
            indexes: try snapshot.indexDescriptions(of: collection))
        }
      let log = engine.environment.knownDatabase(named: Layout.changesName)
      return StoreStatistics(
        collections: collections, sequence: snapshot.sequence,
        fileByteCount: environment.fileByteCount,
        freeByteCount: environment.freePageCount * environment.pageByteCount,
        usedByteCount: engine.environment.usedByteCount(in: snapshot.transaction),
        quotaByteCount: engine.space.quota(inMapOf: environment.mapByteCount),
        logByteCount: try log.map { try snapshot.transaction.statistics(of: $0).byteCount } ?? 0,
        syncByteCount: try engine.outboxDatabases.map { databases in
          try snapshot.transaction.statistics(of: databases.outbox).byteCount
            + snapshot.transaction.statistics(of: databases.sync).byteCount
        } ?? 0,
        mapByteCount: environment.mapByteCount, pageByteCount: environment.pageByteCount,
        readerCount: environment.readersInUse,
        maximumReaderCount: environment.maximumReaderCount)
    }
  }
}
