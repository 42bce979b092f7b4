internal import LarderLMDB
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What all `Store` values of one folder share: the environment, the catalogue as it is known
/// here, and the writer.
@usableFromInline final class Engine: Sendable {
  let environment: Environment
  let writer: Writer
  let log = StoreLog()
  /// How much the writes of tasks may hold while they wait.
  let room: WriteRoom
  let watchHub = WatchHub()
  let heldSnapshots = HeldSnapshots()
  let fileGrowth = FileGrowth()
  /// The database of the named consumers; nil before there was one.
  private let knownConsumers = Locked<Database?>(nil)
  let consumerHolders = ConsumerHolders()
  /// Which start of the system this is, for commits that a loss of power may undo; tests put another
  /// one in its place.
  let boot = Locked(Environment.boot)
  /// Whether changes that are written may take numbers in the timeline that the store is in.
  let hasTimeline = Atomic<Bool>(false)
  let leaseClock = LeaseClock()
  private let options: StoreOptions
  var currentOptions: StoreOptions { options }
  var openWait: OpenWait { options.openWait(at: environment.folder) }
  var retention: ChangeLogRetention { options.changeLog }
  let space: SpaceLimits
  /// Tells this opening of the store from others in the change log.
  let writerID = UInt32.random(in: .min ... .max)
  /// How the building of indexes goes on.
  let indexWork = Locked(IndexWork())
  let indexRuns = Locked(IndexRuns())
  /// Held by the thread that reads entries for an index that is being built.
  let indexReading = Locked(false)
  let indexQueue = WorkQueue("larder.indexes")
  let damagedSearches = DamagedSearches()
  let evictionPlaces = Locked<[EvictionPlace.ID: EvictionPlace]>([:])
  /// The store as it was when it was suspended last. Locked while it is suspended or resumed: of two calls at
  /// one time the later one decides.
  let suspended = Locked(SuspendedStore())
  /// How many threads want to suspend it at the moment.
  let suspensionsWanted = Atomic<Int>(0)
  let tokenizers = KnownTokenizers()
  /// Whether damage was met and noted.
  let isSuspected = Locked(false)
  /// The newest catalogue seen.
  let known = Locked(Catalogue())

  init(_ environment: Environment, _ options: StoreOptions) throws {
    self.environment = environment
    self.options = options
    room = WriteRoom(byteCount: options.maximumWaitingByteCount)
    space = SpaceLimits(options)
    let (timeout, log) = (options.writeTimeout?.seconds, log)
    writer = Writer(timeoutSeconds: timeout) {
      Self.writeTimedOut(environment)
    } waitsElsewhere: {
      environment.waitsForOtherProcess
    } admit: {
      // Before the line, which a forked child has only a copy of.
      do throws(LMDBError) {
        try environment.checkFork("write")
      } catch {
        throw StoreError(error)
      }
    }
    environment.writeWait.withLock { wait in
      wait.timeoutSeconds = timeout
      wait.tellsOfLong = { log.tellOfWriter($0) }
    }
    learn(options)
    let isStateStale = try isStateStale()
    try refreshCatalogue()
    if isStateStale { try writer.run { try perform { $0.hasWrittenMore = true } } }
    findIndexesToRenew()
    // Another program may have ended between two steps of a merge.
    indexWork.withLock { $0.searchesToMerge = catalogue.searchNumbers }
    damagedSearches.start { [weak self] in self?.scheduleIndexWork() }
    tokenizers.start { [weak self] in self?.scheduleIndexWork() }
  }

  var catalogue: Catalogue { known.withLock { $0 } }
  var consumers: Database? { knownConsumers.withLock { $0 } }

  var writeTimeoutSeconds: Double? { options.writeTimeout?.seconds }

  func writeTimedOut() -> any Error { Self.writeTimedOut(environment) }

  /// What has begun and begins again waits for other processes anew.
  func hasBegunToWrite() {
    if writeTimeoutSeconds != nil { environment.writeWait.withLock { $0.deadline = nil } }
  }

  private static func writeTimedOut(_ environment: Environment) -> any Error {
    StoreError.writeTimedOut(
      path: environment.folder,
      waitedFor: environment.waitsForOtherProcess
        ? .otherProcess(environment.writeHolder.map { CompetingProcess($0) }) : .thisProcess)
  }

  private func learn(_ options: StoreOptions) {
    for tokenizer in options.searchTokenizers { tokenizers.add(tokenizer) }
  }

  func know(consumers: Database) { knownConsumers.withLock { $0 = consumers } }
}

// MARK: Opening

