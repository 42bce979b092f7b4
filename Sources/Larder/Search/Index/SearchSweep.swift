internal import LarderLMDB

/// Forgets ids that no document has any more, before their postings are left out of a merge.
///
/// A block of lengths that has none but zero is deleted with the keys of its ids; other blocks of keys keep those of
/// living documents alone. An id that has lost its document never gets another one.
struct SearchSweep {
  let database: Database
  /// About as many are read, written and deleted.
  let byteCount: Int

  /// Sweeps the next blocks of a merge, at least one.
  ///
  /// Blocks between segments are swept with those of the segment behind them: nobody else comes by.
  ///
  /// - Returns: Whether all are done.
  /// - Throws: ``SearchDamage``; LMDB's errors.
  func take(
    _ merge: inout SearchHeader.Merge, of segments: [SearchHeader.Segment],
    _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    let start = merge.first == 0 ? 0 : segments[merge.first - 1].endID
    let end = SearchLengths.block(of: merge.output.endID - 1) + 1
    // Some ids of this block may not have been given to documents yet.
    let open = SearchLengths.block(of: segments[segments.count - 1].endID)
    var cursor = try transaction.cursor(in: database)
    var next = merge.blockToSweep ?? SearchLengths.block(of: start)
    var left = byteCount
    while let block = try cursor.seekLengths(from: next), block < end {
      guard left > 0 else {
        merge.position = SearchHeader.Merge.position(sweeping: block)
        return false
      }
      left -= try sweep(block, isOpen: block >= open, &merge.output, &cursor, transaction)
      next = block + 1
    }
    merge.position = SearchHeader.Merge.position(sweeping: end)
    return true
  }

  /// - Returns: How many bytes were read, written and deleted, about.
  private func sweep(
    _ block: UInt32, isOpen: Bool, _ output: inout SearchHeader.Segment, _ cursor: inout Cursor,
    _ transaction: borrowing WriteTransaction
  ) throws -> Int {
    let lengths = try SearchLengths.read(block, transaction, in: database) ?? []
    let firstID = block * SearchLengths.idsPerBlock
    let living = lengths.indices.filter { lengths[$0] != 0 }.map { firstID + UInt32($0) }
    let inside = living.filter { output.firstID..<output.endID ~= $0 }
    // What the output has begins with the first of them.
    if output.documentCount == 0, let first = inside.first { output.firstID = first }
    output.documentCount += inside.count
    var count = 2 * lengths.count
    let keysPerBlock = Int(SearchKeys.idsPerBlock)
    for start in stride(from: 0, to: lengths.count, by: keysPerBlock) {
      let some = lengths[start..<start + keysPerBlock]
      let number = (firstID + UInt32(start)) / SearchKeys.idsPerBlock
      if !isOpen, some.allSatisfy({ $0 == 0 }) {
        count += try cursor.deleteRecord(SearchKeys.key(number))
      } else if some.contains(0) {
        count += try sweepKeys(number, some, &cursor, transaction)
      }
    }
    if !isOpen, living.isEmpty { count += try cursor.deleteRecord(SearchLengths.key(block)) }
    return count
  }

  private func sweepKeys(
    _ block: UInt32, _ lengths: ArraySlice<UInt16>, _ cursor: inout Cursor,
    _ transaction: borrowing WriteTransaction
  ) throws -> Int {
    var documents = try SearchKeys.read(block, transaction, in: database)
    let count = documents.reduce(0) { $0 + $1.key.count + 3 }
    var isChanged = false
    for (place, length) in zip(documents.indices, lengths)
    where length == 0 && !documents[place].key.isEmpty {
      documents[place] = SearchDocument(key: [], length: 0)
      isChanged = true
    }
    if isChanged { try SearchKeys.write(documents, block: block, to: &cursor) }
    return isChanged ? 2 * count : count
  }
}

extension SearchHeader.Merge {
  /// Before anything is copied, the block of lengths that is swept next.
  fileprivate var blockToSweep: UInt32? {
    position.count == 4 ? position.reduce(0) { $0 << 8 | UInt32($1) } : nil
  }

  fileprivate static func position(sweeping block: UInt32) -> [UInt8] {
    var position: [UInt8] = []
    position.append(bigEndian: block)
    return position
  }
}

extension Cursor {
  /// Moves to the next block of lengths from one on; nil where there is none.
  fileprivate mutating func seekLengths(from block: UInt32) throws -> UInt32? {
    guard try SearchLengths.key(block).withUnsafeBytes({ try seek(atOrAfter: $0) }) else {
      return nil
    }
    return SearchLengths.block(ofKey: key)
  }

  /// - Returns: The bytes of its value; 0 where there is none.
  fileprivate mutating func deleteRecord(_ key: [UInt8]) throws -> Int {
    guard try key.withUnsafeBytes({ try seek($0) }) else { return 0 }
    let count = value.count
    try delete()
    return count
  }
}
