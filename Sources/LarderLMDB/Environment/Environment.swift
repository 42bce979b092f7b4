import Synchronization

/// One LMDB environment: a folder with a data file and a lock file, open in this process.
///
/// There is one per folder and process: opening the folder again gives the same one, and each
/// opening is matched by a ``close(timeoutSeconds:)``. One that is let go of without closing
/// closes itself. All calls may come from any thread; a transaction stays on its own.
public final class Environment: Sendable {
  /// The folder's path, absolute and without links.
  public let folder: String
  /// The file that every commit writes to once it can be seen; for those who want to know of the
  /// commits of other processes.
  public var bellPath: String { files.opening }

  /// Says whether this process looks out for commits of others. What they committed before it is to
  /// be looked for behind it.
  public func listen(_ isListening: Bool) {
    // What a forked child says of the file it would say for its parent.
    if forkCount == Forks.current { bell?.listen(isListening) }
  }
  /// The options it was opened with.
  public let options: Options

  let files: StoreFiles
  // Guard: the gate. Whoever is inside reads it; it is changed while nobody else is.
  nonisolated(unsafe) var pointer: OpaqueEnvironment
  /// Nil where LMDB may always write to its lock file. Guarded as `pointer` is, which it belongs to.
  nonisolated(unsafe) var lockPages: LockPages?
  /// Nil where it is not known who writes. Guarded as `pointer` is.
  nonisolated(unsafe) var lockWord: LockWord?
  let identity: Locked<FileIdentity>
  var dataIdentity: FileIdentity { identity.withLock { $0 } }
  /// Another one when it is closed means that somebody wrote: somebody else than LMDB, where the
  /// number of the last transaction is the same.
  // Guard: the gate, and the registry, which lets one thread at a time suspend, resume or close.
  nonisolated(unsafe) var stampAtOpening: FileStamp?
  nonisolated(unsafe) var transactionAtOpening: Int
  /// Nil when LMDB works without a lock file, which it does only to read, and while it is suspended.
  var lockIdentity: FileIdentity? {
    get { lockFile.withLock { $0 } }
    set { lockFile.withLock { $0 = newValue } }
  }
  private let lockFile: Locked<FileIdentity?>
  /// Nil where `larder.lock` cannot be opened.
  let bell: CommitBell?
  /// Nil where `larder.lock` is not there or cannot be locked.
  let mark: OpenMark?
  /// Nil for reading only.
  var turn: WriteTurn? {
    get { currentTurn.withLock { $0 } }
    set { currentTurn.withLock { $0 = newValue } }
  }
  private let currentTurn: Locked<WriteTurn?>
  /// How long those who write wait for other processes. The layer above changes it for one write,
  /// before that begins; only one thread at a time may do so.
  package let writeWait = Locked(WriteWait())
  package let patience = Locked(Patience())
  let gate = Gate()
  /// Readers that help others at the moment; see ``Transaction/inParallel(_:_:)``.
  let twinCount = Atomic<Int>(0)
  let pool = ReaderPool()
  /// Handles of reads that are over and keep their slots, until the lock file can be written to.
  let unendedReads = Locked<[UInt]>([])
  /// The number of the thread that holds the write transaction, else zero.
  let writingThread = Atomic<UInt>(0)
  let forkCount: Int
  let processID: Int32
  /// The handles known so far, by name; LMDB keeps them until the environment closes.
  let handles = Locked<[String: Database]>([:])
  /// Held while a handle is opened: LMDB allows one transaction at a time to do it.
  let openingHandles = Locked(false)
  /// How often handles were opened.
  let handleOpenings = Atomic<Int>(0)
  let freedReaders = Atomic<Int>(0)
  /// What the layer above has one of for each environment. Whoever makes it holds the lock, so that
  /// two who open the same folder make one.
  package let companion = Locked(Companion())

  package struct Companion: Sendable {
    package weak var object: (any AnyObject & Sendable)?
  }

  /// A descriptor of LMDB's lock file, which has the ``ReaderLock``; where the system has no such locks,
  /// one that is opened when it is needed. Closing it earlier than LMDB's own would let go of LMDB's
  /// locks.
  let lockProbe: Locked<Int32?>
  /// Where the disk that is kept for later ends in the file.
  let reservedEnd = Locked<Int>(0)
  /// Set once LMDB has lost its map, after which nobody may come in.
  let hasLostMap = Atomic<Bool>(false)
  /// How often LMDB was opened again after a failure that it does not recover from.
  let reopenings = Atomic<Int>(0)
  /// Whether idle readers are looked for from time to time.
  let looksForIdleReaders = Atomic<Bool>(false)
  /// How many copies of the store are being made, which lock files of their own.
  let stagingCount = Atomic<Int>(0)
  /// Whether the file is about to be noted as it is since the last commit.
  let willNoteRest = Atomic<Bool>(false)
  /// Whether this process has changed the data file, or has tried to.
  let hasWritten = Atomic<Bool>(false)
  /// Whether LMDB is closed and every lock given back, until ``resume(wait:)``.
  let isAtRest = Atomic<Bool>(false)
  /// Set once LMDB has closed, after which `pointer` is invalid.
  let isFinished = Atomic<Bool>(false)

