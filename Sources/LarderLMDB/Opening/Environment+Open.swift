internal import Synchronization

extension Environment {
  /// Opens the store in `folder`, creating it if there is none.
  ///
  /// The folder is created too (its parent must exist), for the eyes of this user only. A store
  /// whose creation was cut short before its first commit is created anew. Opening waits while
  /// another process opens the same store, and for no writer.
  ///
  /// - Throws: ``LMDBError``. Nothing is open then, and files that were not safe are untouched.
  public static func open(
    at folder: String, options: Options = Options()
  ) throws(LMDBError) -> Environment {
    do {
      return try open(at: folder, options: options, initialise: { _ in })
    } catch let error as LMDBError {
      throw error
    } catch {
      preconditionFailure("Opening a store threw \(error), which is no LMDBError.")
    }
  }

  /// Opens the store in `folder`; if it is new, `initialise` runs in its first transaction.
  ///
  /// No other opener sees the store before that transaction is on the disk. If the process dies
  /// before, or `initialise` throws, the next opener begins again. Only ``Database/main`` exists
  /// in it.
  ///
  /// - Parameter checksPages: Whether all pages are looked at first, whatever the store's past; not
  ///   when another process has it open, which ``checkPages(progress:)`` does.
  /// - Parameter isSalvaging: Opens also a store that a quarantine has begun and not filled yet.
  /// - Parameter wait: How long it waits for another process that opens the store.
  /// - Throws: ``LMDBError`` or whatever `initialise` throws. Nothing is open then.
  public static func open(
    at folder: String, options: Options = Options(), checksPages: Bool = false,
    isSalvaging: Bool = false, wait: OpenWait = OpenWait(),
    initialise: (inout WriteTransaction) throws -> Void
  ) throws -> Environment {
    if options.isPublished { return try openPublished(at: folder, options) }
    try checkLibrary()
    Forks.watch()
    Registry.watchForExit()
    SystemCall.keepStandardDescriptors()
    let files = try StoreFiles(folder, isReadOnly: options.isReadOnly)
    let lock = try OpeningLock.acquire(files, isReadOnly: options.isReadOnly, wait)
    // What the files were may have changed while we waited.
    try files.check(isReadOnly: options.isReadOnly)
    if !isSalvaging { try lock?.refuseQuarantine(files) }
    if lock != nil, !options.isReadOnly { try SafeFiles.removeFolder(files.staging) }
    let creation = try lock?.creation() ?? .finished
    let isNew = try mustCreate(files, lock, creation, options)
    if isNew { try begin(creating: files, lock) }

    guard let identity = try SafeFiles.identity(files.data) else {
      throw StoreFiles.nothingToRead(files.folder, "there is no data.mdb")
    }
    switch Registry.shared.claim(identity, options) {
    case .alreadyOpen(let environment):
      try environment.check(asked: options)
      return environment
    case .ours: break
    }

    let environment: Environment
    let isAlone: Bool
    let session: OpeningLock.Session?
    do throws(LMDBError) {
      session = try lock?.session()
      isAlone = try Self.isAlone(files, lock, options)
      if !isNew {
        let preflight = Preflight(
          files: files, identity: identity, session: session, rest: try lock?.rest() ?? nil,
          isAlone: isAlone, isRequested: checksPages || creation == .unfinished)
        try look(preflight, lock, options)
      }
      environment = try openClaimed(files, options, identity, isAlone: isAlone)
    } catch {
      Registry.shared.remove(identity)
      throw error
    }
    // From here on the environment closes itself, and leaves the registry, if we throw.
    if isNew {
      var transaction = try environment.beginWrite()
      try Calls.openMain(transaction.handle.pointer)
      try initialise(&transaction)
      try transaction.commit()
      try environment.finishCreating(lock)
    } else if creation == .unfinished, !options.isReadOnly {
      // It was cut short behind its first commit, or whole files were put here.
      try lock?.note(.finished)
    }
    let freed = try environment.freeReaders()
    environment.freedReaders.store(freed.count, ordering: .relaxed)
    if !isAlone, freed.endedInside || session == .suspect {
      try environment.lookBesideOthers(lock, session)
    }
    try environment.openExistingDatabases()
    Registry.shared.didOpen(environment, identity)
    // Held until here, whatever the optimiser thinks of its last use.
    _ = consume lock
    return environment
  }

  /// - Throws: ``LMDBError/Code/libraryVersion`` for anything but LMDB 0.9: another one would
  ///   neither read nor refuse our files properly.
  static func checkLibrary() throws(LMDBError) {
    let version = Calls.version()
    try checkLibrary(major: version.major, minor: version.minor, text: version.text)
  }

  static func checkLibrary(major: Int32, minor: Int32, text: String) throws(LMDBError) {
    guard (major, minor) == Calls.supportedVersion else {
      throw LMDBError(
        .libraryVersion, operation: "mdb_version",
        detail: "this program is linked with \(text), and its stores need LMDB 0.9")
    }
  }

  /// Whether nobody else has the store open; false also where that cannot be made sure.
  static func isAlone(
    _ files: StoreFiles, _ lock: borrowing OpeningLock?, _ options: Options
  ) throws(LMDBError) -> Bool {
    if let identity = try SafeFiles.identity(files.lock),
      Registry.shared.hasLockFile(identity, except: nil)
    {
      throw LMDBError(
        .lockFileReplaced, operation: "open", path: files.data,
        detail: "this process has the store open that was here before")
    }
    guard let isAlone = try lock?.isAlone(files) else { return false }
    if !options.isReadOnly { try lock?.refuseUnseenReaders(files) }
    return isAlone
  }

