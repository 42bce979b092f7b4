internal import LarderLMDB

extension Cursor {
  /// Keeps the id of a document, or that it has none.
  mutating func putSearchID(_ id: UInt32?, of key: [UInt8]) throws {
    try key.withUnsafeBytes { key in
      try SearchLayout.key(SearchLayout.ids, key).withUnsafeBytes { key in
        guard let id else {
          if try seek(key) { try delete() }
          return
        }
        var value: [UInt8] = []
        value.append(varint: id)
        try value.withUnsafeBytes { try put($0, for: key) }
      }
    }
  }
}

extension SearchHeader {
  mutating func add(_ document: SearchDocument) {
    nextID += 1
    documentCount += 1
    totalLength += UInt64(document.length)
  }

  /// - Throws: ``SearchDamage`` where the sums are those of fewer documents.
  mutating func remove(length: UInt32) throws(SearchDamage) {
    guard documentCount > 0, totalLength >= UInt64(length) else {
      throw SearchDamage("the header counts fewer documents than there are")
    }
    documentCount -= 1
    totalLength -= UInt64(length)
  }

  /// Writes a segment of the documents of a batch that have ids.
  mutating func write(
    _ batch: SearchBatch, ids: [UInt32?], from firstID: UInt32, to cursor: inout Cursor
  ) throws {
    let count = ids.count { $0 != nil }
    guard count > 0 else { return }
    var writer = SegmentWriter(
      number: nextSegment, firstID: firstID, unit: batch.weights.min() ?? 1)
    batch.writeSegment(to: &writer, ids: ids)
    try writer.write(to: &cursor)
    segments.append(
      Segment(
        number: nextSegment, firstID: firstID, endID: nextID, documentCount: count,
        byteCount: writer.byteCount))
    nextSegment += 1
  }
}

extension SegmentWriter {
  /// Writes the records that were made, and forgets them.
  mutating func write(to cursor: inout Cursor) throws {
    for (key, value) in records {
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { try cursor.put($0, for: key) }
      }
    }
    removeRecords()
  }
}

extension Transaction where Self: ~Copyable {
  /// Of an index without any record, too, which nobody has written to yet.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  borrowing func searchHeader(in database: Database) throws -> SearchHeader {
    try withUnsafeBytes(of: SearchLayout.header) { key in
      if let header = try withValue(for: key, in: database, { try SearchHeader($0, key: key) }) {
        return header
      }
      guard try statistics(of: database).entryCount == 0 else {
        throw SearchDamage("the header is missing")
      }
      return SearchHeader()
    }
  }
}

extension WriteTransaction {
  /// Chooses what is merged, where that was put off.
  ///
  /// - Returns: Whether segments wait for being merged.
  mutating func planSearchMerge(in database: Database) throws -> Bool {
    var header = try searchHeader(in: database)
    if !header.needsWork {
      header.planMerge()
      if header.needsWork { try put(header, in: database) }
    }
    return header.needsWork
  }

  mutating func put(_ header: SearchHeader, in database: Database) throws {
    try header.encoded().withUnsafeBytes { value in
      try withUnsafeBytes(of: SearchLayout.header) { key in
        try put(value, for: key, in: database)
      }
    }
  }
}
