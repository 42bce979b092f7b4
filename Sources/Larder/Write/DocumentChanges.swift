internal import LarderLMDB

/// What follows from changes of one collection's documents: the entries of its indexes, and those
/// of the change log.
///
/// Every change of a document tells it, before the old bytes are gone; ``finish(_:)`` writes
/// what was collected.
@usableFromInline struct DocumentChanges: ~Copyable {
  private let binding: CollectionBinding
  private let indexes: [IndexChanges]
  private let searches: [SearchIndexChanges]
  /// The search indexes, by number, that were emptied, and why: they are built anew.
  private(set) var emptiedSearches: [UInt32: SearchRebuildReason] = [:]
  /// Those whose segments wait for being merged.
  private(set) var searchesToMerge: Set<UInt32> = []
  private var log: ChangeLogWriter
  /// Nil where no remote is told of these changes.
  private let outbox: OutboxChanges?
  /// Whether documents may be changed only where ``mayChange(_:_:)`` says so.
  let keepsEdits: Bool
  private let isLogged: Bool
  private let isSparing: Bool
  /// Changes so far, each of which takes a sequence number.
  private(set) var count = 0
  /// Whether a document was written, and not only deleted.
  private(set) var hasSaved = false
  /// Bytes of the documents that were written.
  private(set) var savedByteCount = 0

  /// - Parameters:
  ///   - binding: One for documents without a type.
  ///   - isSparing: Whether the log takes no documents that are deleted, but only their keys.
  ///   - outbox: Where edits go that a remote is to be told of.
  init(
    _ binding: CollectionBinding, log: consuming ChangeLogWriter, outbox: OutboxChanges?,
    isSparing: Bool
  ) {
    self.binding = binding
    self.outbox = outbox
    keepsEdits = outbox?.keepsEdits ?? false
    let collection = binding.collection
    indexes = collection.indexes.lazy.filter { $0.isMaintained && !$0.isOfWords }.map {
      IndexChanges($0, in: collection)
    }
    searches = collection.indexes.lazy.filter { $0.isMaintained && $0.isOfWords }.map {
      SearchIndexChanges($0, in: collection)
    }
    isLogged = collection.description.isLogged
    self.isSparing = isSparing
    self.log = log
  }

  private mutating func note(
    _ kind: ChangeKind, key: UnsafeRawBufferPointer,
    old: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    if isLogged {
      log.append(kind, key: key, old: old)
      count += 1
    } else if count == 0 {
      log.append(.unlogged, key: UnsafeRawBufferPointer(start: nil, count: 0))
      count = 1
    }
  }

  /// Whether a document may be changed: one with an edit that waits to be sent is changed only by edits, and by the
  /// engine that sends it.
  borrowing func mayChange(
    _ key: UnsafeRawBufferPointer, _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    guard keepsEdits, let outbox else { return true }
    return try !outbox.hasEdit(key, transaction)
  }

  mutating func inserted(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    hasSaved = true
    savedByteCount += record.count
    note(.inserted, key: key)
    outbox?.edited(key, old: nil)
    if indexes.isEmpty, searches.isEmpty { return }
    let reader = try written(record, key)
    for index in indexes { index.insert(reader, key: key) }
    for search in searches { search.insert(reader, key: key) }
  }

  mutating func replaced(
    _ old: UnsafeRawBufferPointer, by new: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ transaction: borrowing WriteTransaction
  ) throws {
    hasSaved = true
    savedByteCount += new.count
    note(.updated, key: key, old: old)
    outbox?.edited(key, old: old)
    if indexes.isEmpty, searches.isEmpty { return }
    let reader = try written(new, key)
    let isWhole = withOld(old, key) { old in
      for index in indexes { index.replace(old, by: reader, key: key) }
      for search in searches { search.replace(old, by: reader, key: key) }
    }
    guard !isWhole else { return }
    // Nobody knows what a damaged record had in the indexes.
    for index in indexes {
      try index.purge(key, transaction)
      index.insert(reader, key: key)
    }
    for search in searches { search.put(reader, key: key) }
  }

  mutating func deleted(
    _ old: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ transaction: borrowing WriteTransaction
  ) throws {
    let logged = isSparing ? UnsafeRawBufferPointer(start: nil, count: 0) : old
    note(.deleted, key: key, old: logged)
    outbox?.edited(key, old: old, isDeleted: true, isSparing: isSparing)
    if indexes.isEmpty, searches.isEmpty { return }
    let isWhole = withOld(old, key) { old in
      for index in indexes { index.delete(old, key: key) }
      for search in searches { search.delete(old, key: key) }
    }
    guard !isWhole else { return }
    for index in indexes { try index.purge(key, transaction) }
    for search in searches { search.delete(key: key) }
  }

  /// Every document is gone; the indexes were emptied with them.
  mutating func erased() {
    note(.erased, key: UnsafeRawBufferPointer(start: nil, count: 0))
    outbox?.erased()
  }

  /// Whether what was collected is to be written now.
  var isFull: Bool {
    if log.isFull || outbox?.isFull == true { return true }
    for index in indexes where index.isFull { return true }
    for search in searches where search.isFull { return true }
    return false
  }

  /// Writes what was collected so far, if it is much.
  mutating func flushIfFull(_ transaction: inout WriteTransaction) throws {
    if log.isFull { try log.write(to: &transaction) }
    if let outbox, outbox.isFull { try outbox.write(to: &transaction) }
    for index in indexes where index.isFull {
      try index.write(to: &transaction, binding.collection)
    }
    for search in searches where search.isFull { try write(search, to: &transaction) }
  }

  /// Writes what was collected.
  ///
  /// - Throws: ``StoreError/uniqueViolation(collection:index:value:key:otherKey:)``.
  mutating func finish(_ transaction: inout WriteTransaction) throws {
    try log.write(to: &transaction)
    try outbox?.write(to: &transaction)
    for index in indexes { try index.write(to: &transaction, binding.collection) }
    for search in searches { try write(search, to: &transaction) }
  }

  /// A damaged search index is emptied: documents are saved all the same. So is one where there is no
  /// room: deleting must not fail for what it writes.
  private mutating func write(
    _ search: SearchIndexChanges, to transaction: inout WriteTransaction
  ) throws {
    let number = search.index.number
    guard search.hasChanges, emptiedSearches[number] == nil else { return }
    if isSparing || search.lacksWords {
      try transaction.empty(search.index.database)
      emptiedSearches[number] = search.lacksWords ? .noTokenizer : .noRoom
      return
    }
    do {
      if try search.write(to: &transaction) { searchesToMerge.insert(number) }
    } catch let damage as SearchDamage {
      try transaction.empty(search.index.database)
      emptiedSearches[number] = damage.isOutOfIDs ? .outOfIDs : .damage
    }
  }

  /// A reader of a record that was just encoded, or is checked elsewhere.
  private func written(
    _ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer
  ) throws -> RecordReader {
    do throws(RecordError) {
      let body = UnsafeRawBufferPointer(
        rebasing: record.dropLast(RecordFormat.checksumByteCount))
      return try RecordReader(body, binding: binding, schema: binding.anonymous, depth: 1)
    } catch {
      throw binding.damaged(key, error)
    }
  }

  /// - Returns: False where the record is damaged; `body` was not called then.
  private func withOld(
    _ record: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
    _ body: (borrowing RecordReader) -> Void
  ) -> Bool {
    do throws(RecordError) {
      let verified = try binding.collection.verified(record, key: key)
      body(try RecordReader(verified, binding: binding, schema: binding.anonymous, depth: 1))
      return true
    } catch {
      return false
    }
  }
}