extension Engine {
  /// Opens the store in `folder`, or joins those that have it open.
  ///
  /// - Parameter isSalvaging: Opens also a store that a quarantine has begun and not filled yet.
  static func open(
    at folder: String, options: StoreOptions, isSalvaging: Bool = false
  ) throws -> Engine {
    try options.check()
    let environment = try openEnvironment(at: folder, options: options, isSalvaging: isSalvaging)
    // Two who open one folder wait for each other, and for nobody who opens another one.
    return try environment.companion.withLock { companion in
      if let engine = companion.object as? Engine {
        guard engine.options.agrees(with: options) else {
          try environment.close()  // Others have it open: this one only leaves.
          throw StoreError.optionsDiffer(path: environment.folder)
        }
        engine.learn(options)
        return engine
      }
      do {
        let engine = try Engine(environment, options)
        companion.object = engine
        return engine
      } catch {
        // The first error is the one that helps; an environment that cannot close either
        // closes when it is let go of.
        try? environment.close(timeoutSeconds: 0)
        throw error
      }
    }
  }

  private static func openEnvironment(
    at folder: String, options: StoreOptions, isSalvaging: Bool
  ) throws -> Environment {
    try refuseForeignFolder(folder)
    do {
      return try Environment.open(
        at: folder, options: options.environment, checksPages: options.pageCheck == .always,
        isSalvaging: isSalvaging, wait: options.openWait(at: folder)
      ) { transaction in
        let state = StoreState(
          transaction: UInt64(transaction.id), sequence: 0, catalogueVersion: 0, storeID: UUID())
        try transaction.put(state)
        let isDurable = options.durability == .durable
        try transaction.put(Timeline(unflushedBoot: isDurable ? 0 : Environment.boot))
      }
    } catch let error as LMDBError where error.code == .invalidFile {
      throw StoreError.notAStore(path: error.path ?? folder, reason: error.detail)
    }
  }

  /// A folder without a store, and with something else, is somebody else's.
  static func refuseForeignFolder(_ folder: String) throws {
    // One that is missing or cannot be listed is the environment's to make or to refuse.
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder),
      !names.contains("data.mdb")
    else { return }
    let ours: Set = ["larder.lock", "lock.mdb", "data.mdb.copying"]  // Of a creation cut short.
    let foreign = names.filter { !ours.contains($0) && !$0.hasPrefix(".") }.min()
    if let foreign {
      throw StoreError.notAStore(path: folder, reason: "it has no data.mdb and holds \(foreign)")
    }
  }

  /// Makes sure that this is a store; returns whether its state record must be written anew, because
  /// it names a later transaction than there was. A copy starts again at transaction 1.
  private func isStateStale() throws -> Bool {
    let reading = try environment.beginRead()
    guard let found = try reading.state(path: environment.folder) else {
      throw StoreError.notAStore(
        path: environment.folder, reason: "its LMDB file has no state record of Larder")
    }
    return found.transaction > UInt64(reading.id) && !environment.options.isReadOnly
  }
}

// MARK: Catalogue

extension Engine {
  /// The named database, made where there is none, in a transaction of its own that changes nothing
  /// else. Called outside of writes: inside, a handle could not be used.
  func madeDatabase(named name: String) throws -> Database {
    let database = try growing { try environment.database(named: name, create: true) }
    guard let database else { throw StoreError.damagedCatalogue("\(name) cannot be made") }
    return database
  }

  /// Reads the catalogue, and opens the databases that it names, and the migrations'.
  func refreshCatalogue() throws {
    _ = try migrations()
    // Whoever makes the first consumer makes a new version of the catalogue, too.
    if consumers == nil,
      let database = try environment.database(named: Layout.consumersName, create: false)
    {
      know(consumers: database)
    }
    // So does whoever makes the first collection synced.
    if outboxDatabases == nil { try openOutbox() }
    guard let database = try environment.database(named: Layout.catalogueName, create: false)
    else { return try adoptEmptyCatalogue() }
    // Opened before the snapshot, which could not use a handle that is younger.
    let indexRecords = try environment.database(named: Layout.indexesName, create: false)
    let reading = try environment.beginRead()
    guard let state = try reading.state(path: environment.folder) else { return }
    var indexes: [UInt32: IndexRecord] = [:]
    if let indexRecords {
      indexes = try readIndexes(reading, in: indexRecords)
    } else if try reading.hasDatabase(named: Layout.indexesName) {
      return try refreshCatalogue()  // It came into being in between.
    } else {
      try reading.refuseDatabases(Layout.indexPrefix, without: Layout.indexesName)
    }
    var collections: [String: Collection] = [:]
    var cursor = try reading.cursor(in: database)
    while try cursor.next() {
      guard let name = String(validating: cursor.key, as: UTF8.self) else {
        throw StoreError.damagedCatalogue("a collection's name is not UTF-8")
      }
      let description = try CollectionDescription(name: name, cursor.value)
      let documents = try environment.database(
        named: Layout.documentsName(of: name), create: false)
      guard let documents else {
        throw StoreError.damagedCatalogue("the documents of \(name) are missing")
      }
      collections[name] = try Collection(
        description, documents: documents,
        indexes: openIndexes(
          indexes.filter { $0.value.definition.collection == name }, description), log: log,
        damagedSearches: damagedSearches, tokenizers: tokenizers)
    }
    adopt(
      Catalogue(version: state.catalogueVersion, collections: collections, indexes: indexes))
  }

