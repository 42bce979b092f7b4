/// One document of a watched result: where it stands, and which version of it.
struct Row: Sendable {
  /// The values that the result is sorted by, as bytes in their order, and then the document's
  /// key. No encoded value begins another, so that rows compare as one piece of bytes.
  let place: [UInt8]
  private let keyByteCount: UInt8
  /// The record's checksum: rows of the same document with the same stamp have the same bytes.
  let stamp: UInt64

  init(
    sortValues: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, record: UnsafeRawBufferPointer
  ) {
    place = [UInt8](unsafeUninitializedCapacity: sortValues.count + key.count) { bytes, count in
      let bytes = UnsafeMutableRawBufferPointer(bytes)
      bytes.copyMemory(from: sortValues)
      UnsafeMutableRawBufferPointer(rebasing: bytes[sortValues.count...]).copyMemory(from: key)
      count = sortValues.count + key.count
    }
    keyByteCount = UInt8(truncatingIfNeeded: key.count)
    stamp =
      record.count < 8
      ? 0
      : UInt64(
        littleEndian: record.loadUnaligned(fromByteOffset: record.count - 8, as: UInt64.self))
  }

  /// For rows that come from no record.
  init(place: [UInt8], keyByteCount: Int, stamp: UInt64) {
    self.place = place
    self.keyByteCount = UInt8(truncatingIfNeeded: keyByteCount)
    self.stamp = stamp
  }

  var key: ArraySlice<UInt8> { place[(place.count - Int(keyByteCount))...] }

  /// Below zero, zero or above zero, as the row comes before another place, at it or behind it.
  @inline(__always)
  func order(_ other: [UInt8]) -> Int {
    place.withUnsafeBytes { left in
      other.withUnsafeBytes { right in Bytes.compare(left, right) }
    }
  }

  func isSame(as other: Row) -> Bool { stamp == other.stamp && place == other.place }
}
