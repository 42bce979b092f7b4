/// Writes values and records into bytes of its own; used again from record to record.
///
/// A document's `encode(into:)` calls ``put(_:at:)`` once per field. The rest of this type is
/// what `Storable` types are made of.
@frozen public struct RecordWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var count = 0
  @usableFromInline var capacity: Int
  /// The record that is being written; `Frame.none` between records.
  @usableFromInline var frame = Frame.none
  /// The first thing that could not be written; checked once, when an outermost record ends.
  @usableFromInline var failure: RecordError?
  @usableFromInline let binding: CollectionBinding
  /// The beginning of every outermost record.
  private let root: Frame
  /// What `Codable` values are encoded with; used again from value to value.
  @usableFromInline var coding: CodableOutput?
  /// Fields that documents of a `Codable` type need, and the catalogue does not have.
  @usableFromInline var undeclared: UndeclaredFields?
  /// What `Codable` types of the documents that were written know of their fields.
  @usableFromInline var knowledge = FieldKnowledge()
  /// Whether a stored document is only checked: fields that a type requires since may be missing,
  /// and integers may stand in fields that were widened to doubles.
  var isRehearsing = false
  /// Whether fields may be missing that a type requires: a migration is no longer that type's.
  var mayLackFields = false

  @usableFromInline init(binding: CollectionBinding, capacity: Int = 1024) {
    self.binding = binding
    self.capacity = capacity
    root = Frame(binding.root)
    base = .allocate(byteCount: capacity, alignment: 16)
  }

  @inlinable deinit { base.deallocate() }

  /// Puts the value of the field with this number in the type's schema.
  @inlinable @inline(__always)
  public mutating func put<Value: Storable>(_ value: Value, at field: Int) {
    expectField(field)
    beginValue(slot: Int(frame.slots[field]))
    value.store(into: &self)
  }

  /// Traps on a number that the type's schema does not have, a negative one too.
  @inlinable @inline(__always) func expectField(_ field: Int) {
    precondition(
      UInt(bitPattern: field) < UInt(bitPattern: frame.fieldCount),
      "the schema has no field with this number")
  }

  /// Notes that the next value belongs to `slot`.
  @inlinable @inline(__always) mutating func beginValue(slot: Int) {
    let offset = UInt32(truncatingIfNeeded: count &- frame.values &+ 1)
    base.storeBytes(
      of: offset, toByteOffset: frame.values &- 4 &* (frame.reserved &- slot), as: UInt32.self)
    if _fastPath(slot >= frame.used) {
      frame.used = slot &+ 1
    } else {
      frame.isOutOfOrder = true
    }
  }
}

// MARK: Records

extension RecordWriter {
  /// Where the record that is being written stands in the bytes.
  ///
  /// Before its end, a record has room for the widest header in front of its values, filled
  /// with 4-byte offsets; the end of the record narrows them in place.
  @frozen @usableFromInline struct Frame {
    /// Byte offset of the first value.
    @usableFromInline var values: Int
    /// Slots that there is room for.
    @usableFromInline var reserved: Int
    /// One more than the highest slot that was put.
    @usableFromInline var used: Int
    @usableFromInline var table: Int
    @usableFromInline var fieldCount: Int
    /// From a field's number in the schema to its slot in the table.
    @usableFromInline var slots: UnsafePointer<UInt16>
    @usableFromInline var depth: Int
    /// Whether a value was put behind one of a higher slot.
    @usableFromInline var isOutOfOrder = false

    @usableFromInline nonisolated(unsafe) static let none: Frame = {  // Immutable.
      let unused = UnsafeMutablePointer<UInt16>.allocate(capacity: 1)
      unused.pointee = 0
      return Frame(table: 0, slotCount: 0, fieldCount: 0, slots: UnsafePointer(unused))
    }()

    private init(table: Int, slotCount: Int, fieldCount: Int, slots: UnsafePointer<UInt16>) {
      values = 0
      reserved = slotCount
      used = 0
      self.table = table
      self.fieldCount = fieldCount
      self.slots = slots
      depth = 0
    }

