internal import LarderLMDB

// An index over documents that are there already is built by one small write after another, so
// that other writers have their turn in between and nobody waits. They keep it meanwhile: an
// entry that the build finds there already is written again and changes nothing.

extension WriteScope {
  /// Documents that are put into a new index in the transaction that declares it.
  private static var countAtOnce: Int { 512 }
  /// Documents that are put into an index in one step.
  private static var stepDocumentCount: Int { 4096 }
  /// Entries that are deleted in one step from an index that nobody uses.
  private static var stepEntryCount: Int { 16_384 }

  /// The record of an index that was just declared: complete where the collection is small.
  mutating func builtAtOnce(
    _ record: IndexRecord, _ number: UInt32, _ collection: Collection
  ) throws -> IndexRecord {
    guard record.isInUse else { return record }
    let count = try transaction.statistics(of: collection.documents).entryCount
    guard count <= Self.countAtOnce,
      let database = try engine.environment.database(
        named: Layout.indexName(number), create: false)
    else { return record }
    let index = try CollectionIndex(
      number: number, record, in: collection.description, database: database)
    // What an index that had this number before has left.
    try transaction.empty(database)
    return record.becoming(try build(index, collection, count: .max))
  }

  /// Puts the next documents into an index; returns its state after that.
  mutating func build(
    _ index: CollectionIndex, _ collection: Collection, count: Int
  ) throws -> IndexState {
    guard case .building(let position, let knownConflict) = index.state else { return index.state }
    // Entries are no reason to take what is kept for deleting.
    hasSaved = true
    if index.isOfWords { return try buildSearch(index, collection, after: position, count: count) }
    let changes = IndexChanges(index, in: collection, conflict: .collected(knownConflict))
    let last = try forEachDocument(of: collection, after: position, count: count) { record, key in
      changes.insert(record, key: key)
      return !changes.isLarge
    }
    try changes.write(to: &transaction, collection)
    if let conflict = changes.conflict, knownConflict == nil {
      engine.log.tellOfConflict(in: collection.name, index: index.name, conflict)
    }
    guard let last else { return changes.conflict.map { .failed($0) } ?? .complete }
    return .building(upTo: last, conflict: changes.conflict)
  }

  /// Lends documents behind a key, so many at most, as long as `body` wants more. A damaged one is left
  /// out; saving or deleting it mends that.
  ///
  /// - Returns: The key of the last one; nil where none follows it.
  func forEachDocument(
    of collection: Collection, after position: [UInt8], count: Int,
    _ body: (_ record: borrowing RecordReader, _ key: UnsafeRawBufferPointer) -> Bool
  ) throws -> [UInt8]? {
    let binding = CollectionBinding(collection)
    var cursor = try transaction.cursor(in: collection.documents)
    var hasOne = try position.withUnsafeBytes { position in
      let hasOne = try cursor.seek(atOrAfter: position)
      return hasOne && Bytes.equal(cursor.key, position) ? try cursor.next() : hasOne
    }
    var (done, wantsMore) = (0, true)
    var last: [UInt8]?
    while hasOne, done < count, wantsMore {
      if let record = try? binding.collection.verified(cursor.value, key: cursor.key),
        let reader = try? RecordReader(
          record, binding: binding, schema: binding.anonymous, depth: 1)
      {
        wantsMore = body(reader, cursor.key)
      }
      done += 1
      if done == count || !wantsMore { last = [UInt8](cursor.key) }
      hasOne = try cursor.next()
    }
    return hasOne ? last : nil
  }
}

extension Engine {
  /// Has the writer's thread finish indexes, step by step, between the writes of others.
  func scheduleIndexWork() {
    guard !environment.options.isReadOnly,
      catalogue.hasIndexWork || hasSearchWork,
      indexWork.withLock({ work in
        defer { work.isScheduled = true }
        return !work.isScheduled
      })
    else { return }
    writer.enqueue { [weak self] in self?.workOnIndexes() }
  }

  private func workOnIndexes() {
    let passedOver = indexWork.withLock { work in
      work.isScheduled = false
      return work.passedOver
    }
    guard
      catalogue.nextIndexWork(passingOver: passedOver, with: tokenizers) != nil || hasSearchWork
    else {
      return
    }
    do {
      // Nobody waits for it: it lets reads go on, and takes a larger map only where none runs.
      try workOnIndex(drainSeconds: 0)
    } catch {
      // The store is closing, it is full, or it is damaged: whoever uses it next hears of that. The
      // work goes on with a later write or with the next opening; another index may have room.
      if shortage(error) != nil { scheduleIndexWork() }
    }
  }

  /// Takes one step in the writer's line, and has the background take the next; false where nothing is
  /// left to do.
  ///
  /// - Parameters:
  ///   - collection: Whose indexes are meant, besides those that are emptied; nil for all.
  ///   - drainSeconds: How long reads may hold up a larger map, which no new read begins beside.
  /// - Throws: An error that is a shortage where there is no room. Nothing of the step is kept then,
  ///   and the background passes over this index until there may be.
  @discardableResult
  func workOnIndex(
    of collection: String? = nil, drainSeconds: Double = Environment.drainSeconds
  ) throws -> Bool {
    if try mendSearch(drainSeconds: drainSeconds) { return true }
    let passedOver = indexWork.withLock { $0.passedOver }
    guard
      let (number, record) = catalogue.nextIndexWork(
        of: collection, passingOver: passedOver, with: tokenizers)
        ?? catalogue.nextIndexWork(of: collection, passingOver: [:], with: tokenizers)
    else { return try mergeSearch(drainSeconds: drainSeconds) }
    do {
      // Inside the write no handle can be opened, and nobody else asks for that of a dropped one.
      _ = try environment.database(named: Layout.indexName(number), create: false)
      try perform(drainSeconds: drainSeconds) { try $0.workOnIndex(number) }
      indexWork.withLock { $0.advance(number, makesRoom: record.state == .dropped) }
      scheduleIndexWork()
      return true
    } catch {
      if let shortage = shortage(error) { wait(number, record, with: shortage) }
      throw error
    }
  }

