internal import LarderLMDB

// Reading documents, for snapshots and write scopes alike.

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

  /// Lends the records that `selection` selects, in its order.
  borrowing func select(
    _ selection: Selection, _ binding: CollectionBinding,
    _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    let evaluation = Evaluation(selection.filter, order: selection.order, in: binding.collection)
    if !selection.order.isEmpty { return try selectSorted(selection, evaluation, binding, body) }
    var skipped = 0
    var taken = 0
    let limit = selection.maximum ?? .max
    if limit == 0 { return }
    try forEachMatch(evaluation, binding) { key, record in
      if skipped < selection.skipped {
        skipped += 1
        return true
      }
      try binding.reading(record, key: key, body)
      taken += 1
      return taken < limit
    }
  }

  /// Lends the records that match in the selection's order, whatever its offset and limit, until
  /// `body` says false.
  borrowing func forEachSelected(
    _ selection: Selection, _ binding: CollectionBinding,
    _ body: (borrowing RecordReader) throws -> Bool
  ) throws {
    let evaluation = Evaluation(selection.filter, order: selection.order, in: binding.collection)
    if selection.order.isEmpty {
      return try forEachMatch(evaluation, binding) { key, record in
        try binding.reading(record, key: key, body)
      }
    }
    for match in try sortedMatches(evaluation, binding) {
      guard try binding.reading(match.record, key: match.key, body) else { return }
    }
  }

  /// Reads what each match is sorted by, sorts, and only then looks at those that are wanted.
  private borrowing func selectSorted(
    _ selection: Selection, _ evaluation: Evaluation, _ binding: CollectionBinding,
    _ body: (borrowing RecordReader) throws -> Void
  ) throws {
    let matches = try sortedMatches(evaluation, binding)
    for match in matches.dropFirst(selection.skipped).prefix(selection.maximum ?? .max) {
      try binding.reading(match.record, key: match.key, body)
    }
  }

  private borrowing func sortedMatches(
    _ evaluation: Evaluation, _ binding: CollectionBinding
  ) throws -> [Match] {
    var matches: [Match] = []
    try forEachMatch(evaluation, binding) { key, record in
      let values = try binding.reading(record, key: key) { try evaluation.sortValues($0) }
      matches.append(Match(key: key, record: record, values: values, place: matches.count))
      return true
    }
    matches.sort {
      evaluation.precedes($0.values, $1.values) ?? ($0.place < $1.place)
    }
    return matches
  }

  /// How many documents `selection` selects. Decodes nothing; without a filter it reads nothing
  /// but the database's own count.
  borrowing func count(_ selection: Selection, _ binding: CollectionBinding) throws -> Int {
    let evaluation = Evaluation(selection.filter, in: binding.collection)
    var count = 0
    if evaluation.matchesAll {
      count = try statistics(of: binding.collection.documents).entryCount
    } else {
      let enough = (selection.maximum ?? .max).addingReportingOverflow(selection.skipped)
      try forEachMatch(evaluation, binding) { _, _ in
        count += 1
        return enough.overflow || count < enough.partialValue
      }
    }
    return max(0, min(count - selection.skipped, selection.maximum ?? .max))
  }

  /// Lends keys and records of the documents that match, in the order of their keys, until
  /// `body` says false.
  borrowing func forEachMatch(
    _ evaluation: Evaluation, _ binding: CollectionBinding,
    _ body: (_ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var cursor = try cursor(in: binding.collection.documents)
    while try cursor.next() {
      guard try binding.matches(evaluation, key: cursor.key, record: cursor.value) else {
        continue
      }
      guard try body(cursor.key, cursor.value) else { return }
    }
  }
}

/// A document that waits to be sorted. Its bytes stay where they are for as long as the
/// transaction writes nothing.
private struct Match {
  let key: UnsafeRawBufferPointer
  let record: UnsafeRawBufferPointer
  let values: [Value]
  let place: Int
}

extension CollectionBinding {
  /// Whether a record matches; its checksum is left for those that are looked at.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func matches(
    _ evaluation: Evaluation, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer
  ) throws -> Bool {
    if evaluation.matchesAll { return true }
    do {
      return try evaluation.matches(
        RecordReader(record, binding: self, schema: root, depth: 1))
    } catch {
      throw damaged(key, error)
    }
  }

  /// Whether a record matches, verified if it does: what is deleted for its bytes must have them.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  func matchesVerified(
    _ evaluation: Evaluation, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer
  ) throws -> Bool {
    guard try matches(evaluation, key: key, record: record) else { return false }
    if !evaluation.matchesAll { try reading(record, key: key) { _ in } }
    return true
  }

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

  func damaged(_ key: UnsafeRawBufferPointer, _ error: RecordError) -> StoreError {
    .damagedRecord(
      collection: collection.name, key: collection.keyKind.text(of: key), reason: error)
  }
}
