/// The end of a record: its header and its offsets get the width that its size needs.
extension RecordWriter {
  /// Ends an embedded record: narrows its header and closes the gap in front of it.
  @usableFromInline mutating func endEmbedded(_ outer: Frame) {
    let start = frame.values &- Self.widestHeader(slotCount: frame.reserved)
    let narrowed = narrowHeader()
    let length = count &- narrowed
    (base + start).copyMemory(from: base + narrowed, byteCount: length)
    count = start &+ length
    frame = outer
    placeFrame()
  }

  /// Writes the final header directly in front of the values and returns where it begins.
  ///
  /// Works from the last slot to the first: a narrow offset lands on or behind the wide one
  /// that it is made from, so that no offset is overwritten before it is read.
  mutating func narrowHeader() -> Int {
    if _slowPath(frame.isOutOfOrder) { sortValues() }
    let used = frame.used
    let valueByteCount = count &- frame.values
    let largest = max(frame.table, used)
    if _fastPath(largest <= 0xFF && 2 &+ 3 &+ used &+ valueByteCount <= 0xFF) {
      narrowOffsets(used)
      return storeHeader(shift: 0, UInt8.self)
    }
    if largest <= 0xFFFF && 2 &+ 2 &* (3 &+ used) &+ valueByteCount <= 0xFFFF {
      narrowOffsets(used, to: UInt16.self)
      return storeHeader(shift: 1, UInt16.self)
    }
    narrowOffsets(used, to: UInt32.self)
    return storeHeader(shift: 2, UInt32.self)
  }

  /// Writes the header in front of offsets of its width; returns where it begins.
  @inline(__always)
  private mutating func storeHeader<Number: FixedWidthInteger & BitwiseCopyable>(
    shift: UInt8, _: Number.Type
  ) -> Int {
    let width = MemoryLayout<Number>.size
    let start = frame.values &- width &* (3 &+ frame.used) &- 2
    let header = base + start
    let byteCount = count &- start
    if _slowPath(byteCount > Int(UInt32.max)) {
      failure = .outOfRange(expected: "a record of 4 GB")
    }
    header.storeBytes(of: RecordFormat.marker, as: UInt8.self)
    header.storeBytes(of: RecordFormat.version | shift, toByteOffset: 1, as: UInt8.self)
    Self.store(frame.table, header + 2, Number.self)
    Self.store(frame.used, header + (2 &+ width), Number.self)
    Self.store(byteCount, header + (2 &+ 2 &* width), Number.self)
    return start
  }

  @inline(__always) private static func store<Number: FixedWidthInteger & BitwiseCopyable>(
    _ number: Int, _ place: UnsafeMutableRawPointer, _: Number.Type
  ) {
    place.storeBytes(of: Number(truncatingIfNeeded: number).littleEndian, as: Number.self)
  }

  /// Moves the offsets up to the values, each in a number of its final width.
  @inline(__always) private func narrowOffsets<Number: FixedWidthInteger & BitwiseCopyable>(
    _ used: Int, to _: Number.Type
  ) {
    let narrow = base + (frame.values &- MemoryLayout<Number>.size &* used)
    var slot = used
    while slot > 0 {
      slot &-= 1
      narrow.storeBytes(
        of: Number(truncatingIfNeeded: offset(slot)).littleEndian,
        toByteOffset: MemoryLayout<Number>.size &* slot, as: Number.self)
    }
  }

  /// Moves the offsets up to the values, each in one byte; eight at a time.
  @inline(__always) private func narrowOffsets(_ used: Int) {
    let narrow = base + (frame.values &- used)
    var slot = used
    while slot > 16 {
      slot &-= 8
      narrow.storeBytes(of: eightOffsets(from: slot), toByteOffset: slot, as: SIMD8<UInt8>.self)
    }
    if slot >= 8 {
      // Some of them twice. Both are read first: the last ones may be written over the first.
      let first = eightOffsets(from: 0)
      let last = eightOffsets(from: slot &- 8)
      narrow.storeBytes(of: last, toByteOffset: slot &- 8, as: SIMD8<UInt8>.self)
      narrow.storeBytes(of: first, as: SIMD8<UInt8>.self)
      return
    }
    while slot > 0 {
      slot &-= 1
      narrow.storeBytes(
        of: UInt8(truncatingIfNeeded: offset(slot)), toByteOffset: slot, as: UInt8.self)
    }
  }

  @inline(__always) private func eightOffsets(from slot: Int) -> SIMD8<UInt8> {
    SIMD8(
      truncatingIfNeeded: offsets.loadUnaligned(
        fromByteOffset: 4 &* slot, as: SIMD8<UInt32>.self))
  }

  @inline(__always) private func offset(_ slot: Int) -> UInt32 {
    offsets.loadUnaligned(fromByteOffset: 4 &* slot, as: UInt32.self)
  }

  /// Puts the values in the order of their slots, so that equal documents have equal bytes
  /// whatever order their type declares its fields in.
  private mutating func sortValues() {
    let values = frame.values
    var slots: [(slot: Int, start: Int)] = []
    for slot in 0..<frame.used {
      let offset = offset(slot)
      if offset > 0 { slots.append((slot, Int(offset) - 1)) }
    }
    let starts = slots.map(\.start).sorted() + [count - values]
    let copy = [UInt8](UnsafeRawBufferPointer(start: base + values, count: count - values))
    count = values
    copy.withUnsafeBytes { copy in
      for (slot, start) in slots {
        let end = starts[starts.partitioningIndex { $0 > start }]
        offsets.storeBytes(
          of: UInt32(truncatingIfNeeded: count - values + 1), toByteOffset: 4 * slot,
          as: UInt32.self)
        append(UnsafeRawBufferPointer(rebasing: copy[start..<end]))
      }
    }
  }
}

extension RecordWriter {
  /// - Parameter start: Where the header of an outermost record is.
  /// - Throws: ``RecordError/tooLarge(byteCount:limit:)`` with the name of the field that takes most.
  @inline(never) func checkByteCount(from start: Int) throws(RecordError) {
    let byteCount = count - start + RecordFormat.checksumByteCount
    let limit = RecordFormat.byteCountLimit
    guard byteCount > limit else { return }
    let error = RecordError.tooLarge(byteCount: byteCount, limit: limit)
    let header = try RecordHeader(UnsafeRawBufferPointer(start: base + start, count: count - start))
    let offsets = (0..<header.slotCount).map {
      RecordHeader.number(base + start + 2, 3 + $0, shift: header.shift)
    }
    let ends = offsets.filter { $0 > 0 }.sorted() + [count - start - header.headerByteCount + 1]
    func size(_ slot: Int) -> Int {
      let offset = offsets[slot]
      return offset == 0 ? 0 : ends[ends.partitioningIndex { $0 > offset }] - offset
    }
    let fields = binding.collection.tables[header.table].fields
    guard let largest = offsets.indices.max(by: { size($0) < size($1) }), largest < fields.count
    else { throw error }
    throw .field(fields[largest].name, error)
  }
}
