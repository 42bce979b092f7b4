#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a store's file holds, on one page.
///
/// ```
/// main database
///   "larder.state"            -> state                       written by every commit but those that
///                                                            only make a database
///   "larder.timeline"         -> timeline                    drawn in `Timeline`
///   "larder.catalogue"        a database
///   "larder.indexes"          a database
///   "larder.changes"          a database
///   "larder.migrations"       a database, once something was migrated
///   "larder.consumers"        a database, once there was one
///   "larder.outbox"           a database, once a collection was synced
///   "larder.sync"             a database, once a collection was synced
///   "documents/<collection>"  a database, one per collection
///   "index/<number>"          a database, one per index
///   "notes/<name>"            -> note                        drawn in `StoreNote`
///
/// larder.catalogue
///   <collection, UTF-8>       -> description checksum
///
/// larder.indexes
///   <number, 4, big-endian>   -> index checksum
///
/// documents/<collection>
///   <entity-accessor key>     -> record                      drawn in `RecordFormat`
///
/// larder.changes
///   <sequence, 8, big-endian> -> pack                        drawn in `ChangePackBuilder`
///
/// larder.consumers
///   <name, UTF-8>             -> consumer                    drawn in `ConsumerRecord`
///
/// larder.outbox, larder.sync                                 drawn in `OutboxKey`
///
/// index/<number>
///   <entry>                   -> length, checksum            drawn in `IndexEntry`, values in
///                                                            `OrderedBytes`
///
/// larder.migrations
///   <collection, UTF-8>       -> migration checksum
///   00                        -> migration checksum          the whole store's
///
/// state, 64 bytes, little-endian
///   0  "LARDER\0\0"    8  format version, 4    12  zero, 4
///   16 transaction, 8  24 sequence, 8          32  catalogue version, 8
///   40 store id, 16    56 checksum of the bytes before, 8
///
/// description = [1, key kind, key field or nil, [table]]                  MessagePack
///             | [1, key kind, key field or nil, [table], flags]     flags: 1 changes are not logged
///                                                             2 edits go into the outbox
///             | [2, key kind, key field or nil, [table], flags, documents' table,
///                version that they are being migrated to or nil]   of a migrated collection
/// table       = [[name, kind, flags]]          flags: 1 declared, 2 required
/// index       = [version, collection, name, [part], unique, condition or nil, unicode, state,
///                [hash of a definition that had the name before]]
/// part        = [[name], kind, flags, value of records without the field]
///               flags: 1 elements, 2 descending
/// state       = [0, key] building  [1, nil] complete  [2, reason] suspended  [3, nil] dropped
///               [4, nil] free  [5, [key, reason]] building, with a conflict  [6, reason] failed
/// kind        = bytes: a code, then the kinds in it; a document's code is followed by
///               the number of its table, 2 bytes, big-endian
/// migration   = [1, version, version that it is on the way to or nil, key of the last document
///                that was looked at or nil, documents migrated so far, documents in all]
/// ```
/// A key is UTF-8 in normalisation form C, or 8 bytes of an integer (big-endian, the sign of a
/// signed one flipped), or 16 bytes of a UUID: LMDB's byte order is the keys' order.
enum Layout {
  static let formatVersion: UInt32 = 1
  static let catalogueName = "larder.catalogue"
  static let indexesName = "larder.indexes"
  static let changesName = "larder.changes"
  static let migrationsName = "larder.migrations"
  static let consumersName = "larder.consumers"
  static let outboxName = "larder.outbox"
  static let syncName = "larder.sync"
  static let documentsPrefix = "documents/"
  static let indexPrefix = "index/"
  static let notesPrefix = "notes/"
  static let maximumCollectionNameByteCount = 200

  static func documentsName(of collection: String) -> String { documentsPrefix + collection }

  static func indexName(_ number: UInt32) -> String { "\(indexPrefix)\(number)" }

  /// The name in normalisation form C.
  ///
  /// - Throws: ``StoreError/collectionName(_:reason:)``.
  static func checkedCollectionName(_ name: String) throws(StoreError) -> String {
    let name = name.normalized()
    if name.isEmpty { throw .collectionName(name, reason: "it is empty") }
    if name.utf8.count > maximumCollectionNameByteCount {
      throw .collectionName(
        name, reason: "it takes more than \(maximumCollectionNameByteCount) bytes")
    }
    if name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) {
      throw .collectionName(name, reason: "it has control characters")
    }
    return name
  }
}

/// The record that every commit writes: where the store stands.
///
/// It holds its own transaction's number, so that a reader can tell a snapshot that is later
/// than LMDB says, or not yet published (a race in LMDB 0.9), and renew it.
@usableFromInline struct StoreState: Equatable, Sendable {
  var transaction: UInt64
  /// The number of the last changed document.
  var sequence: UInt64
  var catalogueVersion: UInt64
  var storeID: UUID

  static let byteCount = 64
  /// Numbers count up by one and never come here: a record that has a larger one was made up. Sums of
  /// two below it cannot overflow.
  static let largestNumber: UInt64 = 1 << 62
  private static let magic: UInt64 = 0x0000_5245_4452_414C  // "LARDER\0\0", little-endian

  init(transaction: UInt64, sequence: UInt64, catalogueVersion: UInt64, storeID: UUID) {
    self.transaction = transaction
    self.sequence = sequence
    self.catalogueVersion = catalogueVersion
    self.storeID = storeID
  }

  /// - Throws: ``StoreError/damagedCatalogue(_:)``, or ``StoreError/formatVersion`` for a store
  ///   of another format.
  init(
    _ bytes: UnsafeRawBufferPointer, path: @autoclosure () -> String
  ) throws(StoreError) {
    guard bytes.count >= 12, Self.number(bytes, at: 0) == Self.magic else {
      throw .damagedCatalogue("the state record is none")
    }
    let version = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    guard version == Layout.formatVersion else {
      throw .formatVersion(path: path(), found: version, supported: Layout.formatVersion)
    }
    guard bytes.count == Self.byteCount,
      Self.number(bytes, at: 56)
        == Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<56]), seed: 0)
    else { throw .damagedCatalogue("the state record's checksum does not match") }
    transaction = Self.number(bytes, at: 16)
    sequence = Self.number(bytes, at: 24)
    catalogueVersion = Self.number(bytes, at: 32)
    storeID = UUID(uuid: bytes.loadUnaligned(fromByteOffset: 40, as: uuid_t.self))
    guard max(transaction, sequence, catalogueVersion) <= Self.largestNumber else {
      throw .damagedCatalogue("the state record has a number that no store comes to")
    }
  }

  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try withUnsafeTemporaryAllocation(byteCount: Self.byteCount, alignment: 8) { bytes in
      bytes.storeBytes(of: Self.magic.littleEndian, toByteOffset: 0, as: UInt64.self)
      bytes.storeBytes(of: Layout.formatVersion.littleEndian, toByteOffset: 8, as: UInt32.self)
      bytes.storeBytes(of: 0, toByteOffset: 12, as: UInt32.self)
      bytes.storeBytes(of: transaction.littleEndian, toByteOffset: 16, as: UInt64.self)
      bytes.storeBytes(of: sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
      bytes.storeBytes(of: catalogueVersion.littleEndian, toByteOffset: 32, as: UInt64.self)
      bytes.storeBytes(of: storeID.uuid, toByteOffset: 40, as: uuid_t.self)
      let hash = Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<56]), seed: 0)
      bytes.storeBytes(of: hash.littleEndian, toByteOffset: 56, as: UInt64.self)
      return try body(UnsafeRawBufferPointer(bytes))
    }
  }

  private static func number(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
