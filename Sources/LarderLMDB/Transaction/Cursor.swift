#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A place between or on the records of one database, in the order of their keys' bytes.
///
/// A cursor belongs to its transaction and must be let go of before that ends.
public struct Cursor: ~Copyable {
  @usableFromInline let pointer: OpaquePointer
  @usableFromInline let transaction: UnsafeMutablePointer<TransactionHandle.State>
  @usableFromInline var found: Calls.Found
  @usableFromInline var place: Place
  /// True when LMDB may have noted that this cursor stands at the end. LMDB 0.9 keeps the note
  /// over a put elsewhere, and then sees no next record where there is one.
  @usableFromInline var mayHoldEndNote = false

  /// Where the cursor stands. LMDB alone would forget that it has run off either end, and
  /// answer the next move from the last record it was on.
  @usableFromInline
  enum Place {
    /// Just opened: before the first record, or after the last, as the next move wants it.
    case fresh
    case onRecord
    /// Its record was just written, so `found` is out of date.
    case written
    /// In the gap where a key was sought or a record deleted; LMDB stands on the record after it.
    case gap
    case beforeStart
    case pastEnd
  }

  init(_ handle: TransactionHandle, _ database: Database) throws(LMDBError) {
    pointer = try Calls.openCursor(handle.pointer, database.number)
    transaction = handle.state
    found = Self.nothing
    place = .fresh
    transaction.pointee.cursorCount += 1
  }

  deinit {
    transaction.pointee.cursorCount -= 1
    Calls.closeCursor(pointer)
  }

  @usableFromInline static var nothing: Calls.Found { Calls.Found() }

  // Asked of LMDB with the pointer alone: a method of the cursor here would make every record
  // of a scan wait for a copy of the cursor.

  /// The key of the record it stands on, empty when it stands on none; valid until the next
  /// call on this cursor or write in its transaction.
  @inlinable public var key: UnsafeRawBufferPointer {
    place == .written ? Calls.current(pointer).key : found.key
  }

  /// The value of the record it stands on; valid as long as ``key``.
  @inlinable public var value: UnsafeRawBufferPointer {
    place == .written ? Calls.current(pointer).value : found.value
  }
}

// MARK: - Moving

// What the moves throw: `LMDBError` when a page cannot be read. The place is then unknown until
// the next call of first, last or seek.
extension Cursor {
  /// Moves to the first record; false when there is none.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  public mutating func first() throws(LMDBError) -> Bool {
    land(try Calls.move(pointer, .first, &found), else: .pastEnd)
  }

  /// Moves to the last record; false when there is none.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  public mutating func last() throws(LMDBError) -> Bool {
    mayHoldEndNote = true
    return land(try Calls.move(pointer, .last, &found), else: .beforeStart)
  }

  /// Moves to the record after this place, the first one if just opened; false at the end, and
  /// again if asked again.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  @inlinable
  public mutating func next() throws(LMDBError) -> Bool {
    if place == .onRecord, try Calls.move(pointer, .next, &found) { return true }
    return try nextFromElsewhere()
  }

  /// Moves to the record before this place, the last one if just opened; false at the start, and
  /// again if asked again.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  @inlinable
  public mutating func previous() throws(LMDBError) -> Bool {
    if place == .onRecord, try Calls.move(pointer, .previous, &found) { return true }
    return try previousFromElsewhere()
  }

  /// Moves to the record with this very key. False when there is none; the cursor then stands in
  /// the gap where it would be, with ``next()`` and ``previous()`` on either side.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  @inlinable
  public mutating func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    guard try seek(atOrAfter: key) else { return false }
    if key.count == found.key.count, Calls.areEqual(key, found.key) { return true }
    found = Self.nothing
    place = .gap
    return false
  }

  /// Moves to the record with this key or the first one after it; false when all come before.
  ///
  /// - Throws: ``LMDBError`` when a page cannot be read; first, last and seek may be tried again.
  @inlinable
  public mutating func seek(
    atOrAfter key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    // LMDB refuses an empty key, which every key comes after.
    guard !key.isEmpty else { return try first() }
    found = Calls.Found(seeking: key)
    if try Calls.move(pointer, .atOrAfterKey, &found) {
      place = .onRecord
      mayHoldEndNote = false
      return true
    }
    found = Self.nothing
    place = .pastEnd
    mayHoldEndNote = true
    return false
  }

  /// The rest of ``next()``; also where it ends when LMDB had no next record.
  @usableFromInline
  mutating func nextFromElsewhere() throws(LMDBError) -> Bool {
    switch place {
    case .fresh, .beforeStart: return try first()
    case .written: return land(try Calls.move(pointer, .next, &found), else: .pastEnd)
    case .gap:
      found = Calls.current(pointer)
      return land(!found.key.isEmpty, else: .pastEnd)
    case .onRecord, .pastEnd: return land(false, else: .pastEnd)
    }
  }

  @usableFromInline
  mutating func previousFromElsewhere() throws(LMDBError) -> Bool {
    switch place {
    case .fresh, .pastEnd: return try last()
    case .written, .gap:
      return land(try Calls.move(pointer, .previous, &found), else: .beforeStart)
    case .onRecord, .beforeStart: return land(false, else: .beforeStart)
    }
  }

  private mutating func land(_ hasRecord: Bool, else edge: Place) -> Bool {
    if hasRecord {
      place = .onRecord
    } else {
      found = Self.nothing
      place = edge
      if edge == .pastEnd { mayHoldEndNote = true }
    }
    return hasRecord
  }
}

