internal import LarderLMDB
internal import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Store {
  /// Opens the store in `folder`, making both if there are none; the parent folder must exist. Waits
  /// while another process opens it, as ``StoreOptions/openTimeout`` says, and for no writer, but for the
  /// first opening of a copy that LMDB's own `mdb_copy -c` has made.
  ///
  /// - Throws: ``StoreError``: the folder is not safe to use or holds something else, another
  ///   format, other options. Nothing that was there is changed.
  public convenience init(at folder: URL, options: StoreOptions = StoreOptions()) throws {
    try self.init(at: folder.folderPath(), options: options)
  }

  /// Opens the store in the folder at this path; see ``init(at:options:)-(URL,_)``.
  ///
  /// - Throws: ``StoreError``, as there.
  public convenience init(at path: String, options: StoreOptions = StoreOptions()) throws {
    try self.init(path: path, options: options, temporaryFolder: nil)
  }

  /// Opens what `publish(_:to:)` put into a folder, to read only. No lock is taken, and no file made:
  /// for widgets, extensions and other processes that only show documents.
  ///
  /// It stays at the moment that it was opened at, whatever is published later; see
  /// ``newerPublication()``.
  ///
  /// - Throws: ``StoreError/storage(_:)`` where nothing was published yet, or the folder has a store that is
  ///   written to; ``StoreError/damagedPublication(path:reason:)``; ``StoreError``, as ``init(at:options:)-(URL,_)``.
  public convenience init(published folder: URL, options: StoreOptions = StoreOptions()) throws {
    var options = options
    options.isReadOnly = true
    options.isPublished = true
    let path = try folder.folderPath()
    do {
      try self.init(path: path, options: options, temporaryFolder: nil)
    } catch let error as StoreError {
      throw error.ofPublication(at: path)
    }
  }

  /// A store that a quarantine fills, which nobody else can open before that has ended.
  convenience init(salvagingAt path: String, options: StoreOptions) throws {
    try self.init(path: path, options: options, temporaryFolder: nil, isSalvaging: true)
  }

  private convenience init(
    path: String, options: StoreOptions, temporaryFolder: URL?, isSalvaging: Bool = false
  ) throws {
    if !options.isPublished { try PublicationMark.refuse(path) }
    let start = options.log == nil ? nil : ContinuousClock.now
    let engine = try Engine.storing(at: path) {
      try Engine.open(at: path, options: options, isSalvaging: isSalvaging)
    }
    self.init(engine, temporaryFolder: temporaryFolder)
    if let log = options.log, let start {
      engine.log.add(log, of: ObjectIdentifier(self))
      log(.opened(engine, after: ContinuousClock.now - start))
    }
    // Behind the log, which is told of what becomes of it.
    engine.scheduleIndexWork()
  }

  /// A store in a folder of its own that is deleted when the store is closed or released: for
  /// tests and previews. Nothing in it survives a crash.
  ///
  /// - Throws: ``StoreError`` when the system's temporary folder cannot be used.
  public static func temporary() throws -> Store {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-\(UUID.random().uuidString)", directoryHint: .isDirectory)
    return try Store(
      path: folder.path(percentEncoded: false), options: StoreOptions(durability: .volatile),
      temporaryFolder: folder)
  }

  /// Closes the store; closing it again does nothing. When this is the last open one on its
  /// folder, waits up to `timeout` for reads and writes that run. Afterwards every call
  /// throws ``StoreError/closed``, and so does what begins meanwhile. A write that waits for another
  /// process is not waited for, and throws it once the store is closed. Named consumers are given back
  /// first, for whoever comes next.
  ///
  /// - Throws: ``StoreError/storage(_:)`` when reads or writes still run; the store is then as
  ///   open as before, what waits for another process goes on waiting, and its consumers begin
  ///   another iteration.
  public func close(timeout: Duration = .seconds(5)) throws {
    // In a forked child nobody may be there who would end what is waited for.
    try engine.storing { try engine.environment.checkFork("close") }
    let deadline = WriteWait.now + timeout.seconds
    while true {
      let outcome = closing.withLockIfFree { _ in
        Result { try closeAlone(timeoutSeconds: max(0, deadline - WriteWait.now)) }
      }
      if let outcome { return try outcome.get() }
      guard WriteWait.now < deadline else {
        throw StoreError(
          LMDBError(
            .inUse, operation: "close", path: engine.environment.folder,
            detail: "another thread closes the store, and waits for what runs"))
      }
      SystemCall.sleep(microseconds: 1000)
    }
  }

  private func closeAlone(timeoutSeconds: Double) throws {
    guard !isClosed.load(ordering: .acquiring) else { return }
    engine.endConsumers(of: self, timeoutSeconds: timeoutSeconds)
    try engine.storing { try engine.environment.close(timeoutSeconds: timeoutSeconds) }
    isClosed.store(true, ordering: .releasing)
    engine.log.remove(ObjectIdentifier(self))
    engine.watchHub.close(self)
    // Closed it is in any case. Somebody else may have taken the folder away already.
    if let temporaryFolder { try? FileManager.default.removeItem(at: temporaryFolder) }
  }
}

extension LogEvent {
  static func opened(_ engine: Engine, after duration: Duration) -> LogEvent {
    let freed = engine.environment.freedReaderCount
    return LogEvent(
      // Another process died while it was reading.
      level: freed > 0 ? .warning : .info, message: "the store is open",
      metadata: [
        "folder": engine.environment.folder, "seconds": duration.secondsText,
        "freedReaders": "\(freed)", "catalogueVersion": "\(engine.catalogue.version)",
        "collections": "\(engine.catalogue.collections.count)",
      ])
  }
}
