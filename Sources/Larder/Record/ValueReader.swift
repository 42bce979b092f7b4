/// Reads values from bytes that nobody vouches for: every read is bounds-checked and throws;
/// none traps, none reads outside.
@frozen public struct ValueReader {
  @usableFromInline var at: UnsafeRawPointer
  @usableFromInline let end: UnsafeRawPointer
  // Whoever made this reader holds the binding for as long as it lends the bytes.
  @usableFromInline unowned(unsafe) let binding: CollectionBinding
  @usableFromInline let depth: Int

  @inlinable @inline(__always)
  init(_ at: UnsafeRawPointer, _ end: UnsafeRawPointer, binding: CollectionBinding, depth: Int) {
    self.at = at
    self.end = end
    self.binding = binding
    self.depth = depth
  }

  @inlinable @inline(__always) var left: Int { end - at }

  @inlinable @inline(__always) mutating func byte() throws(RecordError) -> UInt8 {
    if _slowPath(at >= end) { throw .truncated }
    let byte = at.load(as: UInt8.self)
    at += 1
    return byte
  }

  @inlinable @inline(__always)
  mutating func integer<Integer: FixedWidthInteger & BitwiseCopyable>(
    _: Integer.Type
  ) throws(RecordError) -> Integer {
    if _slowPath(left < MemoryLayout<Integer>.size) { throw .truncated }
    let value = Integer(bigEndian: at.loadUnaligned(as: Integer.self))
    at += MemoryLayout<Integer>.size
    return value
  }

  @inlinable @inline(__always)
  mutating func take(_ count: Int) throws(RecordError) -> UnsafeRawBufferPointer {
    if _slowPath(left < count) { throw .truncated }
    let bytes = UnsafeRawBufferPointer(start: at, count: count)
    at += count
    return bytes
  }
}

extension ValueReader {
  /// Whether the next value is nil; leaves it where it is.
  @inlinable @inline(__always) public var nextIsNil: Bool {
    at < end && at.load(as: UInt8.self) == 0xC0
  }

  var nextIsString: Bool {
    guard at < end else { return false }
    let tag = at.load(as: UInt8.self)
    return tag & 0xE0 == 0xA0 || (0xD9...0xDB).contains(tag)
  }

  /// Passes over the next value if it is nil.
  @inlinable @inline(__always) public mutating func skipNil() -> Bool {
    guard nextIsNil else { return false }
    at += 1
    return true
  }

  /// - Throws: ``RecordError`` where the value is no Bool, or cut off; as all of these do for what
  ///   they expect. Where the reader stands then is of no use: begin anew.
  @inlinable @inline(__always) public mutating func bool() throws(RecordError) -> Bool {
    switch try byte() {
    case 0xC3: return true
    case 0xC2: return false
    case let tag: throw .unexpected(byte: tag, expected: "a Bool")
    }
  }

  /// An integer, or a double or float that is one: the field may have been widened and narrowed
  /// again.
  ///
  /// - Throws: ``RecordError``: no integer, or one that `Int64` cannot hold.
  @inlinable public mutating func int64() throws(RecordError) -> Int64 {
    let tag = try byte()
    if tag < 0x80 { return Int64(tag) }
    if tag >= 0xE0 { return Int64(Int8(bitPattern: tag)) }
    switch tag {
    case 0xCC: return Int64(try integer(UInt8.self))
    case 0xCD: return Int64(try integer(UInt16.self))
    case 0xCE: return Int64(try integer(UInt32.self))
    case 0xD0: return Int64(try integer(Int8.self))
    case 0xD1: return Int64(try integer(Int16.self))
    case 0xD2: return Int64(try integer(Int32.self))
    case 0xD3: return try integer(Int64.self)
    case 0xCB:
      guard let value = Int64(exactly: Double(bitPattern: try integer(UInt64.self))) else {
        throw .outOfRange(expected: "an integer")
      }
      return value
    case 0xCA:
      guard let value = Int64(exactly: Float(bitPattern: try integer(UInt32.self))) else {
        throw .outOfRange(expected: "an integer")
      }
      return value
    case 0xCF: throw .outOfRange(expected: "Int64")
    default: throw .unexpected(byte: tag, expected: "an integer")
    }
  }

