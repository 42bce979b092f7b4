internal import LarderLMDB

extension Transaction where Self: ~Copyable {
  /// Lends the record under `key`, verified; nil where there is none.
  borrowing func withRecord<Result>(
    for key: UnsafeRawBufferPointer, _ binding: CollectionBinding,
    _ body: (borrowing RecordReader) throws -> Result
  ) throws -> Result? {
    guard (1...KeyKind.maximumByteCount).contains(key.count) else { return nil }
    return try withValue(for: key, in: binding.collection.documents) { record in
      try binding.reading(record, key: key, body)
    }
  }
}

extension CollectionBinding {
  /// Verifies a record and lends a reader of it.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)`` for damage and for fields
  ///   that do not fit; whatever else `body` throws.
  func reading<Result>(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ body: (borrowing RecordReader) throws -> Result
  ) throws -> Result {
    do {
      let verified = try collection.verified(record, key: key)
      return try body(RecordReader(verified, binding: self, schema: root, depth: 1))
    } catch let error as RecordError {
      throw damaged(key, error)
    }
  }

  /// The same without a look at the checksum, for what is only held against others.
  @inline(__always)
  func readingUnverified<Result>(
    _ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    _ body: (borrowing RecordReader) throws -> Result
  ) throws -> Result {
    do {
      return try body(RecordReader(record, binding: self, schema: root, depth: 1))
    } catch let error as RecordError {
      // Where the bytes are damaged, that is what to say.
      try verify(record, key: key)
      throw damaged(key, error)
    }
  }

  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func verify(_ record: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(StoreError) {
    do throws(RecordError) {
      _ = try collection.verified(record, key: key)
    } catch {
      throw damaged(key, error)
    }
  }

  func damaged(_ key: UnsafeRawBufferPointer, _ error: RecordError) -> StoreError {
    // None is empty, but on a page that is damaged.
    let key = key.isEmpty ? "" : collection.keyKind.text(of: key)
    if case .predicate(let reason) = error {
      return .predicateFailed(collection: collection.name, key: key, reason: reason)
    }
    let unreadable = StoreError(unreadable: error, in: collection.name, key: key)
    if unreadable.isDamage {
      collection.log.tellOfDamage(in: collection.name, key: key, error)
    } else {
      collection.log.tellOfUnknownCase(in: collection.name, key: key, error)
    }
    return unreadable
  }
}