  /// How many reader slots of processes that had died were given back when it was opened.
  public var freedReaderCount: Int { freedReaders.load(ordering: .relaxed) }

  init(
    _ pointer: OpaqueEnvironment, files: StoreFiles, options: Options,
    dataIdentity: FileIdentity, lockIdentity: FileIdentity?, lockProbe: Int32?
  ) {
    self.pointer = pointer
    self.files = files
    self.options = options
    identity = Locked(dataIdentity)
    lockFile = Locked(lockIdentity)
    self.lockProbe = Locked(lockProbe)
    lockPages = LockPages(files.lock, lockIdentity)
    lockWord = options.isReadOnly ? nil : LockWord(lockProbe)
    bell = options.isPublished ? nil : CommitBell(files, isReadOnly: options.isReadOnly)
    // Before the stamp: a commit between the two must not look like a stranger's write.
    transactionAtOpening = Calls.information(pointer.raw).lastTransactionID
    stampAtOpening = try? SafeFiles.stamp(files.data)
    mark = options.isPublished ? nil : OpenMark(files, lockIdentity == nil ? .unseen : .open)
    currentTurn = Locked(options.isReadOnly ? nil : WriteTurn.open(files.opening))
    folder = files.folder
    forkCount = Forks.current
    processID = Forks.processID
  }

  deinit {
    // In a forked child the memory is a copy, but the lock table is the parent's own.
    guard forkCount == Forks.current, !isFinished.load(ordering: .acquiring) else { return }
    finish()
  }

  /// Closes the environment once all who opened it have closed it.
  ///
  /// The last close lets no new transaction begin and waits at most `timeoutSeconds` for those
  /// that run. A write that waits for one of another process is not waited for: it ends with the
  /// environment, and goes on where that stays open. Closing again does nothing. Afterwards every
  /// begin throws ``LMDBError/Code/closed``.
  ///
  /// - Throws: ``LMDBError`` with code ``LMDBError/Code/inUse`` when transactions still run,
  ///   ``LMDBError/Code/usedAfterFork``, or ``LMDBError/Code/system(errno:)`` where a disk without
  ///   room for one byte keeps LMDB from saying so; the environment is then as open as before.
  public func close(timeoutSeconds: Double = 5) throws(LMDBError) {
    try checkFork("close")
    let deadline = SystemCall.seconds + timeoutSeconds
    while !isFinished.load(ordering: .acquiring) {
      switch Registry.shared.beginClosing(dataIdentity) {
      case .shared: return
      case .last: return try closeLast(deadline)
      case .elsewhere: SystemCall.sleep(microseconds: 1000)
      }
    }
  }

  private func closeLast(_ deadline: Double) throws(LMDBError) {
    gate.shut()
    while true {
      if gate.runningCount == 0 {
        // One inside may have closed LMDB, and found that it cannot be opened again.
        if isFinished.load(ordering: .acquiring) { return }
        if !hasLostMap.load(ordering: .acquiring), !isSuspended {
          do throws(LMDBError) {
            try expectLockPages()
          } catch {
            gate.reopen()
            Registry.shared.didNotClose(dataIdentity)
            throw error
          }
        }
        if gate.endIfEmpty() { break }
      }
      guard SystemCall.seconds < deadline else {
        let count = gate.runningCount
        // The last one has ended just now, and nobody else may begin.
        if count == 0 { continue }
        if !hasLostMap.load(ordering: .acquiring), !isSuspended { gate.reopen() }
        Registry.shared.didNotClose(dataIdentity)
        throw LMDBError(
          .inUse, operation: "close", path: folder,
          detail: "\(count) \(count == 1 ? "transaction still runs" : "transactions still run")")
      }
      SystemCall.sleep(microseconds: 200)
    }
    finish()
  }

  /// Nobody is inside any more, and nobody can come.
  func finish() {
    gate.end()
    if !isSuspended { letGo() }
    isFinished.store(true, ordering: .releasing)
    Registry.shared.remove(dataIdentity)
  }

  /// Closes LMDB, and gives back every lock and every descriptor but the memory of what they were for.
  /// Nobody is inside, and nobody can come.
  func letGo() {
    endUnendedReads()
    while let handle = pool.take() { discard(handle) }
    mark?.end()
    Calls.close(environment: pointer.raw)
    noteRestInside()
    bell?.silence()
    turn?.close()
    closeLockProbe()
    noteClosed()
  }

  func discard(_ handle: TransactionHandle) {
    Calls.abort(handle.pointer)
    handle.deallocate()
  }
}

/// LMDB's environment.
// Guard: LMDB allows every call on it from any thread, except closing it and changing its map,
// which happen only while the gate lets nobody else in.
struct OpaqueEnvironment: @unchecked Sendable {
  let raw: OpaquePointer
}