  /// An integer, as ``int64()`` takes it.
  ///
  /// - Throws: ``RecordError``: no integer, or one that `UInt64` cannot hold.
  @inlinable public mutating func uint64() throws(RecordError) -> UInt64 {
    if at < end, at.load(as: UInt8.self) == 0xCF {
      at += 1
      return try integer(UInt64.self)
    }
    if at < end, at.load(as: UInt8.self) == 0xCB || at.load(as: UInt8.self) == 0xCA {
      guard let value = UInt64(exactly: try double()) else {
        throw .outOfRange(expected: "an integer")
      }
      return value
    }
    guard let value = UInt64(exactly: try int64()) else { throw .outOfRange(expected: "UInt64") }
    return value
  }

  /// A double, a float, or an integer: the field may have been widened.
  ///
  /// - Throws: ``RecordError`` where it is no number, or an integer that no double is equal to, such
  ///   as 2^53 + 1.
  @inlinable @inline(__always) public mutating func double() throws(RecordError) -> Double {
    if _fastPath(at < end && at.load(as: UInt8.self) == 0xCB) {
      at += 1
      return Double(bitPattern: try integer(UInt64.self))
    }
    return try widenedDouble()
  }

  /// A float to its last bit, the nearest one of a double, or an integer.
  ///
  /// - Throws: ``RecordError`` where it is no number, an integer that no float is equal to, or a
  ///   double that would become infinite or zero.
  @inlinable public mutating func float() throws(RecordError) -> Float {
    // By way of a double, a signaling NaN would become a quiet one.
    if at < end, at.load(as: UInt8.self) == 0xCA {
      at += 1
      return Float(bitPattern: try integer(UInt32.self))
    }
    return try narrowedFloat()
  }

  @usableFromInline mutating func narrowedFloat() throws(RecordError) -> Float {
    guard at < end else { throw .truncated }
    let number: Float? =
      switch at.load(as: UInt8.self) {
      case 0xCF: Float(exactly: try uint64())
      case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3: Float(exactly: try int64())
      default: Float(keeping: try double())
      }
    guard let number else { throw .outOfRange(expected: "a Float") }
    return number
  }

  @usableFromInline mutating func widenedDouble() throws(RecordError) -> Double {
    guard at < end else { throw .truncated }
    switch at.load(as: UInt8.self) {
    case 0xCA:
      at += 1
      return Double(Float(bitPattern: try integer(UInt32.self)))
    case 0xCF: return try exactly(Double(exactly: try uint64()))
    case 0x00...0x7F, 0xE0...0xFF, 0xCC...0xCE, 0xD0...0xD3:
      return try exactly(Double(exactly: try int64()))
    case let tag: throw .unexpected(byte: tag, expected: "a number")
    }
  }

  private func exactly(_ number: Double?) throws(RecordError) -> Double {
    guard let number else { throw .outOfRange(expected: "a Double") }
    return number
  }

  /// The bytes of a string where they lie, for as long as the record does. They need not be UTF-8.
  ///
  /// - Throws: ``RecordError`` where it is no string.
  @inlinable @inline(__always)
  public mutating func stringBytes() throws(RecordError) -> UnsafeRawBufferPointer {
    let tag = try byte()
    if _fastPath(tag & 0xE0 == 0xA0) { return try take(Int(tag & 0x1F)) }
    switch tag {
    case 0xD9: return try take(Int(try integer(UInt8.self)))
    case 0xDA: return try take(Int(try integer(UInt16.self)))
    case 0xDB: return try take(Int(try integer(UInt32.self)))
    default: throw .unexpected(byte: tag, expected: "a string")
    }
  }

  /// - Throws: ``RecordError`` where it is no string, or not UTF-8.
  @inlinable public mutating func string() throws(RecordError) -> String {
    let bytes = try stringBytes()
    if bytes.count <= SmallText.maximumByteCount, let text = SmallText.string(bytes) {
      return text
    }
    return try Self.largeString(bytes)
  }

