internal import LarderLMDB

/// What a search index keeps of each id: how long its document is, and the document's key.
///
/// ```
/// lengths   key 03 block    512 × 2 bytes, little-endian, checksum    0: no document, or an old
///                           version of one; 65,535: the length stands beside the key
/// keys      key 04 block    [length, bytes shared with the key before, bytes that follow, these],
///                           checksum                                  of 32 ids or fewer
/// ```
/// A length is the weighted number of the document's words. An id without a document has no key, once it was swept
/// (`SearchSweep`). Where none of 512 ids has a document, their lengths and keys are missing; lengths alone never are.
struct SearchLengths {
  private(set) var blocks: [UInt32: [UInt16]] = [:]

  static let idsPerBlock: UInt32 = 512
  static let large: UInt16 = .max

  static func block(of id: UInt32) -> UInt32 { id / idsPerBlock }

  static func key(_ block: UInt32) -> [UInt8] {
    SearchLayout.key(SearchLayout.lengths, number: block)
  }

  /// The block of a key; nil where it is not one of lengths.
  static func block(ofKey key: UnsafeRawBufferPointer) -> UInt32? {
    guard key.count == 5, key[0] == SearchLayout.lengths else { return nil }
    return UInt32(bigEndian: key.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
  }

  /// Lends the 512 lengths of a block; nil where it has none.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  static func withBlock<Result>(
    _ block: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) throws -> Result? {
    try key(block).withUnsafeBytes { key in
      try transaction.withValue(for: key, in: database) { value in
        let lengths = try SearchLayout.opened(value, key: key)
        guard lengths.count == 2 * Int(idsPerBlock) else {
          throw SearchDamage("lengths are missing")
        }
        return body(lengths)
      }
    }
  }

  /// The 512 lengths of a block; nil where it has none.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  static func read(
    _ block: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws -> [UInt16]? {
    try withBlock(block, transaction, in: database) { bytes in
      (0..<Int(idsPerBlock)).map {
        UInt16(littleEndian: bytes.loadUnaligned(fromByteOffset: 2 * $0, as: UInt16.self))
      }
    }
  }

  /// Sets a length, which ``write(to:)`` keeps.
  mutating func set(
    _ length: UInt32, of id: UInt32, _ transaction: borrowing some Transaction & ~Copyable,
    in database: Database
  ) throws {
    let number = Self.block(of: id)
    if blocks[number] == nil {
      blocks[number] =
        try Self.read(number, transaction, in: database)
        ?? [UInt16](repeating: 0, count: Int(Self.idsPerBlock))
    }
    blocks[number]?[Int(id % Self.idsPerBlock)] = UInt16(exactly: length) ?? Self.large
  }

  /// Notes that the document of an id is gone, or has another one.
  mutating func remove(
    _ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws {
    #if LARDER_MUTANTS
      if Mutant.searchRemovals.isOn { return }
    #endif
    try set(0, of: id, transaction, in: database)
  }

  func write(to cursor: inout Cursor) throws {
    for (number, lengths) in blocks.sorted(by: { $0.key < $1.key }) {
      let key = Self.key(number)
      var value: [UInt8] = []
      value.reserveCapacity(2 * lengths.count + 4)
      for length in lengths {
        value.append(UInt8(truncatingIfNeeded: length))
        value.append(UInt8(truncatingIfNeeded: length >> 8))
      }
      SearchLayout.seal(&value, key: key)
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { try cursor.put($0, for: key) }
      }
    }
  }
}

/// The document that an id stands for.
struct SearchDocument: Equatable {
  var key: [UInt8]
  var length: UInt32
}

enum SearchKeys {
  static let idsPerBlock: UInt32 = 32

  static func key(_ block: UInt32) -> [UInt8] { SearchLayout.key(SearchLayout.keys, number: block) }