    /// For a document type's fields.
    init(_ schema: SchemaBinding) {
      self.init(
        table: schema.table, slotCount: schema.slotCount, fieldCount: schema.fieldCount,
        slots: schema.slots)
    }

    /// For values that are put slot by slot.
    init(table: Int, slotCount: Int) {
      self.init(table: table, slotCount: slotCount, fieldCount: 0, slots: Self.none.slots)
    }
  }

  /// Begins the record of an embedded document; returns what ``endEmbedded(_:)`` takes, or nil
  /// (and a nil value in the document's place) below the deepest level.
  @usableFromInline mutating func beginEmbedded(_ type: ObjectIdentifier) -> Frame? {
    guard frame.depth < RecordFormat.maximumDepth else {
      failure = .tooDeep
      putNil()
      return nil
    }
    let schema = binding.schema(of: type)
    return begin(Frame(schema))
  }

  /// Begins a record with a frame whose places are not set yet; returns the outer one.
  mutating func begin(_ new: Frame) -> Frame {
    let outer = frame
    let slotCount = new.reserved
    let room = Self.widestHeader(slotCount: slotCount)
    reserve(room &+ 256)
    (base + count + (room - 4 * slotCount)).initializeMemory(
      as: UInt8.self, repeating: 0, count: 4 &* slotCount)
    count &+= room
    frame = new
    frame.values = count
    frame.depth = outer.depth &+ 1
    return outer
  }

  /// Gives the record that was begun, and in which nothing stands yet, a table and room for so
  /// many slots.
  mutating func widen(table: Int, slotCount: Int32) {
    frame.table = table
    let missing = Int(slotCount) &- frame.reserved
    guard missing > 0 else { return }
    reserve(4 &* missing &+ 256)
    (base + count).initializeMemory(as: UInt8.self, repeating: 0, count: 4 &* missing)
    count &+= 4 &* missing
    frame.values = count
    frame.reserved = Int(slotCount)
  }

  @usableFromInline static func widestHeader(slotCount: Int) -> Int { 2 &+ 4 &* (3 &+ slotCount) }

  /// Ends an embedded record: narrows its header and closes the gap in front of it.
  @usableFromInline mutating func endEmbedded(_ outer: Frame) {
    let start = frame.values &- Self.widestHeader(slotCount: frame.reserved)
    let narrowed = narrowHeader()
    let length = count &- narrowed
    (base + start).copyMemory(from: base + narrowed, byteCount: length)
    count = start &+ length
    frame = outer
  }

  /// Writes the final header directly in front of the values and returns where it begins.
  ///
  /// Works from the last slot to the first: a narrow offset lands on or behind the wide one
  /// that it is made from, so that no offset is overwritten before it is read.
  private mutating func narrowHeader() -> Int {
    if frame.isOutOfOrder { sortValues() }
    let values = frame.values
    let used = frame.used
    let valueByteCount = count &- values
    var shift = 0
    while shift < 2 {
      let limit = shift == 0 ? 0xFF : 0xFFFF
      let total = 2 &+ ((3 &+ used) &<< shift) &+ valueByteCount
      if total <= limit && frame.table <= limit && used <= limit { break }
      shift &+= 1
    }
    let wide = base + (values - 4 * frame.reserved)
    let header = values &- ((3 &+ used) &<< shift) &- 2
    let numbers = base + (header + 2)
    var slot = used
    while slot > 0 {
      slot &-= 1
      let offset = wide.loadUnaligned(fromByteOffset: 4 &* slot, as: UInt32.self)
      Self.store(offset, at: numbers + ((3 &+ slot) &<< shift), shift: shift)
    }
    Self.store(UInt32(truncatingIfNeeded: frame.table), at: numbers, shift: shift)
    Self.store(UInt32(truncatingIfNeeded: used), at: numbers + (1 << shift), shift: shift)
    let total = count &- header
    if total > Int(UInt32.max) { failure = .outOfRange(expected: "a record of 4 GB") }
    Self.store(UInt32(truncatingIfNeeded: total), at: numbers + (2 << shift), shift: shift)
    base.storeBytes(of: RecordFormat.marker, toByteOffset: header, as: UInt8.self)
    base.storeBytes(
      of: RecordFormat.version | UInt8(truncatingIfNeeded: shift), toByteOffset: header &+ 1,
      as: UInt8.self)
    return header
  }

