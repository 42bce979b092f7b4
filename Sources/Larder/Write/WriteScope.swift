internal import LarderLMDB
internal import Synchronization

/// One write transaction, lent by `Store.write(_:)`. Everything that changes a store is
/// done by its methods; all of it is kept, or nothing.
///
/// It reads what it has written so far.
public struct WriteScope: ~Copyable {
  var transaction: WriteTransaction
  let engine: Engine
  private(set) var catalogue: Catalogue
  var state: StoreState
  /// Whether something was written that is no document: the catalogue, a step of an index, or where
  /// a migration stands.
  var hasWrittenMore = false
  /// Where the changes that follow come from, as the change log says it; ``writing(as:_:)`` sets it.
  @usableFromInline private(set) var origin = ChangeOrigin.local
  let log: Database
  /// The database of the named consumers, if it was known when the transaction began: a handle
  /// that is younger cannot be used in it.
  let consumers: Database?
  /// The database of the migrations, likewise.
  let migrations: Database?
  /// Changed documents so far, each of which takes a sequence number.
  var changeCount: UInt64 = 0
  /// Search indexes, by number, whose segments wait for being merged.
  var searchesToMerge: Set<UInt32> = []
  /// What the body needs declared before it can run; it is then run again.
  var undeclared: Declaration?
  /// Why a change stopped half-way.
  @usableFromInline var failure: (any Error)?
  /// Rules of the types whose documents were saved.
  var ageing: [String: AgeingPlan] = [:]
  /// Whether documents, entries of an index or descriptions were added, and not only deleted: such
  /// a body leaves alone what is kept for deleting.
  var hasSaved = false
  /// Bytes of the documents that were written.
  var savedByteCount = 0
  /// Whether what is written is no edit, but the same documents in another form.
  private var isRewriting = false
  /// Whether whoever writes as ``ChangeOrigin/sync`` looks after edits that wait to be sent.
  private var isReconciling = false
  /// Whether some of the body was.
  var hasReconciled = false
  /// Whether something was deleted, or was about to be.
  var hasDeleted = false
  /// What of the disk the commit may not use.
  var heldRoom: HeldRoom?
  /// Whether the body so far has made room, and taken none.
  var hasOnlyDeleted: Bool { hasDeleted && !hasSaved }
  /// Whether the log takes only the keys of what is deleted: there was no room for the documents.
  fileprivate var isSparing = false
  /// Bytes in use when the body began; nil where there is plenty of room.
  var usedAtStart: Int?
  /// Bytes of the log when the body began, where `usedAtStart` is known.
  var logAtStart = 0
  /// The last change that was made before the body began: by earlier transactions, or by others that
  /// share this one.
  var sequenceAtStart: UInt64 = 0
  /// Bytes of the log when the transaction began.
  private let logByteCount: Int
  /// Bytes of the log that the commit may let go of beyond what it has written.
  var prunedByteCount = 0
  /// When it began; nil where nobody is told.
  private let start: ContinuousClock.Instant?

  fileprivate init(_ engine: Engine) throws {
    start = engine.log.isActive ? .now : nil
    guard let log = try engine.environment.database(named: Layout.changesName, create: true)
    else { throw StoreError.damagedChangeLog("it cannot be made") }
    while true {
      // All known before the transaction begins, which cannot use a handle that is younger: another
      // thread may open some, and know a newer catalogue, at any moment.
      let (catalogue, consumers) = (engine.catalogue, engine.consumers)
      let migrations = engine.knownMigrations
      let transaction = try engine.environment.beginWrite()
      engine.hasBegunToWrite()
      guard let state = try transaction.state(path: engine.environment.folder) else {
        throw StoreError.damagedCatalogue("the state record is missing")
      }
      if !engine.hasTimeline.load(ordering: .acquiring) {
        try Self.enterTimeline(transaction, state, engine)
        continue
      }
      if state.catalogueVersion == catalogue.version {
        logByteCount = try transaction.statistics(of: log).byteCount
        self.transaction = transaction
        self.engine = engine
        self.catalogue = catalogue
        self.state = state
        self.log = log
        self.consumers = consumers
        self.migrations = migrations
        return
      }
      // Another process has declared something. Its databases cannot be opened while this
      // transaction runs.
      transaction.abort()
      // Versions only grow: or else this would go on for ever.
      guard state.catalogueVersion > catalogue.version else {
        throw StoreError.damagedCatalogue(
          "its version is \(state.catalogueVersion), and was \(catalogue.version)")
      }
      try engine.refreshCatalogue()
    }
  }

