/// Writes values and records into bytes of its own; used again from record to record.
///
/// A document's `encode(into:)` calls ``put(_:at:)`` once per field. The rest of this type is
/// what `Storable` types are made of.
@frozen public struct RecordWriter: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer
  /// Behind the last byte that was written.
  @usableFromInline var end: UnsafeMutableRawPointer
  /// Behind the last byte that there is room for.
  @usableFromInline var limit: UnsafeMutableRawPointer
  // Where things of the record stand that is being written: see ``placeFrame()``.
  /// One byte before its first value, as an offset counts from there.
  @usableFromInline var origin: UnsafeMutableRawPointer
  /// The offset of the value in slot 0.
  @usableFromInline var offsets: UnsafeMutableRawPointer
  /// The record that is being written; its depth is 0 between records.
  @usableFromInline var frame = Frame.none
  /// The first thing that could not be written; checked once, when an outermost record ends.
  @usableFromInline var failure: RecordError?
  @usableFromInline let binding: CollectionBinding
  /// The beginning of every outermost record.
  private let root: Frame
  /// What writes values that are not `Storable`; nil as long as there were none.
  @usableFromInline var guest: (any RecordGuest)?
  /// Whether a stored document is only checked: fields that a type requires since may be missing,
  /// and integers may stand in fields that were widened to doubles.
  var isRehearsing = false
  /// Whether fields may be missing that a type requires: a migration is no longer that type's.
  var mayLackFields = false

  @usableFromInline init(binding: CollectionBinding, capacity: Int = 1024) {
    self.binding = binding
    root = Frame(binding.root)
    base = .allocate(byteCount: capacity, alignment: 16)
    end = base
    limit = base + capacity
    origin = base
    offsets = base
  }

  @inlinable deinit { base.deallocate() }

  /// Puts the value of the field with this number in the type's schema.
  @inlinable @inline(__always)
  public mutating func put<Value: Storable>(_ value: Value, at field: Int) {
    expectField(field)
    beginValue(slot: Int(frame.slots[field]))
    value._store(into: &self)
  }

  /// Traps on a number that the type's schema does not have, a negative one too.
  @inlinable @inline(__always) func expectField(_ field: Int) {
    precondition(
      UInt(bitPattern: field) < UInt(bitPattern: frame.fieldCount),
      "the schema has no field with this number")
  }

  /// Notes that the next value belongs to `slot`.
  @inlinable @inline(__always) mutating func beginValue(slot: Int) {
    offsets.storeBytes(
      of: UInt32(truncatingIfNeeded: end - origin), toByteOffset: 4 &* slot, as: UInt32.self)
    if _fastPath(slot == frame.used) {
      frame.used = slot &+ 1
    } else {
      skipSlots(to: slot)
    }
  }

  /// Notes a slot that is not the one behind the last: those between them have no value.
  @inline(never) @usableFromInline mutating func skipSlots(to slot: Int) {
    guard slot > frame.used else {
      frame.isOutOfOrder = true
      return
    }
    for slot in frame.used..<slot {
      offsets.storeBytes(of: 0, toByteOffset: 4 &* slot, as: UInt32.self)
    }
    frame.used = slot &+ 1
  }

  /// Notes that the value which is being put cannot be stored, under the name of its field where it is in
  /// one.
  mutating func refuse(_ reason: RecordError) {
    guard failure == nil else { return }
    failure = reason
    let values = offsets
    // Fields are put in any order: the one that is being put begins last.
    let slot = (0..<frame.used).max {
      values.loadUnaligned(fromByteOffset: 4 &* $0, as: UInt32.self)
        < values.loadUnaligned(fromByteOffset: 4 &* $1, as: UInt32.self)
    }
    guard let slot else { return }
    let fields = binding.collection.tables[frame.table].fields
    if slot < fields.count { failure = .field(fields[slot].name, reason) }
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
  @inline(__always) mutating func begin(_ new: Frame) -> Frame {
    let outer = frame
    let slotCount = new.reserved
    let room = Self.widestHeader(slotCount: slotCount)
    reserve(room &+ 256)
    count &+= room
    frame = new
    frame.values = count
    frame.depth = outer.depth &+ 1
    placeFrame()
    return outer
  }

  /// Gives the record that was begun, and in which nothing stands yet, a table and room for so
  /// many slots.
  mutating func widen(table: Int, slotCount: Int32) {
    frame.table = table
    let missing = Int(slotCount) &- frame.reserved
    guard missing > 0 else { return }
    reserve(4 &* missing &+ 256)
    count &+= 4 &* missing
    frame.values = count
    frame.reserved = Int(slotCount)
    placeFrame()
  }

  /// Finds the places of the record that is being written, after it or the bytes were moved.
  @inline(__always) mutating func placeFrame() {
    let values = base + frame.values
    origin = values - 1
    offsets = values - 4 &* frame.reserved
  }

  @usableFromInline static func widestHeader(slotCount: Int) -> Int { 2 &+ 4 &* (3 &+ slotCount) }
}

