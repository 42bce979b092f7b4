internal import LarderLMDB

/// Watches whatever a closure reads of a snapshot. It notes what that is, and runs the closure again
/// when a change is about something of it.
struct SnapshotWatch<Result: Sendable>: WatchWork {
  private let store: Store
  private let seat: WatchSeat
  private let ignored: Set<ChangeOrigin>
  private let (file, line): (StaticString, UInt)
  private let body: @Sendable (borrowing Snapshot) throws -> Result
  /// The last change that was looked at; nil before the closure has run.
  private var position: UInt64?
  /// What the closure has read when it ran last.
  private var ranges: [ReadRange] = []
  /// Asks changes about the same.
  private var probe = ChangeProbe([], ignoring: [])
  /// How often the closure ran, for tests of how it is done.
  private(set) var runCount = 0

  init(
    _ store: Store, at seat: WatchSeat, ignoring ignored: Set<ChangeOrigin>, file: StaticString,
    line: UInt, _ body: @escaping @Sendable (borrowing Snapshot) throws -> Result
  ) {
    self.store = store
    self.seat = seat
    self.ignored = ignored
    (self.file, self.line) = (file, line)
    self.body = body
  }

  // What the hub has passed over is about other ranges, where these have changed since.
  mutating func next(skippingTo _: UInt64) throws -> Result? {
    try store.checkOpen()
    let notes = ReadNotes()
    return try store.engine.storing {
      try store.engine.withChangeLog(file: file, line: line, noting: notes) { snapshot, log in
        try next(snapshot, log, notes)
      }
    }
  }

  private mutating func next(
    _ snapshot: borrowing Snapshot, _ log: Database?, _ notes: ReadNotes
  ) throws -> Result? {
    try Self.checkLogged(ranges, snapshot)
    if let position, !isConcerned(after: position, snapshot, log) {
      self.position = snapshot.sequence
      return nil
    }
    runCount += 1
    let result = try body(snapshot)
    position = snapshot.sequence
    try Self.checkLogged(notes.ranges, snapshot)
    if notes.ranges != ranges { follow(notes.ranges) }
    return .some(result)
  }

  /// - Throws: ``StoreError/unlogged(collection:)``.
  private static func checkLogged(
    _ ranges: [ReadRange], _ snapshot: borrowing Snapshot
  ) throws(StoreError) {
    let catalogue = snapshot.catalogue
    for range in ranges where catalogue[range.collection]?.description.isLogged == false {
      throw .unlogged(collection: range.collection)
    }
  }
}

// MARK: Ranges

extension SnapshotWatch {
  private mutating func follow(_ ranges: [ReadRange]) {
    self.ranges = ranges
    let interests = ranges.map { WatchInterest($0, ignoring: ignored) }
    probe = ChangeProbe(interests, ignoring: ignored)
    // What was committed since the snapshot began was told to those who sat there then. The watcher
    // sees it: it looks once more before it waits.
    store.engine.watchHub.change(seat, to: interests)
  }

  /// Whether something that was read has changed, or cannot be known not to have.
  private mutating func isConcerned(
    after position: UInt64, _ snapshot: borrowing Snapshot, _ log: Database?
  ) -> Bool {
    let head = snapshot.sequence
    if head == position { return false }
    // A store that went back in time was replaced by a copy of an earlier moment.
    guard head > position, let log else { return true }
    return switch probe.look(after: position, in: log, snapshot) {
    case .nothing, .ignored: false
    case .news, .unknown: true
    }
  }
}