  @usableFromInline
  static func largeString(_ bytes: UnsafeRawBufferPointer) throws(RecordError) -> String {
    if _fastPath(Bytes.areASCII(bytes)) {
      // Into the string's own memory: 50 instructions fewer than decoding.
      return String(unsafeUninitializedCapacity: bytes.count) { text in
        UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
        return bytes.count
      }
    }
    // Decoding repairs what is not UTF-8, so equal bytes prove that nothing was repaired. It
    // costs a third of what `String(validating:as:)` does.
    var string = String(decoding: bytes, as: UTF8.self)
    let isSame = string.withUTF8 { Bytes.equal(UnsafeRawBufferPointer($0), bytes) }
    if _slowPath(!isSame) { throw .invalidUTF8 }
    return string
  }

  /// The bytes of a `Data` where they lie, for as long as the record does.
  ///
  /// - Throws: ``RecordError`` where it is no data.
  @inlinable public mutating func bytes() throws(RecordError) -> UnsafeRawBufferPointer {
    switch try byte() {
    case 0xC4: return try take(Int(try integer(UInt8.self)))
    case 0xC5: return try take(Int(try integer(UInt16.self)))
    case 0xC6: return try take(Int(try integer(UInt32.self)))
    case let tag: throw .unexpected(byte: tag, expected: "data")
    }
  }

  /// The number of elements that follow. Each takes a byte or more, so a count beyond the bytes
  /// that are left is damage, found before anything is allocated for it.
  ///
  /// - Throws: ``RecordError`` where it is no array, or longer than what is left.
  @inlinable @inline(__always) public mutating func arrayCount() throws(RecordError) -> Int {
    let tag = try byte()
    let count: Int
    switch tag {
    case 0x90...0x9F: count = Int(tag & 0x0F)
    case 0xDC: count = Int(try integer(UInt16.self))
    case 0xDD: count = Int(try integer(UInt32.self))
    default: throw .unexpected(byte: tag, expected: "an array")
    }
    if _slowPath(count > left) { throw .truncated }
    return count
  }

  /// The number of key and value pairs that follow.
  ///
  /// - Throws: ``RecordError`` where it is no dictionary, or longer than what is left.
  @inlinable public mutating func mapCount() throws(RecordError) -> Int {
    let tag = try byte()
    let count: Int
    switch tag {
    case 0x80...0x8F: count = Int(tag & 0x0F)
    case 0xDE: count = Int(try integer(UInt16.self))
    case 0xDF: count = Int(try integer(UInt32.self))
    default: throw .unexpected(byte: tag, expected: "a dictionary")
    }
    if _slowPath(count > left / 2) { throw .truncated }
    return count
  }

  /// The bytes of an extension of fixed length.
  @inlinable @inline(__always)
  mutating func fixedExtension(
    tag expectedTag: UInt8, type: UInt8, count: Int, _ name: StaticString
  ) throws(RecordError) -> UnsafeRawBufferPointer {
    let tag = try byte()
    if _slowPath(tag != expectedTag) {
      throw .unexpected(byte: tag, expected: "a \(name)")
    }
    let found = try byte()
    if _slowPath(found != type) { throw .unexpected(byte: found, expected: "a \(name)") }
    return try take(count)
  }

  /// The text of an extension of any length.
  mutating func textExtension(type: UInt8, _ name: String) throws(RecordError) -> String {
    let (found, bytes) = try extensionBytes(name)
    guard found == type else { throw .unexpected(byte: found, expected: name) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .invalidUTF8 }
    return text
  }

  /// The type and the bytes of an extension of any length.
  mutating func extensionBytes(
    _ expected: String
  ) throws(RecordError) -> (type: UInt8, UnsafeRawBufferPointer) {
    let tag = try byte()
    let count: Int
    switch tag {
    case 0xD4...0xD8: count = 1 << Int(tag - 0xD4)
    case 0xC7: count = Int(try integer(UInt8.self))
    case 0xC8: count = Int(try integer(UInt16.self))
    case 0xC9: count = Int(try integer(UInt32.self))
    default: throw .unexpected(byte: tag, expected: expected)
    }
    let type = try byte()
    return (type, try take(count))
  }
}

