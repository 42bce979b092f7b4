internal import Larder

/// Records as JSON, from their bytes to those of the text: the same text as ``JSONOutput`` makes of their
/// documents where the catalogue knows all kinds.
///
/// What is seldom, or has rules of its own (dates, dictionaries, text with escapes), becomes a value first,
/// and ``JSONOutput`` writes it.
struct RecordOutput: ~Copyable {
  private var text = Slab<UInt8>(capacity: 1 << 10, filler: 0)
  private var tables: [Table?] = []
  private var slow = JSONOutput()

  /// What is kept of an unusually long document.
  private static let keptByteCount = 256 << 10
  /// Values inside one another beyond which there are no shortcuts.
  private static let mostNesting = 8

  /// The names of a table of fields, each as `, "name": `.
  private final class Table {
    let bytes: [UInt8]
    /// Where each name ends.
    let ends: [Int]
    let names: [String]
    /// Whether one of them could be taken for a tag.
    let hasTag: Bool

    init(_ names: [String]) {
      self.names = names
      hasTag = names.contains { $0.utf8.first == UInt8(ascii: "$") }
      var bytes: [UInt8] = []
      ends = names.map { name in
        bytes += ", ".utf8
        var output = JSONOutput()
        output.write(.string(name))
        bytes += output.bytes
        bytes += ": ".utf8
        return bytes.count
      }
      self.bytes = bytes
    }
  }

  var byteCount: Int { text.count }

  /// What was written; good until more is written, or it is forgotten.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: text.base, count: text.count) }

  /// Forgets what was written, and keeps the memory that is usual.
  mutating func removeAll() { text.removeAll(keepingUpTo: Self.keptByteCount) }

  mutating func put(_ string: StaticString) {
    put(UnsafeRawBufferPointer(start: string.utf8Start, count: string.utf8CodeUnitCount))
  }

  /// - Throws: `RecordError` for damage.
  mutating func write(_ record: borrowing RecordReader, nesting: Int = 0) throws(RecordError) {
    try write(record, table(of: record), nesting)
  }

  private mutating func write(
    _ record: borrowing RecordReader, _ table: Table, _ nesting: Int
  ) throws(RecordError) {
    put(UInt8(ascii: "{"))
    var start = 0
    var isFirst = true
    for slot in table.ends.indices {
      let end = table.ends[slot]
      defer { start = end }
      do throws(RecordError) {
        guard var reader = try record.reader(ofSlot: slot) else { continue }
        // The first name has no comma before it.
        table.bytes.withUnsafeBytes {
          put(UnsafeRawBufferPointer(rebasing: $0[(isFirst ? start + 2 : start)..<end]))
        }
        isFirst = false
        try write(&reader, nesting)
      } catch {
        throw RecordError.field(table.names[slot], error)
      }
    }
    put(UInt8(ascii: "}"))
  }

  private mutating func table(of record: borrowing RecordReader) -> Table {
    let number = record.tableNumber
    if number < tables.count, let table = tables[number] { return table }
    while tables.count <= number { tables.append(nil) }
    let table = Table(record.tableNames)
    tables[number] = table
    return table
  }

  private mutating func write(
    _ reader: inout ValueReader, _ nesting: Int
  ) throws(RecordError) {
    guard nesting < Self.mostNesting, let tag = reader.nextTag else {
      return try writeSlowly(&reader, nesting)
    }
    switch tag {
    case 0xC0:
      _ = reader.skipNil()
      put("null")
    case 0xC2, 0xC3: put(try reader.bool() ? "true" : "false")
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3: put(try reader.int64())
    case 0xCA, 0xCB:
      var ahead = reader
      let number = try ahead.double()
      guard number.isFinite else { return try writeSlowly(&reader, nesting) }
      reader = ahead
      put(number)
    case 0xA0...0xBF, 0xD9...0xDB:
      var ahead = reader
      let bytes = try ahead.stringBytes()
      guard Self.isPlain(bytes) else { return try writeSlowly(&reader, nesting) }
      reader = ahead
      put(UInt8(ascii: "\""))
      put(bytes)
      put(UInt8(ascii: "\""))
    case 0x90...0x9F, 0xDC, 0xDD:
      let count = try reader.arrayCount()
      put(UInt8(ascii: "["))
      for index in 0..<count {
        if index > 0 { put(", ") }
        try write(&reader, nesting + 1)
      }
      put(UInt8(ascii: "]"))
    default:
      guard reader.nextIsDocument else { return try writeSlowly(&reader, nesting) }
      try writeDocument(&reader, nesting)
    }
  }

