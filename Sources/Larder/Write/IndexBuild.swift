internal import LarderLMDB

// An index over documents that are there already is built by one small write after another, so
// that other writers have their turn in between and nobody waits. They keep it meanwhile: an
// entry that the build finds there already is written again and changes nothing. In a large collection
// the entries are read and sorted before, beside the writes of others: see `IndexRun`.

extension WriteScope {
  /// Documents that are put into a new index in the transaction that declares it.
  private static var countAtOnce: Int { 512 }
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
    let last = try LentTransaction(transaction).forEachDocument(
      of: collection, after: position, count: count
    ) { record, key in
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
}

extension Engine {
  /// Has the writer's thread finish indexes, step by step, between the writes of others.
  func scheduleIndexWork() {
    guard !environment.options.isReadOnly,
      catalogue.hasIndexWork || hasSearchWork || hasIndexesToRenew,
      indexWork.withLock({ work in
        defer { work.isScheduled = true }
        return !work.isScheduled
      })
    else { return }
    writer.enqueue { [weak self] in self?.workOnIndexes() }
  }

  /// Whether the background has indexes to build anew.
  var hasIndexesToRenew: Bool { indexWork.withLock { $0.nextToRenew() != nil } }

  private func workOnIndexes(hasRead: Bool = false) {
    do {
      // It throws nothing else in the background.
      if !hasRead { try givingWay { try renewIndexes(inBackground: true) } }
    } catch is CancellationError {
      indexWork.withLock { $0.isScheduled = false }
      return scheduleIndexWork()
    } catch {}
    if !hasRead, wantsRun(for: nextIndexWorkBehind()) {
      // Not in the writer's line, where others wait.
      indexQueue.async { [weak self] in
        self?.readIndexRun { $0.nextIndexWorkBehind() }
        self?.writer.enqueue { [weak self] in self?.workOnIndexes(hasRead: true) }
      }
      return
    }
    indexWork.withLock { $0.isScheduled = false }
    guard nextIndexWorkBehind() != nil || hasSearchWork else { return }
    do {
      // Nobody waits for it: it lets reads go on, and takes a larger map only where none runs.
      try givingWay { try workOnIndex(inBackground: true, drainSeconds: 0) }
    } catch is CancellationError {
      // Behind those who stand in the line.
      scheduleIndexWork()
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
  ///   - inBackground: Whether nobody has asked for it: what waits for room is passed over then.
  ///   - drainSeconds: How long reads may hold up a larger map, which no new read begins beside; nil for
  ///     two seconds.
  /// - Throws: An error that is a shortage where there is no room. Nothing of the step is kept then,
  ///   and the background passes over this index until there may be.
  @discardableResult
  func workOnIndex(
    of collection: String? = nil, inBackground: Bool = false, drainSeconds: Double? = nil
  ) throws -> Bool {
    if try mendSearch(drainSeconds: drainSeconds) { return true }
    let next = inBackground ? nextIndexWorkBehind() : nextIndexWork(of: collection)
    guard let (number, record) = next else {
      return try mergeSearch(drainSeconds: drainSeconds)
    }
    do {
      // Inside the write no handle can be opened, and nobody else asks for that of a dropped one.
      _ = try environment.database(named: Layout.indexName(number), create: false)
      let run = indexRuns.withLock { $0.run }.flatMap { $0.number == number ? $0 : nil }
      let outcome = try perform(drainSeconds: drainSeconds) { try $0.workOnIndex(number, run) }
      take(outcome, of: run, in: record)
      indexWork.withLock { $0.advance(number, makesRoom: record.state == .dropped) }
      scheduleIndexWork()
      return true
    } catch {
      // Of one that has only given way nothing is lost.
      if error.hasGivenWay { throw error }
      let shortage = shortage(error)
      // One that waits for room is no reason for steps without a run.
      indexRuns.withLock { shortage == nil ? $0.giveUp(number) : $0.forget() }
      if let shortage { wait(number, record, with: shortage) }
      throw error
    }
  }

  /// What the background works on next: not on what waits for room.
  private func nextIndexWorkBehind(
    of collection: String? = nil
  ) -> (number: UInt32, record: IndexRecord)? {
    let passedOver = indexWork.withLock { $0.passedOver }
    let (catalogue, begun) = (catalogue, indexRuns.withLock { $0.run?.number })
    if collection == nil, let begun, passedOver[begun] == nil,
      let record = catalogue.indexes[begun],
      record.state.isBuilding
    {
      // What was read for it is put first, whoever has asked for it.
      return (begun, record)
    }
    return catalogue.nextIndexWork(of: collection, passingOver: passedOver, with: tokenizers)
  }

  /// What is worked on next for those who ask for it.
  private func nextIndexWork(of collection: String?) -> (number: UInt32, record: IndexRecord)? {
    nextIndexWorkBehind(of: collection)
      ?? catalogue.nextIndexWork(of: collection, passingOver: [:], with: tokenizers)
  }

  private func take(_ outcome: IndexRun.Outcome?, of run: IndexRun?, in record: IndexRecord) {
    guard let run else { return indexRuns.withLock { $0.pass() } }
    switch outcome {
    // The index is not being built any more, or the run was forgotten in between.
    case nil: indexRuns.withLock { $0.run === run ? $0.forget() : $0.pass() }
    case .step(let step):
      if !run.keep(step) { indexRuns.withLock { $0.end() } }
      guard let conflict = step.newConflict else { return }
      log.tellOfConflict(
        in: record.definition.collection, index: record.definition.name, conflict)
    case .outrun: indexRuns.withLock { $0.end() }
    case .outdated: indexRuns.withLock { $0.giveUp(run.number) }
    }
  }

  /// Whether entries of an index that is worked on next should be read before its next step.
  private func wantsRun(for next: (number: UInt32, record: IndexRecord)?) -> Bool {
    let (catalogue, passedOver) = (catalogue, indexWork.withLock { $0.passedOver })
    guard let (number, record) = next, record.state.isBuilding, record.definition.weights == nil,
      indexRuns.withLock({ runs in
        runs.isWanted(for: number) {
          catalogue.indexes[$0]?.state.isBuilding == true && passedOver[$0] == nil
        }
      }),
      let documents = catalogue[record.definition.collection]?.documents,
      let reading = try? environment.beginRead(),
      let count = try? reading.statistics(of: documents).entryCount
    else { return false }
    return count >= indexRuns.withLock { $0.limits.leastDocumentCount }
  }

  /// Reads entries of the index of a collection that is worked on next, if it is large and they are not read yet.
  /// Waits for others who read. Called outside of the writer's line. Where something cannot be read, the next steps do
  /// without.
  func readIndexRun(of collection: String) { readIndexRun { $0.nextIndexWork(of: collection) } }

  private func readIndexRun(_ next: (Engine) -> (number: UInt32, record: IndexRecord)?) {
    // The lock of a forked child is a copy.
    guard (try? environment.checkFork("read")) != nil else { return }
    indexReading.withLock { _ in
      guard let (number, record) = next(self), wantsRun(for: (number, record)) else { return }
      let (generation, limits) = indexRuns.withLock { ($0.generation, $0.limits) }
      let records = try? environment.database(named: Layout.indexesName, create: false)
      let run = records.flatMap {
        try? IndexRun(reading: number, in: catalogue, records: $0, environment, limits)
      }
      indexRuns.withLock { $0.begin(run, for: number, generation) }
    }
  }

  /// Waits until nothing is read for an index.
  ///
  /// - Parameter seconds: How long it waits; nil for two seconds.
  /// - Returns: False where something is read even then.
  func awaitIndexReading(_ seconds: Double?) -> Bool {
    let start = ContinuousClock.now
    let limit = seconds ?? environment.drainSeconds
    while indexReading.withLockIfFree({ _ in }) == nil {
      guard start.duration(to: .now) / .seconds(1) < limit else { return false }
      SystemCall.sleep(microseconds: 1000)
    }
    return true
  }

  /// Takes the next step for a collection, and waits for it.
  ///
  /// - Returns: As ``workOnIndex(of:drainSeconds:)``.
  /// - Throws: As that, and as ``Writer/run(_:)-(()->_)``.
  func takeIndexStep(of collection: String) throws -> Bool {
    if writer.isInLine { throw StoreError.nestedWrite }
    readIndexRun(of: collection)
    return try writer.run {
      try renewIndexes(of: collection)
      return try workOnIndex(of: collection)
    }
  }

  /// The same for a task, which cancelling takes out of the writer's line.
  @concurrent func takeIndexStep(of collection: String) async throws -> Bool {
    readIndexRun(of: collection)
    return try await inLine { [self] _ in
      try renewIndexes(of: collection)
      return try workOnIndex(of: collection)
    }
  }

  func wait(_ number: UInt32, _ record: IndexRecord, with shortage: Shortage) {
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
    guard
      engine.hasNumbersToRenew
        || catalogue.nextIndexWork(passingOver: [:], with: tokenizers) != nil
    else {
      return false
    }
    let byteCount = engine.documentByteCount(in: transaction)
    return engine.indexWork.withLock { work in
      catalogue.nextIndexWork(passingOver: work.passedOver, with: tokenizers) != nil
        || work.nextToRenew() != nil || work.goesOn(using: byteCount)
    }
  }

  /// Takes one step, unless another process has taken the last one.
  ///
  /// - Parameter run: Entries that were read for the index.
  /// - Returns: What was done with them; nil where there are none, they were forgotten in between, or the index is not
  ///   being built any more.
  fileprivate mutating func workOnIndex(
    _ number: UInt32, _ run: IndexRun?
  ) throws -> IndexRun.Outcome? {
    guard let record = catalogue.indexes[number], record.needsWork else { return nil }
    guard let records = engine.environment.knownDatabase(named: Layout.indexesName),
      let stored = try transaction.indexRecord(number, in: records)
    else {
      throw StoreError.damagedCatalogue(
        "the record of the index \(record.definition.name) is missing")
    }
    var outcome: IndexRun.Outcome?
    // Others may have had it forgotten before this transaction began.
    if let run, stored.state.isBuilding, engine.indexRuns.withLock({ $0.run === run }) {
      hasSaved = true
      outcome = try run.put(stored, self.state, log: log, &transaction)
    }
    let state =
      switch (stored.state, outcome) {
      case (.building, .step(let step)): step.state
      case (.building, _): try continueBuilding(number, stored)
      case (.dropped, _): try continueDropping(number)
      default: stored.state
      }
    let new = stored.becoming(state)
    try put(new, number: number)
    // How far it is built is asked of the store itself, so that each step costs one record.
    if !state.isSameStage(as: record.state) {
      let indexes = catalogue.indexes.merging([number: new]) { _, new in new }
      try adopt(indexes, of: new.definition.collection)
    }
    return outcome
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
    let count = engine.indexRuns.withLock { $0.limits.documentsAtOnce }
    return try build(index, collection, count: count)
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

extension IndexState {
  fileprivate var isBuilding: Bool {
    if case .building = self { true } else { false }
  }

  fileprivate func isSameStage(as other: IndexState) -> Bool {
    if case .building = self, case .building = other { return true }
    return self == other
  }
}
