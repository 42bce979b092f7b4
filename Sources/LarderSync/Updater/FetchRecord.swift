internal import Larder

/// What a limiter with a name keeps in its store for others: for other processes, and for this one after
/// a restart. Times are of the time of day, in seconds since the reference date, big-endian doubles.
///
/// ```
/// note = success                                        8
///      | success  failure  pause  count  kind           8, 8, 8, 1, 0 to 200 of UTF-8
/// ```
/// A success that never was is not a number. The longer form stands as long as the last fetch has failed.
/// The count goes up to 127; its highest bit is set where the remote has asked for the pause.
struct FetchRecord: Equatable {
  struct Failure: Equatable {
    /// When it was.
    var seconds: Double
    /// How long after it nobody tries again, in seconds.
    var pause: Double
    /// Whether the remote has asked for the pause.
    var isAdvised = false
    /// Failures in a row, up to 127.
    var count: Int
    /// The type of the error.
    var kind: String
  }

  var success: Double?
  var failure: Failure?
}

extension FetchRecord {
  private static let maximumKindByteCount = 200
  private static let maximumCount: UInt8 = 127

  /// Nil for bytes that are no record.
  init?(_ bytes: [UInt8]) {
    func double(at offset: Int) -> Double {
      Double(bitPattern: bytes[offset..<offset + 8].reduce(0) { $0 << 8 | UInt64($1) })
    }
    guard bytes.count == 8 || bytes.count >= 25 else { return nil }
    let success = double(at: 0)
    self.success = success.isNaN ? nil : success
    if bytes.count > 8 {
      failure = Failure(
        seconds: double(at: 8), pause: double(at: 16), isAdvised: bytes[24] > Self.maximumCount,
        count: Int(bytes[24] & Self.maximumCount),
        kind: String(decoding: bytes[25...], as: UTF8.self))
    }
  }

  var bytes: [UInt8] {
    func bytes(_ double: Double) -> [UInt8] {
      withUnsafeBytes(of: double.bitPattern.bigEndian) { [UInt8]($0) }
    }
    let success = bytes(success ?? .nan)
    guard let failure else { return success }
    let count = min(UInt8(clamping: failure.count), Self.maximumCount)
    return success + bytes(failure.seconds) + bytes(failure.pause)
      + [failure.isAdvised ? count | ~Self.maximumCount : count]
      + failure.kind.utf8.prefix(Self.maximumKindByteCount)
  }
}

/// Where a limiter's record is kept.
struct FetchMemory: Sendable {
  let store: Store
  let name: String

  private var noteName: String { "fetch/" + name }

  /// Nil where nothing is known.
  ///
  /// - Throws: `StoreError`.
  func read() throws -> FetchRecord? {
    try store.read { try $0.note(noteName) }.flatMap(FetchRecord.init)
  }

  /// - Parameter isWanted: Asked in the transaction; nothing is written where it returns false.
  /// - Throws: `StoreError`; what was kept before stays then.
  func write(
    _ record: FetchRecord?, if isWanted: @escaping @Sendable () -> Bool = { true }
  ) async throws {
    let (noteName, bytes) = (noteName, record?.bytes)
    try await store.write { if isWanted() { try $0.setNote(noteName, to: bytes) } }
  }

  /// Writes a record where the one that it was made of is still there: a success that another process has
  /// noted meanwhile is later, and what another one has forgotten stays forgotten.
  ///
  /// - Throws: `StoreError`; what was kept before stays then.
  func write(
    _ record: FetchRecord, over before: FetchRecord?,
    if isWanted: @escaping @Sendable () -> Bool
  ) async throws {
    let (noteName, bytes) = (noteName, record.bytes)
    try await store.write { scope in
      guard isWanted(), try scope.note(noteName).flatMap(FetchRecord.init) == before else { return }
      try scope.setNote(noteName, to: bytes)
    }
  }

  /// For the transaction of the save that makes it true.
  func note(
    _ record: FetchRecord, if isWanted: @escaping @Sendable () -> Bool
  ) -> AttachedNote {
    AttachedNote(noteName, record.bytes, in: store) { _ in isWanted() }
  }
}
