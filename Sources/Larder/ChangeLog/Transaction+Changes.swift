internal import LarderLMDB

extension Transaction where Self: ~Copyable {
  /// Lends the changes behind `sequence`, in their order, with what their packs say of them, until
  /// `body` says false.
  ///
  /// - Returns: False where the log does not reach back that far, and nothing was lent: changes
  ///   have been pruned, or of a collection that has no log.
  /// - Throws: ``StoreError/damagedChangeLog(_:)``; whatever `body` throws.
  borrowing func forEachChange(
    after sequence: UInt64, head: UInt64, in log: Database,
    _ body: (ChangePackHeader, LoggedChange) throws -> Bool
  ) throws -> Bool {
    try forEachPack(after: sequence, head: head, in: log) { pack in
      try pack.forEachLogged(after: sequence) { try body(pack.header, $0) }
    }
  }

  /// Lends the packs that have the changes behind `sequence`, in their order, until `body` says false. The
  /// first one may have some that come before.
  ///
  /// - Returns: As ``forEachChange(after:head:in:_:)``.
  /// - Throws: ``StoreError/damagedChangeLog(_:)``; whatever `body` throws.
  borrowing func forEachPack(
    after sequence: UInt64, head: UInt64, in log: Database,
    _ body: (ChangePackReader) throws -> Bool
  ) throws -> Bool {
    if sequence >= head { return true }
    var cursor = try cursor(in: log)
    guard try cursor.seek(packWith: sequence + 1) else { return false }
    var expected = sequence + 1
    while true {
      guard cursor.key.count == 8 else {
        throw StoreError.damagedChangeLog("a key has \(cursor.key.count) bytes")
      }
      let first = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
      let pack: ChangePackReader
      do {
        pack = try ChangePackReader(cursor.value, firstSequence: first)
      } catch {
        throw StoreError.damagedChangeLog("the pack at \(first): \(error)")
      }
      guard first <= expected else { return false }
      guard try body(pack) else { return true }
      expected = pack.header.lastSequence + 1
      // What stands behind the last change is none.
      guard expected <= head else { return true }
      guard try cursor.next() else { return false }
    }
  }

  /// Whether the changes behind `sequence`, with their old documents, take more than `byteCount` bytes of the log. No
  /// change is read for it.
  borrowing func changesTake(
    moreThan byteCount: Int, after sequence: UInt64, in log: Database
  ) throws -> Bool {
    var cursor = try cursor(in: log)
    guard try cursor.seek(packWith: sequence + 1) else { return false }
    var left = byteCount
    repeat {
      left -= cursor.value.count
      if left < 0 { return true }
    } while try cursor.next()
    return false
  }
}

extension ChangePackReader {
  /// Lends the changes behind `sequence`, until `body` says false.
  ///
  /// - Returns: Whether it came to the end.
  /// - Throws: ``StoreError/damagedChangeLog(_:)``; whatever `body` throws.
  func forEachLogged(
    after sequence: UInt64, _ body: (LoggedChange) throws -> Bool
  ) throws -> Bool {
    do {
      return try forEach(after: sequence, body)
    } catch let error as RecordError {
      throw StoreError.damagedChangeLog("the pack at \(header.firstSequence): \(error)")
    }
  }
}

extension Cursor {
  /// Moves to the pack that has a change; false where the log does not have it.
  fileprivate mutating func seek(packWith sequence: UInt64) throws -> Bool {
    try withUnsafeBytes(of: sequence.bigEndian) { key in
      if try seek(atOrAfter: key) {
        if Bytes.equal(self.key, key) { return true }
        return try previous()
      }
      return try last()
    }
  }
}
