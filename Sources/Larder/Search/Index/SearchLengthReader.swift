internal import LarderLMDB

/// Tells which ids are those of living documents, and how long these are. Reads each block once.
///
/// It keeps places in the store: it is good for one transaction, until that writes.
struct SearchLengthReader {
  private let database: Database
  /// Nil for those whose ids have all lost their documents.
  private var blocks: [UInt32: UnsafeRawPointer?] = [:]
  private var number = UInt32.max
  private var current: UnsafeRawPointer?

  init(_ database: Database) { self.database = database }

  /// - Parameter id: One that has postings.
  /// - Throws: ``SearchDamage``, also where there are no lengths for it, and keys all the same; LMDB's errors.
  @inline(__always)
  mutating func stored(
    _ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> UInt16 {
    let block = SearchLengths.block(of: id)
    if block != number { try load(block, transaction) }
    guard let current else { return 0 }
    let place = 2 * Int(id % SearchLengths.idsPerBlock)
    return UInt16(littleEndian: current.loadUnaligned(fromByteOffset: place, as: UInt16.self))
  }

  @inline(__always)
  mutating func isLive(
    _ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    try stored(id, transaction) != 0
  }

  private mutating func load(
    _ block: UInt32, _ transaction: borrowing some Transaction & ~Copyable
  ) throws {
    if let known = blocks[block] {
      current = known
    } else {
      current =
        try SearchLengths.withBlock(block, transaction, in: database) { $0.baseAddress } ?? nil
      // Where no id of a block has a document any more, its lengths and its keys are gone. Postings of such ids are
      // still there until the merge that has swept them has ended.
      if current == nil, try SearchKeys.exist(besideLengths: block, transaction, in: database) {
        throw SearchDamage("lengths are missing")
      }
      blocks.updateValue(current, forKey: block)
    }
    number = block
  }
}
