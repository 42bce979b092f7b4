internal import LarderLMDB

/// Entries of an index that is being built, read from the documents beside the writes of others, and sorted, so
/// that each write puts many of them beside each other.
///
/// An index that is built without sorting first rewrites nearly every page of its tree in each write, because the
/// entries of any few documents are spread over all of it. With 1,000,000 contacts that took 2.3 times as long as
/// SQLite in memory, and 5.3 times on a disk. A sorted run takes 0.5 to 0.6 of SQLite's time in memory, and 0.6 to
/// 0.7 on a disk.
///
/// Documents that are changed after they were read are found in the change log, in the transaction that puts
/// entries: what was read of them is left out, and what they have now is put.
final class IndexRun: @unchecked Sendable {
  // Guard: used by one thread at a time, the one that reads, and behind it whoever is in the writer's line.

  let number: UInt32
  /// As it was when this began; it changes once all entries are put.
  private let record: IndexRecord
  private let collection: Collection
  private let changes: IndexChanges
  /// The state of the store at the first look.
  private let start: StoreState
  private let limits: Limits
  /// Documents up to this key are in the run; nil for all.
  private let end: [UInt8]?
  private let entries: ArraySlice<KeySort.Item>
  /// How many of the entries are put for good.
  private var count = 0
  /// Two documents with the same value in a unique index, once some were met.
  private var conflict: String?
  /// The last change that was looked at.
  private var sequence: UInt64
  /// Documents that were changed since they were read.
  private var changed: Set<[UInt8]> = []

  struct Limits {
    /// Collections with fewer documents have their indexes built from the documents, some at a time.
    var leastDocumentCount = 16_384
    /// Memory that the entries take, while they are sorted. With more the pages of the index become fuller.
    var byteCount = 32 << 20
    /// Bytes of documents that are read for one run: what is read is lost where the process ends before all of
    /// its entries are put.
    var readByteCount = 128 << 20
    /// Documents that are read in one snapshot, so that none lasts long, or in one write without a run.
    var documentsAtOnce = 4096
    /// Their bytes in a snapshot.
    var bytesPerSnapshot = 4 << 20
    /// Entries that are put in one write.
    var entriesPerWrite = 32_768
    /// With more changes than this since it was read, of any collection, a run is given up.
    var changeCount = 100_000
    /// With more documents changed between two writes than this, or more bytes of them, too: they are read again
    /// one by one.
    var changesPerWrite = 8_192
    var changedByteCount = 16 << 20
  }

  /// Reads documents behind those that the index has.
  ///
  /// - Returns: Nil where the index is not being built any more, or the catalogue has changed meanwhile.
  /// - Throws: ``StoreError``, LMDB's errors.
  init?(
    reading number: UInt32, in catalogue: Catalogue, records: Database,
    _ environment: Environment, _ limits: Limits
  ) throws {
    var start: StoreState?
    var record: IndexRecord?
    var changes: IndexChanges?
    var read: Collection?
    var last: [UInt8]?
    var (readByteCount, isFull) = (0, false)
    repeat {
      var snapshotByteCount = 0
      let reading = try environment.beginRead()
      guard let state = try reading.state(path: environment.folder),
        state.transaction <= UInt64(reading.id), state.catalogueVersion == catalogue.version,
        let found = try record ?? reading.indexRecord(number, in: records),
        case .building(let position, let conflict) = found.state,
        let collection = catalogue[found.definition.collection],
        let index = collection.indexes.first(where: { $0.number == number })
      else { return nil }
      let collected =
        changes ?? IndexChanges(index, in: collection, conflict: .collected(conflict))
      start = start ?? state
      (record, changes, read) = (found, collected, collection)
      last = try LentTransaction(reading).forEachDocument(
        of: collection, after: last ?? position, count: limits.documentsAtOnce
      ) { record, key in
        collected.insert(record, key: key)
        snapshotByteCount += record.byteCount
        return snapshotByteCount < limits.bytesPerSnapshot
          && collected.sortingByteCount < limits.byteCount
      }
      readByteCount += snapshotByteCount
      isFull =
        collected.sortingByteCount >= limits.byteCount || readByteCount >= limits.readByteCount
    } while last != nil && !isFull
    guard let start, let record, let changes, let read else { return nil }
    (self.number, self.record, self.changes, self.start, collection) =
      (number, record, changes, start, read)
    self.limits = limits
    end = last
    entries = changes.sorted()[...]
    sequence = start.sequence
  }

  /// The result of one write of entries. Once it is committed, ``keep(_:)`` is told of it.
  struct Step {
    /// The index's state from then on.
    let state: IndexState
    fileprivate let count: Int
    fileprivate let sequence: UInt64
    fileprivate let changed: Set<[UInt8]>
    fileprivate let conflict: String?
    /// A conflict that the state has, and had not before.
    let newConflict: String?
  }

  enum Outcome {
    case step(Step)
    /// Nothing was put: another process has come further.
    case outrun
    /// Nothing was put: the catalogue has changed, or too many documents have, or nobody knows which.
    case outdated
  }

