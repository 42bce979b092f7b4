internal import LarderLMDB

/// Goes along the terms of one segment, ascending, and reads their postings.
///
/// What it lends is valid until it moves on, and until something is written.
struct TermCursor: ~Copyable {
  private var cursor: Cursor
  private let segment: SearchHeader.Segment
  private let prefix: [UInt8]
  /// The term that it stands on.
  private(set) var term: [UInt8] = []
  /// What follows in a record of packed terms.
  private var packed: VarintReader?
  /// The postings of the term, where they stand among packed terms.
  private var body: UnsafeRawBufferPointer?
  /// Whether the term has records of its own, on the first of which the cursor stands.
  private var isLarge = false
  /// Whether the cursor stands on a record that was not read.
  private var hasRecord = false

  init(_ segment: SearchHeader.Segment, _ cursor: consuming Cursor) {
    self.segment = segment
    self.cursor = cursor
    prefix = SearchLayout.segmentKey(segment.number, [])
  }

  /// Moves to a term, or to the first one behind it; false where there is none.
  mutating func seek(atOrAfter term: [UInt8]) throws -> Bool {
    packed = nil
    isLarge = false
    var key = prefix + term
    key.append(0)
    hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    if hasRecord, cursor.key.starts(with: key) {
      return try enterRecord()
    }
    // The last record before may have it among its terms.
    if try cursor.previous(), isInside, cursor.value.first == SegmentWriter.packedMark {
      hasRecord = true
      guard try enterRecord() else { return false }
      while self.term.lexicographicallyPrecedes(term) {
        guard try next() else { return false }
      }
      return true
    }
    hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    return try enterRecord()
  }

  /// Moves to the next term; false where there is none.
  mutating func next() throws -> Bool {
    if packed != nil {
      if try nextPacked() { return true }
      packed = nil
      hasRecord = try cursor.next()
    } else if isLarge {
      try skipLarge()
    }
    return try enterRecord()
  }

  private var isInside: Bool { cursor.key.starts(with: prefix) }

  private mutating func enterRecord() throws -> Bool {
    isLarge = false
    packed = nil
    guard hasRecord, isInside else { return false }
    switch cursor.value.first {
    case SegmentWriter.packedMark:
      let value = try SearchLayout.opened(cursor.value, key: cursor.key)
      term = [UInt8](cursor.key[prefix.count...])
      var reader = VarintReader(UnsafeRawBufferPointer(rebasing: value.dropFirst()))
      body = try reader.bytes(try reader.count())
      packed = reader
    case SegmentWriter.postingsMark:
      let count = cursor.key.count - prefix.count - 5
      guard count > 0 else { throw SearchDamage("a key is too short") }
      term = [UInt8](cursor.key[prefix.count..<prefix.count + count])
      isLarge = true
    default: throw SearchDamage("a record of a segment is none")
    }
    return true
  }

  private mutating func nextPacked() throws(SearchDamage) -> Bool {
    guard var reader = packed, !reader.isAtEnd else { return false }
    let shared = try reader.count()
    let suffix = try reader.bytes(try reader.count())
    guard shared <= term.count else { throw SearchDamage("a term shares more than there is") }
    term.removeLast(term.count - shared)
    term.append(contentsOf: suffix)
    body = try reader.bytes(try reader.count())
    packed = reader
    return true
  }

  private mutating func skipLarge() throws {
    isLarge = false
    let last = prefix + term + [0, 0xFF, 0xFF, 0xFF, 0xFF]
    hasRecord = try last.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    if hasRecord, cursor.key.elementsEqual(last) { hasRecord = try cursor.next() }
  }

  /// Lends the postings of the term, record by record; those of a term with records of its own only
  /// once.
  ///
  /// - Parameters:
  ///   - id: Records that end before this id may be left out.
  ///   - read: Returns whether it wants more.
  mutating func forEachPostings(
    from id: UInt32 = 0, _ read: (Postings) throws -> Bool
  ) throws {
    guard isLarge else {
      guard let body else { return }
      return _ = try read(try Postings(body, base: segment.firstID))
    }
    let start = prefix + term + [0]
    if id > 0 {
      var key = start
      key.append(bigEndian: id)
      hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
      let isExact = hasRecord && cursor.key.elementsEqual(key)
      if !isExact {
        if try cursor.previous(), cursor.key.starts(with: start) {
          hasRecord = true
        } else {
          hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
        }
      }
    }
    var wantsMore = true
    while wantsMore, hasRecord, cursor.key.count == start.count + 4, cursor.key.starts(with: start)
    {
      let value = try SearchLayout.opened(cursor.value, key: cursor.key)
      let base = UInt32(
        bigEndian: cursor.key.loadUnaligned(fromByteOffset: start.count, as: UInt32.self))
      guard value.first == SegmentWriter.postingsMark else {
        throw SearchDamage("a record of postings is none")
      }
      wantsMore = try read(
        try Postings(UnsafeRawBufferPointer(rebasing: value.dropFirst()), base: base))
      hasRecord = try cursor.next()
    }
    if wantsMore { isLarge = false }
  }
}
