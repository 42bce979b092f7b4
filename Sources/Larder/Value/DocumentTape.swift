/// One document of a text as a row of entries, lent by whoever has read it: what records are made of
/// without a tree in between.
///
/// Values, and names before those of members, stand in the order of the text. An array or object is
/// followed by what it holds and knows where that ends. A document's names differ by their bytes in
/// each object. Names have numbers that are their own among the objects of one place. All addresses hold until the next document is read.
package struct DocumentTape {
  package let entries: UnsafePointer<Entry>
  /// Where the document begins in its text.
  package let text: UnsafePointer<UInt8>
  /// The strings whose escapes had to be resolved.
  package let resolved: UnsafePointer<UInt8>
  /// How often the reader has given the numbers of names anew.
  package let generation: Int
  /// What the reader has made of texts that stand for something else.
  package let values: UnsafePointer<Value>?

  package init(
    entries: UnsafePointer<Entry>, text: UnsafePointer<UInt8>, resolved: UnsafePointer<UInt8>,
    generation: Int, values: UnsafePointer<Value>? = nil
  ) {
    self.values = values
    self.entries = entries
    self.text = text
    self.resolved = resolved
    self.generation = generation
  }

  /// What an entry stands for.
  @usableFromInline package enum Kind: UInt8 {
    case null, `false`, `true`
    case integer, unsigned, double
    /// A number that none of the three holds without loss, as it is written.
    case number
    /// A string that is in the text as it is.
    case string
    /// A string whose escapes are resolved, in a buffer of the tape.
    case resolvedString
    case array, object
    /// A member's name, as ``string`` and ``resolvedString``; its value is the next entry.
    case name, resolvedName
    /// One of the tape's values, by its index: a date, UUID, URL, data or a decimal.
    case value
  }

  /// Two words.
  @usableFromInline package struct Entry: BitwiseCopyable, Sendable {
    /// The kind in 8 bits, the number of a name in 24, and in 32 where in the text it begins. Of a
    /// string the number is 1 where it stands for nothing but itself, of a double where it is `-0`.
    @usableFromInline package var head: UInt64

    /// What the number is; where in its buffer a string begins (the upper half) and how many bytes
    /// it has; how many entries an array or object takes with all that it holds (the upper half)
    /// and how many elements or members it has.
    @usableFromInline package var payload: UInt64

    @inlinable @inline(__always)
    package init(head: UInt64, payload: UInt64) {
      self.head = head
      self.payload = payload
    }

    @inlinable @inline(__always)
    package init(_ kind: Kind, at offset: Int, _ payload: UInt64 = 0, name: Int = 0) {
      head =
        UInt64(kind.rawValue) | UInt64(truncatingIfNeeded: name) << 8
        | UInt64(truncatingIfNeeded: offset) << 32
      self.payload = payload
    }

    @inlinable package var kind: Kind {
      @inline(__always) get { Kind(rawValue: UInt8(truncatingIfNeeded: head)) ?? .null }
    }

    /// Where it begins, counted from the beginning of the document.
    @inlinable package var offset: Int { Int(head >> 32) }

    /// The number that the reader has given a name, which stays the same in one generation; 0 for a
    /// name that has none.
    @inlinable package var name: Int { Int(head >> 8 & 0xFF_FFFF) }

    /// Whether a string stands for nothing but itself, whatever kind of value is expected.
    @inlinable var isLiteral: Bool { name == 1 }

    /// Whether a double is written as `-0`, without a point.
    @inlinable package var isMinusZero: Bool { name == 1 }

    /// Elements of an array, members of an object, bytes of a string.
    @inlinable package var count: Int { Int(payload & 0xFFFF_FFFF) }

    /// Where a string begins in its buffer.
    @inlinable package var start: Int { Int(payload >> 32) }

    /// How many entries an array or object takes, itself included.
    @inlinable package var span: Int { Int(payload >> 32) }

    @inlinable package var integer: Int64 { Int64(bitPattern: payload) }
    @inlinable package var double: Double { Double(bitPattern: payload) }
  }

  /// The bytes of a string or name.
  @inline(__always)
  func bytes(of entry: Entry, isResolved: Bool) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: (isResolved ? resolved : text) + entry.start, count: entry.count)
  }

  /// Whether the double may be written with more digits than every double keeps.
  @inline(never)
  func isLong(doubleAt index: Int) -> Bool {
    // In a table, numbers of JSON in a field do not know where they stand.
    if values != nil { return true }
    // Behind a number of an object or array there is another byte.
    var byte = text + entries[index].offset
    if byte.pointee == UInt8(ascii: "-") { byte += 1 }
    var count = 0
    while true {
      switch byte.pointee {
      case UInt8(ascii: "0"): if count > 0 { count += 1 }
      case UInt8(ascii: "1")...UInt8(ascii: "9"): count += 1
      case UInt8(ascii: "."): break
      default: return count > 15
      }
      byte += 1
    }
  }

  /// The string or name at an index.
  func string(at index: Int) -> String {
    let entry = entries[index]
    let isResolved = entry.kind == .resolvedString || entry.kind == .resolvedName
    return String(decoding: bytes(of: entry, isResolved: isResolved), as: UTF8.self)
  }

  /// The index behind the value at an index.
  @inline(__always)
  func end(ofValueAt index: Int) -> Int {
    let entry = entries[index]
    return index &+ (entry.kind == .array || entry.kind == .object ? entry.span : 1)
  }
}