  /// Makes sure, before the first write of this opening, that changes are numbered in a timeline in
  /// which their numbers were never given to others.
  private static func enterTimeline(
    _ transaction: consuming WriteTransaction, _ state: StoreState, _ engine: Engine
  ) throws {
    let durability = engine.environment.options.durability
    let renewed = Timeline.renewed(
      try transaction.timeline(), boot: engine.boot.withLock { $0 },
      isDurable: durability == .durable)
    if let renewed {
      var state = state
      state.transaction = UInt64(transaction.id)
      try transaction.put(renewed)
      try transaction.put(state)
      try transaction.commit()
      // What comes may be undone by a loss of power, but not that it was written without a flush.
      if durability == .recentCommitsMayBeLost { try engine.environment.flush() }
    } else {
      transaction.abort()
    }
    engine.hasTimeline.store(true, ordering: .releasing)
  }

  /// Runs `body`, whose changes come from `origin`. Afterwards it is as before, also when `body`
  /// throws: jobs that share a transaction do not hand it on.
  mutating func writing<Result>(
    as origin: ChangeOrigin, _ body: (inout WriteScope) throws -> Result
  ) rethrows -> Result {
    let outer = self.origin
    self.origin = origin
    defer { self.origin = outer }
    return try body(&self)
  }

  /// Runs `body`, whose changes are no edits that a remote is told of: documents in another form, or
  /// what was saved from a damaged store.
  mutating func rewriting<Result>(
    _ body: (inout WriteScope) throws -> Result
  ) rethrows -> Result {
    let outer = isRewriting
    isRewriting = true
    defer { isRewriting = outer }
    return try body(&self)
  }

  /// Runs `body`, whose changes of the origin ``ChangeOrigin/sync`` may change documents with edits that wait to be
  /// sent: it looks after these edits.
  package mutating func reconciling<Result>(
    _ body: (inout WriteScope) throws -> Result
  ) rethrows -> Result {
    let outer = isReconciling
    (isReconciling, hasReconciled) = (true, true)
    defer { isReconciling = outer }
    return try body(&self)
  }

  /// Where changes of a collection go that a remote is to be told of; nil where there is none.
  private borrowing func outboxChanges(of collection: Collection) -> OutboxChanges? {
    guard collection.description.isSynced, let databases = engine.outboxDatabases else {
      return nil
    }
    let areEdits = origin.isEdit && !isRewriting
    // An outbox that cannot be read counts as one with entries.
    let meetsEntries =
      areEdits
      || (try? transaction.hasKey(
        withPrefix: OutboxKey.prefix(of: collection.name), in: databases.outbox)) ?? true
    if isRewriting, !meetsEntries { return nil }
    return OutboxChanges(
      collection.name, databases, after: state.sequence + changeCount, areEdits: areEdits,
      meetsEntries: meetsEntries,
      keepsEdits: origin == .sync && !isRewriting && !isReconciling && meetsEntries)
  }

  /// Whether a remote is known to have documents of a collection, sent or not.
  borrowing func hasBases(_ name: String) throws -> Bool {
    guard let sync = engine.outboxDatabases?.sync else { return false }
    return try transaction.hasKey(withPrefix: OutboxKey.baseKey(name, []), in: sync)
  }

  /// Forgets what a remote is known to have of a collection, and what was to be sent to it.
  mutating func eraseBases(of name: String) throws {
    guard let databases = engine.outboxDatabases else { return }
    let changes = OutboxChanges(name, databases, after: state.sequence, areEdits: false)
    changes.erased()
    try changes.write(to: &transaction)
  }

  /// Runs a change of several records of one collection. When it stops half-way the scope is never
  /// committed, even if its body swallows the error: half a save must not be kept.
  ///
  /// A collection whose indexes may refuse a document has it undone alone instead, and the body
  /// may go on.
  // Not inlinable: the optimizer of Swift 6.3 stops with an assertion where the end of `changes`,
  // which is not visible to clients, would be inlined into them.
  @usableFromInline mutating func change<Result>(
    of collection: Collection,
    _ body: (inout WriteScope, inout DocumentChanges) throws -> Result
  ) throws -> Result {
    if collection.mayRefuse {
      return try undoable { scope in try scope.run(collection, body) }
    }
    do {
      return try run(collection, body)
    } catch {
      failure = failure ?? error
      throw error
    }
  }

  private mutating func run<Result>(
    _ collection: Collection,
    _ body: (inout WriteScope, inout DocumentChanges) throws -> Result
  ) throws -> Result {
    var changes = changes(of: collection)
    let result = try body(&self, &changes)
    try finish(&changes)
    return result
  }

