// A filter of elements: paths in it begin with the element itself.

extension FilterProgram {
  /// Whether it holds for one of the elements of the array that `reader` stands in front of; nil
  /// has none.
  ///
  /// - Throws: ``RecordError`` when what is asked of an element cannot be read.
  func holdsForAny(in reader: inout ValueReader) throws(RecordError) -> Bool {
    guard !reader.skipNil() else { return false }
    for _ in 0..<(try reader.arrayCount()) {
      if try holds(for: reader) { return true }
      try reader.skip()
    }
    return false
  }

  /// Whether it holds for one of the elements of an array of scalars that is stored nowhere.
  func holdsForAny(in value: Value) -> Bool {
    guard case .array = value else { return false }
    var writer = RecordWriter(binding: .none)
    writer.putNatural(value)
    return writer.withBytes { bytes in
      guard let start = bytes.baseAddress else { return false }
      var reader = ValueReader(start, start + bytes.count, binding: .none, depth: 0)
      do throws(RecordError) {
        return try holdsForAny(in: &reader)
      } catch {
        return false  // Bytes that were just written can be read.
      }
    }
  }
}
