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

  var firstID: UInt32 { segment.firstID }

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
    if hasRecord {
      if cursor.key.starts(with: key) { return try enterRecord() }
      try check()
    }
    // The last record before may have it among its terms.
    if try cursor.previous() {
      if isInside, cursor.value.first == SegmentWriter.packedMark {
        hasRecord = true
        guard try enterRecord() else { return false }
        return try seekPacked(atOrAfter: term)
      }
      try check()
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

  /// Makes sure of a record that stands where another one was looked for. A key whose damage leads past what is
  /// there is in front of the place that is come to, or at it.
  private func check() throws(SearchDamage) {
    guard cursor.key.first != SearchLayout.ids else {
      // It has no checksum; a record of another sort has more bytes.
      if cursor.value.count > 5 { throw SearchDamage("an id has too many bytes") }
      return
    }
    _ = try SearchLayout.opened(cursor.value, key: cursor.key)
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
      try check()
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

  /// Goes on from the first of packed terms to one, or to the first one behind it, in any record.
  ///
  /// How many bytes a term shares with the one before it mostly says that it, too, comes before the wanted one.
  /// Only the other terms are compared byte by byte.
  private mutating func seekPacked(atOrAfter wanted: [UInt8]) throws -> Bool {
    guard var reader = packed else { return false }
    // The bytes that the last term has in common with the wanted one, which it precedes.
    var common = wanted.commonPrefixCount(with: term, from: 0)
    if common == wanted.count || common < term.count && term[common] > wanted[common] {
      return true
    }
    while !reader.isAtEnd {
      let shared = try reader.count()
      let suffix = try reader.bytes(try reader.count())
      let body = try reader.bytes(try reader.count())
      if shared > common { continue }
      let equal = wanted.commonPrefixCount(with: suffix, from: shared)
      common = shared + equal
      if common == wanted.count || equal < suffix.count && suffix[equal] > wanted[common] {
        term = [UInt8](wanted[..<shared]) + suffix
        self.body = body
        packed = reader
        return true
      }
    }
    packed = nil
    hasRecord = try cursor.next()
    return try enterRecord()
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
    if id > 0 { try seekRecord(of: id, start) }
    var wantsMore = true
    while wantsMore, hasRecord, let base = base(of: start) {
      wantsMore = try read(try postings(base))
      hasRecord = try cursor.next()
    }
    guard wantsMore else { return }
    isLarge = false
    if hasRecord { try check() }
  }

  /// Lends the records of postings of the term that may have ids which are wanted; those of a term with records
  /// of its own only once.
  ///
  /// - Parameters:
  ///   - first: The first id that is wanted.
  ///   - read: Returns the next id that is wanted behind those of the record; nil if there is none.
  mutating func forEachPostings(
    wanted first: UInt32, _ read: (Postings) throws -> UInt32?
  ) throws {
    guard isLarge else {
      guard let body else { return }
      return _ = try read(try Postings(body, base: segment.firstID))
    }
    let start = prefix + term + [0]
    try seekRecord(of: first, start)
    var last: UInt32?
    while hasRecord, let base = base(of: start) {
      // In a tree that is out of order it would go round in circles.
      if let last, base <= last { throw SearchDamage("records of postings are out of order") }
      last = base
      guard let wanted = try read(try postings(base)) else { return }
      hasRecord = try cursor.next()
      if hasRecord, let base = self.base(of: start), base < wanted {
        try seekRecord(of: wanted, start)
      }
    }
    isLarge = false
    if hasRecord { try check() }
  }

  /// How many bytes the postings of the term take, about: for a term with records of its own as many records as
  /// there would be if all ids were as far apart as those of the first. Its postings cannot be lent after that.
  mutating func estimatedByteCount() throws -> Int {
    guard isLarge else { return body?.count ?? 0 }
    let start = prefix + term + [0]
    guard let first = base(of: start), first < segment.endID else { return 0 }
    let byteCount = cursor.value.count
    hasRecord = try cursor.next()
    guard hasRecord, let second = base(of: start), second > first else { return byteCount }
    let records = (segment.endID - first) / (second - first) + 1
    return Int(records) * SearchLayout.blockByteCount
  }

  /// The first id of the record that the cursor stands on; nil if it is none of the term's.
  private func base(of start: [UInt8]) -> UInt32? {
    guard cursor.key.count == start.count + 4, cursor.key.starts(with: start) else { return nil }
    return UInt32(
      bigEndian: cursor.key.loadUnaligned(fromByteOffset: start.count, as: UInt32.self))
  }

  private func postings(_ base: UInt32) throws -> Postings {
    let value = try SearchLayout.opened(cursor.value, key: cursor.key)
    guard value.first == SegmentWriter.postingsMark else {
      throw SearchDamage("a record of postings is none")
    }
    return try Postings(UnsafeRawBufferPointer(rebasing: value.dropFirst()), base: base)
  }

  /// Moves to the record of the term that an id would be in.
  private mutating func seekRecord(of id: UInt32, _ start: [UInt8]) throws {
    var key = start
    key.append(bigEndian: id)
    hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
    if hasRecord {
      if cursor.key.elementsEqual(key) { return }
      try check()
    }
    if try cursor.previous() {
      if cursor.key.starts(with: start) { return hasRecord = true }
      try check()
    }
    hasRecord = try key.withUnsafeBytes { try cursor.seek(atOrAfter: $0) }
  }
}

extension [UInt8] {
  /// How many bytes from a place on are those of another sequence.
  @inline(__always)
  fileprivate func commonPrefixCount(
    with other: some RandomAccessCollection<UInt8>, from start: Int
  ) -> Int {
    var count = 0
    for byte in other {
      guard start + count < self.count, self[start + count] == byte else { break }
      count += 1
    }
    return count
  }
}