  private func wait(_ number: UInt32, _ record: IndexRecord, with shortage: Shortage) {
    let usedByteCount = usedByteCountWithoutLog()
    let isNews = indexWork.withLock { work in
      defer {
        work.wait(
          number, isEmptied: record.state == .dropped, with: shortage, using: usedByteCount)
      }
      return work.shortages[number] == nil
    }
    guard isNews else { return }
    log.tell(
      .warning, "an index waits for room",
      [
        "collection": record.definition.collection, "index": record.definition.name,
        "limit": "\(shortage.limit)", "used": "\(shortage.usedByteCount)",
      ])
  }
}

extension Engine {
  /// As many as can be where no read can begin: the next write then has the step tried again, and the
  /// background does not try in a loop.
  private func usedByteCountWithoutLog() -> Int {
    guard let reading = try? environment.beginRead() else { return .max }
    return documentByteCount(in: reading)
  }

  /// Bytes in use without the log of changes, which gives way where others need room.
  fileprivate func documentByteCount(in transaction: borrowing some Transaction & ~Copyable) -> Int
  {
    let used = environment.usedByteCount(in: transaction)
    guard let log = environment.knownDatabase(named: Layout.changesName) else { return used }
    // What cannot be read counts as nothing: a step is then tried too often.
    return used - ((try? transaction.statistics(of: log).byteCount) ?? used)
  }
}

extension Catalogue {
  /// The index that is worked on next. Those that are emptied come first: that makes room. Search indexes wait whose
  /// tokenizer this process does not have.
  func nextIndexWork(
    of collection: String? = nil, passingOver passedOver: [UInt32: Bool],
    with tokenizers: KnownTokenizers
  ) -> (number: UInt32, record: IndexRecord)? {
    let waiting = indexes.filter { number, record in
      record.needsWork && passedOver[number] != (record.state == .dropped)
        && (record.state == .dropped || tokenizers[record.definition.tokenizer] != nil)
    }
    let next =
      waiting.filter { $0.value.state == .dropped }.min { $0.key < $1.key }
      ?? waiting.filter { collection == nil || $0.value.definition.collection == collection }
      .min { $0.key < $1.key }
    return next.map { ($0.key, $0.value) }
  }
}

extension WriteScope {
  /// Whether a commit of this scope is a reason to go on with indexes.
  borrowing func mayWorkOnIndexes() -> Bool {
    let tokenizers = engine.tokenizers
    guard catalogue.nextIndexWork(passingOver: [:], with: tokenizers) != nil else { return false }
    let byteCount = engine.documentByteCount(in: transaction)
    return engine.indexWork.withLock { work in
      catalogue.nextIndexWork(passingOver: work.passedOver, with: tokenizers) != nil
        || work.goesOn(using: byteCount)
    }
  }

  /// Takes one step, unless another process has taken the last one.
  fileprivate mutating func workOnIndex(_ number: UInt32) throws {
    guard let record = catalogue.indexes[number], record.needsWork else { return }
    guard let records = engine.environment.knownDatabase(named: Layout.indexesName),
      let stored = try transaction.indexRecord(number, in: records)
    else {
      throw StoreError.damagedCatalogue(
        "the record of the index \(record.definition.name) is missing")
    }
    let state =
      switch stored.state {
      case .building: try continueBuilding(number, stored)
      case .dropped: try continueDropping(number)
      default: stored.state
      }
    let new = stored.becoming(state)
    try put(new, number: number)
    // How far it is built is asked of the store itself, so that each step costs one record.
    if !state.isSameStage(as: record.state) {
      let indexes = catalogue.indexes.merging([number: new]) { _, new in new }
      try adopt(indexes, of: new.definition.collection)
    }
  }

  fileprivate mutating func continueBuilding(
    _ number: UInt32, _ record: IndexRecord
  ) throws -> IndexState {
    guard let collection = catalogue[record.definition.collection],
      let database = try engine.environment.database(
        named: Layout.indexName(number), create: false)
    else { return .dropped }
    let index = try CollectionIndex(
      number: number, record, in: collection.description, database: database)
    return try build(index, collection, count: Self.stepDocumentCount)
  }

  /// Deletes some entries of an index that nobody uses; an empty one is free.
  fileprivate mutating func continueDropping(_ number: UInt32) throws -> IndexState {
    guard
      let database = try engine.environment.database(
        named: Layout.indexName(number), create: false)
    else { return .free }
    var cursor = try transaction.cursor(in: database)
    for _ in 0..<Self.stepEntryCount {
      guard try cursor.next() else { return .free }
      try cursor.delete()
    }
    return .dropped
  }
}

extension Transaction where Self: ~Copyable {
  /// An index's record as this transaction sees it.
  borrowing func indexRecord(_ number: UInt32, in database: Database) throws -> IndexRecord? {
    try withUnsafeBytes(of: number.bigEndian) { key in
      try withValue(for: key, in: database) { try IndexRecord($0, number: number) }
    }
  }
}

extension IndexRecord {
  /// Whether something is left to be built or deleted.
  var needsWork: Bool {
    switch state {
    case .building, .dropped: true
    case .complete, .suspended, .failed, .free: false
    }
  }
}

extension IndexState {
  fileprivate func isSameStage(as other: IndexState) -> Bool {
    if case .building = self, case .building = other { return true }
    return self == other
  }
}