  /// A store without collections has a version all the same: something may have been migrated.
  private func adoptEmptyCatalogue() throws {
    let reading = try environment.beginRead()
    guard let state = try reading.state(path: environment.folder) else { return }
    guard try !reading.hasDatabase(named: Layout.catalogueName) else {
      return try refreshCatalogue()  // It came into being in between.
    }
    try reading.refuseDatabases(Layout.documentsPrefix, without: Layout.catalogueName)
    adopt(Catalogue(version: state.catalogueVersion))
  }

  /// Makes a newer catalogue the known one.
  func adopt(_ catalogue: Catalogue) {
    let isNewer = known.withLock { known in
      guard catalogue.version > known.version else { return false }
      known = catalogue
      return true
    }
    guard isNewer else { return }
    indexRuns.withLock { $0.forget() }
    log.tell(
      .info, "the catalogue has changed",
      [
        "version": "\(catalogue.version)", "collections": "\(catalogue.collections.count)",
        "indexes": "\(catalogue.indexes.count)",
      ])
  }
}

extension StoreLog {
  fileprivate func tellOfWriter(_ holder: WriteHolder?) {
    tell(.warning, "a write waits for another process", holder.metadata)
  }
}

extension LogEvent {
  static func waitsToOpen(_ folder: String, _ holder: WriteHolder?) -> LogEvent {
    LogEvent(
      level: .warning, message: "opening waits for another process that opens the store",
      metadata: holder.metadata.merging(["folder": folder]) { first, _ in first })
  }
}

extension WriteHolder? {
  fileprivate var metadata: [String: String] {
    [
      "process": map { "\($0.processID)" } ?? "unknown",
      "stopped": map { "\($0.isStopped)" } ?? "unknown",
      "seconds": "\(Int(WriteWait.longSeconds))",
    ]
  }
}

extension Transaction where Self: ~Copyable {
  /// The state record of this snapshot; nil where the file has none.
  ///
  /// - Parameter path: For an error. Not asked for where there is none: every read comes here, and
  ///   threads that count references to one string wait for each other.
  borrowing func state(path: @autoclosure () -> String) throws -> StoreState? {
    try Self.stateKey.withKey { key in
      try withValue(for: key, in: .main) { try StoreState($0, path: path()) }
    }
  }

  /// Whether the main database names one.
  borrowing func hasDatabase(named name: String) throws -> Bool {
    var name = name
    return try name.withUTF8 { key in
      try withValue(for: UnsafeRawBufferPointer(key), in: .main) { _ in true } ?? false
    }
  }

  /// Names have no checksum. What describes others is made before them, so that without it they are
  /// those of a store whose name of it is damaged, and not of one that is empty.
  ///
  /// - Throws: ``StoreError/damagedCatalogue(_:)`` where a name begins so.
  fileprivate borrowing func refuseDatabases(_ prefix: String, without name: String) throws {
    let prefix = [UInt8](prefix.utf8)
    var cursor = try cursor(in: .main)
    guard try prefix.withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }),
      cursor.key.starts(with: prefix)
    else { return }
    let found = String(decoding: cursor.key, as: UTF8.self)
    throw StoreError.damagedCatalogue("\(name) is missing, and \(found) is there")
  }

  static var stateKey: StateKey { StateKey() }
}

extension WriteTransaction {
  mutating func put(_ state: StoreState) throws {
    try state.withBytes { bytes in
      try Self.stateKey.withKey { key in try put(bytes, for: key, in: .main) }
    }
  }
}

/// Lends the state record's key without making bytes of a string each time.
struct StateKey {
  private static let bytes: StaticString = "larder.state"

  func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(
      UnsafeRawBufferPointer(start: Self.bytes.utf8Start, count: Self.bytes.utf8CodeUnitCount))
  }
}
