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
