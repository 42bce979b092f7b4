/// A record's header, checked against the bytes that hold it.
@frozen @usableFromInline struct RecordHeader {
  /// Binary logarithm of the width of the header's numbers.
  @usableFromInline let shift: Int
  @usableFromInline let table: Int
  @usableFromInline let slotCount: Int
  /// Bytes from the marker to the end of the values.
  @usableFromInline let byteCount: Int

  /// Bytes from the marker to the first value.
  @inlinable @inline(__always) var headerByteCount: Int { 2 &+ ((3 &+ slotCount) &<< shift) }

  @inlinable @inline(__always) init(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard let start = bytes.baseAddress, bytes.count >= 5 else { throw .truncated }
    let marker = start.load(as: UInt8.self)
    if _slowPath(marker != RecordFormat.marker) {
      throw .unexpected(byte: marker, expected: "a record")
    }
    let flags = start.load(fromByteOffset: 1, as: UInt8.self)
    let shift = Int(flags & RecordFormat.widthMask)
    if _slowPath(shift > 2 || flags & ~RecordFormat.widthMask != RecordFormat.version) {
      throw .unexpected(byte: flags, expected: "a record of format 1")
    }
    if _slowPath(bytes.count < 2 &+ (3 &<< shift)) { throw .truncated }
    let numbers = start + 2
    table = Self.number(numbers, 0, shift: shift)
    slotCount = Self.number(numbers, 1, shift: shift)
    byteCount = Self.number(numbers, 2, shift: shift)
    self.shift = shift
    if _slowPath(byteCount > bytes.count || 2 &+ ((3 &+ slotCount) &<< shift) > byteCount) {
      throw .truncated
    }
  }

  @inlinable @inline(__always)
  static func number(_ numbers: UnsafeRawPointer, _ index: Int, shift: Int) -> Int {
    switch shift {
    case 0: return Int(numbers.load(fromByteOffset: index, as: UInt8.self))
    case 1:
      return Int(
        UInt16(littleEndian: numbers.loadUnaligned(fromByteOffset: index &* 2, as: UInt16.self)))
    default:
      return Int(
        UInt32(littleEndian: numbers.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)))
    }
  }
}

/// One record, read in place. It borrows the bytes of a transaction, so it cannot be copied
/// and is only ever lent.
@frozen public struct RecordReader: ~Copyable {
  @usableFromInline let numbers: UnsafeRawPointer
  @usableFromInline let values: UnsafeRawPointer
  @usableFromInline let end: UnsafeRawPointer
  @usableFromInline let shift: Int
  @usableFromInline let slotCount: Int
  @usableFromInline let table: Int
  @usableFromInline let depth: Int
  /// From a field's number in the schema to its slot in this record's table; -1 where the
  /// table has no such field.
  @usableFromInline let slots: UnsafePointer<Int32>
  @usableFromInline let fieldCount: Int
  // Whoever made this reader holds both for as long as it lends the bytes.
  @usableFromInline unowned(unsafe) let binding: CollectionBinding
  @usableFromInline unowned(unsafe) let schema: SchemaBinding

  @inlinable @inline(__always) init(
    _ bytes: UnsafeRawBufferPointer, binding: CollectionBinding, schema: SchemaBinding,
    depth: Int
  ) throws(RecordError) {
    try self.init(
      bytes, binding: .passUnretained(binding), schema: .passUnretained(schema), depth: depth)
  }

  @inlinable @inline(__always) init(
    _ bytes: UnsafeRawBufferPointer, binding: Unmanaged<CollectionBinding>,
    schema: Unmanaged<SchemaBinding>, depth: Int
  ) throws(RecordError) {
    let header = try RecordHeader(bytes)
    guard let start = bytes.baseAddress else { throw .truncated }
    let (tableCount, readSlots, fieldCount) = schema._withUnsafeGuaranteedRef {
      ($0.tableCount, $0.readSlots, $0.fieldCount)
    }
    if _slowPath(header.table >= tableCount) { throw .unknownTable(header.table) }
    numbers = start + 2
    values = start + header.headerByteCount
    end = start + header.byteCount
    shift = header.shift
    slotCount = header.slotCount
    table = header.table
    slots = UnsafePointer(readSlots + header.table &* fieldCount)
    self.fieldCount = fieldCount
    self.depth = depth
    self.binding = binding.takeUnretainedValue()
    self.schema = schema.takeUnretainedValue()
  }

  /// The value of the field with this number in the type's schema; the declared default where
  /// the record has none.
  ///
  /// - Throws: ``RecordError/field(_:_:)`` with the field's name, when the bytes do not hold a
  ///   `Value` or the field is missing and has no default.
  @inlinable @inline(__always)
  public func get<Value: Storable>(_ field: Int) throws(RecordError) -> Value {
    expectField(field)
    do {
      guard var reader = try value(inSlot: Int(slots[field])) else { return try absent(field) }
      return try Value._load(from: &reader)
    } catch {
      throw named(error, field)
    }
  }

  /// Traps on a number that the type's schema does not have, a negative one too.
  @inlinable @inline(__always) func expectField(_ field: Int) {
    precondition(
      UInt(bitPattern: field) < UInt(bitPattern: fieldCount),
      "the schema has no field with this number")
  }

  /// A reader in front of the value in `slot`, or nil where the record has none.
  @inlinable @inline(__always)
  func value(inSlot slot: Int) throws(RecordError) -> ValueReader? {
    if slot < 0 || slot >= slotCount { return nil }
    let offset = RecordHeader.number(numbers, 3 &+ slot, shift: shift)
    if offset == 0 { return nil }
    if _slowPath(offset > end - values) { throw .truncated }
    return ValueReader(values + (offset &- 1), end, binding: binding, depth: depth)
  }

  @inline(never) @usableFromInline
  func absent<Value: Storable>(_ field: Int) throws(RecordError) -> Value {
    if let value = schema.fields[field].defaultValue as? Value { return value }
    if let value = Value._absent { return value }
    throw .missing
  }

  @inline(never) @usableFromInline
  func named(_ error: RecordError, _ field: Int) -> RecordError {
    .field(schema.fields[field].name, error)
  }
}