  @usableFromInline borrowing func changes(of collection: Collection) -> DocumentChanges {
    DocumentChanges(
      catalogue.anonymousBinding(of: collection),
      log: ChangeLogWriter(
        collection.name, origin: origin, writer: engine.writerID,
        after: state.sequence + changeCount, in: log),
      outbox: outboxChanges(of: collection), isSparing: isSparing)
  }

  @usableFromInline mutating func finish(_ changes: inout DocumentChanges) throws {
    try changes.finish(&transaction)
    searchesToMerge.formUnion(changes.searchesToMerge)
    for (number, reason) in changes.emptiedSearches { try rebuildSearch(number, reason) }
    changeCount += UInt64(changes.count)
    hasSaved = hasSaved || changes.hasSaved
    savedByteCount += changes.savedByteCount
  }

  /// Runs `body` in a transaction inside this one: what it changed is undone if it throws.
  @usableFromInline package mutating func undoable<Result>(
    _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    let (changeCount, failure) = (changeCount, failure)
    let (catalogue, state, hasWrittenMore) = (catalogue, state, hasWrittenMore)
    var inner = try transaction.beginNested()
    swap(&transaction, &inner)
    let lent = transaction.handle
    let result = Swift.Result { try body(&self) }
    transaction.handle.expect(lent)
    swap(&transaction, &inner)
    do {
      let value = try result.get()
      try inner.commit()
      return value
    } catch {
      // Where it has not failed to commit, letting go of the inner transaction undoes it.
      self.changeCount = changeCount
      self.failure = failure
      (self.catalogue, self.state, self.hasWrittenMore) = (catalogue, state, hasWrittenMore)
      throw error
    }
  }

  /// Runs a change of the catalogue and of records. When it stops half-way the scope is never
  /// committed, even if its body swallows the error.
  mutating func wholly<Result>(_ body: (inout WriteScope) throws -> Result) throws -> Result {
    do {
      return try body(&self)
    } catch {
      failure = failure ?? error
      throw error
    }
  }

  /// Commits, with the state record; or ends without a trace when nothing was changed. Documents,
  /// the catalogue and steps of indexes are all kept by this one function.
  ///
  /// - Throws: ``StoreError``, also the one that stopped a change half-way.
  fileprivate consuming func commit() throws {
    if let failure { throw failure }
    guard changeCount > 0 || hasWrittenMore else { return }
    let (engine, catalogue, start, changeCount) = (engine, catalogue, start, changeCount)
    let (searches, room) = (searchesToMerge, heldRoom)
    if !searches.isEmpty { engine.indexWork.withLock { $0.searchesToMerge.formUnion(searches) } }
    let workGoesOn =
      !searches.isEmpty
      || (catalogue.hasIndexWork || engine.hasNumbersToRenew) && mayWorkOnIndexes()
    var pruning = ChangeLogPruning(
      engine.retention, acknowledged: try slowestConsumer()?.position ?? .max, head: state.sequence,
      before: logByteCount, now: try transaction.statistics(of: log).byteCount)
    pruning.byteCount = max(pruning.byteCount, prunedByteCount)
    let pruningGoesOn = try transaction.pruneChangeLog(in: log, pruning)
    state.transaction = UInt64(transaction.id)
    state.sequence += changeCount
    try transaction.put(state)
    do {
      try transaction.commit()
    } catch {
      guard let room else { throw error }
      defer { room.release() }
      // Asked while the room is held: with it, the disk does not look full. A map that is full may grow.
      if !error.isFullMap, let shortage = engine.shortage(error) {
        throw StoreError.full(shortage)
      }
      throw error
    }
    #if LARDER_MUTANTS
      try LogApart.write(engine.environment)
    #endif
    engine.adopt(catalogue)
    if workGoesOn { engine.scheduleIndexWork() }
    if pruningGoesOn { engine.schedulePruning() }
    if changeCount > 0 { engine.watchHub.wake(engine, changeCount: changeCount) }
    engine.heldSnapshots.look(engine)
    engine.fileGrowth.look(engine)
    engine.renewDiskReserve(room)
    if let start { engine.log.tellOfWrite(of: changeCount, ContinuousClock.now - start) }
  }
}

extension WriteScope {
  /// Changes the description of a collection that exists; the commit makes it known.
  mutating func describe(_ description: CollectionDescription) throws {
    guard let collection = catalogue[description.name] else {
      preconditionFailure("\(description.name) is described before it was declared")
    }
    try put(description)
    try adopt(description, documents: collection.documents, catalogue.indexes)
  }

