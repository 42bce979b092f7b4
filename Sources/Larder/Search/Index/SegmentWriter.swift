/// Makes the records of one segment, whose postings come term by term, ascending.
///
/// ```
/// packed terms   key    05 segment term                   the first of them
///                value  1 [entry] checksum
///   entry        bytes shared with the term before, bytes that follow, these,
///                bytes of the body, body                  the first entry begins with its body
///   body         postings, the ids relative to the segment's first
/// postings       key    05 segment term 00 id             of a term that fills more than a record
///                value  2 postings checksum               the ids relative to the key's
/// postings       bytes of the ids, [id], [positions]
///   id           (id - the one before) × 2 + 1            the frequency is that of one word in the
///                                                         field that counts least
///                (id - the one before) × 2, frequency
/// ```
/// A rare word so costs a few bytes, and a frequent one fills records that are read from end to end
/// without its positions, which stand apart.
struct SegmentWriter {
  let number: UInt32
  let firstID: UInt32
  /// The frequency that takes no bytes.
  let unit: UInt32
  /// Records that are to be written, in the order of their keys.
  private(set) var records: [(key: [UInt8], value: [UInt8])] = []
  private(set) var byteCount = 0

  private var packed: [UInt8] = []
  private var packedKey: [UInt8] = []
  private var lastPackedTerm: [UInt8] = []

  private var term: [UInt8] = []
  /// Whether the term has records of its own.
  private var isLarge = false
  private var ids: [UInt8] = []
  private var positions: [UInt8] = []
  /// What the next id is relative to.
  private var lastID: UInt32 = 0
  /// The first id of the postings that were collected, and whether there is one.
  private var start: UInt32?

  static let packedMark: UInt8 = 1
  static let postingsMark: UInt8 = 2

  init(number: UInt32, firstID: UInt32, unit: UInt32) {
    self.number = number
    self.firstID = firstID
    self.unit = unit
  }

  /// Forgets the records that were written.
  mutating func removeRecords() { records.removeAll(keepingCapacity: true) }

  /// - Parameter isContinued: Whether the segment has postings of this term already.
  mutating func begin(_ term: some Sequence<UInt8>, isContinued: Bool = false) {
    self.term.removeAll(keepingCapacity: true)
    self.term.append(contentsOf: term)
    isLarge = isContinued
    start = nil
    lastID = firstID
  }

  mutating func add(_ id: UInt32, frequency: UInt32, positions: UnsafeRawBufferPointer) {
    if ids.count + self.positions.count + positions.count + 10 > room, start != nil {
      writeLarge()
    }
    if start == nil {
      start = id
      // Records of their own have the first id in their key.
      if isLarge { lastID = id }
    }
    let step = UInt64(id &- lastID) << 1
    if frequency == unit {
      ids.append(varint: step | 1)
    } else {
      ids.append(varint: step)
      ids.append(varint: frequency)
    }
    self.positions.append(contentsOf: positions)
    lastID = id
  }

  /// Bytes of postings that a record takes.
  private var room: Int { SearchLayout.blockByteCount - 8 }

  mutating func endTerm() {
    guard start != nil else { return }
    if isLarge { return writeLarge() }
    let body = 5 + ids.count + positions.count
    let entry = 6 + term.count + body
    if packed.count + entry + 4 > SearchLayout.blockByteCount { writePacked() }
    if packed.isEmpty {
      packedKey = SearchLayout.segmentKey(number, term)
      packed.append(Self.packedMark)
    } else {
      let shared = zip(lastPackedTerm, term).prefix { $0 == $1 }.count
      packed.append(varint: shared)
      packed.append(varint: term.count - shared)
      packed.append(contentsOf: term[shared...])
    }
    swap(&lastPackedTerm, &term)
    packed.append(varint: Self.varintByteCount(ids.count) + ids.count + positions.count)
    packed.append(contentsOf: takePostings())
  }

  /// Ends the segment, or a part of it; a term that was begun goes on in records of its own.
  mutating func finish() {
    if start != nil { writeLarge() }
    writePacked()
  }

  private mutating func takePostings() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 + ids.count + positions.count)
    bytes.append(varint: ids.count)
    bytes.append(contentsOf: ids)
    bytes.append(contentsOf: positions)
    ids.removeAll(keepingCapacity: true)
    positions.removeAll(keepingCapacity: true)
    start = nil
    return bytes
  }

  private mutating func writeLarge() {
    guard let start else { return }
    writePacked()
    if !isLarge {
      // The first id was relative to the segment's.
      rebaseFirstID(to: start)
      isLarge = true
    }
    var key = SearchLayout.segmentKey(number, term)
    key.append(0)
    key.append(bigEndian: start)
    put([Self.postingsMark] + takePostings(), key)
  }

  private mutating func rebaseFirstID(to start: UInt32) {
    let length = (ids.firstIndex { $0 < 0x80 } ?? 0) + 1
    let isUnit = ids[0] & 1
    ids.replaceSubrange(..<length, with: [isUnit])
  }

  private mutating func writePacked() {
    guard !packed.isEmpty else { return }
    var value: [UInt8] = []
    swap(&value, &packed)
    put(value, packedKey)
  }

  private mutating func put(_ value: [UInt8], _ key: [UInt8]) {
    var value = value
    SearchLayout.seal(&value, key: key)
    byteCount += key.count + value.count + 8
    records.append((key, value))
  }

  private static func varintByteCount(_ value: Int) -> Int {
    value < 0x80 ? 1 : value < 0x4000 ? 2 : 3
  }
}
