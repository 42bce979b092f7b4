internal import LarderLMDB

// How an entry of an index lies in the store, and how it is read: never without its checksum.
//
// Nothing else would tell that an entry is damaged. The document that it names is whole, and has
// other values; the entries beside it are whole, and lack one.

/// The bytes of an entry.
///
/// ```
/// key    values, up to 250 bytes  entity-accessor key
///        values, 250 bytes  hash of the whole values, 6  entity-accessor key     of those that are cut
/// value  length of the values, 1  checksum, 3                                    length FF: they are cut
/// ```
///
/// The checksum is of the key, the length and the index's number. With three bytes, one damaged entry
/// in sixteen million passes for whole; the length beside them saves going over the values to find
/// their end, which costs as much as the checksum.
///
/// Measured with 100,000 contacts, beside entries without a checksum: queries by an index, by a range
/// of two fields and by an order take 1.00, 0.97 and 1.00 times as long, a save into two indexes 1.02
/// times, and the file is 1.03 times as large. A count takes 12.5 instead of 5.2 ns an entry: it did
/// not look at entries at all.
enum IndexEntry {
  static let valueByteCount = 4
  private static let cutLength: UInt8 = 0xFF
  /// What is left of LMDB's 511 bytes behind the values and the longest entity-accessor key.
  static let hashByteCount = 6

  /// Bytes of an entry's values with their hash, where they are cut.
  static var cutByteCount: Int { CollectionIndex.maximumValueByteCount + hashByteCount }

  /// The value of an entry.
  @inline(__always) static func value(
    of key: UnsafeRawBufferPointer, valueByteCount: Int, isCut: Bool, index number: UInt32
  ) -> UInt32 {
    value(of: key, isCut ? cutLength : UInt8(truncatingIfNeeded: valueByteCount), number)
  }

  @inline(__always) private static func value(
    of key: UnsafeRawBufferPointer, _ length: UInt8, _ number: UInt32
  ) -> UInt32 {
    let hash = Checksum.hash(key, seed: UInt64(number) << 8 | UInt64(length))
    return UInt32(truncatingIfNeeded: hash) & ~0xFF | UInt32(length)
  }

  /// Whether an entry's values are cut, so that only its document knows them.
  @inline(__always) static func isCut(_ value: UnsafeRawBufferPointer) -> Bool {
    value.first == cutLength
  }

  /// How many bytes of an entry's key are its values; nil for an entry that is damaged.
  @inline(__always) static func valueByteCount(
    of key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, index number: UInt32
  ) -> Int? {
    guard value.count == valueByteCount, let start = value.baseAddress else { return nil }
    let stored = UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))
    let length = UInt8(truncatingIfNeeded: stored)
    guard Self.value(of: key, length, number) == stored || isTrusted else { return nil }
    let count = length == cutLength ? cutByteCount : Int(length)
    return count < key.count ? count : nil
  }

  @inline(__always) private static var isTrusted: Bool {
    #if LARDER_MUTANTS
      Mutant.indexEntries.isOn
    #else
      false
    #endif
  }

  /// What stands behind values that are cut.
  static func hash(ofWhole values: UnsafeRawBufferPointer) -> UInt64 {
    Checksum.hash(values, seed: 0)
  }

  /// Values that are too long for an entry, as they stand in one.
  static func cutValues(_ values: [UInt8]) -> [UInt8] {
    values.withUnsafeBytes { values in
      var bytes = OrderedBytes()
      bytes.append(values)
      bytes.cutValues(from: 0, hash: hash(ofWhole: values))
      return [UInt8](bytes.bytes)
    }
  }
}

extension OrderedBytes {
  /// Cuts the values behind `start`, and puts the hash of them all behind them.
  mutating func cutValues(from start: Int, hash: UInt64) {
    truncate(to: start + CollectionIndex.maximumValueByteCount)
    withUnsafeBytes(of: hash.littleEndian) {
      append(UnsafeRawBufferPointer(rebasing: $0.prefix(IndexEntry.hashByteCount)))
    }
  }
}

// MARK: Reading

extension CollectionIndex {
  /// How many bytes of an entry's key are its values; nil for an entry that is damaged.
  @inline(__always) func valueByteCount(
    ofEntry key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Int? {
    IndexEntry.valueByteCount(of: key, value, index: number)
  }

  /// The same where a damaged entry is an error.
  ///
  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``.
  @inline(__always) func checkedValueByteCount(
    ofEntry key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(StoreError) -> Int {
    guard let count = valueByteCount(ofEntry: key, value) else { throw damagedEntry }
    return count
  }

  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``.
  func check(_ cursor: borrowing Cursor) throws(StoreError) {
    _ = try checkedValueByteCount(ofEntry: cursor.key, cursor.value)
  }

  @inline(never) func damaged(_ reason: String) -> StoreError {
    .damagedIndex(collection: definition.collection, index: name, reason: reason)
  }

  private var damagedEntry: StoreError { damaged("the checksum of an entry does not match") }
  var disorder: StoreError { damaged("its entries are in disorder") }
  /// Of an entry that is whole, as after a write that did not reach the disk.
  var missingDocument: StoreError { damaged("it names a document that is not there") }
  var otherDocument: StoreError { damaged("it names a document with other values") }

  /// Goes to the first entry at or behind a bound; false where there is none.
  ///
  /// An entry that would stand in a range that begins there, and whose damage has it sort in front
  /// of it, is the one in front of the place that is come to: that is looked at, too.
  ///
  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``.
  func seek(atOrAfter bound: UnsafeRawBufferPointer, _ cursor: inout Cursor) throws -> Bool {
    let isThere = try cursor.seek(atOrAfter: bound)
    if bound.isEmpty { return isThere }
    if isThere, Bytes.compare(cursor.key, bound) < 0 { throw disorder }
    guard try cursor.previous() else { return try cursor.next() }
    try check(cursor)
    if Bytes.compare(cursor.key, bound) >= 0 { throw disorder }
    return try cursor.next()
  }

  /// Goes to the last entry in front of a bound; false where there is none.
  ///
  /// - Throws: ``StoreError/damagedIndex(collection:index:reason:)``.
  func seek(before bound: UnsafeRawBufferPointer, _ cursor: inout Cursor) throws -> Bool {
    guard try cursor.seek(atOrAfter: bound) else { return try cursor.last() }
    try check(cursor)
    if Bytes.compare(cursor.key, bound) < 0 { throw disorder }
    guard try cursor.previous() else { return false }
    if Bytes.compare(cursor.key, bound) >= 0 { throw disorder }
    return true
  }
}
