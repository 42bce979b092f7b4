internal import LarderLMDB

/// The first scalar that a filter or an order looks at, as a key of eight bytes that is smaller where the
/// value is. It is short enough to stand in the loop over a page.
struct RecordScalar {
  private let slot: Int
  private let tableCount: Int
  private let test: ByteTest

  /// - Parameter test: Of a scalar, or of a text; its key is of its beginning.
  init(slot: Int, _ test: ByteTest, tableCount: Int) {
    self.slot = slot
    self.tableCount = tableCount
    self.test = test
  }

  /// The key in a record; nil where the record, or what it has there, is out of the ordinary.
  @inline(__always) func key(in bytes: UnsafeRawBufferPointer) -> Int64? {
    let record = bytes.baseAddress.unsafelyUnwrapped
    guard bytes.count >= 8 else { return nil }
    let table: Int
    let slotCount: Int
    let byteCount: Int
    let offset: Int
    let values: Int
    // The marker, and the version with numbers of one byte, or of two: records up to 64 KB.
    let head = UInt16(littleEndian: record.loadUnaligned(as: UInt16.self))
    if _fastPath(head == Self.narrowHead) {
      table = Int(record.load(fromByteOffset: 2, as: UInt8.self))
      slotCount = Int(record.load(fromByteOffset: 3, as: UInt8.self))
      byteCount = Int(record.load(fromByteOffset: 4, as: UInt8.self))
      values = 5 &+ slotCount
      guard slot < slotCount, values <= bytes.count else { return nil }
      offset = Int(record.load(fromByteOffset: 5 &+ slot, as: UInt8.self))
    } else {
      guard head == Self.narrowHead | 1 << 8 else { return nil }
      table = RecordHeader.number(record + 2, 0, shift: 1)
      slotCount = RecordHeader.number(record + 2, 1, shift: 1)
      byteCount = RecordHeader.number(record + 2, 2, shift: 1)
      values = 8 &+ 2 &* slotCount
      guard slot < slotCount, values <= bytes.count else { return nil }
      offset = RecordHeader.number(record + 8, slot, shift: 1)
    }
    let place = values &+ offset &- 1
    // Behind the values stands the checksum.
    guard offset > 0, place < byteCount,
      byteCount &+ RecordFormat.checksumByteCount <= bytes.count, table < tableCount
    else { return nil }
    return key(record + place, left: byteCount &- place)
  }

  private static var narrowHead: UInt16 {
    UInt16(RecordFormat.version) << 8 | UInt16(RecordFormat.marker)
  }

  @inline(__always) private func key(_ at: UnsafeRawPointer, left: Int) -> Int64? {
    // The loop over a page is as long as its first way through: doubles are asked for most.
    if _fastPath(test == .double) { return ByteTest.double.key(at, left: left, isPadded: true) }
    switch test {
    case .textEqual, .textOrder, .textPrefix:
      let tag = at.load(as: UInt8.self)
      let count: Int
      let text: UnsafeRawPointer
      if tag & 0xE0 == 0xA0 {
        (count, text) = (Int(tag & 0x1F), at + 1)
      } else {
        guard tag == 0xD9, left >= 2 else { return nil }
        (count, text) = (Int(at.load(fromByteOffset: 1, as: UInt8.self)), at + 2)
      }
      guard text - at &+ count <= left else { return nil }
      return Self.key(count, of: ByteTest.word(text))
    default: return test.key(at, left: left, isPadded: true)
    }
  }

  /// The first seven bytes of a text as a number, in the order of texts. Nil where one of them, or
  /// the next, which may change how the seventh compares, is not ASCII.
  ///
  /// - Parameter word: The text's first eight bytes, if it has as many.
  @inline(__always) private static func key(_ count: Int, of word: UInt64) -> Int64? {
    let word = count < 8 ? word & ~(.max &>> UInt64(count &<< 3)) : word
    return word & 0x8080_8080_8080_8080 == 0 ? Int64(bitPattern: word &>> 8) : nil
  }

  /// The same of a text that is ASCII.
  static func key(of text: UnsafeRawBufferPointer) -> Int64 {
    (0..<7).reduce(0) { $0 << 8 | ($1 < text.count ? Int64(text[$1]) : 0) }
  }
}

/// Tells of most records that do not match a filter that they do not, by the bytes of one value.
///
/// Every record that matches passes; so does what is out of the ordinary.
struct RecordSieve: ValueTest {
  private let scalar: RecordScalar
  /// The keys that pass; of a text, those of its beginning.
  private let range: ScalarRange

  /// - Parameters:
  ///   - step: One of a slot, whose answer no makes the filter fail. Nil where it is none of those
  ///     below.
  ///   - texts: What it compares with.
  init?(_ step: FilterProgram.Step, _ texts: [UnsafeRawBufferPointer], tableCount: Int) {
    scalar = RecordScalar(slot: Int(step.slot), step.test, tableCount: tableCount)
    switch step.test {
    case .bool, .integer, .double, .date: range = step.range
    case .textEqual, .textOrder, .textPrefix:
      let keys = texts.map { RecordScalar.key(of: $0) }
      guard step.letters == .ascii, let first = keys.min(), let last = keys.max() else {
        return nil
      }
      switch step.test {
      case .textEqual: range = ScalarRange(first, last)
      case .textOrder:
        // What is equal in its beginning passes: a document is asked whole behind the sieve.
        range = step.range.contains(-1) ? ScalarRange(0, last) : ScalarRange(first, .max)
      default: range = ScalarRange(first, first | .max &>> Int64(7 + 8 * min(texts[0].count, 7)))
      }
    default: return nil
    }
  }

  /// Whether the document in these bytes may match.
  @inline(__always) func passes(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let key = scalar.key(in: bytes) else { return true }
    return range.contains(key)
  }
}
