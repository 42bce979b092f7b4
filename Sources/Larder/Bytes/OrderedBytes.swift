#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Where encoded index values are written: bytes in the order of the values.
///
/// ```
/// missing, nil, false, true   tag
/// integer    tag 20 +- n, then its n bytes, big-endian; those of a negative one complemented
/// double     tag, then 8 bytes, big-endian, the sign flipped; a negative one complemented
/// date       as a double
/// string     tag, UTF-8 in normalisation form C with 00 as 00 FF, then 00 01; data and URLs too
/// uuid       tag, 16 bytes
/// decimal    tag, sign 00 01 02, exponent of the first digit, digits; the negative complemented
/// ```
/// No encoding is the beginning of another, so that several stand behind each other and the
/// primary key behind them. Descending parts are complemented.
struct OrderedBytes: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int = 1024) {
    base = .allocate(byteCount: capacity, alignment: 8)
    self.capacity = capacity
  }

  deinit { base.deallocate() }

  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  subscript(range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  mutating func removeAll() { count = 0 }

  /// Overwrites bytes that were written before.
  mutating func store(_ value: UInt32, at offset: Int) {
    precondition(offset >= 0 && offset + 4 <= count, "there is nothing to overwrite")
    base.storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
  }

  mutating func truncate(to count: Int) { self.count = count }

  mutating func complement(from start: Int) {
    for place in start..<count {
      base.storeBytes(
        of: ~base.load(fromByteOffset: place, as: UInt8.self), toByteOffset: place,
        as: UInt8.self)
    }
  }

  @inline(__always) private mutating func reserve(_ more: Int) {
    if _slowPath(count + more > capacity) { grow(more) }
  }

  @inline(never) private mutating func grow(_ more: Int) {
    let larger = max(capacity * 2, count + more)
    let copy = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    copy.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = copy
    capacity = larger
  }

  @inline(__always) mutating func append(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  @inline(__always) private mutating func append(bigEndian value: UInt64) {
    reserve(8)
    (base + count).storeBytes(of: value.bigEndian, as: UInt64.self)
    count += 8
  }
}

// MARK: Values

extension OrderedBytes {
  mutating func put(_ value: Bool) { append(value ? IndexTag.yes : IndexTag.no) }

  mutating func put(_ value: Int64) {
    if value >= 0 { return put(UInt64(value)) }
    // The complement, so that -1 comes behind -256 with one byte more.
    let magnitude = UInt64(bitPattern: ~value)
    let byteCount = max(1, 8 - magnitude.leadingZeroBitCount / 8)
    append(IndexTag.zero - UInt8(byteCount))
    appendLowBytes(~magnitude, byteCount)
  }

  mutating func put(_ value: UInt64) {
    let byteCount = 8 - value.leadingZeroBitCount / 8
    append(IndexTag.zero + UInt8(byteCount))
    appendLowBytes(value, byteCount)
  }

  private mutating func appendLowBytes(_ value: UInt64, _ byteCount: Int) {
    guard byteCount > 0 else { return }
    reserve(8)
    let shifted = value << UInt64(64 - 8 * byteCount)
    (base + count).storeBytes(of: shifted.bigEndian, as: UInt64.self)
    count += byteCount
  }

  mutating func put(_ value: Double, tag: UInt8, notANumber: UInt8) {
    if value.isNaN { return append(notANumber) }
    append(tag)
    let bits = (value == 0 ? 0.0 : value).bitPattern  // -0.0 equals 0.0.
    append(bigEndian: bits >> 63 == 0 ? bits | 1 << 63 : ~bits)
  }

  mutating func put(_ value: Double) {
    put(value, tag: IndexTag.double, notANumber: IndexTag.notANumber)
  }

  mutating func put(_ value: Date) {
    put(
      value.timeIntervalSinceReferenceDate, tag: IndexTag.date, notANumber: IndexTag.dateNotANumber)
  }

  mutating func put(_ value: UUID) {
    append(IndexTag.uuid)
    withUnsafeBytes(of: value.uuid) { append($0) }
  }

  /// - Parameter limit: How many bytes matter; what is cut there has no end mark.
  mutating func put(
    text bytes: UnsafeRawBufferPointer, tag: UInt8, limit: Int
  ) {
    append(tag)
    appendEscaped(UnsafeRawBufferPointer(rebasing: bytes.prefix(limit)))
    append(0x00)
    append(0x01)
  }

  /// What all texts with this beginning begin with.
  mutating func put(prefix bytes: UnsafeRawBufferPointer, tag: UInt8, limit: Int) {
    append(tag)
    appendEscaped(UnsafeRawBufferPointer(rebasing: bytes.prefix(limit)))
  }

  private mutating func appendEscaped(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    guard memchr(start, 0, bytes.count) != nil else { return append(bytes) }
    for byte in bytes {
      append(byte)
      if byte == 0 { append(0xFF) }
    }
  }

  mutating func put(_ value: String, tag: UInt8 = IndexTag.string, limit: Int) {
    var value = value
    let isNormal = value.withUTF8 { text in
      let text = UnsafeRawBufferPointer(text)
      guard text.isComposed else { return false }
      put(text: text, tag: tag, limit: limit)
      return true
    }
    if isNormal { return }
    var normal = value.normalized()
    normal.withUTF8 { put(text: UnsafeRawBufferPointer($0), tag: tag, limit: limit) }
  }

  mutating func put(_ value: Decimal) {
    guard !value.isNaN else { return append(IndexTag.decimalNotANumber) }
    append(IndexTag.decimal)
    let (digits, exponent) = value.scientificDigits
    guard !digits.isEmpty else { return append(0x01) }
    let isNegative = value < 0
    append(isNegative ? 0x00 : 0x02)
    let start = count
    // The exponent of the first digit lies between -128 and 127 + 39.
    let biased = UInt16(truncatingIfNeeded: exponent + 1 << 14)
    append(UInt8(biased >> 8))
    append(UInt8(biased & 0xFF))
    for digit in digits { append(digit + 1) }
    append(0x00)
    if isNegative { complement(from: start) }
  }
}

extension Decimal {
  /// The digits from the first that is not 0 to the last, and the exponent of the first one;
  /// none for zero.
  fileprivate var scientificDigits: (digits: [UInt8], exponent: Int) {
    var digits: [UInt8] = []
    var exponent = 0
    var isBehindPoint = false
    for character in "\(self)".utf8 {
      switch character {
      case UInt8(ascii: "."): isBehindPoint = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = character - UInt8(ascii: "0")
        if digits.isEmpty, digit == 0 {
          if isBehindPoint { exponent -= 1 }
          continue
        }
        if !digits.isEmpty, !isBehindPoint { exponent += 1 }
        digits.append(digit)
      default: continue
      }
    }
    // "0.001" has its first digit one place behind the zeros that were counted.
    if let first = "\(self)".utf8.first(where: { $0 != UInt8(ascii: "-") }),
      first == UInt8(ascii: "0")
    {
      exponent -= 1
    }
    while digits.last == 0 { digits.removeLast() }
    return (digits, exponent)
  }
}

// MARK: Passing over

extension OrderedBytes {
  /// How many bytes the encoded value at the start of `bytes` takes; nil where there is none.
  ///
  /// - Parameter mask: `0xFF` for a value that is kept complemented.
  static func count(of bytes: UnsafeRawBufferPointer, mask: UInt8) -> Int? {
    guard let first = bytes.first else { return nil }
    let count: Int
    switch first ^ mask {
    case IndexTag.missing, IndexTag.null, IndexTag.no, IndexTag.yes, IndexTag.notANumber,
      IndexTag.decimalNotANumber, IndexTag.dateNotANumber, IndexTag.unreadable:
      count = 1
    case IndexTag.zero - 8...IndexTag.zero + 8:
      count = 1 + abs(Int(first ^ mask) - Int(IndexTag.zero))
    case IndexTag.double, IndexTag.date: count = 9
    case IndexTag.uuid: count = 17
    case IndexTag.decimal: return decimalCount(of: bytes, mask: mask)
    case IndexTag.string, IndexTag.url, IndexTag.data:
      guard let end = textEnd(of: bytes, mask: mask) else { return nil }
      count = end
    default: return nil
    }
    return count <= bytes.count ? count : nil
  }

  private static func textEnd(of bytes: UnsafeRawBufferPointer, mask: UInt8) -> Int? {
    guard let start = bytes.baseAddress else { return nil }
    var place = 1
    while place < bytes.count {
      // The memory search of the C library beats a loop for all but the shortest texts.
      guard
        let found = memchr(start + place, Int32(mask), bytes.count - place)
      else { return nil }
      let zero = UnsafeRawPointer(found) - start
      guard zero + 1 < bytes.count else { return nil }
      if bytes[zero + 1] ^ mask == 0x01 { return zero + 2 }
      place = zero + 2
    }
    return nil
  }

  private static func decimalCount(of bytes: UnsafeRawBufferPointer, mask: UInt8) -> Int? {
    guard bytes.count >= 2 else { return nil }
    switch bytes[1] ^ mask {
    case 0x01: return 2
    case 0x00: return bytes.dropFirst(4).firstIndex(of: ~mask).map { $0 + 1 }
    case 0x02: return bytes.dropFirst(4).firstIndex(of: mask).map { $0 + 1 }
    default: return nil
    }
  }
}