extension ValueReader {
  /// The record of an embedded document; the reader then stands behind it.
  @usableFromInline mutating func embeddedRecord(
    _ type: ObjectIdentifier
  ) throws(RecordError) -> RecordReader {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let binding = Unmanaged.passUnretained(binding)
    do throws(RecordError) {
      let record = try RecordReader(
        UnsafeRawBufferPointer(start: at, count: left), binding: binding,
        schema: binding._withUnsafeGuaranteedRef { $0.lastingSchema(of: type) }, depth: depth + 1)
      at = record.end
      return record
    } catch {
      // Nil looks like the number of a table.
      throw nextIsNil ? .unexpected(byte: RecordFormat.nilByte, expected: "a document") : error
    }
  }

  /// Passes over one value of any kind; quickly over one that holds no others.
  @inline(__always) mutating func skipOne() throws(RecordError) {
    guard at < end else { throw .truncated }
    let count = Int(Self.byteCounts[Int(at.load(as: UInt8.self))])
    if _fastPath(count > 0 && count <= left) { at += count } else { try skip() }
  }

  /// By its first byte, how many bytes a value takes; 0 where the first byte does not say it.
  nonisolated(unsafe) private static let byteCounts: UnsafePointer<UInt8> = {  // Immutable.
    let counts = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    counts.initialize(repeating: 0, count: 256)
    for tag in 0..<256 {
      switch tag {
      case 0x00...0x7F, 0xE0...0xFF, 0xC0, 0xC2, 0xC3: counts[tag] = 1
      case 0xA0...0xBF: counts[tag] = UInt8(1 + tag & 0x1F)
      case 0xCC, 0xD0: counts[tag] = 2
      case 0xCD, 0xD1: counts[tag] = 3
      case 0xCA, 0xCE, 0xD2: counts[tag] = 5
      case 0xCB, 0xCF, 0xD3: counts[tag] = 9
      case 0xD4...0xD8: counts[tag] = UInt8(2 + 1 << (tag - 0xD4))
      default: break
      }
    }
    return UnsafePointer(counts)
  }()

  /// Passes over one value of any kind.
  mutating func skip() throws(RecordError) {
    var pending = 1
    while pending > 0 {
      pending -= 1
      let tag = try byte()
      switch tag {
      case 0x00...0x7F, 0xE0...0xFF, 0xC0, 0xC2, 0xC3: continue
      case 0x80...0x8F: pending += 2 * Int(tag & 0x0F)
      case 0x90...0x9F: pending += Int(tag & 0x0F)
      case 0xA0...0xBF: _ = try take(Int(tag & 0x1F))
      case 0xC4, 0xD9: _ = try take(Int(try integer(UInt8.self)))
      case 0xC5, 0xDA: _ = try take(Int(try integer(UInt16.self)))
      case 0xC6, 0xDB: _ = try take(Int(try integer(UInt32.self)))
      case 0xC7: _ = try take(Int(try integer(UInt8.self)) + 1)
      case 0xC8: _ = try take(Int(try integer(UInt16.self)) + 1)
      case 0xC9: _ = try take(Int(try integer(UInt32.self)) + 1)
      case 0xCC, 0xD0: _ = try take(1)
      case 0xCD, 0xD1: _ = try take(2)
      case 0xCA, 0xCE, 0xD2: _ = try take(4)
      case 0xCB, 0xCF, 0xD3: _ = try take(8)
      case 0xD4...0xD8: _ = try take(1 + 1 << Int(tag - 0xD4))
      case 0xDC: pending += Int(try integer(UInt16.self))
      case 0xDD: pending += Int(try integer(UInt32.self))
      case 0xDE: pending += 2 * Int(try integer(UInt16.self))
      case 0xDF: pending += 2 * Int(try integer(UInt32.self))
      case RecordFormat.marker:
        at -= 1
        let header = try RecordHeader(UnsafeRawBufferPointer(start: at, count: left))
        at += header.byteCount
      default: throw .unexpected(byte: tag, expected: "a value")
      }
      // Each value takes a byte or more: more of them than bytes is damage.
      if pending > left { throw .truncated }
    }
  }
}

extension ValueReader {
  /// The next value's first byte, which says what it is; nil at the end.
  package var nextTag: UInt8? { at < end ? at.load(as: UInt8.self) : nil }

  /// Whether an embedded document comes next.
  package var nextIsDocument: Bool { nextTag == RecordFormat.marker }
}
