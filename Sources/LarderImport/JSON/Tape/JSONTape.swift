internal import Larder

/// One document of a text as a row of entries, as `DocumentTape` has them, in memory of its own.
///
/// Nothing is copied but strings with escapes; all others are ranges of the text. The memory is
/// used again for the next document.
struct JSONTape: ~Copyable, Sendable {
  var entries = Slab<Entry>(capacity: 32, filler: Entry(head: 0, payload: 0))

  /// The strings that have escapes, with these resolved, one behind the other.
  var resolved = Slab<UInt8>(capacity: 0, margin: 8, filler: 0)

  typealias Kind = DocumentTape.Kind
  typealias Entry = DocumentTape.Entry

  /// Makes it empty for the next document.
  mutating func clear() {
    entries.removeAll(keepingUpTo: 1 << 16)
    resolved.removeAll(keepingUpTo: 1 << 20)
  }
}

extension DocumentTape.Entry {
  /// The entry of that initializer, put together here: those of the other module are not inlined, and one
  /// is made for each name and value of a file.
  @inline(__always)
  static func made(
    _ kind: DocumentTape.Kind, at offset: Int, _ payload: UInt64, name: Int = 0
  ) -> Self {
    let head =
      UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: name) &<< 8
      | UInt64(truncatingIfNeeded: offset) &<< 32
    return unsafeBitCast((head, payload), to: Self.self)
  }

  /// Likewise, of a string or a name.
  @inline(__always)
  static func made(
    _ kind: DocumentTape.Kind, at offset: Int, from start: Int, count: Int, name: Int = 0
  ) -> Self {
    made(
      kind, at: offset,
      UInt64(truncatingIfNeeded: start) &<< 32 | UInt64(truncatingIfNeeded: count), name: name)
  }
}
