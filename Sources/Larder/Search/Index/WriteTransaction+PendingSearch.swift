internal import LarderLMDB

extension WriteTransaction {
  /// Makes a segment of the pending changes.
  mutating func flushPendingSearch(
    _ header: inout SearchHeader, weights: [UInt32], in database: Database
  ) throws {
    guard header.pendingCount > 0 else { return }
    var batch = SearchBatch(weights: weights)
    var lengths = SearchLengths()
    var found: [(id: UInt32, key: [UInt8])] = []
    var gone: [[UInt8]] = []
    try withPendingSearch(header, in: database) { key, pending in
      if let id = pending.removedID { try lengths.remove(id, self, in: database) }
      if let id = pending.id { found.append((id, [UInt8](key))) } else { gone.append([UInt8](key)) }
    }
    found.sort { $0.id < $1.id }
    var cursor = try cursor(in: database)
    for (id, key) in found {
      let place = SearchLayout.key(SearchLayout.pending, key)
      try place.withUnsafeBytes { place in
        guard try cursor.seek(place) else { throw SearchDamage("a pending change is gone") }
        let pending = try PendingSearch(cursor.value, key: cursor.key)
        try pending.forEachWord { term, frequency, positions in
          batch.addPosting(term, frequency: frequency, positions: positions)
        }
        key.withUnsafeBytes { batch.endDocument(key: $0, length: pending.length) }
        try lengths.set(pending.length, of: id, self, in: database)
      }
    }
    while try [SearchLayout.pending].withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }),
      cursor.key.first == SearchLayout.pending
    {
      try cursor.delete()
    }
    for key in gone { try cursor.putSearchID(nil, of: key) }
    for (id, key) in found { try cursor.putSearchID(id, of: key) }
    try lengths.write(to: &cursor)
    if let first = found.first?.id {
      // Ids of versions that were replaced while they waited have no document; there may be very many of them.
      var start = first
      var documents: [SearchDocument] = []
      for (place, (id, _)) in found.enumerated() {
        guard id >= start + UInt32(documents.count) else {
          throw SearchDamage("two pending changes have one id")
        }
        if id - start - UInt32(documents.count) > SearchKeys.idsPerBlock {
          try SearchKeys.append(documents[...], from: start, to: &cursor, self, in: database)
          documents.removeAll(keepingCapacity: true)
          start = id
        }
        while start + UInt32(documents.count) < id {
          documents.append(SearchDocument(key: [], length: 0))
        }
        documents.append(batch.documents[place])
      }
      try SearchKeys.append(documents[...], from: start, to: &cursor, self, in: database)
      try header.write(batch, ids: found.map { $0.id }, from: first, to: &cursor)
    }
    header.pendingCount = 0
    header.pendingByteCount = 0
  }
}

extension Transaction where Self: ~Copyable {
  /// Lends every pending change and the key of its document.
  ///
  /// - Throws: ``SearchDamage``, also where there are fewer than the header says: one with a damaged key is none
  ///   of them any more; LMDB's errors.
  borrowing func withPendingSearch(
    _ header: SearchHeader, in database: Database,
    _ body: (UnsafeRawBufferPointer, PendingSearch) throws -> Void
  ) throws {
    var count = 0
    var cursor = try cursor(in: database)
    var hasOne = try [SearchLayout.pending].withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while hasOne, cursor.key.first == SearchLayout.pending {
      try body(
        UnsafeRawBufferPointer(rebasing: cursor.key.dropFirst()),
        try PendingSearch(cursor.value, key: cursor.key))
      count += 1
      hasOne = try cursor.next()
    }
    guard count == header.pendingCount else { throw SearchDamage("pending changes are missing") }
  }
}
