/// What the database of a search index holds.
///
/// ```
/// 00                          -> header                      drawn in `SearchHeader`
/// 01 <entity-accessor key>    -> pending change              drawn in `PendingSearch`
/// 03 <block, 4, big-endian>   -> the lengths of 512 ids      drawn in `SearchDocuments`
/// 04 <block, 4, big-endian>   -> the keys of 32 ids          drawn in `SearchDocuments`
/// 05 <segment, 4> <term>      -> packed terms                drawn in `SegmentWriter`
/// 05 <segment, 4> <term> 00 <first id, 4> -> postings        drawn in `SegmentWriter`
/// 06 <entity-accessor key>    -> id, varint
/// ```
/// Each version of a document has an id of its own; ids only grow. A change waits in a pending
/// record, which its own commit writes and queries read at once. When enough of them wait, they
/// become a segment: the postings of a run of ids, sorted by term. Segments are merged into larger
/// ones later, as in a log-structured merge tree (O'Neil et al., "The Log-Structured Merge-Tree",
/// Acta Informatica 33, 1996). The length of an id that a newer version has taken the place of is
/// zero; its postings are passed over, and go away when their segment is merged.
enum SearchLayout {
  static let header: UInt8 = 0
  static let pending: UInt8 = 1
  static let lengths: UInt8 = 3
  static let keys: UInt8 = 4
  static let segments: UInt8 = 5
  /// Last, so that documents which are saved in the order of their keys fill pages: 200,000 texts with their index
  /// took 33.3 MB when this stood in front of the lengths, and take 26.5.
  static let ids: UInt8 = 6

  /// The largest number of bytes in a term, none of which is zero.
  static let maximumTermByteCount = 64

  /// The largest value in a segment: what one overflow page of LMDB holds.
  ///
  /// LMDB splits a leaf page in the middle unless a key is appended at the end. Records that fit two
  /// to a leaf so left half of it empty, and took 40.1 MB for 127,355 texts; these take 23.2 MB.
  static let blockByteCount = 4096 - 16

  static func key(_ tag: UInt8, _ key: some Sequence<UInt8>) -> [UInt8] { [tag] + key }

  static func key(_ tag: UInt8, number: UInt32) -> [UInt8] {
    var bytes = [tag]
    bytes.append(bigEndian: number)
    return bytes
  }

  static func segmentKey(_ segment: UInt32, _ term: some Sequence<UInt8>) -> [UInt8] {
    var bytes = [UInt8]()
    bytes.append(segments)
    bytes.append(bigEndian: segment)
    bytes.append(contentsOf: term)
    return bytes
  }

  /// A value with the checksum of its key and itself behind it, four bytes.
  static func seal(_ value: inout [UInt8], key: [UInt8]) {
    let sum = value.withUnsafeBytes { value in
      key.withUnsafeBytes { key in checksum(value, key: key) }
    }
    withUnsafeBytes(of: sum.littleEndian) { value.append(contentsOf: $0) }
  }

  /// A value without its checksum.
  ///
  /// - Throws: ``SearchDamage`` where that does not match.
  static func opened(
    _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) throws(SearchDamage) -> UnsafeRawBufferPointer {
    let count = value.count - 4
    guard count >= 0 else { throw SearchDamage("a record is too short") }
    let body = UnsafeRawBufferPointer(rebasing: value[..<count])
    let stored = UInt32(
      littleEndian: value.loadUnaligned(fromByteOffset: count, as: UInt32.self))
    guard checksum(body, key: key) == stored else { throw SearchDamage("a checksum is wrong") }
    return body
  }

  private static func checksum(
    _ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) -> UInt32 {
    UInt32(truncatingIfNeeded: Checksum.hash(value, seed: Checksum.hash(key, seed: 0)))
  }
}

/// A record of a search index that says what no writer wrote. The index is then built anew; the
/// documents are not concerned.
struct SearchDamage: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  /// Nothing is damaged, but ids only grow, and have come to their end. Built anew they begin at zero.
  static let outOfIDs = SearchDamage("its ids have come to their end")
  var isOutOfIDs: Bool { description == Self.outOfIDs.description }
}
