/// The numbers of the record format; the `OnDisk` article draws it.
///
/// ```
/// record   = marker  flags  table  slots  length  offset x slots  value x n  [checksum]
///            1       1      w      w      w       w each                      8, outermost only
/// ```
/// `w` is 1, 2 or 4 bytes: the smallest width that holds the record's length, its table and
/// its number of slots. An offset is one more than the value's distance from the first value;
/// 0 says that the record has no such field. All numbers of the header are little-endian.
@usableFromInline package enum RecordFormat {
  /// Stands for nil in the place of any value.
  static let nilByte: UInt8 = 0xC0
  /// The first byte of every record. MessagePack never uses it, so that a nested document
  /// cannot be taken for another value.
  @usableFromInline package static let marker: UInt8 = 0xC1
  /// Documents inside documents, counting the outermost one.
  @usableFromInline package static let maximumDepth = 128
  /// Values inside values, arrays and dictionaries and documents alike, that are read or written
  /// without their Swift type.
  static let maximumNesting = 4 * maximumDepth
  /// Bytes of a record, and so about those of a document's texts, data and other values together:
  /// 2 GiB less 1 MiB. LMDB hands a value to the system in one write, and Linux takes no more than
  /// 2 GiB less a page at once; the rest is for what stands beside a record in the change log.
  @usableFromInline package static let maximumByteCount = 1 << 31 - 1 << 20
  /// What holds; a test can take less, for the records that it makes itself.
  @TaskLocal static var byteCountLimit = maximumByteCount
  /// Records that are smaller than this never ask for the limit.
  @usableFromInline static let largeByteCount = 16 << 20
  /// Bytes of the checksum behind an outermost record.
  @usableFromInline package static let checksumByteCount = 8

  /// Low two bits of the flags: the width of the header's numbers, as its binary logarithm.
  @usableFromInline static let widthMask: UInt8 = 0b0000_0011
  /// The rest of the flags is the version of the record format.
  @usableFromInline static let version: UInt8 = 0b0000_0100

  /// MessagePack extension types of the values that MessagePack does not have itself.
  @usableFromInline package enum Extension {
    /// 8 bytes: seconds since the reference date, an IEEE 754 double, big-endian.
    @usableFromInline package static let date: UInt8 = 1
    /// 16 bytes.
    @usableFromInline package static let uuid: UInt8 = 2
    /// ASCII digits, as `Decimal.description` writes them; `NaN` for not a number.
    @usableFromInline package static let decimal: UInt8 = 3
    /// The absolute URL's text, UTF-8.
    @usableFromInline package static let url: UInt8 = 4
  }
}
