internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What the store keeps of a named consumer.
///
/// ```
/// consumer = version  position  lag  holder  until  checksum        big-endian
///            1        8         8    8       8      8
/// ```
struct ConsumerRecord: Equatable {
  /// The last change that was acknowledged; `.max` before the first acknowledgement.
  var position: UInt64
  /// How many changes it may be behind before the log goes on without it.
  var maximumLag: UInt64
  /// Who consumes; zero for nobody.
  var holder: UInt64 = 0
  /// Until when, in seconds since the reference date.
  var until = 0.0

  static let unset = UInt64.max
  private static let version: UInt8 = 1
  private static let byteCount = 41

  init(position: UInt64, maximumLag: UInt64) {
    self.position = position
    self.maximumLag = maximumLag
  }

  /// - Throws: ``StoreError/damagedConsumer(name:)``.
  init(_ bytes: UnsafeRawBufferPointer, name: String) throws(StoreError) {
    func number(_ place: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
    guard bytes.count == Self.byteCount, bytes[0] == Self.version,
      number(33) == Checksum.hash(UnsafeRawBufferPointer(rebasing: bytes[..<33]), seed: 0)
    else { throw .damagedConsumer(name: name) }
    position = number(1)
    maximumLag = number(9)
    holder = number(17)
    until = Double(bitPattern: number(25))
  }

  func encoded() -> [UInt8] {
    var bytes = OrderedBytes(capacity: Self.byteCount)
    bytes.append(Self.version)
    for number in [position, maximumLag, holder, until.bitPattern] {
      withUnsafeBytes(of: number.bigEndian) { bytes.append($0) }
    }
    let hash = Checksum.hash(bytes.bytes, seed: 0)
    withUnsafeBytes(of: hash.bigEndian) { bytes.append($0) }
    return [UInt8](bytes.bytes)
  }

  /// Whether somebody else consumes at `now`. A lease that ends much later than one can is of a
  /// clock that was turned back; clocks are set back a little all the time.
  func isHeld(against holder: UInt64, now: Double) -> Bool {
    self.holder != 0 && self.holder != holder && until > now
      && until <= now + 2 * ConsumerLease.seconds
  }
}

/// One iteration's right to be the consumer of a name.
struct ConsumerLease: Sendable, Equatable {
  let name: String
  let holder: UInt64

  /// How long a consumer that does not ask for more keeps others away.
  static let seconds: Double = {
    #if LARDER_MUTANTS
      // A campaign that kills consumers cannot wait that long for each of them.
      if let text = ProcessInfo.processInfo.environment["LARDER_LEASE_SECONDS"],
        let seconds = Double(text)
      {
        return seconds
      }
    #endif
    return 30
  }()

  /// - Throws: ``StoreError/consumerName(_:)``.
  func checkName() throws(StoreError) {
    guard (1...200).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw .consumerName(name)
    }
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

  /// The last change that every consumer has acknowledged which is not too far behind.
  borrowing func pinnedSequence(in database: Database, head: UInt64) throws -> UInt64 {
    var pinned = UInt64.max
    var cursor = try cursor(in: database)
    while try cursor.next() {
      // One that cannot be read begins anew, and needs nothing.
      guard let record = try? ConsumerRecord(cursor.value, name: ""),
        record.position != ConsumerRecord.unset,
        head - min(head, record.position) <= record.maximumLag
      else { continue }
      pinned = min(pinned, record.position)
    }
    return pinned
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
}
