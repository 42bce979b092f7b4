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
        do {
          try transaction.put(bytes, for: key, in: database, append: true)
        } catch let error as LMDBError where error.code == .keyExists {
          // Of a damaged key, which must not keep everybody from saving.
          try transaction.removeChanges(from: key, in: database)
          try transaction.put(bytes, for: key, in: database, append: true)
        }
      }
    }
    nextSequence += UInt64(count)
  }
}

/// How much of the past the change log keeps, for watchers that were away.
///
/// A watcher that falls further behind reads its query anew. Documents themselves are not
/// concerned. No limit may be below zero; `Int.max` bytes and an age of nil are none.
public struct ChangeLogRetention: Sendable, Equatable {
  /// Bytes of the log, above which the oldest changes go.
  public var maximumByteCount = 64 << 20
  /// The age at which changes go; nil for none.
  public var maximumAge: Duration? = .seconds(7 * 24 * 3600)
  /// Bytes of the log, above which it does not even wait for named consumers that are behind: the
  /// slowest ones begin with a reset. Where the store has a quota they give way sooner, rather than
  /// that a save is refused.
  public var maximumConsumerByteCount = 256 << 20
  /// The age at which changes go that a named consumer still waits for; nil for none.
  public var maximumConsumerAge: Duration? = .seconds(30 * 24 * 3600)

  /// Keeps changes up to a size and an age; whichever is passed first lets the oldest go.
  public init(
    maximumByteCount: Int = 64 << 20, maximumAge: Duration? = .seconds(7 * 24 * 3600)
  ) {
    self.maximumByteCount = maximumByteCount
    self.maximumAge = maximumAge
  }

  /// The name of one that is below zero; nil where there is none.
  var wrongLimit: String? {
    if maximumByteCount < 0 { return "maximumByteCount" }
    if let maximumAge, maximumAge < .zero { return "maximumAge" }
    if maximumConsumerByteCount < 0 { return "maximumConsumerByteCount" }
    if let maximumConsumerAge, maximumConsumerAge < .zero { return "maximumConsumerAge" }
    return nil
  }
}

/// What to prune of the change log, and how much of it at once.
struct ChangeLogPruning {
  let retention: ChangeLogRetention
  /// The last change that every named consumer has acknowledged which the log waits for.
  let acknowledged: UInt64
  /// The last change before the commit: what it has written itself stays for those who watch.
  let head: UInt64
  /// Bytes that may go in this commit, more or less.
  var byteCount: Int

  /// The price of the past is paid in small pieces, and faster than it grows: a commit that wrote much
  /// lets go of twice as much.
  ///
  /// - Parameters:
  ///   - before: Bytes of the log before the commit.
  ///   - now: Bytes with what it has written.
  init(
    _ retention: ChangeLogRetention, acknowledged: UInt64, head: UInt64, before: Int, now: Int
  ) {
    self.retention = retention
    self.acknowledged = acknowledged
    self.head = head
    byteCount = Self.leastByteCount + 2 * max(0, now - before)
  }

  /// Eight packs.
  static let leastByteCount = 8 * ChangePackBuilder.largestByteCount
  /// What a commit takes that does nothing else.
  static let largestByteCount = 16 << 20
  /// What the smallest pack counts for: there may be very many.
  static let packByteCount = 8 << 10
}

extension WriteTransaction {
  /// Removes what stands under a number that no change has had yet.
  fileprivate mutating func removeChanges(
    from key: UnsafeRawBufferPointer, in database: Database
  ) throws {
    var cursor = try cursor(in: database)
    while try cursor.last(), Bytes.compare(cursor.key, key) >= 0 { try cursor.delete() }
  }

  /// Lets go of the oldest changes.
  ///
  /// - Returns: Whether much more has to go.
  mutating func pruneChangeLog(
    in database: Database, _ pruning: ChangeLogPruning
  ) throws -> Bool {
    let (retention, page) = (pruning.retention, try statistics(of: database).pageByteCount)
    var byteCount = try statistics(of: database).byteCount
    let patience = max(retention.maximumByteCount, retention.maximumConsumerByteCount)
    let ageLimit = retention.maximumAge?.seconds ?? .infinity
    let consumerAgeLimit = retention.maximumConsumerAge?.seconds ?? .infinity
    let now = Date.now.timeIntervalSinceReferenceDate
    var budget = pruning.byteCount
    var cursor = try cursor(in: database)
    while budget > 0 {
      guard try cursor.next(), cursor.key.count == 8 else { return false }
      let first = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
      guard first <= pruning.head else { return false }
      let isLarge = byteCount > retention.maximumByteCount
      if !isLarge || pruning.acknowledged < .max {
        // What cannot be read is of no use to anybody.
        if let pack = ChangePackReader.age(of: cursor.value, firstSequence: first) {
          var age = now - pack.time
          // Written while the clock was ahead: it is older than those behind it.
          if age < 0 { age = try ageBehind(first, to: pruning.head, now, in: database) ?? age }
          if !isLarge, age < ageLimit { return false }
          if pack.lastSequence > pruning.acknowledged, byteCount <= patience,
            age < max(ageLimit, consumerAgeLimit)
          {
            return false
          }
        }
      }
      // A pack that is larger than a fraction of a page has pages of its own.
      let size = cursor.value.count
      let freed = size > page / 2 ? (size + page - 1) / page * page : size
      try cursor.delete()
      budget -= max(freed, ChangeLogPruning.packByteCount)
      byteCount -= freed
    }
    return byteCount - ChangeLogPruning.leastByteCount > retention.maximumByteCount
  }

  /// The age of a later pack, which was not written while the clock was ahead. Looks twice as far each time, as many may
  /// have been; at last it looks at the newest. Nil where that was written ahead, too.
  private borrowing func ageBehind(
    _ first: UInt64, to head: UInt64, _ now: Double, in database: Database
  ) throws -> Double? {
    var cursor = try cursor(in: database)
    var distance: UInt64 = 1
    while first + distance <= head {
      let key = withUnsafeBytes(of: (first + distance).bigEndian) { Array($0) }
      guard try key.withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) else { break }
      if let age = Self.age(at: cursor, behind: first, now) { return age }
      distance *= 2
    }
    // More were written ahead than since.
    return try cursor.last() ? Self.age(at: cursor, behind: first, now) : nil
  }

  private static func age(
    at cursor: borrowing Cursor, behind first: UInt64, _ now: Double
  ) -> Double? {
    guard cursor.key.count == 8,
      case let sequence = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)),
      sequence > first,
      let pack = ChangePackReader.age(of: cursor.value, firstSequence: sequence), pack.time <= now
    else { return nil }
    return now - pack.time
  }
}
