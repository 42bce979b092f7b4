internal import LarderLMDB

/// What follows from changes of one collection's documents: the entries of its indexes.
///
/// Every change of a document tells it, before the old bytes are gone; ``finish(_:)`` writes
/// what was collected.
@usableFromInline struct DocumentChanges: ~Copyable {
  private let binding: CollectionBinding
  private let indexes: [IndexChanges]

  @usableFromInline init(_ collection: Collection) {
    binding = CollectionBinding(collection)
    indexes = collection.indexes.filter(\.isMaintained).map { IndexChanges($0, in: collection) }
  }

  /// Whether there is anything to be told.
  var isIdle: Bool { indexes.isEmpty }

  func inserted(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws {
    if isIdle { return }
    let reader = try written(record, key)
    for index in indexes { index.insert(reader, key: key) }
  }

  func replaced(
    _ old: UnsafeRawBufferPointer, by new: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ transaction: borrowing WriteTransaction
  ) throws {
    if isIdle { return }
    let reader = try written(new, key)
    let isWhole = withOld(old, key) { old in
      for index in indexes { index.replace(old, by: reader, key: key) }
    }
    guard !isWhole else { return }
    // Nobody knows what a damaged record had in the indexes.
    for index in indexes {
      try index.purge(key, transaction)
      index.insert(reader, key: key)
    }
  }

  func deleted(
    _ old: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ transaction: borrowing WriteTransaction
  ) throws {
    if isIdle { return }
    let isWhole = withOld(old, key) { old in
      for index in indexes { index.delete(old, key: key) }
    }
    guard !isWhole else { return }
    for index in indexes { try index.purge(key, transaction) }
  }

  /// Writes what was collected so far, if it is much.
  func flushIfFull(_ transaction: inout WriteTransaction) throws {
    for index in indexes where index.isFull {
      try index.write(to: &transaction, binding.collection)
    }
  }

  /// Writes what was collected.
  ///
  /// - Throws: ``StoreError/uniqueViolation(collection:index:value:key:otherKey:)``.
  consuming func finish(_ transaction: inout WriteTransaction) throws {
    for index in indexes { try index.write(to: &transaction, binding.collection) }
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