  /// Writes the description of a collection into the catalogue.
  mutating func put(_ description: CollectionDescription) throws {
    guard let database = engine.environment.knownDatabase(named: Layout.catalogueName) else {
      throw StoreError.damagedCatalogue("\(Layout.catalogueName) is missing")
    }
    try forgetHistory(unreadableBy: description)
    try description.encoded().withUnsafeBytes { value in
      var name = description.name
      try name.withUTF8 { key in
        try transaction.put(value, for: UnsafeRawBufferPointer(key), in: database)
      }
    }
  }

  /// Makes a description, and the records of all indexes, this scope's.
  mutating func adopt(
    _ description: CollectionDescription, documents: Database, _ indexes: [UInt32: IndexRecord]
  ) throws {
    let own = indexes.filter { $0.value.definition.collection == description.name }
    let collection = Collection(
      description, documents: documents, indexes: try engine.openIndexes(own, description),
      log: engine.log, damagedSearches: engine.damagedSearches, tokenizers: engine.tokenizers)
    renewCatalogue(
      catalogue.collections.merging([description.name: collection]) { _, new in new }, indexes)
  }

  /// Makes the records of all indexes this scope's, of which those of one collection have changed.
  mutating func adopt(_ indexes: [UInt32: IndexRecord], of name: String) throws {
    guard let collection = catalogue[name] else {
      return renewCatalogue(catalogue.collections, indexes)
    }
    try adopt(collection.description, documents: collection.documents, indexes)
  }

  /// Makes every process read the catalogue again.
  mutating func renewCatalogue() { renewCatalogue(catalogue.collections, catalogue.indexes) }

  private mutating func renewCatalogue(
    _ collections: [String: Collection], _ indexes: [UInt32: IndexRecord]
  ) {
    state.catalogueVersion += 1
    catalogue = Catalogue(
      version: state.catalogueVersion, collections: collections, indexes: indexes)
    hasWrittenMore = true
  }
}

extension WriteTransaction {
  fileprivate consuming func abort() {}  // Letting go of it aborts.
}

// MARK: From begin to commit

extension WriteScope {
  /// The number of the last change that this transaction reads: of the transactions before it, and of
  /// what it has changed itself so far. Those of its own count only once it is committed.
  public var sequence: UInt64 { state.sequence + changeCount }

  /// Runs one body from its beginning to its end, and does not let it hide that something stopped
  /// half-way. A body that throws here must be undone.
  mutating func whole<Result>(_ body: (inout WriteScope) throws -> Result) throws -> Result {
    beginBody()
    let result = try body(&self)
    if undeclared != nil { throw DeclarationNeeded() }
    if let failure { throw failure }
    try settle()
    return result
  }
}

extension Engine {
  enum Outcome<Value> {
    case committed(Value)
    /// Nothing was kept: the body must run again after this was declared.
    case undeclared(Declaration)
  }

  /// Runs `body` in a write transaction of its own, and commits it. Nothing else makes a write scope
  /// or ends one.
  ///
  /// - Throws: Whatever `body` throws; nothing is kept then.
  func transact<Value>(_ body: (inout WriteScope) throws -> Value) throws -> Outcome<Value> {
    var scope = try WriteScope(self)
    let lent = scope.transaction.handle
    let result = Result { try body(&scope) }
    scope.transaction.handle.expect(lent)
    // Letting go of the scope aborts.
    if let declaration = scope.undeclared { return .undeclared(declaration) }
    let value = try result.get()
    try scope.commit()
    return .committed(value)
  }

  /// What one body may need declared before it is taken for two types that undo each other.
  private static var maximumDeclarations: Int { 1000 }
  /// How often in a row a declaration may change nothing, as where another process came first.
  private static var maximumVainDeclarations: Int { 4 }

