#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Neighbouring records on one leaf page of a snapshot, read where they lie.
///
/// LMDB takes some 130 instructions from one record to the next, and here it is about fifteen. It is
/// for snapshots alone: their pages lie in the map and stay as they are, while those that a write
/// transaction has changed stand elsewhere.
///
/// A record that does not lie within the page, or whose value does not, ends the run; LMDB goes on
/// from there.
@usableFromInline struct PageRun {
  @usableFromInline let page: UnsafeRawPointer
  @usableFromInline let byteCount: Int
  /// The record it stands on, and the first one behind the run.
  @usableFromInline var index: Int
  @usableFromInline let count: Int
  /// The record where it began.
  @usableFromInline let start: Int
  /// Whether the record behind the run is behind the end that was asked for.
  @usableFromInline let isCut: Bool

  private init(
    _ page: UnsafeRawPointer, byteCount: Int, index: Int, count: Int, isCut: Bool
  ) {
    self.page = page
    self.byteCount = byteCount
    self.index = index
    self.count = count
    self.isCut = isCut
    start = index
  }

  /// From the record with this key on, up to the first one that does not come before `end`. Without
  /// any record behind the first where the page is not as it should be.
  ///
  /// - Parameters:
  ///   - key: As LMDB has found it in a snapshot.
  ///   - pageByteCount: 0 where pages do not lie at multiples of their size.
  static func from(
    _ key: UnsafeRawBufferPointer, pageByteCount: Int, before end: UnsafeRawBufferPointer?
  ) -> PageRun {
    guard pageByteCount > 0, let keyStart = key.baseAddress,
      let page = UnsafeRawPointer(
        bitPattern: UInt(bitPattern: keyStart) & ~(UInt(pageByteCount) - 1))
    else { return nothing }
    let bytes = UnsafeRawBufferPointer(start: page, count: pageByteCount)
    let lower = Int(bytes.uint16(12))
    guard bytes.uint16(10) == PageFormat.leaf, lower <= pageByteCount else { return nothing }
    let count = (lower - PageFormat.headerByteCount) / 2
    let place = keyStart - page - PageFormat.nodeByteCount
    var index = 0
    while index < count, Int(bytes.uint16(PageFormat.headerByteCount + 2 * index)) != place {
      index += 1
    }
    let last = end.flatMap { firstIndex(notBefore: $0, from: index, count, bytes) }
    return PageRun(
      page, byteCount: pageByteCount, index: index, count: last ?? count, isCut: last != nil)
  }

  /// The page is never read: there is no record behind the first.
  private static var nothing: PageRun {
    PageRun(
      UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped, byteCount: 0, index: 0, count: 0,
      isCut: false)
  }

  /// The first record behind `index` whose key does not come before `end`; nil where all do.
  private static func firstIndex(
    notBefore end: UnsafeRawBufferPointer, from index: Int, _ count: Int,
    _ page: UnsafeRawBufferPointer
  ) -> Int? {
    func isBefore(_ index: Int) -> Bool {
      let place = Int(page.uint16(PageFormat.headerByteCount + 2 * index))
      // What does not lie within the page is come to by LMDB.
      guard place <= page.count - PageFormat.nodeByteCount else { return true }
      let start = place + PageFormat.nodeByteCount
      let last = min(start + Int(page.uint16(place + 6)), page.count)
      return Cursor.areAscending(UnsafeRawBufferPointer(rebasing: page[start..<last]), end)
    }
    guard index + 1 < count, !isBefore(count - 1) else { return nil }
    // Most ranges that end on the page of their first record are short.
    var step = 1
    while index + step < count, isBefore(index + step) { step *= 2 }
    var (lower, upper) = (index + step / 2 + 1, min(index + step, count - 1))
    while lower < upper {
      let middle = (lower + upper) / 2
      if isBefore(middle) { lower = middle + 1 } else { upper = middle }
    }
    return lower
  }

  @inlinable @inline(__always) var hasMoved: Bool { index != start }

  /// Whether it stands on the last record before the end that was asked for.
  @inlinable @inline(__always) var isAtEnd: Bool { isCut && index + 1 >= count }

  /// A record of the page.
  @usableFromInline struct Node {
    @usableFromInline let key: UnsafeRawPointer
    @usableFromInline let keyByteCount: Int
    @usableFromInline let valueByteCount: Int

    @inlinable @inline(__always)
    init(_ key: UnsafeRawPointer, _ keyByteCount: Int, _ valueByteCount: Int) {
      self.key = key
      self.keyByteCount = keyByteCount
      self.valueByteCount = valueByteCount
    }

