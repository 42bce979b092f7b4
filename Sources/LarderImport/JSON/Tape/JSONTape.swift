/// One document of a text as a row of entries: values, and names before those of members, in the
/// order of the text. An array or object is followed by what it holds and knows where that ends.
///
/// Nothing is copied but strings with escapes; all others are ranges of the text. The memory is
/// used again for the next document.
struct JSONTape: ~Copyable, Sendable {
  var entries = Slab<Entry>(capacity: 32, filler: Entry(head: 0, payload: 0))

  /// The strings that have escapes, with these resolved, one behind the other.
  var resolved = Slab<UInt8>(capacity: 0, margin: 8, filler: 0)

  /// What an entry stands for.
  enum Kind: UInt8 {
    case null, `false`, `true`
    case integer, unsigned, double
    /// A number that none of the three holds without loss; see ``JSONValue/number(_:)``.
    case number
    /// A string that is in the text as it is.
    case string
    /// A string whose escapes are resolved, in a buffer of the tape.
    case resolvedString
    case array, object
    /// A member's name, as ``string`` and ``resolvedString``; its value is the next entry.
    case name, resolvedName
  }

  /// Two words.
  struct Entry: BitwiseCopyable, Sendable {
    /// The kind in 8 bits, the number of a name in 24, and in 32 where in the text it begins.
    var head: UInt64

    /// What the number is; where in its buffer a string begins (the upper half) and how many bytes
    /// it has; how many entries an array or object takes with all that it holds (the upper half)
    /// and how many elements or members it has.
    var payload: UInt64

    @inline(__always)
    init(head: UInt64, payload: UInt64) {
      self.head = head
      self.payload = payload
    }

    @inline(__always)
    init(_ kind: Kind, at offset: Int, _ payload: UInt64 = 0, name: Int = 0) {
      head =
        UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: name) << 8
        | UInt64(truncatingIfNeeded: offset) << 32
      self.payload = payload
    }

    @inline(__always)
    init(_ kind: Kind, at offset: Int, from start: Int, count: Int, name: Int = 0) {
      self.init(
        kind, at: offset,
        UInt64(truncatingIfNeeded: start) << 32 | UInt64(truncatingIfNeeded: count), name: name)
    }

    var kind: Kind { Kind(rawValue: UInt8(truncatingIfNeeded: head)) ?? .null }

    /// Where it begins, counted from the beginning of the document.
    var offset: Int { Int(head >> 32) }

    /// The number of a name in ``NameTable``, or 0 for a name that has none.
    var name: Int { Int(head >> 8 & 0xFF_FFFF) }

    /// Elements of an array, members of an object, bytes of a string.
    var count: Int { Int(payload & 0xFFFF_FFFF) }

    /// Where a string begins in its buffer.
    var start: Int { Int(payload >> 32) }

    /// How many entries an array or object takes, itself included.
    var span: Int { Int(payload >> 32) }

    var integer: Int64 { Int64(bitPattern: payload) }
    var double: Double { Double(bitPattern: payload) }
  }

  /// Makes it empty for the next document.
  mutating func clear() {
    entries.removeAll(keepingUpTo: 1 << 16)
    resolved.removeAll(keepingUpTo: 1 << 20)
  }
}
