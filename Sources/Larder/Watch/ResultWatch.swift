internal import LarderLMDB

/// The work of a watcher: what it knows, and how it comes to the next element.
protocol WatchWork<Element> {
  associatedtype Element: Sendable
  /// What is new since the last call; nil where nothing is.
  ///
  /// - Parameter position: Nothing up to this change concerns the watcher.
  mutating func next(skippingTo position: UInt64) throws -> Element?
  /// The same with what is ignored, for who shows it together with something else.
  mutating func nextWithIgnored() throws -> Element?
}

extension WatchWork {
  /// For work that is never asked for it: what it ignores is still to come then.
  mutating func nextWithIgnored() throws -> Element? { try next(skippingTo: 0) }
}

/// Watches a query of a store: from one snapshot to the next, by the change log.
struct ResultWatch<Entity: Document, Model: Sendable>: WatchWork {
  private let store: Store
  private let growth: Growth?
  private var reader: RowReader<Entity, Model>
  /// Documents of the collection when the statistics of a rank were taken.
  private var rankedCount = 0
  private var rows: ResultRows
  private var follower: LogFollower
  private var bound: RowReader<Entity, Model>.Bound?
  /// How often the rows were read anew, for tests of how it is done.
  private(set) var rereadCount = 0
  private(set) var refillCount = 0
  /// How many rows were read because the limit has grown, likewise.
  private(set) var grownCount = 0
  /// How many changes were looked at in the log, likewise.
  var examinedCount: UInt64 { follower.examinedCount }

  init(
    _ store: Store, _ selection: Selection, _ reader: RowReader<Entity, Model>,
    ignoring ignored: Set<ChangeOrigin> = [], marginCount: Int? = nil
  ) {
    self.store = store
    self.reader = reader
    growth = selection.growth
    rows = ResultRows(selection, marginCount: marginCount)
    if let growth { rows.reach(growth.count) }
    follower = LogFollower(WatchInterest(reader.form, selection.interest, ignoring: ignored))
  }

  mutating func next(skippingTo skipped: UInt64) throws -> ResultChange<Model>? {
    try next(skippingTo: skipped, withIgnored: false)
  }

  mutating func nextWithIgnored() throws -> ResultChange<Model>? {
    try next(skippingTo: 0, withIgnored: true)
  }

  private mutating func next(
    skippingTo skipped: UInt64, withIgnored: Bool
  ) throws -> ResultChange<Model>? {
    try store.checkOpen()
    return try store.engine.storing {
      try store.engine.withChangeLog { snapshot, log in
        if let change = try news(skippingTo: skipped, withIgnored, snapshot, log) { return change }
        return try grow(snapshot)
      }
    }
  }

  private mutating func news(
    skippingTo skipped: UInt64, _ withIgnored: Bool, _ snapshot: borrowing Snapshot,
    _ log: Database?
  ) throws -> ResultChange<Model>? {
    if follower.position == nil { return try begin(snapshot) }
    // Whatever there is to read, a log that was switched off ends the watcher.
    let binding = try binding(in: snapshot)
    let news = follower.news(
      skippingTo: skipped, withIgnored: withIgnored, isThere: binding != nil,
      patience: max(LogFollower.patience, rows.count / 4), snapshot, log)
    switch news {
    case .nothing: return nil
    case .unknown(let isBehind): return try reread(snapshot, isReset: isBehind)
    case .changes(let changes):
      guard let binding else { return nil }
      if try isRankOutdated(binding, snapshot) { return try reread(snapshot, isReset: false) }
      let found: RowDifference?
      do {
        found = try step(changes, binding, snapshot)
      } catch {
        // Rows that contradict the log, or a record that cannot be read: the store itself says
        // what there is, or throws.
        return try reread(snapshot, isReset: false)
      }
      return try found.map { .update(try difference($0, binding, snapshot)) }
    }
  }

  /// - Throws: ``StoreError/unlogged(collection:)``.
  private mutating func binding(
    in snapshot: borrowing Snapshot
  ) throws -> RowReader<Entity, Model>.Bound? {
    guard let binding = try reader.form.binding(snapshot.catalogue) else { return nil }
    guard binding.collection.description.isLogged else {
      throw StoreError.unlogged(collection: binding.collection.name)
    }
    if let bound, bound.binding === binding { return bound }
    if reader.needsStatistics {
      try reader.rank(in: binding, snapshot.transaction)
      rankedCount = try snapshot.transaction.statistics(of: binding.collection.documents).entryCount
    }
    let bound = reader.bound(to: binding)
    self.bound = bound
    return bound
  }
}

// MARK: Steps

extension ResultWatch {
  /// Whether the collection has twice as many documents as when the statistics of a rank were taken, or half
  /// as many: until then ranks stay, so that a step costs what has changed.
  private func isRankOutdated(
    _ bound: RowReader<Entity, Model>.Bound, _ snapshot: borrowing Snapshot
  ) throws -> Bool {
    guard reader.isRanked else { return false }
    let documents = bound.binding.collection.documents
    let count = try snapshot.transaction.statistics(of: documents).entryCount
    return count != rankedCount && (count >= 2 * rankedCount || 2 * count <= rankedCount)
  }

  private mutating func begin(_ snapshot: borrowing Snapshot) throws -> ResultChange<Model> {
    var models = RowsBuilder<Model>()
    if let bound = try binding(in: snapshot) {
      let found = try reader.rows(
        rows.wantedCount, needed: rows.window.upperBound, bound, snapshot.transaction,
        visible: rows.window
      ) { models.append($0) }
      rows.replace(by: found.rows, isCut: found.isCut)
    }
    follower.begin(snapshot)
    return .initial(models.rows(), sequence: snapshot.sequence)
  }

