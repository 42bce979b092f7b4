internal import LarderLMDB

extension SearchReading {
  /// A document as a check needs it.
  struct KnownDocument {
    let hash: UInt64
    let length: UInt32
  }

  /// Every living document by its id. Takes about 40 bytes in memory for each.
  ///
  /// - Throws: ``SearchDamage``, also where a key does not lead back to its id; LMDB's errors.
  func keys(
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> [UInt32: KnownDocument] {
    var known: [UInt32: KnownDocument] = [:]
    var pendingKeys: Set<[UInt8]> = []
    try transaction.withPendingSearch(header, in: database) { key, change in
      pendingKeys.insert([UInt8](key))
      if let id = change.id {
        known[id] = KnownDocument(hash: Checksum.hash(key, seed: 0), length: change.length)
      }
    }
    var cursor = try transaction.cursor(in: database)
    let prefix = [SearchLayout.ids]
    var hasOne = try prefix.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    while hasOne, cursor.key.first == SearchLayout.ids {
      let key = UnsafeRawBufferPointer(rebasing: cursor.key.dropFirst())
      var reader = VarintReader(cursor.value)
      let id = try reader.number()
      if !pendingKeys.contains([UInt8](key)) {
        guard let document = try SearchKeys.document(id, transaction, in: database),
          key.elementsEqual(document.key), known[id] == nil
        else { throw SearchDamage("a key does not lead to its document") }
        known[id] = KnownDocument(hash: Checksum.hash(key, seed: 0), length: document.length)
      }
      hasOne = try cursor.next()
    }
    return known
  }

  /// Lends every posting of living documents.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func forEachPosting(
    _ transaction: borrowing some Transaction & ~Copyable,
    _ body: (
      _ id: UInt32, _ word: UnsafeRawBufferPointer, _ frequency: UInt32,
      _ positions: UnsafeRawBufferPointer
    ) -> Void
  ) throws {
    for segment in header.segments {
      var terms = TermCursor(segment, try transaction.cursor(in: database))
      var hasOne = try terms.seek(atOrAfter: [])
      while hasOne {
        let term = terms.term
        try terms.forEachPostings { postings in
          var positions = VarintReader(postings.positions)
          try postings.forEach(unit: unit) { id, frequency in
            let places = try coding.skip(&positions)
            guard try isLive(id, transaction) else { return }
            term.withUnsafeBytes { body(id, $0, frequency, places) }
          }
          return true
        }
        hasOne = try terms.next()
      }
    }
    try transaction.withPendingSearch(header, in: database) { _, change in
      guard let id = change.id else { return }
      try change.forEachWord { word, frequency, positions in body(id, word, frequency, positions) }
    }
  }
}
