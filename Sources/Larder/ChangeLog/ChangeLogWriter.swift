internal import LarderLMDB

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Writes the changes of one collection into the log, in the transaction that makes them.
struct ChangeLogWriter: ~Copyable {
  private var pack: ChangePackBuilder
  private var nextSequence: UInt64
  private let database: Database

  init(
    _ collection: String, origin: ChangeOrigin, writer: UInt32, after sequence: UInt64,
    in database: Database
  ) {
    pack = ChangePackBuilder(
      collection: collection, origin: origin, writer: writer,
      time: Date.now.timeIntervalSinceReferenceDate)
    nextSequence = sequence + 1
    self.database = database
  }

  mutating func append(
    _ kind: ChangeKind, key: UnsafeRawBufferPointer,
    old: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    pack.append(kind, key: key, old: old)
  }

  var isFull: Bool { pack.isFull }

  /// Writes what was collected.
  mutating func write(to transaction: inout WriteTransaction) throws {
    guard pack.count > 0 else { return }
    let (first, count) = (nextSequence, pack.count)
    try pack.seal(firstSequence: first) { bytes in
      #if LARDER_MUTANTS
        if Mutant.logApart.isOn { return LogApart.hold(bytes, first) }
      #endif
      try withUnsafeBytes(of: first.bigEndian) { key in
        // Numbers only grow, so that a pack always comes last.
        try transaction.put(bytes, for: key, in: database, append: true)
      }
    }
    nextSequence += UInt64(count)
  }
}

/// How much of the past the change log keeps, for watchers that were away.
///
/// A watcher that falls further behind reads its query anew. Documents themselves are not
/// concerned.
public struct ChangeLogRetention: Sendable, Equatable {
  /// Bytes of the log, above which the oldest changes go.
  public var maximumByteCount = 64 << 20
  /// Seconds after which changes go.
  public var maximumAgeSeconds = 7.0 * 24 * 3600

  public init(maximumByteCount: Int = 64 << 20, maximumAgeSeconds: Double = 7 * 24 * 3600) {
    self.maximumByteCount = maximumByteCount
    self.maximumAgeSeconds = maximumAgeSeconds
  }
}

extension WriteTransaction {
  /// Packs that are pruned at most in one commit: the price of the past is paid in small pieces.
  private static var pruneCount: Int { 8 }

  /// Lets go of the oldest changes, a few packs at a time.
  ///
  /// - Parameter pinned: Changes behind this number are still waited for, by somebody who is not
  ///   too far behind, and stay.
  mutating func pruneChangeLog(
    in database: Database, _ retention: ChangeLogRetention, pinned: UInt64 = .max
  ) throws {
    let isLarge = try statistics(of: database).byteCount > retention.maximumByteCount
    var cursor = try cursor(in: database)
    let oldest = Date.now.timeIntervalSinceReferenceDate - retention.maximumAgeSeconds
    for _ in 0..<Self.pruneCount {
      guard try cursor.next(), cursor.key.count == 8 else { return }
      let first = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
      if !isLarge || pinned < .max {
        // What cannot be read is of no use to anybody.
        let pack = ChangePackReader.age(of: cursor.value, firstSequence: first)
        if let pack, pack.lastSequence > pinned { return }
        if let pack, !isLarge, pack.time > oldest { return }
      }
      try cursor.delete()
    }
  }
}
