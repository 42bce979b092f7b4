internal import Larder

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How long it is since a fetch has succeeded: by the clock that nobody can set where this process
/// saw it, by the time of day where it was another one, before a restart or beside this one.
struct FetchInterval {
  /// Where the last success is kept for others; nil for nowhere.
  struct Memory: Sendable {
    let store: Store
    let name: String

    private var noteName: String { "fetch/" + name }

    /// Seconds since the reference date, of the time of day; nil for never.
    ///
    /// - Throws: `StoreError`.
    func read() throws -> Double? {
      try store.read { try $0.note(noteName) }.flatMap { bytes in
        guard bytes.count == 8 else { return nil }
        return Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
      }
    }

    /// - Throws: `StoreError`; what was kept before stays then.
    func write(_ seconds: Double?) async throws {
      let (noteName, bytes) = (noteName, seconds.map(Self.bytes))
      try await store.write { try $0.setNote(noteName, to: bytes) }
    }

    /// For the transaction of the save that makes it true.
    func note(_ seconds: Double) -> AttachedNote {
      AttachedNote(noteName, Self.bytes(seconds), in: store)
    }

    private static func bytes(_ seconds: Double) -> [UInt8] {
      withUnsafeBytes(of: seconds.bitPattern.bigEndian) { [UInt8]($0) }
    }
  }

  struct Success {
    let elapsed: Duration
    /// Seconds since the reference date, of the time of day.
    let seconds: Double
    /// Whether others can read it.
    var isKept = false
  }

  let minimum: Duration
  let memory: Memory?
  let clock: any SyncClock
  /// The last success that was seen here.
  var success: Success?

  /// When a fetch last succeeded, here or elsewhere.
  ///
  /// - Throws: `StoreError`.
  func lastSuccess() throws -> Double? {
    guard let memory else { return success?.seconds }
    guard let success, !success.isKept else { return try memory.read() }
    // Others may have succeeded since, unless their clock is another one. If the store cannot be read
    // this one counts.
    guard let kept = try? memory.read(), kept > success.seconds, kept <= now.seconds else {
      return success.seconds
    }
    return kept
  }

  /// A success at this moment, that nobody else knows of.
  var now: Success {
    Success(elapsed: clock.elapsed, seconds: clock.date.timeIntervalSinceReferenceDate)
  }

  /// Whether the minimum has passed.
  ///
  /// - Throws: `StoreError`.
  func isOver() throws -> Bool {
    guard minimum > .zero, let last = try lastSuccess() else { return true }
    if let success, success.seconds == last { return clock.elapsed - success.elapsed >= minimum }
    let passed = clock.date.timeIntervalSinceReferenceDate - last
    // A success in the future is of a clock that was turned back since, and says nothing.
    return passed < 0 || passed.isNaN || passed >= minimum / .seconds(1)
  }
}