  /// Reads the whole result and compares it with the one before.
  ///
  /// - Parameter shown: The offsets that were seen of the rows; nil for those of the window.
  private mutating func reread(
    _ snapshot: borrowing Snapshot, isReset: Bool, showing shown: Range<Int>? = nil
  ) throws -> ResultChange<Model>? {
    rereadCount += 1
    let before = shown.map { rows[$0] } ?? rows.visibleRows
    var models = RowsBuilder<Model>()
    var new = RowReader<Entity, Model>.Found()
    if reader.isRanked {
      reader.forgetStatistics()
      self.bound = nil
    }
    let bound = try binding(in: snapshot)
    if let bound {
      new = try reader.rows(
        rows.wantedCount, needed: rows.window.upperBound, bound, snapshot.transaction,
        visible: isReset ? rows.window : 0..<0
      ) { models.append($0) }
    }
    rows.replace(by: new.rows, isCut: new.isCut)
    let found = RowDifference(from: before, to: rows.visibleRows)
    guard !found.isEmpty else { return nil }
    let difference = try self.difference(found, bound, snapshot)
    return isReset ? .reset(models.rows(), difference) : .update(difference)
  }

  /// - Returns: Nil where nothing is to be seen.
  /// - Throws: Where the rows do not follow from the changes; they are then as they were.
  private mutating func step(
    _ changes: ChangedDocuments, _ bound: RowReader<Entity, Model>.Bound,
    _ snapshot: borrowing Snapshot
  ) throws -> RowDifference? {
    let changed = try rowChanges(changes, bound, snapshot)
    if changed.isEmpty { return nil }
    let mayNeedRows = rows.mayNeedRows(after: changed.count)
    let before = mayNeedRows ? rows : nil
    var step = try rows.begin(changed)
    if step.needsRows {
      refillCount += 1
      do {
        let more = try reader.rows(
          rows.wantedCount, needed: rows.window.upperBound, bound, snapshot.transaction)
        try rows.refill(more.rows, isCut: more.isCut, &step)
      } catch {
        if let before { rows = before }
        throw error
      }
    }
    let found = rows.finish(step)
    return found.isEmpty ? nil : found
  }

  /// Takes the rows that a limit which has grown asks for. Reads on behind those that it has.
  ///
  /// - Returns: Nil where there are no more.
  private mutating func grow(_ snapshot: borrowing Snapshot) throws -> ResultChange<Model>? {
    guard let limit = growth?.count, limit > rows.limit else { return nil }
    let shown = rows.visible
    rows.reach(limit)
    if !follower.ignored.isEmpty {
      // The rows may be of an earlier moment; what was ignored comes with this step.
      follower.begin(snapshot)
      return try reread(snapshot, isReset: false, showing: shown)
    }
    guard let bound = try binding(in: snapshot) else { return nil }
    if rows.isMissingRows {
      let wanted = rows.wantedCount == .max ? .max : rows.wantedCount - rows.count
      do {
        let more = try reader.rows(
          wanted, needed: rows.window.upperBound - rows.count, behind: rows.last, bound,
          snapshot.transaction)
        rows.append(more.rows, wanted: wanted, isCut: more.isCut)
        grownCount += more.rows.count
      } catch {
        return try reread(snapshot, isReset: false, showing: shown)
      }
    }
    let visible = rows.visible
    let new = max(shown.upperBound, visible.lowerBound)..<visible.upperBound
    if new.isEmpty { return nil }
    var found = RowDifference()
    found.insertions = zip(new, rows[new]).map {
      RowDifference.Insertion(offset: $0 - rows.window.lowerBound, row: $1)
    }
    return .update(try difference(found, bound, snapshot))
  }

  /// What the changes are for the query: the row before, of the record in the log, and the row
  /// now, of the record in the snapshot.
  private func rowChanges(
    _ changes: ChangedDocuments, _ bound: RowReader<Entity, Model>.Bound,
    _ snapshot: borrowing Snapshot
  ) throws -> [ResultRows.Change] {
    var result: [ResultRows.Change] = []
    var bytes = OrderedBytes(capacity: 256)
    var documents = try snapshot.transaction.cursor(in: bound.binding.collection.documents)
    for document in changes.documents {
      var change = ResultRows.Change()
      if let old = document.old {
        change.before = try row(document.key, old, bound, &bytes)
      }
      if try documents.seek(document.key) {
        change.after = try row(document.key, documents.value, bound, &bytes)
      }
      if change.before != nil || change.after != nil { result.append(change) }
    }
    return result
  }

  /// The row of a document, if it matches; nil also for one that cannot be read behind the last row that
  /// is known, which nobody has asked for.
  private func row(
    _ key: UnsafeRawBufferPointer, _ record: UnsafeRawBufferPointer,
    _ bound: RowReader<Entity, Model>.Bound, _ bytes: inout OrderedBytes
  ) throws -> Row? {
    do {
      return try reader.row(key, record, bound, &bytes)
    } catch let error as StoreError where UnreadableDocument(error) != nil {
      let isBehind = try rows.isBehind(reader.row(ofMatch: key, record, bound, &bytes))
      guard isBehind else { throw error }
      return nil
    }
  }

  private func difference(
    _ rows: RowDifference, _ bound: RowReader<Entity, Model>.Bound?,
    _ snapshot: borrowing Snapshot
  ) throws -> ResultDifference<Model> {
    let transaction = snapshot.sequence
    guard let bound else {
      return try ResultDifference(rows, sequence: transaction) { _ in throw StoreError.closed }
    }
    return try ResultDifference(rows, sequence: transaction) { row in
      try reader.model(of: row, bound.binding, snapshot.transaction)
    }
  }
}
