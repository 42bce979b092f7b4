/// Where a search index stands: what the first record of its database says.
///
/// ```
/// header  = version, next id, documents, length of all of them, pending changes, their bytes,
///           next segment, [segment], [segment that is being deleted], merge       varints
/// segment = number, first id, end of the ids, documents when it was written, bytes
/// merge   = 0 | 1, first of its segments, count of them, its own segment, bytes, resume key
/// [...]   = count, elements
/// ```
struct SearchHeader: Equatable {
  /// The id of the next document.
  var nextID: UInt32 = 0
  /// Documents that have a word at least.
  var documentCount = 0
  /// Weighted words of all of them.
  var totalLength: UInt64 = 0
  var pendingCount = 0
  var pendingByteCount = 0
  var nextSegment: UInt32 = 0
  /// In the order of their ids, which do not overlap.
  var segments: [Segment] = []
  var dropped: [UInt32] = []
  var merge: Merge?

  struct Segment: Equatable {
    var number: UInt32
    var firstID: UInt32
    var endID: UInt32
    /// Of living documents, when it was swept or written.
    var documentCount: Int
    var byteCount: Int
  }

  /// A run of segments that are being merged into one.
  struct Merge: Equatable {
    /// Places in ``SearchHeader/segments``.
    var first: Int
    var count: Int
    var output: Segment
    /// At first the block of lengths that is swept next, four bytes; then the key of the last term that was read,
    /// and the last id of it. Empty where nothing was done yet.
    var position: [UInt8]

    var range: Range<Int> { first..<first + count }
  }

  /// Ids are below this: a posting has the distance to the one before, times two, in 32 bits.
  static let maximumIDCount: UInt32 = 1 << 31

  /// - Throws: ``SearchDamage/outOfIDs`` where there is no id for so many documents more.
  func checkRoom(forIDs count: Int) throws(SearchDamage) {
    // Each segment has an id at least, and merges make fewer of them.
    guard nextID <= Self.maximumIDCount, Int(Self.maximumIDCount - nextID) >= count,
      nextSegment < UInt32.max - 1 << 16
    else { throw .outOfIDs }
  }

  var meanLength: Double {
    documentCount == 0 ? 0 : Double(totalLength) / Double(documentCount)
  }

  private static let version: UInt32 = 2

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(varint: Self.version)
    bytes.append(varint: nextID)
    bytes.append(varint: documentCount)
    bytes.append(varint: totalLength)
    bytes.append(varint: pendingCount)
    bytes.append(varint: pendingByteCount)
    bytes.append(varint: nextSegment)
    bytes.append(varint: segments.count)
    for segment in segments { Self.put(segment, into: &bytes) }
    bytes.append(varint: dropped.count)
    for number in dropped { bytes.append(varint: number) }
    if let merge {
      bytes.append(varint: 1)
      bytes.append(varint: merge.first)
      bytes.append(varint: merge.count)
      Self.put(merge.output, into: &bytes)
      bytes.append(varint: merge.position.count)
      bytes += merge.position
    } else {
      bytes.append(varint: 0)
    }
    SearchLayout.seal(&bytes, key: [SearchLayout.header])
    return bytes
  }

  private static func put(_ segment: Segment, into bytes: inout [UInt8]) {
    bytes.append(varint: segment.number)
    bytes.append(varint: segment.firstID)
    bytes.append(varint: segment.endID)
    bytes.append(varint: segment.documentCount)
    bytes.append(varint: segment.byteCount)
  }

  init() {}

  /// - Throws: ``SearchDamage``.
  init(_ value: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) throws(SearchDamage) {
    var reader = VarintReader(try SearchLayout.opened(value, key: key))
    guard try reader.number() == Self.version else { throw SearchDamage("another version's") }
    nextID = try reader.number()
    documentCount = try reader.count()
    totalLength = try reader.large()
    pendingCount = try reader.count()
    pendingByteCount = try reader.count()
    nextSegment = try reader.number()
    var end: UInt32 = 0
    for _ in 0..<(try reader.count()) {
      let segment = try Self.segment(&reader)
      guard segment.firstID >= end, segment.endID <= nextID, segment.number < nextSegment else {
        throw SearchDamage("segments overlap")
      }
      end = segment.endID
      segments.append(segment)
    }
    for _ in 0..<(try reader.count()) { dropped.append(try reader.number()) }
    if try reader.number() != 0 {
      let (first, count) = (try reader.count(), try reader.count())
      let output = try Self.segment(&reader)
      guard count > 0, first <= segments.count, count <= segments.count - first else {
        throw SearchDamage("a merge of segments that are none")
      }
      let position = [UInt8](try reader.bytes(try reader.count()))
      merge = Merge(first: first, count: count, output: output, position: position)
    }
    guard reader.isAtEnd else { throw SearchDamage("the header is too long") }
  }

  private static func segment(_ reader: inout VarintReader) throws(SearchDamage) -> Segment {
    let segment = Segment(
      number: try reader.number(), firstID: try reader.number(), endID: try reader.number(),
      documentCount: try reader.count(), byteCount: try reader.count())
    guard segment.firstID < segment.endID else { throw SearchDamage("a segment has no ids") }
    return segment
  }
}