  /// Notes first that the store is unfinished: a crash later leaves a file that LMDB may refuse.
  private static func begin(
    creating files: StoreFiles, _ lock: borrowing OpeningLock?
  ) throws(LMDBError) {
    try lock?.note(.unfinished)
    try SafeFiles.syncFolder(files.folder)
    try SafeFiles.ensureFile(files.data)
  }

  private func finishCreating(_ lock: borrowing OpeningLock?) throws(LMDBError) {
    // An initialisation that wrote nothing has flushed nothing.
    try Calls.sync(pointer.raw, path: folder)
    try SafeFiles.syncFolder(folder)
    try lock?.note(.open(dataIdentity), isDurable: false)
    try lock?.note(.finished)
    try SafeFiles.syncFolder(SafeFiles.parent(of: folder))
  }

  /// Looks at an existing file, and notes that the store is open from now on.
  static func look(
    _ preflight: Preflight, _ lock: borrowing OpeningLock?, _ options: Options
  ) throws(LMDBError) {
    let isHalf: Bool
    do throws(LMDBError) {
      try preflight.checkCompany()
      isHalf = try preflight.check()
    } catch {
      // The next opener may have no reason of its own to look as far as this one did.
      if error.code == .corrupted { lock?.noteSuspicion() }
      throw error
    }
    guard let identity = preflight.identity else { return }
    // A suspicion stands until a walk has found nothing, which is now if we are alone; what a commit
    // has left that failed, until another one has written over it.
    let isKnown = preflight.session == .suspect || preflight.session == .failed
    let stamp = preflight.isAlone ? try? SafeFiles.stamp(preflight.files.data) : nil
    if options.isReadOnly {
      // A note of how it was closed says whether the file is the same, also where a reader never closes it. And not
      // where nobody would note that it was closed: see `noteClosed`.
      if case .closed? = preflight.session { return }
      guard preflight.isAlone, !isHalf, !isKnown, options.durability != .volatile,
        try !mustOpenWithoutLocks(preflight.files, options)
      else { return }
      lock?.noteReader(of: identity, stamp)
      return
    }
    if let stamp { lock?.noteRest(stamp) }
    guard preflight.session != .open(identity), !isHalf, preflight.isAlone || !isKnown else {
      return
    }
    try lock?.noteOpen(identity)
  }

  /// Looks at all pages of a store that others have open, before anything of them is read.
  private func lookBesideOthers(
    _ lock: borrowing OpeningLock?, _ session: OpeningLock.Session?
  ) throws(LMDBError) {
    let report = try checkPages()
    guard report.isSound else {
      lock?.noteSuspicion()
      throw LMDBError(path: files.data, faults: report.faults)
    }
    // Or else each of many openings would look, for as long as one of the others stays.
    if session == .suspect, !options.isReadOnly {
      try lock?.note(.open(dataIdentity), isDurable: true)
    }
  }

  /// Lends the environment of a copy that nobody else knows of; its folder is not locked.
  static func withStaged(
    _ files: StoreFiles, _ options: Options, _ body: (Environment) throws -> Void
  ) throws {
    guard let identity = try SafeFiles.identity(files.data) else {
      throw StoreFiles.missing(files.folder, "the copy is gone")
    }
    let environment = try openClaimed(files, options, identity, isAlone: true)
    defer { environment.finish() }
    try environment.openExistingDatabases()
    try body(environment)
  }

  /// - Parameter isAlone: Whether nobody else has the store open.
  private static func openClaimed(
    _ files: StoreFiles, _ options: Options, _ identity: FileIdentity, isAlone: Bool
  ) throws(LMDBError) -> Environment {
    let withoutLocks = try mustOpenWithoutLocks(files, options)
    if !withoutLocks {
      try LockTable(files: files).prepare(
        maximumReaderCount: options.maximumReaderCount, isAlone: isAlone,
        isReadOnly: options.isReadOnly)
    }
    let pointer = try Calls.openEnvironment(
      files.folder, options: options, withoutLocks: withoutLocks)
    var probe: Int32?
    do throws(LMDBError) {
      let descriptor = try Calls.dataDescriptor(pointer)
      try SafeFiles.closeOnExec(descriptor, path: files.data)
      if !withoutLocks { probe = try ReaderLock.take(pointer, files) }
      return Environment(
        OpaqueEnvironment(raw: pointer), files: files, options: options, dataIdentity: identity,
        lockIdentity: withoutLocks ? nil : try SafeFiles.identity(files.lock), lockProbe: probe)
    } catch {
      Calls.close(environment: pointer)
      if let probe { ReaderLock.close(probe) }
      throw error
    }
  }

  /// A published copy in a folder of another user, or on a disk that is read-only here, is read without
  /// a lock file where we may not leave one, or not write to the one that is there. That is safe as
  /// long as nobody writes to the store: who has it open to write keeps us out, and we keep them out.
  static func mustOpenWithoutLocks(
    _ files: StoreFiles, _ options: Options
  ) throws(LMDBError) -> Bool {
    guard options.isReadOnly else { return false }
    guard try SafeFiles.identity(files.lock) != nil else {
      return !(try SafeFiles.isOurs(files.folder))
    }
    guard try !SafeFiles.isOurs(files.folder), !SafeFiles.mayWrite(files.lock) else { return false }
    guard try !files.isOpenElsewhere(except: nil) else {
      throw LMDBError(
        .inUse, operation: "open", path: files.folder,
        detail: "another process has it open, and this one may not write to lock.mdb, where a"
          + " reader says what it reads; read a backup")
    }
    return true
  }
}