// MARK: - Writing

extension Cursor {
  /// How ``put(_:for:_:)`` writes.
  public enum PutMode: Sendable {
    /// Inserts, or replaces the record with this key.
    case upsert
    /// Inserts a key that comes after all others.
    case append
    /// Replaces the value of the record it stands on, whose key must be given.
    case replaceCurrent
  }

  /// Writes a record and stands on it.
  ///
  /// Through one cursor, sorted keys cost a third of what they cost one by one. Only the key of
  /// `replaceCurrent` may point into the store; other buffers must not.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/readOnly`` in a read transaction;
  ///   ``LMDBError/Code/badValueSize``, ``LMDBError/Code/keyExists`` and a wrong key for
  ///   `replaceCurrent` write nothing and leave the transaction usable; after
  ///   ``LMDBError/Code/mapFull`` and the like it can only be let go of. The place of the cursor
  ///   is then unknown until first, last or seek.
  @inlinable
  public mutating func put(
    _ value: UnsafeRawBufferPointer, for key: UnsafeRawBufferPointer, _ mode: PutMode = .upsert
  ) throws(LMDBError) {
    switch mode {
    case .upsert:
      if mayHoldEndNote { try dropEndNote() }
      try Calls.put(pointer, key, value, append: false)
    case .append: try Calls.put(pointer, key, value, append: true)
    case .replaceCurrent: try replace(key, value)
    }
    found = Self.nothing
    place = .written
  }

  /// Going to the first record is what makes LMDB forget that it stood at the end.
  @usableFromInline
  mutating func dropEndNote() throws(LMDBError) {
    _ = try Calls.move(pointer, .first, &found)
    mayHoldEndNote = false
  }

  @usableFromInline
  mutating func replace(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    guard place == .onRecord || place == .written else {
      throw LMDBError(
        .missing, operation: "mdb_cursor_put",
        detail: "the cursor stands on no record to replace; seek one first")
    }
    try Calls.replace(pointer, key, value)
  }

  /// Deletes the record it stands on and stays in the gap: the following ``next()`` gives the
  /// one after.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/missing`` when it stands on no record, and
  ///   ``LMDBError/Code/readOnly`` in a read transaction, both harmless; otherwise the
  ///   transaction can only be let go of.
  public mutating func delete() throws(LMDBError) {
    guard place == .onRecord || place == .written else {
      throw LMDBError(
        .missing, operation: "mdb_cursor_del",
        detail: "the cursor stands on no record to delete; seek one first")
    }
    try Calls.delete(pointer)
    found = Self.nothing
    if Calls.current(pointer).key.isEmpty { mayHoldEndNote = true }
    place = .gap
  }
}
