/// A pack of changes: those that one change of a collection made, in the order of their
/// sequence numbers, or a part of them.
///
/// ```
/// pack  = version  origin  writer  time  count  name length  name  entry x count  checksum
///         1        1       4       8     4      1                                 8
/// entry = kind  key length  key  [old record: length, 4, and bytes]
///         1     1
/// ```
/// Numbers are big-endian. Updates and deletions have the record as it was, so that whoever was
/// away can tell what a document was like before. The checksum is seeded with the number of the
/// first change, the key that the pack stands under.
struct ChangePackBuilder: ~Copyable {
  private var bytes: OrderedBytes
  private(set) var count = 0
  private let headerByteCount: Int

  static let version: UInt8 = 1
  /// From this size on a pack is written and another begun.
  static let largestByteCount = 64 << 10
  fileprivate static let countOffset = 14

  init(collection: String, origin: ChangeOrigin, writer: UInt32, time: Double) {
    var bytes = OrderedBytes(capacity: 1024)
    bytes.append(Self.version)
    bytes.append(origin.rawValue)
    withUnsafeBytes(of: writer.bigEndian) { bytes.append($0) }
    withUnsafeBytes(of: time.bitPattern.bigEndian) { bytes.append($0) }
    withUnsafeBytes(of: UInt32(0)) { bytes.append($0) }
    var name = collection
    name.withUTF8 { name in
      bytes.append(UInt8(truncatingIfNeeded: name.count))
      bytes.append(UnsafeRawBufferPointer(name))
    }
    headerByteCount = bytes.count
    self.bytes = bytes
  }

  var isFull: Bool { bytes.count >= Self.largestByteCount }

  mutating func append(
    _ kind: ChangeKind, key: UnsafeRawBufferPointer,
    old: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    bytes.append(kind.rawValue)
    bytes.append(UInt8(truncatingIfNeeded: key.count))
    bytes.append(key)
    if kind == .updated || kind == .deleted {
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: old.count).bigEndian) { bytes.append($0) }
      bytes.append(old)
    }
    count += 1
  }

  /// Lends the finished pack; the builder then is empty and takes the next changes.
  mutating func seal(
    firstSequence: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) rethrows {
    bytes.store(UInt32(count).bigEndian, at: Self.countOffset)
    let hash = Checksum.hash(bytes.bytes, seed: firstSequence)
    withUnsafeBytes(of: hash.bigEndian) { bytes.append($0) }
    defer {
      bytes.truncate(to: headerByteCount)
      count = 0
    }
    try body(bytes.bytes)
  }
}

/// A pack, read in place. Bytes from disk: every length is checked, nothing traps.
struct ChangePackReader {
  let header: ChangePackHeader
  private let entries: UnsafeRawBufferPointer

  /// - Throws: ``RecordError`` for bytes that are no pack.
  init(_ bytes: UnsafeRawBufferPointer, firstSequence: UInt64) throws(RecordError) {
    let fixed = ChangePackBuilder.countOffset + 5
    guard bytes.count >= fixed + RecordFormat.checksumByteCount else { throw .truncated }
    let end = bytes.count - RecordFormat.checksumByteCount
    let stored = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    let body = UnsafeRawBufferPointer(rebasing: bytes[..<end])
    guard Checksum.hash(body, seed: firstSequence) == stored else { throw .checksum }
    guard bytes[0] == ChangePackBuilder.version, let origin = ChangeOrigin(rawValue: bytes[1])
    else {
      throw .invalid("a pack of changes of another version")
    }
    let nameEnd = fixed + Int(bytes[fixed - 1])
    guard nameEnd <= end,
      let name = String(
        validating: UnsafeRawBufferPointer(rebasing: bytes[fixed..<nameEnd]), as: UTF8.self)
    else { throw .truncated }
    let count = UInt32(
      bigEndian: bytes.loadUnaligned(
        fromByteOffset: ChangePackBuilder.countOffset, as: UInt32.self))
    guard count > 0 else { throw .invalid("a pack without changes") }
    guard firstSequence > 0, firstSequence <= StoreState.largestNumber else {
      throw .invalid("a pack of changes under a number that no store comes to")
    }
    header = ChangePackHeader(
      collection: name, origin: origin,
      writer: UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self)),
      time: Double(
        bitPattern: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 6, as: UInt64.self))),
      firstSequence: firstSequence, count: Int(count))
    entries = UnsafeRawBufferPointer(rebasing: bytes[nameEnd..<end])
  }

  /// When a pack was written, and the number of its last change, without a look at the rest: every
  /// commit asks this of the oldest one. Nil for bytes that can be no pack.
  static func age(
    of bytes: UnsafeRawBufferPointer, firstSequence: UInt64
  ) -> (time: Double, lastSequence: UInt64)? {
    guard bytes.count >= ChangePackBuilder.countOffset + 4, bytes[0] == ChangePackBuilder.version
    else { return nil }
    let time = Double(
      bitPattern: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 6, as: UInt64.self)))
    let count = UInt32(
      bigEndian: bytes.loadUnaligned(
        fromByteOffset: ChangePackBuilder.countOffset, as: UInt32.self))
    // A change has two bytes at least.
    guard time.isFinite, count > 0, Int(count) <= bytes.count / 2 else { return nil }
    return (time, firstSequence &+ UInt64(count) &- 1)
  }

  /// Lends the changes behind `sequence`, until `body` says false.
  ///
  /// - Returns: Whether it came to the end.
  /// - Throws: ``RecordError`` for bytes that are no changes; whatever `body` throws.
  func forEach(after sequence: UInt64, _ body: (LoggedChange) throws -> Bool) throws -> Bool {
    var place = 0
    for index in 0..<header.count {
      guard place + 2 <= entries.count, let kind = ChangeKind(rawValue: entries[place]) else {
        throw RecordError.invalid("a change of a kind that is unknown")
      }
      let keyEnd = place + 2 + Int(entries[place + 1])
      guard keyEnd <= entries.count else { throw RecordError.truncated }
      let key = UnsafeRawBufferPointer(rebasing: entries[place + 2..<keyEnd])
      place = keyEnd
      var old = UnsafeRawBufferPointer(start: nil, count: 0)
      if kind == .updated || kind == .deleted {
        guard place + 4 <= entries.count else { throw RecordError.truncated }
        let count = Int(
          UInt32(bigEndian: entries.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
        guard count <= entries.count - place - 4 else { throw RecordError.truncated }
        old = UnsafeRawBufferPointer(rebasing: entries[place + 4..<place + 4 + count])
        place += 4 + count
      }
      let number = header.firstSequence + UInt64(index)
      guard number > sequence else { continue }
      let change = LoggedChange(sequence: number, kind: kind, key: key, old: old)
      guard try body(change) else { return false }
    }
    return true
  }
}