    @inlinable @inline(__always) var value: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: key + keyByteCount, count: valueByteCount)
    }
  }

  /// Nil where not all of it lies within the page.
  @inlinable @inline(__always)
  func node(_ index: Int) -> Node? {
    let place = Int(
      UInt16(littleEndian: page.loadUnaligned(fromByteOffset: 16 + 2 &* index, as: UInt16.self)))
    guard place <= byteCount &- 8 else { return nil }
    let node = UInt64(littleEndian: page.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    let valueByteCount = Int(truncatingIfNeeded: node & 0xFFFF_FFFF)
    let keyByteCount = Int(truncatingIfNeeded: node &>> 48)
    // Between them stand the flags.
    guard node & 0xFFFF_0000_0000 == 0,
      place &+ 8 &+ keyByteCount &+ valueByteCount <= byteCount
    else { return nil }
    return Node(page + place + 8, keyByteCount, valueByteCount)
  }

  /// Goes to the next record of the run; false, with `found` as it was, where LMDB has to.
  @inlinable @inline(__always)
  mutating func next(_ found: inout Calls.Found) -> Bool {
    guard index &+ 1 < count, let node = node(index &+ 1) else { return false }
    index &+= 1
    found = Calls.Found(node)
    return true
  }

  /// Goes to the next record of the run whose value passes; false, on the last one, where LMDB has
  /// to go on.
  // All of it in one loop without calls: so short that the processor waits for several records at
  // a time, which is most of what a scan takes.
  @inlinable @inline(__always)
  mutating func next(_ found: inout Calls.Found, passing test: some ValueTest) -> Bool {
    var next = index &+ 1
    while next < count, let node = node(next) {
      if test.passes(node.value) {
        index = next
        found = Calls.Found(node)
        return true
      }
      next &+= 1
    }
    guard next &- 1 > index, let last = node(next &- 1) else { return false }
    index = next &- 1
    found = Calls.Found(last)
    return false
  }
}

extension Calls.Found {
  @inlinable @inline(__always) init(_ node: PageRun.Node) {
    keyByteCount = node.keyByteCount
    keyStart = UnsafeMutableRawPointer(mutating: node.key)
    valueByteCount = node.valueByteCount
    valueStart = UnsafeMutableRawPointer(mutating: node.key + node.keyByteCount)
  }
}

extension Cursor {
  /// Lends the record it stands on and those behind it, until `body` says false or a key does not
  /// come before `end`. In a snapshot this is much faster than going on with ``next()``.
  ///
  /// Afterwards the cursor stands somewhere on the way.
  ///
  /// - Returns: Whether it came to the end.
  /// - Throws: ``LMDBError`` when a page cannot be read, with code ``LMDBError/Code/corrupted`` when
  ///   its keys are in disorder; whatever `body` throws.
  @inlinable @inline(__always)
  public mutating func forEachOnward(
    before end: UnsafeRawBufferPointer?,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    guard var run = try startRun(before: end) else { return true }
    var record = found
    while true {
      guard try body(record.key, record.value) else { return false }
      if run.next(&record) { continue }
      if run.isAtEnd { return true }
      guard let next = try nextRun(behind: run, at: record, before: end) else { return true }
      run = next
      record = found
    }
  }

  /// The same for those records alone whose value passes a test.
  @inlinable @inline(__always)
  public mutating func forEachOnward(
    before end: UnsafeRawBufferPointer?, passing test: some ValueTest,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    guard var run = try startRun(before: end) else { return true }
    while true {
      var record = found
      if test.passes(record.value) {
        guard try body(record.key, record.value) else { return false }
      }
      while run.next(&record, passing: test) {
        guard try body(record.key, record.value) else { return false }
      }
      if run.isAtEnd { return true }
      guard let next = try nextRun(behind: run, at: record, before: end) else { return true }
      run = next
    }
  }

  @usableFromInline
  mutating func startRun(before end: UnsafeRawBufferPointer?) throws(LMDBError) -> PageRun? {
    if place != .onRecord {
      guard place == .written else { return nil }
      found = Calls.current(pointer)
      place = .onRecord
    }
    return run(before: end)
  }

  private func run(before end: UnsafeRawBufferPointer?) -> PageRun? {
    if let end, !Self.areAscending(found.key, end) { return nil }
    return .from(found.key, pageByteCount: transaction.pointee.runPageByteCount, before: end)
  }

  /// Has LMDB go on behind a run, whose last record is `record`; nil at the end.
  @usableFromInline
  mutating func nextRun(
    behind run: PageRun, at record: Calls.Found, before end: UnsafeRawBufferPointer?
  ) throws(LMDBError) -> PageRun? {
    if run.hasMoved {
      // The last key of the page it stands on is one that LMDB looks at first.
      guard try seek(atOrAfter: record.key), found.keyStart == record.keyStart else {
        throw LMDBError(
          .corrupted, operation: "mdb_cursor_get", detail: "the keys of a page are in disorder")
      }
    }
    guard try next() else { return nil }
    return self.run(before: end)
  }

  /// Whether a key comes before another one.
  @usableFromInline
  static func areAscending(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool
  {
    guard let start = left.baseAddress, let other = right.baseAddress else {
      return left.count < right.count
    }
    let order = memcmp(start, other, min(left.count, right.count))
    return order == 0 ? left.count < right.count : order < 0
  }
}

/// What values are passed over by, in a type of its own: where a closure would be called for each
/// record, this becomes part of the loop over a page.
public protocol ValueTest {
  func passes(_ value: UnsafeRawBufferPointer) -> Bool
}