  /// Puts the next entries, or nothing where the run does not fit the store any more.
  func put(
    _ stored: IndexRecord, _ state: StoreState, log: Database,
    _ transaction: inout WriteTransaction
  ) throws -> Outcome {
    guard case .building(let start, _) = record.state,
      case .building(let position, let known) = stored.state,
      state.catalogueVersion == self.start.catalogueVersion, stored.becoming(record.state) == record
    else { return .outdated }
    // Another process may have come some way, but not beyond the end, nor begun again.
    guard !position.lexicographicallyPrecedes(start) else { return .outdated }
    if let end, !position.lexicographicallyPrecedes(end) { return .outrun }
    guard let news = changes(behind: start, state, log: log, transaction),
      let fresh = try present(news, transaction)
    else { return .outdated }
    try fresh.write(to: &transaction, collection)
    let changed = changed.union(news)
    let next = entries.dropFirst(count).prefix(limits.entriesPerWrite)
    try changes.write(next, leavingOut: changed, to: &transaction, collection)
    let conflict = known ?? self.conflict ?? changes.conflict ?? fresh.conflict
    let isDone = count + next.count == entries.count
    return .step(
      Step(
        state: !isDone
          ? stored.state
          : end.map { .building(upTo: $0, conflict: conflict) }
            ?? conflict.map { .failed($0) } ?? .complete,
        count: count + next.count, sequence: state.sequence, changed: changed, conflict: conflict,
        newConflict: known == nil && isDone ? conflict : nil))
  }

  /// The entries that documents have now; nil where they are too many.
  private func present(
    _ keys: Set<[UInt8]>, _ transaction: borrowing WriteTransaction
  ) throws -> IndexChanges? {
    let fresh = IndexChanges(changes.index, in: collection, conflict: .collected(nil))
    let binding = CollectionBinding(collection)
    var byteCount = 0
    for key in keys {
      do {
        _ = try key.withUnsafeBytes { key in
          try transaction.withRecord(for: key, binding) {
            fresh.insert($0, key: key)
            byteCount += $0.byteCount
          }
        }
      } catch let error as LMDBError {
        throw error
      } catch {
        // A damaged one is left out, as where it is read in its turn.
      }
      if byteCount > limits.changedByteCount || fresh.sortingByteCount > limits.byteCount {
        return nil
      }
    }
    return fresh
  }

  /// Takes note of a step that was committed.
  ///
  /// - Returns: Whether entries are left.
  func keep(_ step: Step) -> Bool {
    (count, sequence, changed, conflict) = (step.count, step.sequence, step.changed, step.conflict)
    return count < entries.count
  }

  /// The documents of the run that were changed since the last step; nil where that cannot be told, or too much was.
  private func changes(
    behind position: [UInt8], _ state: StoreState, log: Database,
    _ transaction: borrowing WriteTransaction
  ) -> Set<[UInt8]>? {
    guard state.sequence >= sequence, state.sequence - start.sequence <= limits.changeCount
    else { return nil }
    var news: Set<[UInt8]> = []
    var isKnown = true
    // A log that cannot be read tells nothing.
    let isLogged = try? transaction.forEachChange(
      after: sequence, head: state.sequence, in: log
    ) { header, change in
      guard header.collection == collection.name else { return true }
      switch change.kind {
      case .inserted, .updated, .deleted:
        let isAhead = end.map { $0.withUnsafeBytes { Bytes.compare(change.key, $0) > 0 } }
        let isBehind = position.withUnsafeBytes { Bytes.compare(change.key, $0) <= 0 }
        if isAhead != true, !isBehind { news.insert([UInt8](change.key)) }
      case .erased, .unlogged: isKnown = false
      }
      isKnown = isKnown && news.count <= limits.changesPerWrite
      return isKnown
    }
    return isLogged == true && isKnown ? news : nil
  }
}

extension RecordReader {
  fileprivate var byteCount: Int { end - numbers }
}

/// The one run that a store has at a time, if it has any, and when the next one is worth reading.
struct IndexRuns {
  /// Smaller ones are for tests.
  var limits = IndexRun.Limits()
  private(set) var run: IndexRun?
  /// Counts up whenever what is being read must not be used.
  private(set) var generation = 0
  /// Steps until a run is read again for the index that one was read for in vain.
  private var pause = 0
  private var pausedNumber: UInt32?
  private var nextPause = Self.leastPause

  private static let leastPause = 4

  /// Whether a run should be read before the next step of an index. There is one at a time; that of another index is
  /// forgotten where nobody goes on with it.
  mutating func isWanted(for number: UInt32, goesOn: (UInt32) -> Bool) -> Bool {
    if let run, run.number != number, !goesOn(run.number) { forget() }
    return run == nil && (pause == 0 || pausedNumber != number)
  }

  mutating func begin(_ run: IndexRun?, for number: UInt32, _ generation: Int) {
    if self.generation == generation { self.run = run }
    if run == nil { giveUp(number) }
  }

  /// A step was taken without a run.
  mutating func pass() { pause = max(0, pause - 1) }

  /// All entries of the run are put, by whomever.
  mutating func end() {
    run = nil
    nextPause = Self.leastPause
  }

  /// The run was in vain. Steps without one follow, more each time: the build goes on, whatever is written meanwhile.
  mutating func giveUp(_ number: UInt32) {
    run = nil
    if pausedNumber != number { nextPause = Self.leastPause }
    pausedNumber = number
    pause = nextPause
    nextPause = min(2 * nextPause, 1024)
  }

  /// The catalogue has changed, or the file may be another one from now on.
  mutating func forget() {
    run = nil
    generation += 1
  }
}