// MARK: Outermost records

extension RecordWriter {
  /// Puts the fields of a document where it stands.
  @inlinable mutating func putFields<Entity: Document>(of document: UnsafePointer<Entity>) {
    document.withMemoryRebound(to: Lent<Entity>.self, capacity: 1) {
      $0.pointee.encode(into: &self)
    }
  }

  /// Begins an outermost record, which is a document of the binding's root type.
  @usableFromInline mutating func beginDocument() {
    _ = begin(root)
  }

  /// Ends an outermost record with its checksum, bound to the collection and to `key`.
  ///
  /// - Returns: The range of the record in ``withBytes(_:)``. The bytes before it, back to where
  ///   the record was begun, are not part of it.
  /// - Throws: ``RecordError`` for what could not be written; the record must then not be used.
  @usableFromInline mutating func endDocument(
    key: UnsafeRawBufferPointer
  ) throws(RecordError) -> Range<Int> {
    let start = narrowHeader()
    frame.depth = 0
    if let failure {
      self.failure = nil
      throw failure
    }
    if _slowPath(count &- start > RecordFormat.largeByteCount) { try checkByteCount(from: start) }
    let seed = Checksum.hash(key, seed: binding.checksumSeed)
    let hash = Checksum.hash(
      UnsafeRawBufferPointer(start: base + start, count: count &- start), seed: seed)
    appendInteger(hash.littleEndian)
    return start..<count
  }
}

// MARK: Bytes

extension RecordWriter {
  /// How many bytes were written.
  @inlinable var count: Int {
    @inline(__always) get { end - base }
    @inline(__always) set { end = base + newValue }
  }

  @usableFromInline var capacity: Int { limit - base }

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
    limit = base + capacity
    removeAll()
    return taken
  }

  @usableFromInline mutating func removeAll() {
    end = base
    if frame.depth > 0 { frame = .none }
    failure = nil
  }

  /// Gives up the record that was begun, and what was written since there were `count` bytes.
  mutating func abandon(to count: Int) {
    self.count = count
    frame = .none
    failure = nil
  }

  @inlinable @inline(__always) mutating func reserve(_ byteCount: Int) {
    if _slowPath(limit - end < byteCount) { grow(byteCount) }
  }

  @inline(never) @usableFromInline mutating func grow(_ byteCount: Int) {
    let count = count
    let newCapacity = max(capacity * 2, count + byteCount)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
    larger.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = larger
    end = base + count
    limit = base + newCapacity
    placeFrame()
  }

  @inlinable @inline(__always) mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    reserve(bytes.count)
    end.copyMemory(from: source, byteCount: bytes.count)
    end += bytes.count
  }

  @inlinable @inline(__always) mutating func appendByte(_ byte: UInt8) {
    reserve(1)
    end.storeBytes(of: byte, as: UInt8.self)
    end += 1
  }

  @inlinable @inline(__always)
  mutating func appendInteger<Integer: FixedWidthInteger & BitwiseCopyable>(_ value: Integer) {
    reserve(MemoryLayout<Integer>.size)
    end.storeBytes(of: value, as: Integer.self)
    end += MemoryLayout<Integer>.size
  }

  /// A tag and what follows it, big-endian as MessagePack wants it.
  @inlinable @inline(__always)
  mutating func append<Integer: FixedWidthInteger & BitwiseCopyable>(
    tag: UInt8, _ value: Integer
  ) {
    reserve(1 &+ MemoryLayout<Integer>.size)
    end.storeBytes(of: tag, as: UInt8.self)
    end.storeBytes(of: value.bigEndian, toByteOffset: 1, as: Integer.self)
    end += 1 &+ MemoryLayout<Integer>.size
  }
}
