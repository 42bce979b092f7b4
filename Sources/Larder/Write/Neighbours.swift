internal import LarderLMDB

/// Looks for ascending keys: as long as each is the next one in the store, a step finds it at a
/// third of what seeking costs.
struct Neighbours {
  /// Keys that are sought before a step is tried again.
  private var waiting = 1
  /// How many that will be when the next step fails.
  private var patience = 1

  private static let longestWait = 64

  /// Whether there is a record with this key; if so, the cursor stands on it.
  mutating func seek(_ key: UnsafeRawBufferPointer, _ cursor: inout Cursor) throws -> Bool {
    try step(to: key, &cursor) || cursor.seek(key)
  }

  /// Whether there is a record with this key; if not, the cursor stands on the next one.
  ///
  /// - Returns: Nil where all keys come before this one.
  mutating func seek(
    atOrAfter key: UnsafeRawBufferPointer, _ cursor: inout Cursor
  ) throws -> Bool? {
    if try step(to: key, &cursor) { return true }
    return try cursor.seek(atOrAfter: key) ? Bytes.equal(cursor.key, key) : nil
  }

  /// Whether the next record is the one with this key, where that is worth a try.
  private mutating func step(
    to key: UnsafeRawBufferPointer, _ cursor: inout Cursor
  ) throws -> Bool {
    guard waiting == 0 else {
      waiting -= 1
      return false
    }
    if try cursor.next(), Bytes.equal(cursor.key, key) {
      patience = 1
      return true
    }
    waiting = patience
    patience = min(2 * patience, Self.longestWait)
    return false
  }
}
