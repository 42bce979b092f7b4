// How indexes find their fields in records.

extension [FieldTable] {
  /// A reader in front of a field of the embedded document that `reader` stands in front of; nil where
  /// that lacks it, or is damaged.
  func field(_ name: String, in reader: ValueReader) -> ValueReader? {
    let bytes = UnsafeRawBufferPointer(start: reader.at, count: reader.left)
    guard reader.depth < RecordFormat.maximumDepth,
      let record = try? RecordReader(
        bytes, binding: reader.binding, schema: reader.binding.anonymous, depth: reader.depth + 1),
      let slot = self[record.table].slot(of: name)
    else { return nil }
    return (try? record.value(inSlot: slot)) ?? nil
  }
}

extension RecordReader {
  /// Whether both records have the same bytes in a field, or both lack it. Embedded documents of equal
  /// bytes have equal tables.
  func hasSameBytes(inSlot slot: Int, as other: borrowing RecordReader) -> Bool {
    guard let first = bytes(inSlot: slot), let second = other.bytes(inSlot: slot) else {
      return false
    }
    return Bytes.equal(first, second)
  }

  /// The bytes of a field; empty where the record has none, nil where it cannot be read.
  private func bytes(inSlot slot: Int) -> UnsafeRawBufferPointer? {
    do throws(RecordError) {
      guard var reader = try value(inSlot: slot) else {
        return UnsafeRawBufferPointer(start: nil, count: 0)
      }
      let start = reader.at
      try reader.skip()
      return UnsafeRawBufferPointer(start: start, count: reader.at - start)
    } catch {
      return nil
    }
  }
}