  /// Whether there is a block with keys of the ids of a block of lengths.
  ///
  /// - Throws: LMDB's errors.
  static func exist(
    besideLengths block: UInt32, _ transaction: borrowing some Transaction & ~Copyable,
    in database: Database
  ) throws -> Bool {
    let count = SearchLengths.idsPerBlock / idsPerBlock
    var cursor = try transaction.cursor(in: database)
    guard try key(block * count).withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) else {
      return false
    }
    return cursor.key.lexicographicallyPrecedes(key((block + 1) * count))
  }

  /// The documents of a block, in the order of their ids.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  static func read(
    _ block: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws -> [SearchDocument] {
    var documents: [SearchDocument] = []
    try walk(block, transaction, in: database) { length, key in
      documents.append(SearchDocument(key: key, length: length))
      return true
    }
    return documents
  }

  /// The document of one id; nil where it has none.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  static func document(
    _ id: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws -> SearchDocument? {
    var found: SearchDocument?
    var left = id % idsPerBlock
    try walk(id / idsPerBlock, transaction, in: database) { length, key in
      if left == 0, !key.isEmpty { found = SearchDocument(key: key, length: length) }
      defer { left &-= 1 }
      return left > 0
    }
    return found
  }

  /// Adds the keys of some ids of one block.
  ///
  /// - Parameter ids: Ascending, each once.
  /// - Throws: ``SearchDamage``, also where an id has no document; LMDB's errors.
  static func append(
    to keys: inout [[UInt8]], of ids: ArraySlice<UInt32>,
    _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws {
    var left = ids
    guard let first = ids.first else { return }
    var id = first / idsPerBlock * idsPerBlock
    try walk(first / idsPerBlock, transaction, in: database) { _, key in
      if left.first == id, !key.isEmpty {
        keys.append(key)
        left.removeFirst()
      }
      id &+= 1
      return !left.isEmpty
    }
    if !left.isEmpty { throw SearchDamage("an id has no document") }
  }

  /// Lends the documents of a block, as long as `body` wants more.
  private static func walk(
    _ block: UInt32, _ transaction: borrowing some Transaction & ~Copyable, in database: Database,
    _ body: (_ length: UInt32, _ key: [UInt8]) -> Bool
  ) throws {
    let place = key(block)
    _ = try place.withUnsafeBytes { place in
      try transaction.withValue(for: place, in: database) { value in
        var reader = VarintReader(try SearchLayout.opened(value, key: place))
        var key: [UInt8] = []
        key.reserveCapacity(64)
        var count = 0
        while !reader.isAtEnd {
          let length = try reader.number()
          let shared = try reader.count()
          let suffix = try reader.bytes(try reader.count())
          guard shared <= key.count, count < idsPerBlock else {
            throw SearchDamage("keys of documents are none")
          }
          key.removeLast(key.count - shared)
          key.append(contentsOf: suffix)
          count += 1
          if !body(length, key) { return }
        }
      }
    }
  }

  static func write(_ documents: [SearchDocument], block: UInt32, to cursor: inout Cursor) throws {
    let key = key(block)
    var value: [UInt8] = []
    var before: [UInt8] = []
    for document in documents {
      let shared = zip(before, document.key).prefix { $0 == $1 }.count
      value.append(varint: document.length)
      value.append(varint: shared)
      value.append(varint: document.key.count - shared)
      value.append(contentsOf: document.key[shared...])
      before = document.key
    }
    SearchLayout.seal(&value, key: key)
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try cursor.put($0, for: key) }
    }
  }

  /// Writes the documents of ids from `firstID` on, which are the last ones.
  static func append(
    _ documents: ArraySlice<SearchDocument>, from firstID: UInt32, to cursor: inout Cursor,
    _ transaction: borrowing some Transaction & ~Copyable, in database: Database
  ) throws {
    var rest = documents
    var block = firstID / idsPerBlock
    let inside = Int(firstID % idsPerBlock)
    var current = inside > 0 ? try read(block, transaction, in: database) : []
    // Ids whose documents were replaced before they were written have no key.
    while current.count < inside { current.append(SearchDocument(key: [], length: 0)) }
    while !rest.isEmpty {
      let taken = rest.prefix(Int(idsPerBlock) - current.count)
      try write(current + taken, block: block, to: &cursor)
      rest = rest.dropFirst(taken.count)
      current = []
      block += 1
    }
  }
}

extension Transaction where Self: ~Copyable {
  /// The id of a document in a search index, as far as it is no pending one.
  ///
  /// - Throws: ``SearchDamage``; LMDB's errors.
  borrowing func searchID(of key: UnsafeRawBufferPointer, in database: Database) throws -> UInt32? {
    try SearchLayout.key(SearchLayout.ids, key).withUnsafeBytes { key in
      try withValue(for: key, in: database) { value in
        var reader = VarintReader(value)
        return try reader.number()
      }
    }
  }
}
