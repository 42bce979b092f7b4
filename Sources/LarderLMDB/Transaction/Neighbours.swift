/// Looks for ascending keys: as long as each is the next one in the database, a step finds it at a
/// third of what seeking costs.
public struct Neighbours {
  /// Keys that are sought before a step is tried again.
  @usableFromInline var waiting = 1
  /// How many that will be when the next step fails.
  @usableFromInline var patience = 1

  @usableFromInline static var longestWait: Int { 64 }

  @inlinable public init() {}

  /// Whether there is a record with this key; if so, the cursor stands on it.
  ///
  /// - Throws: ``LMDBError``, as the moves of ``Cursor`` do.
  @inlinable
  public mutating func seek(
    _ key: UnsafeRawBufferPointer, _ cursor: inout Cursor
  ) throws(LMDBError) -> Bool {
    if try step(to: key, &cursor) { return true }
    return try cursor.seek(key)
  }

  /// Whether there is a record with this key; if not, the cursor stands on the next one.
  ///
  /// - Returns: Nil where all keys come before this one.
  /// - Throws: ``LMDBError``, as the moves of ``Cursor`` do.
  @inlinable
  public mutating func seek(
    atOrAfter key: UnsafeRawBufferPointer, _ cursor: inout Cursor
  ) throws(LMDBError) -> Bool? {
    if try step(to: key, &cursor) { return true }
    return try cursor.seek(atOrAfter: key) ? Self.stands(cursor, on: key) : nil
  }

  /// Whether the next record is the one with this key, where that is worth a try.
  @inlinable
  mutating func step(
    to key: UnsafeRawBufferPointer, _ cursor: inout Cursor
  ) throws(LMDBError) -> Bool {
    guard waiting == 0 else {
      waiting -= 1
      return false
    }
    if try cursor.next(), Self.stands(cursor, on: key) {
      patience = 1
      return true
    }
    waiting = patience
    patience = min(2 * patience, Self.longestWait)
    return false
  }

  @inlinable
  static func stands(_ cursor: borrowing Cursor, on key: UnsafeRawBufferPointer) -> Bool {
    let found = cursor.key
    return key.count == found.count && Calls.areEqual(key, found)
  }
}
