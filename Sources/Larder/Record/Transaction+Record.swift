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