  /// Puts the values in the order of their slots, so that equal documents have equal bytes
  /// whatever order their type declares its fields in.
  private mutating func sortValues() {
    let values = frame.values
    let offsets = base + (values - 4 * frame.reserved)
    var slots: [(slot: Int, start: Int)] = []
    for slot in 0..<frame.used {
      let offset = offsets.loadUnaligned(fromByteOffset: 4 * slot, as: UInt32.self)
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

  @inline(__always)
  private static func store(_ value: UInt32, at place: UnsafeMutableRawPointer, shift: Int) {
    switch shift {
    case 0: place.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
    case 1:
      place.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, as: UInt16.self)
    default: place.storeBytes(of: value.littleEndian, as: UInt32.self)
    }
  }
}

// MARK: Outermost records

extension RecordWriter {
  /// Begins an outermost record, which is a document of the binding's root type.
  @usableFromInline mutating func beginDocument() -> Frame {
    begin(root)
  }

  /// Ends an outermost record with its checksum, bound to the collection and to `key`.
  ///
  /// - Returns: The range of the record in ``withBytes(_:)``. The bytes before it, back to where
  ///   the record was begun, are not part of it.
  /// - Throws: ``RecordError`` for what could not be written; the record must then not be used.
  @usableFromInline mutating func endDocument(
    _ outer: Frame, key: UnsafeRawBufferPointer
  ) throws(RecordError) -> Range<Int> {
    let start = narrowHeader()
    frame = outer
    if let failure {
      self.failure = nil
      throw failure
    }
    let seed = Checksum.hash(key, seed: binding.checksumSeed)
    let hash = Checksum.hash(
      UnsafeRawBufferPointer(start: base + start, count: count &- start), seed: seed)
    appendInteger(hash.littleEndian)
    return start..<count
  }
}

// MARK: Bytes

extension RecordWriter {
  /// Lends everything that was written.
  @inlinable func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Hands the bytes over, which the caller then deallocates, and begins with new ones.
  mutating func takeBytes(capacity: Int) -> UnsafeMutableRawPointer {
    let taken = base
    base = .allocate(byteCount: capacity, alignment: 16)
    self.capacity = capacity
    removeAll()
    return taken
  }

  @usableFromInline mutating func removeAll() {
    count = 0
    frame = .none
    failure = nil
  }

  @inlinable @inline(__always) mutating func reserve(_ byteCount: Int) {
    if _slowPath(capacity &- count < byteCount) { grow(byteCount) }
  }

  @inline(never) @usableFromInline mutating func grow(_ byteCount: Int) {
    let newCapacity = max(capacity * 2, count + byteCount)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
    capacity = newCapacity
  }

  @inlinable @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    (base + count).copyMemory(from: source, byteCount: bytes.count)
    count &+= bytes.count
  }

  @inlinable @inline(__always) mutating func appendByte(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  @inlinable @inline(__always)
  mutating func appendInteger<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
    reserve(MemoryLayout<Integer>.size)
    base.storeBytes(of: value, toByteOffset: count, as: Integer.self)
    count &+= MemoryLayout<Integer>.size
  }

  /// A tag and what follows it, big-endian as MessagePack wants it.
  @inlinable @inline(__always)
  mutating func append<Integer: FixedWidthInteger & BitwiseCopyable>(
    tag: UInt8, _ value: Integer
  ) {
    reserve(1 &+ MemoryLayout<Integer>.size)
    base.storeBytes(of: tag, toByteOffset: count, as: UInt8.self)
    base.storeBytes(of: value.bigEndian, toByteOffset: count &+ 1, as: Integer.self)
    count &+= 1 &+ MemoryLayout<Integer>.size
  }
}

extension Array {
  /// The first place whose element `belongs`, where all elements behind it do too.
  func partitioningIndex(_ belongs: (Element) -> Bool) -> Int {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = low + (high - low) / 2
      if belongs(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