  /// Runs `body` in one write transaction. Called in the writer's line only.
  ///
  /// A body that needs something declared first is run again after that, from the start, and so is
  /// one that needs a larger map. One that deletes and finds no room is run again once more, with only
  /// the keys in the log, and then once more behind a read of the background, which keeps the pages that
  /// were freed before: what makes room must not fail for want of it.
  ///
  /// - Parameter drainSeconds: How long reads may hold up a larger map, and deletes; nil for two seconds.
  func perform<Result>(
    drainSeconds: Double? = nil,
    _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    var (declarations, vainDeclarations) = (0, 0)
    // What was declared of a collection up to now.
    var seen: [String: [CollectionDescription?]] = [:]
    var (isSparing, hasOnlyDeleted, hasWaited) = (false, false, false)
    while true {
      let outcome: Outcome<Result>
      do {
        outcome = try growing(drainSeconds) {
          try transact { scope in
            scope.isSparing = isSparing
            defer { hasOnlyDeleted = scope.hasOnlyDeleted }
            return try scope.whole(body)
          }
        }
      } catch {
        guard hasOnlyDeleted, !hasWaited, shortage(error) != nil else { throw error }
        if isSparing {
          hasWaited = true
          guard awaitIndexReading(drainSeconds) else { throw error }
        }
        isSparing = true
        continue
      }
      switch outcome {
      case .committed(let result): return result
      case .undeclared(let declaration):
        declarations += 1
        guard declarations <= Self.maximumDeclarations,
          vainDeclarations <= Self.maximumVainDeclarations
        else {
          throw StoreError.kindMismatch(
            collection: declaration.name, field: "", stored: "", declared: "")
        }
        let version = catalogue.version
        let name = declaration.name
        if seen[name] == nil { seen[name] = [catalogue[name]?.description] }
        try declare(declaration)
        vainDeclarations = catalogue.version == version ? vainDeclarations + 1 : 0
        let declared = catalogue[name]?.description
        if declared != seen[name]?.last {
          // Of a collection without documents each of two types may declare another kind, in turns for ever.
          if seen[name]?.contains(declared) == true { declarations = Self.maximumDeclarations }
          seen[name]?.append(declared)
        }
      }
    }
  }

  /// The named database, made where there is none, in a transaction of its own that changes nothing
  /// else. Called outside of writes: inside, a handle could not be used.
  func madeDatabase(named name: String) throws -> Database {
    let database = try growing { try environment.database(named: name, create: true) }
    guard let database else { throw StoreError.damagedCatalogue("\(name) cannot be made") }
    return database
  }

  /// Runs `body`, and runs it again where it has found no room: in a larger map, or once readers who died keep nothing
  /// any more.
  func growing<Result>(
    _ drainSeconds: Double? = nil, _ body: () throws -> Result
  ) throws -> Result {
    var hasFreedReaders = false
    while true {
      do {
        return try body()
      } catch {
        // Its transaction has ended.
        if !hasFreedReaders, shortage(error) != nil {
          hasFreedReaders = true
          if freeDeadReaders() == true { continue }
        }
        // A larger map may be all that is lacking.
        guard error.isFullMap, growMap(drainSeconds) else { throw error }
      }
    }
  }
}

extension Store {
  /// Runs `body` in one transaction; all of it is kept, or none. Waits for its turn.
  ///
  /// Returns once the change is durable. `body` runs on the caller's thread. It is run again from its
  /// start, and what it has written so far is undone, once for each type of which something is new to the
  /// store (``init(at:documents:options:)-(URL,_,_)`` declares types beforehand), and when the file
  /// has to grow; so it should change nothing but the store. It may read the store, which shows what was before, and start tasks that write,
  /// but must not wait for them.
  ///
  /// The writes of tasks that wait before it share its flush of the disk; their bodies run on another
  /// thread, which has no current task. Threads that write share none. Waits at most for
  /// ``StoreOptions/writeTimeout``.
  ///
  /// - Parameter origin: Where the changes come from, for watchers and consumers that ask for some
  ///   origins and not for others.
  /// - Throws: Whatever `body` throws, or ``StoreError``, among them
  ///   ``StoreError/nestedWrite``; nothing is kept then.
  @discardableResult
  public func write<Result>(
    as origin: ChangeOrigin = .local, _ body: (inout WriteScope) throws -> Result
  ) throws -> Result {
    try checkOpen()
    let rider = AttachedNote.rider(origin, engine)
    let result = try engine.storing {
      try engine.write { try $0.writing(as: origin, with: rider, body) }
    }
    rider?.arrived()
    return result
  }

  /// Runs `body` in one transaction, off the concurrent pool; all of it is kept, or none.
  ///
  /// As the synchronous one, in the order in which it was called. Writes that wait at the same
  /// time share a flush of the disk; one that throws is undone alone, and one that is too large for
  /// the disk fails no other. `body` runs where no task is current: it sees no task-local values, and
  /// `Task.isCancelled` is false. Cancelling the task before the turn of `body` has come prevents it
  /// and ends the wait at once; afterwards it runs to its end, unless it has to begin again and another
  /// process writes. Where very much waits already it waits for room first:
  /// ``StoreOptions/maximumWaitingByteCount``.
  ///
  /// - Parameter origin: Where the changes come from.
  /// - Throws: Whatever `body` throws, `CancellationError`, or ``StoreError``; nothing is kept
  ///   then.
  @discardableResult
  public func write<Result: Sendable>(
    as origin: ChangeOrigin = .local,
    _ body: @escaping @Sendable (inout WriteScope) throws -> Result
  ) async throws -> Result {
    try await submit(as: origin, body)
  }
}
