internal import Larder

/// Records as JSON, from their bytes to those of the text: the same text as ``JSONOutput`` makes of their
/// documents where the catalogue knows all kinds.
///
/// What is seldom, or has rules of its own (dates, dictionaries, text with escapes), becomes a value first,
/// and ``JSONOutput`` writes it.
struct RecordOutput: ~Copyable {
  /// Short things are put eight bytes at a time, up to the end of the margin.
  private var text = Slab<UInt8>(capacity: 1 << 10, margin: 16, filler: 0)
  private var tables: [Table?] = []
  private var slow = JSONOutput()

  /// What is kept of an unusually long document.
  private static let keptByteCount = 256 << 10
  /// Values inside one another beyond which there are no shortcuts.
  private static let mostNesting = 8

  /// The names of a table of fields, each as `, "name": `.
  private final class Table {
    let bytes: Slab<UInt8>
    /// Where each name ends.
    let ends: Slab<Int>
    let names: [String]
    /// Whether one of them could be taken for a tag.
    let hasTag: Bool

    init(_ names: [String]) {
      self.names = names
      hasTag = names.contains { $0.utf8.first == UInt8(ascii: "$") }
      var bytes = Slab<UInt8>(capacity: 0, margin: 16, filler: 0)
      var ends = Slab<Int>(capacity: names.count, filler: 0)
      for name in names {
        var output = JSONOutput()
        output.put(", ")
        output.write(.string(name))
        output.put(": ")
        for byte in output.bytes { bytes.append(byte) }
        ends.append(bytes.count)
      }
      self.bytes = bytes
      self.ends = ends
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
    // The table holds both, and is held by the caller.
    let (bytes, ends) = (table.bytes.base, table.ends.base)
    var start = 0
    var left = 2  // The first name has no comma before it.
    for slot in 0..<table.ends.count {
      let end = ends[slot]
      defer { start = end }
      do throws(RecordError) {
        guard var reader = try record.reader(ofSlot: slot) else { continue }
        put(padded: bytes + (start &+ left), end &- start &- left)
        left = 0
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

  /// - Throws: `RecordError` for damage.
  mutating func write(_ reader: inout ValueReader, _ nesting: Int) throws(RecordError) {
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
      guard try put(quoted: ahead.stringBytes()) else { return try writeSlowly(&reader, nesting) }
      reader = ahead
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
  mutating func put(_ byte: UInt8) { text.append(byte) }

  @inline(__always)
  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    text.reserve(bytes.count)
    UnsafeMutableRawPointer(text.base + text.count).copyMemory(
      from: start, byteCount: bytes.count)
    text.count += bytes.count
  }

  /// Makes room, and lends it with a margin of 8 bytes behind.
  ///
  /// - Parameter body: Says how many bytes it has put there.
  /// - Returns: That.
  @inline(__always)
  mutating func append(
    atMost most: Int, _ body: (UnsafeMutablePointer<UInt8>) -> Int
  ) -> Int {
    text.reserve(most)
    let count = body(text.base + text.count)
    text.count &+= count
    return count
  }

  /// Puts short bytes, with at least eight that may be read behind them.
  @inline(__always)
  private mutating func put(padded bytes: UnsafePointer<UInt8>, _ count: Int) {
    text.reserve(count)
    let end = UnsafeMutableRawPointer(text.base + text.count)
    var index = 0
    while index < count {
      end.storeBytes(of: bytes.word(at: index).littleEndian, toByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    text.count &+= count
  }

  /// Puts the lower bytes of a word, eight at most, the lowest first.
  @inline(__always)
  private mutating func put(word: UInt64, _ count: Int) {
    text.reserve(count)
    UnsafeMutableRawPointer(text.base + text.count).storeBytes(
      of: word.littleEndian, as: UInt64.self)
    text.count &+= count
  }

  private mutating func put(_ number: Int64) {
    if number < 0 { put(UInt8(ascii: "-")) }
    put(number.magnitude, atLeast: 1)
  }

  /// Puts a number in as few digits as tell it from all others.
  private mutating func put(_ number: Double) {
    // Of 15 digits or fewer no two numbers are the same double, so that those which bring this one back
    // are the fewest. The quotient is of exact numbers, and rounded as reading the digits would be.
    let isUsual = number.magnitude < 1e9 && number.magnitude >= 1e-3
    let millionths = isUsual ? Int64(number.magnitude * 1e6 + 0.5) : 0
    if isUsual, Double(millionths) / 1e6 == number.magnitude {
      var (digits, places) = (UInt64(millionths), 6)
      while places > 1, digits.isMultiple(of: 10) { (digits, places) = (digits / 10, places - 1) }
      put(number, digits, places)
    } else if let (digits, places) = number.shortestDigits {
      put(number, digits, places)
    } else {
      var text = number.description
      text.withUTF8 { put(UnsafeRawBufferPointer($0)) }
    }
  }

  /// Puts a number, given its digits, with the decimal point before the last `places` of them.
  private mutating func put(_ number: Double, _ digits: UInt64, _ places: Int) {
    if number < 0 { put(UInt8(ascii: "-")) }
    let (whole, part) = digits.quotientAndRemainder(dividingBy: unitsOfPlaces[places])
    put(whole, atLeast: 1)
    put(UInt8(ascii: "."))
    put(part, atLeast: places)
  }

  /// - Parameter digits: How many there are at least, with zeros before the others.
  private mutating func put(_ number: UInt64, atLeast digits: Int) {
    guard number < 100_000_000, digits <= 8 else {
      let (upper, lower) = number.quotientAndRemainder(dividingBy: 100_000_000)
      put(upper, atLeast: max(digits - 8, 1))
      return put(word: eightDigits(lower), 8)
    }
    let word = eightDigits(number)
    // The upper half of every digit is 3.
    let zeros = (word ^ repeated(0x30)).trailingZeroBitCount >> 3
    let count = max(8 - zeros, digits)
    put(word: word &>> UInt64(truncatingIfNeeded: 64 - 8 * count), count)
  }

  /// Puts text between quotes; false, and nothing is put, where it does not stand there as it is: for
  /// quotes, backslashes and control characters, and for what is not UTF-8.
  @inline(__always)
  private mutating func put(quoted bytes: UnsafeRawBufferPointer) -> Bool {
    let count = bytes.count
    text.reserve(count + 2)
    let quote = text.base + text.count
    let first = quote + 1
    if let start = bytes.baseAddress {
      UnsafeMutableRawPointer(first).copyMemory(from: start, byteCount: count)
      guard Self.isPlain(UnsafePointer(first), count) else { return false }
    }
    quote.pointee = UInt8(ascii: "\"")
    first[count] = UInt8(ascii: "\"")
    text.count &+= count + 2
    return true
  }

  /// Whether text stands between quotes as it is.
  ///
  /// - Parameter text: Has a margin of 8 bytes behind `count`.
  private static func isPlain(_ text: TextBytes, _ count: Int) -> Bool {
    var index = 0
    while index < count {
      var word = text.word(at: index)
      let left = count &- index
      // The bytes behind the text do not count.
      if left < 8 { word |= .max &<< UInt64(truncatingIfNeeded: 8 &* left) }
      let place = firstEscaped(word)
      index &+= place
      if place == 8 { continue }
      guard index < count else { break }
      let byte = text[index]
      // The scalars behind C2 are those of Latin 1, and among them control characters.
      guard byte > 0xC2 else { return false }
      let byteCount = text.scalarByteCount(at: index)
      guard byteCount > 0, index &+ byteCount <= count else { return false }
      index &+= byteCount
    }
    return true
  }

  /// As ``firstSpecial(_:)``, and DEL, which means something to terminals, is special, too.
  @inline(__always)
  private static func firstEscaped(_ word: UInt64) -> Int {
    let deletes = (word ^ repeated(0x7F)) &- repeated(0x01)
    let place = (deletes & repeated(0x80)).trailingZeroBitCount >> 3
    return min(place, firstSpecial(word))
  }
}

/// The powers of ten that the digits behind a point are parts of.
private let unitsOfPlaces: [UInt64] = [
  1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000,
  10_000_000_000, 100_000_000_000, 1_000_000_000_000, 10_000_000_000_000, 100_000_000_000_000,
  1_000_000_000_000_000, 10_000_000_000_000_000, 100_000_000_000_000_000,
  1_000_000_000_000_000_000, 10_000_000_000_000_000_000,
]
