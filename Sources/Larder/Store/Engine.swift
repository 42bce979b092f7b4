internal import LarderLMDB
internal import Synchronization

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
  let options: StoreOptions
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
  /// Bytes in use before the first write that has left more than the quota; nil before there was one.
  let usedAtOpening = Locked<Int?>(nil)
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

  init(_ environment: Environment, _ options: StoreOptions) {
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

  func learn(_ options: StoreOptions) {
    for tokenizer in options.searchTokenizers { tokenizers.add(tokenizer) }
  }

  func know(consumers: Database) { knownConsumers.withLock { $0 = consumers } }
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