  private mutating func writeDocument(
    _ reader: inout ValueReader, _ nesting: Int
  ) throws(RecordError) {
    var ahead = reader
    let record = try ahead.untypedRecord()
    let table = table(of: record)
    guard !table.hasTag else { return try writeSlowly(&reader, nesting) }
    try write(record, table, nesting + 1)
    reader = ahead
  }

  private mutating func writeSlowly(
    _ reader: inout ValueReader, _ nesting: Int
  ) throws(RecordError) {
    let value = try reader.anyValue(nesting: nesting)
    slow.removeAll()
    slow.write(value, in: nil)
    let bytes = slow.bytes
    bytes.withUnsafeBytes { put($0) }
  }

  // MARK: Bytes

  @inline(__always)
  private mutating func put(_ byte: UInt8) { text.append(byte) }

  @inline(__always)
  private mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    text.reserve(bytes.count)
    UnsafeMutableRawPointer(text.base + text.count).copyMemory(
      from: start, byteCount: bytes.count)
    text.count += bytes.count
  }

  private mutating func put(_ number: Int64) {
    if number < 0 { put(UInt8(ascii: "-")) }
    put(number.magnitude, atLeast: 1)
  }

  /// Puts a number in as few digits as tell it from all others.
  private mutating func put(_ number: Double) {
    // Of 15 digits or fewer no two numbers are the same double, so that those which bring this one back
    // are the fewest. The quotient is of exact numbers, and rounded as reading the digits would be.
    let millionths = (number.magnitude * 1e6).rounded()
    guard number.magnitude < 1e9, number.magnitude >= 1e-3, millionths / 1e6 == number.magnitude
    else {
      var text = number.description
      return text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }
    if number < 0 { put(UInt8(ascii: "-")) }
    let (whole, part) = UInt64(millionths).quotientAndRemainder(dividingBy: 1_000_000)
    put(whole, atLeast: 1)
    put(UInt8(ascii: "."))
    var (fraction, digits) = (part, 6)
    while digits > 1, fraction.isMultiple(of: 10) {
      (fraction, digits) = (fraction / 10, digits - 1)
    }
    put(fraction, atLeast: digits)
  }

  /// - Parameter digits: How many there are at least, with zeros before the others.
  private mutating func put(_ number: UInt64, atLeast digits: Int) {
    var rest = number
    // The last digit first, at the end of the 20 places that the longest number takes.
    var room: (UInt64, UInt64, UInt64) = (0, 0, 0)
    withUnsafeMutableBytes(of: &room) { room in
      var next = room.count
      repeat {
        next -= 1
        room[next] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0 || room.count - next < digits
      put(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[next...]))
    }
  }

  /// Whether text stands between quotes as it is: UTF-8 without quotes, backslashes and control
  /// characters.
  private static func isPlain(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let start = bytes.baseAddress else { return true }
    let text = start.assumingMemoryBound(to: UInt8.self)
    var index = 0
    while index < bytes.count {
      if index + 8 <= bytes.count, hasPlainWord(text.word(at: index)) {
        index += 8
        continue
      }
      // Byte by byte up to where the next word may be plain, or to a scalar beyond ASCII.
      let byte = text[index]
      switch byte {
      case 0x22, 0x5C, 0x7F, 0..<0x20: return false
      case 0..<0x80: index += 1
      // The scalars behind C2 are those of Latin 1, and among them control characters.
      case 0xC3...0xDF where index + 1 < bytes.count && text[index + 1] & 0xC0 == 0x80: index += 2
      default:
        // It looks at four bytes.
        let count = index + 4 <= bytes.count && byte > 0xDF ? text.scalarByteCount(at: index) : 0
        if count == 0 { return false }
        index += count
      }
    }
    return true
  }

  /// Whether all of eight bytes are ASCII that stands for itself.
  @inline(__always)
  private static func hasPlainWord(_ word: UInt64) -> Bool {
    // A high bit for each byte that is a quote, a backslash, DEL, below a space or beyond ASCII; what is
    // borrowed may give others one, too, but only beside such a byte.
    let quotes = (word ^ repeated(0x22)) &- repeated(0x01)
    let backslashes = (word ^ repeated(0x5C)) &- repeated(0x01)
    let deletes = (word ^ repeated(0x7F)) &- repeated(0x01)
    let controls = word &- repeated(0x20)
    return (quotes | backslashes | deletes | controls | word) & repeated(0x80) == 0
  }
}
