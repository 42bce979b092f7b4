internal import LarderLMDB

/// The records that a rehearsal has made of documents and that a save would write: kept as long as they
/// are few, so that their documents need not be read a second time.
///
/// Measured with 1,000,000 contacts that are all in the store as they are in the file (330 MB of NDJSON,
/// in memory): the second import takes 0.46 to 0.57 of the first's time. It took 0.98 when all were read again.
struct KeptRecords: ~Copyable {
  private let collection: DynamicCollection
  private let limits: KeptBatches.Limits
  private var kept: KeptBatches
  private var changed: BatchBuilder
  /// Bytes of memory that the finished batches take.
  private var byteCount = 0

  /// How many documents before the first have to be read again.
  var start: Int { kept.start }

  /// - Parameter start: How many documents before the first have to be read again.
  init(
    _ collection: DynamicCollection, _ binding: CollectionBinding, _ limits: KeptBatches.Limits,
    start: Int
  ) {
    self.collection = collection
    self.limits = limits
    kept = KeptBatches(start: start)
    changed = Self.builder(binding, limits)
  }

  private static func builder(
    _ binding: CollectionBinding, _ limits: KeptBatches.Limits
  ) -> BatchBuilder {
    BatchBuilder(binding, count: min(limits.batchDocumentCount, 1_024))
  }

  /// Takes records over; false where there are too many to keep.
  ///
  /// - Throws: ``StoreError`` where the store cannot be read.
  mutating func add(_ records: inout BatchBuilder) throws -> Bool {
    records.sealChunk(isLast: true)
    if limits.comparesWithStore {
      try addChanged(records.entries)
    } else {
      for entry in records.entries { try add(entry) }
    }
    return byteCount + changed.memoryByteCount <= limits.byteCount
  }

  /// Adds those that are not stored with the same bytes.
  private mutating func addChanged(_ entries: [Batch.Entry]) throws {
    // Each step has a snapshot of its own: none lasts as long as the file.
    try collection.store.read { snapshot in
      kept.sequence = kept.sequence ?? snapshot.sequence
      guard let stored = snapshot.catalogue.binding(ofCollection: collection.name)?.collection,
        stored.description == changed.binding.collection.description
      else {
        for entry in entries { try add(entry) }
        return
      }
      var cursor = try snapshot.transaction.cursor(in: stored.documents)
      var neighbours = Neighbours()
      for entry in entries {
        if try neighbours.seek(entry.key, &cursor), Bytes.equal(cursor.value, entry.record) {
          kept.unchangedCount += 1
        } else {
          try add(entry)
        }
      }
    }
  }

  private mutating func add(_ entry: Batch.Entry) throws {
    try changed.append(record: entry.record, key: entry.key)
    // The first one goes on with the batch that the last of those before it begin.
    let missing = kept.batches.isEmpty ? start % limits.batchDocumentCount : 0
    if changed.entries.count >= limits.batchDocumentCount - missing
      || changed.byteCount >= limits.batchByteCount
    {
      takeBatch()
    }
  }

  private mutating func takeBatch() {
    let binding = changed.binding
    let builder = exchange(&changed, with: Self.builder(binding, limits))
    byteCount += builder.memoryByteCount
    let count = builder.entries.count
    kept.batches.append(RecordBatch(builder, binding, count))
  }

  /// The kept records; nil if the documents turned out to need a collection other than the one that the records
  /// were made for.
  consuming func finish(for described: Collection) -> KeptBatches? {
    guard described.description == changed.binding.collection.description else { return nil }
    if !changed.entries.isEmpty { takeBatch() }
    return kept
  }
}

/// Records that a rehearsal has kept, ready to be saved.
package struct KeptBatches: Sendable {
  /// How many documents, the first ones, have to be read again.
  package let start: Int
  /// How many of those behind them are stored as they are.
  package fileprivate(set) var unchangedCount = 0
  /// All others, in the order in which they were tried.
  package fileprivate(set) var batches: [RecordBatch] = []
  /// The last change that the first comparison has seen.
  fileprivate var sequence: UInt64?

  /// Whether the store is as it was compared: then all that was left out was there at one moment.
  ///
  /// - Throws: ``StoreError``.
  package func holds(in store: Store) throws -> Bool {
    guard let sequence else { return true }
    return try store.read { $0.sequence == sequence }
  }

  fileprivate init(start: Int) { self.start = start }

  /// How much is kept.
  package struct Limits: Sendable {
    /// Bytes of memory, for all batches together.
    let byteCount: Int
    let batchDocumentCount: Int
    let batchByteCount: Int
    /// Whether documents that are stored as they are can be left out.
    let comparesWithStore: Bool

    package init(
      byteCount: Int, batchDocumentCount: Int, batchByteCount: Int, comparesWithStore: Bool
    ) {
      self.byteCount = byteCount
      self.batchDocumentCount = max(batchDocumentCount, 1)
      self.batchByteCount = max(batchByteCount, 1)
      self.comparesWithStore = comparesWithStore
    }
  }
}
