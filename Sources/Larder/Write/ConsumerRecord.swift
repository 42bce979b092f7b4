internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What the store keeps of a named consumer.
///
/// ```
/// consumer = version  flags  opening  position  lag  holder  until  timeline  checksum   big-endian
///            1        1      4        8         8    8       8      16        8
/// flags    : 1 the kernel says whether the holder lives
/// ```
struct ConsumerRecord: Equatable {
  /// The last change that was acknowledged; `.max` before the first acknowledgement.
  private(set) var position: UInt64
  /// Which timeline the position is a place in.
  private(set) var timeline: UUID
  /// How many changes it may be behind before the log goes on without it.
  var maximumLag: UInt64
  /// Who consumes; zero for nobody.
  var holder: UInt64 = 0
  /// Which opening of the store the holder belongs to.
  var opening: UInt32 = 0
  /// Whether the kernel says of the holder if its process lives.
  var isLocked = false
  /// Until when, in seconds since the reference date.
  var until = 0.0

  static let unset = UInt64.max
  private static let version: UInt8 = 2
  private static let byteCount = 62

  init(maximumLag: UInt64) {
    position = Self.unset
    timeline = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    self.maximumLag = maximumLag
  }

  /// - Throws: ``StoreError/damagedConsumer(name:)``.
  init(_ bytes: UnsafeRawBufferPointer, name: String) throws(StoreError) {
    func number(_ place: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    let end = Self.byteCount - 8
    guard bytes.count == Self.byteCount, bytes[0] == Self.version,
      number(end) == Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<end]), seed: 0)
    else { throw .damagedConsumer(name: name) }
    isLocked = bytes[1] & 1 != 0
    opening = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
    position = number(6)
    guard position == Self.unset || position <= StoreState.largestNumber else {
      throw .damagedConsumer(name: name)
    }
    maximumLag = number(14)
    holder = number(22)
    until = Double(bitPattern: number(30))
    timeline = UUID(uuid: bytes.loadUnaligned(fromByteOffset: 38, as: uuid_t.self))
  }

  func encoded() -> [UInt8] {
    var bytes = OrderedBytes(capacity: Self.byteCount)
    bytes.append(Self.version)
    bytes.append(isLocked ? 1 : 0)
    withUnsafeBytes(of: opening.bigEndian) { bytes.append($0) }
    for number in [position, maximumLag, holder, until.bitPattern] {
      withUnsafeBytes(of: number.bigEndian) { bytes.append($0) }
    }
    withUnsafeBytes(of: timeline.uuid) { bytes.append($0) }
    let hash = Checksum.hash(bytes.bytes, seed: 0)
    withUnsafeBytes(of: hash.bigEndian) { bytes.append($0) }
    return [UInt8](bytes.bytes)
  }

  /// The last change that was acknowledged; nil where none of this timeline was.
  func position(in timeline: UUID?) -> UInt64? {
    position != Self.unset && timeline == self.timeline ? position : nil
  }

  /// Notes that everything up to a change is done with. What was acknowledged before stays so.
  mutating func acknowledge(_ sequence: UInt64, in timeline: UUID) {
    position = max(sequence, position(in: timeline) ?? 0)
    self.timeline = timeline
  }

  /// How long the lease of somebody else lasts at `now`; nil where there is none. A lease that ends
  /// much later than one can is of a clock that was turned back; clocks are set back a little all the
  /// time.
  func secondsHeld(against holder: UInt64, now: Double) -> Double? {
    guard self.holder != 0, self.holder != holder, until > now,
      until <= now + 2 * ConsumerLease.seconds
    else { return nil }
    return until - now
  }
}

/// One iteration's right to be the consumer of a name.
struct ConsumerLease: Sendable, Equatable {
  let name: String
  let holder: UInt64

  /// How long a consumer that does not ask for more keeps others away.
  static let seconds = 30.0

  /// - Throws: ``StoreError/consumerName(_:)``.
  func checkName() throws(StoreError) {
    guard (1...200).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw .consumerName(name)
    }
  }
}

extension Engine {
  /// How long the lease of a consumer keeps an iteration away; nil where nobody holds it any more.
  func secondsHeld(_ record: ConsumerRecord, against holder: UInt64, now: Double) -> Double? {
    // Nothing renews the lease of one that waits for changes: it would cost a commit every few seconds.
    if record.holder != holder, record.opening == writerID,
      consumerHolders.isWaiting(record.holder)
    {
      return max(record.secondsHeld(against: holder, now: now) ?? 0, 1)
    }
    guard let seconds = record.secondsHeld(against: holder, now: now) else { return nil }
    let isAlive: Bool
    if record.opening == writerID {
      isAlive = consumerHolders.contains(record.holder)
    } else {
      // A process that ended without a word has let go of its lock.
      isAlive = !record.isLocked || environment.isHeldElsewhere(record.holder)
    }
    return isAlive ? seconds : nil
  }
}

extension Transaction where Self: ~Copyable {
  borrowing func consumer(_ name: String, in database: Database) throws -> ConsumerRecord? {
    var key = name
    return try key.withUTF8 { key in
      try withValue(for: UnsafeRawBufferPointer(key), in: database) {
        try ConsumerRecord($0, name: name)
      }
    }
  }

  /// The consumer that waits for the oldest changes, and the last one that it has acknowledged; nil
  /// where nobody waits. Who is too far behind does not, nor who needs a change that is gone already, or stands
  /// in the timeline of a store that a backup has replaced: it begins with a reset in any case.
  ///
  /// - Parameter log: The log, whose first change is the oldest that there is.
  borrowing func slowestConsumer(
    in database: Database, log: Database, head: UInt64
  ) throws -> (name: String, position: UInt64)? {
    var oldest = UInt64(0)
    var packs = try cursor(in: log)
    if try packs.first(), packs.key.count == 8 {
      oldest = UInt64(bigEndian: packs.key.loadUnaligned(as: UInt64.self))
    }
    let timeline = try timeline()?.id
    var slowest: (name: String, position: UInt64)?
    var cursor = try cursor(in: database)
    while try cursor.next() {
      // One that cannot be read begins anew, and needs nothing.
      guard let record = try? ConsumerRecord(cursor.value, name: ""),
        let position = record.position(in: timeline), position < head,
        head - position <= record.maximumLag, position + 1 >= oldest
      else { continue }
      if position < slowest?.position ?? .max {
        slowest = (String(decoding: cursor.key, as: UTF8.self), position)
      }
    }
    return slowest
  }
}

extension WriteScope {
  mutating func put(_ record: ConsumerRecord, _ name: String, in database: Database) throws {
    var key = name
    try record.encoded().withUnsafeBytes { value in
      try key.withUTF8 {
        try transaction.put(value, for: UnsafeRawBufferPointer($0), in: database)
      }
    }
    hasWrittenMore = true
  }

  /// The consumer that waits for the oldest changes.
  borrowing func slowestConsumer() throws -> (name: String, position: UInt64)? {
    guard let consumers else { return nil }
    return try transaction.slowestConsumer(in: consumers, log: log, head: state.sequence)
  }
}
