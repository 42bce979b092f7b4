#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The values of the format: MessagePack, in its shortest form.
/// Source: https://github.com/msgpack/msgpack/blob/master/spec.md
extension RecordWriter {
  /// Puts a nil.
  @inlinable @inline(__always) public mutating func putNil() { appendByte(0xC0) }

  /// Puts a truth value.
  @inlinable @inline(__always) public mutating func put(_ value: Bool) {
    appendByte(value ? 0xC3 : 0xC2)
  }

  /// Puts a number, with all its bits.
  @inlinable @inline(__always) public mutating func put(_ value: Double) {
    append(tag: 0xCB, value.bitPattern)
  }

  /// Puts a number, with all its bits.
  @inlinable @inline(__always) public mutating func put(_ value: Float) {
    append(tag: 0xCA, value.bitPattern)
  }

  /// Puts an integer, in as few bytes as it takes.
  @inlinable public mutating func put(_ value: Int64) {
    if value >= 0 {
      switch value {
      case ..<0x80: appendByte(UInt8(truncatingIfNeeded: value))
      case ...0xFF: append(tag: 0xCC, UInt8(truncatingIfNeeded: value))
      case ...0xFFFF: append(tag: 0xCD, UInt16(truncatingIfNeeded: value))
      case ...0xFFFF_FFFF: append(tag: 0xCE, UInt32(truncatingIfNeeded: value))
      default: append(tag: 0xD3, value)
      }
    } else {
      switch value {
      case (-32)...: appendByte(UInt8(truncatingIfNeeded: value))
      case (-0x80)...: append(tag: 0xD0, Int8(truncatingIfNeeded: value))
      case (-0x8000)...: append(tag: 0xD1, Int16(truncatingIfNeeded: value))
      case (-0x8000_0000)...: append(tag: 0xD2, Int32(truncatingIfNeeded: value))
      default: append(tag: 0xD3, value)
      }
    }
  }

  /// Puts an integer, in as few bytes as it takes.
  @inlinable public mutating func put(_ value: UInt64) {
    if let signed = Int64(exactly: value) { put(signed) } else { append(tag: 0xCF, value) }
  }

  /// Puts a text, as UTF-8.
  @inlinable public mutating func put(_ value: String) {
    // Nothing is called for a short native string, which is nearly every one, so that no register
    // is saved for it.
    let isPut = value.utf8.withContiguousStorageIfAvailable { putShortUTF8($0) }
    if _slowPath(isPut != true) { putLong(value) }
  }

  /// Puts up to 64 bytes where there is room for so many; returns whether it did.
  @inlinable @inline(__always)
  mutating func putShortUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let count = bytes.count
    guard count <= 64, limit - end >= 66 else { return false }
    let place = end
    if count < 32 {
      place.storeBytes(of: 0xA0 | UInt8(truncatingIfNeeded: count), as: UInt8.self)
      end = place + (1 &+ count)
      if let start = bytes.baseAddress { Bytes.copyFew(start, to: place + 1, count) }
    } else {
      place.storeBytes(of: 0xD9, as: UInt8.self)
      place.storeBytes(of: UInt8(truncatingIfNeeded: count), toByteOffset: 1, as: UInt8.self)
      end = place + (2 &+ count)
      if let start = bytes.baseAddress {
        Bytes.copy(SIMD4<UInt64>.self, start, place + 2, count)
      }
    }
    return true
  }

  @inline(never) @usableFromInline mutating func putLong(_ value: String) {
    // Without a copy: native strings lend their bytes as they are.
    if value.utf8.withContiguousStorageIfAvailable({ putUTF8($0) }) != nil { return }
    var copy = value
    copy.withUTF8 { putUTF8($0) }
  }

  mutating func putUTF8(_ bytes: UnsafeBufferPointer<UInt8>) {
    let count = bytes.count
    if count < 32 {
      appendByte(0xA0 | UInt8(truncatingIfNeeded: count))
    } else if count <= 0xFF {
      append(tag: 0xD9, UInt8(truncatingIfNeeded: count))
    } else if count <= 0xFFFF {
      append(tag: 0xDA, UInt16(truncatingIfNeeded: count))
    } else {
      append(tag: 0xDB, UInt32(clamping: count))
    }
    append(UnsafeRawBufferPointer(bytes))
  }

  /// Puts bytes.
  @inlinable public mutating func put(_ bytes: UnsafeRawBufferPointer) {
    switch bytes.count {
    case ...0xFF: append(tag: 0xC4, UInt8(truncatingIfNeeded: bytes.count))
    case ...0xFFFF: append(tag: 0xC5, UInt16(truncatingIfNeeded: bytes.count))
    default: append(tag: 0xC6, UInt32(clamping: bytes.count))
    }
    append(bytes)
  }

  /// Begins an array, whose elements are put next.
  @inlinable public mutating func putArray(count: Int) {
    switch count {
    case ..<16: appendByte(0x90 | UInt8(truncatingIfNeeded: count))
    case ...0xFFFF: append(tag: 0xDC, UInt16(truncatingIfNeeded: count))
    default: append(tag: 0xDD, UInt32(clamping: count))
    }
  }

  /// Begins a map, whose keys and values are put next, in turns.
  @inlinable public mutating func putMap(count: Int) {
    switch count {
    case ..<16: appendByte(0x80 | UInt8(truncatingIfNeeded: count))
    case ...0xFFFF: append(tag: 0xDE, UInt16(truncatingIfNeeded: count))
    default: append(tag: 0xDF, UInt32(clamping: count))
    }
  }

  /// Seconds since the reference date, exact to the last bit.
  @inlinable public mutating func put(_ value: Date) {
    appendByte(0xD7)
    append(
      tag: RecordFormat.Extension.date, value.timeIntervalSinceReferenceDate.bitPattern)
  }

  /// Puts an identifier, as its 16 bytes.
  @inlinable public mutating func put(_ value: UUID) {
    appendByte(0xD8)
    appendByte(RecordFormat.Extension.uuid)
    withUnsafeBytes(of: value.uuid) { append($0) }
  }

  /// Text under an extension type.
  mutating func put(text: String, extension type: UInt8) {
    var text = text
    text.withUTF8 { bytes in
      switch bytes.count {
      case ...0xFF: append(tag: 0xC7, UInt8(truncatingIfNeeded: bytes.count))
      case ...0xFFFF: append(tag: 0xC8, UInt16(truncatingIfNeeded: bytes.count))
      default: append(tag: 0xC9, UInt32(clamping: bytes.count))
      }
      appendByte(type)
      append(UnsafeRawBufferPointer(bytes))
    }
  }

  /// Puts the items that were written since `start`, each up to one of `ends`, in the order of
  /// their bytes, so that equal sets have equal bytes in every process.
  @usableFromInline mutating func sortItems(from start: Int, ends: [Int]) {
    guard ends.count > 1 else { return }
    let copy = [UInt8](UnsafeRawBufferPointer(start: base + start, count: count - start))
    copy.withUnsafeBytes { bytes in
      var items: [UnsafeRawBufferPointer] = []
      items.reserveCapacity(ends.count)
      var from = 0
      for end in ends {
        items.append(UnsafeRawBufferPointer(rebasing: bytes[from..<end - start]))
        from = end - start
      }
      items.sort { Bytes.compare($0, $1) < 0 }
      count = start
      for item in items { append(item) }
    }
  }
}
