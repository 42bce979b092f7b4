internal import Synchronization

extension Environment {
  /// Closes LMDB's environment, runs `exchange` and opens it again, with the same handles. Nobody is
  /// inside, nobody can come, and the caller has the opening lock.
  ///
  /// - Parameters:
  ///   - found: The files that are in use, which must be in place.
  ///   - exchange: Changes them, and says so.
  /// - Throws: What `exchange` throws, and the environment is open then. Where it cannot be opened
  ///   again, it is closed.
  func reopenAlone(
    _ operation: String, _ found: FilesInPlace,
    _ exchange: (inout FilesInPlace) throws(LMDBError) -> Void
  ) throws(LMDBError) {
    let mapByteCount = Calls.information(pointer.raw).mapByteCount
    // LMDB gives numbers in the order of opening, and the layers above keep them.
    let names = handles.withLock { $0.sorted { $0.value.number < $1.value.number } }
    guard names.enumerated().allSatisfy({ $1.value.number == UInt32($0) + Database.firstNamed })
    else {
      throw LMDBError(
        .inUse, operation: operation, path: folder,
        detail: "its databases have gaps in their numbers; close the store and open it again")
    }
    // Once LMDB has closed, another store in this place could only be opened, or refused.
    try files.check(found)
    // Keeps the old file's number from going to another one while this process knows the store by
    // it: a store that is made meanwhile would be taken for this one.
    let old = try PageFile(files.data)
    endUnendedReads()
    while let handle = pool.take() { discard(handle) }
    Calls.close(environment: pointer.raw)
    closeLockProbe()
    var inPlace = found
    let exchanged = Result { () throws(LMDBError) in try exchange(&inPlace) }
    do throws(LMDBError) {
      try reopen(names.map(\.key), inPlace, mapByteCount: mapByteCount)
    } catch {
      // There is nothing left to close, and nobody may come in any more.
      gate.end()
      mark?.end()
      isFinished.store(true, ordering: .releasing)
      Registry.shared.remove(dataIdentity)
      throw error
    }
    reopenings.add(1, ordering: .releasing)
    _ = consume old
    try exchanged.get()
  }

  /// Opens LMDB again after a commit of which it could not write the last page: it does nothing more
  /// before, not even reads. The store is as the commit before has left it. The caller is inside.
  ///
  /// - Parameter reopenings: How often it had been opened again when the caller met the failure.
  /// - Returns: Whether it is worth beginning again; false where others read on until `deadline`.
  func reopen(unless reopenings: Int, until deadline: Double) throws(LMDBError) -> Bool {
    guard SystemCall.seconds < deadline else { return false }
    var outcome: Result<Void, LMDBError> = .success(())
    let attempt = gate.tryAlone(until: deadline) {
      guard self.reopenings.load(ordering: .acquiring) == reopenings else { return }
      outcome = Result { () throws(LMDBError) in
        try checkFork("begin")
        // What LMDB does while it closes and opens must not meet another process that opens. Taken
        // here, or threads of this process would wait for each other.
        let lock = try acquireOpeningLock(until: deadline)
        let found = FilesInPlace(
          opening: try lock.identity(), data: dataIdentity, table: lockIdentity)
        try reopenAlone("begin", found) { (_: inout FilesInPlace) throws(LMDBError) in }
        _ = consume lock
      }
    }
    try outcome.get()
    return try isWorthAnother(attempt, until: deadline)
  }

  private func reopen(
    _ names: [String], _ expected: FilesInPlace, mapByteCount: Int
  ) throws(LMDBError) {
    SystemCall.keepStandardDescriptors()
    var options = options
    options.mapByteCount = max(options.mapByteCount, mapByteCount)
    try files.check(expected)
    let opened = try Calls.openEnvironment(files.folder, options: options, withoutLocks: false)
    do throws(LMDBError) {
      try SafeFiles.closeOnExec(try Calls.dataDescriptor(opened), path: files.data)
      let probe = try ReaderLock.take(opened, files)
      lockProbe.withLock { $0 = probe }
      if let name = try reopenDatabases(names, in: opened, "compact") {
        throw missing(database: name, "compact")
      }
      try files.check(expected)
      reservedEnd.withLock { $0 = 0 }
      let old = dataIdentity
      guard let new = expected.data else { throw StoreFiles.missing(folder, "its files are gone") }
      if old != new {
        // A suspended store may have had the number of this file, or one that is just closing.
        let deadline = SystemCall.seconds + 5
        Registry.shared.followSuspended()
        while !Registry.shared.move(old, to: new) {
          guard SystemCall.seconds < deadline else { throw files.isOpen("compact") }
          SystemCall.sleep(microseconds: 1000)
          Registry.shared.followSuspended()
        }
      }
      identity.withLock { $0 = new }
    } catch {
      Calls.close(environment: opened)
      closeLockProbe()
      throw error
    }
    pointer = OpaqueEnvironment(raw: opened)
    lockPages = LockPages(files.lock, lockIdentity)
    lockWord = lockProbe.withLock { LockWord($0) }
  }

  /// - Returns: The first database that is not there any more; nil where all are.
  func reopenDatabases(
    _ names: [String], in opened: OpaquePointer, _ operation: String
  ) throws(LMDBError) -> String? {
    let begun = try Calls.begin(opened, readOnly: true, path: folder)
    guard case .begun(let transaction) = begun else {
      throw LMDBError(
        .lockTableDamaged, operation: operation, path: folder, detail: "no snapshot can be had")
    }
    do throws(LMDBError) {
      try Calls.openMain(transaction)
      for (index, name) in names.enumerated() {
        let database = try Calls.openDatabase(
          transaction, named: name, create: false, maximum: options.maximumDatabaseCount)
        guard database?.number == UInt32(index) + Database.firstNamed else {
          Calls.abort(transaction)
          return name
        }
      }
    } catch {
      Calls.abort(transaction)
      throw error
    }
    try Calls.commit(transaction, path: folder)
    return nil
  }

  func missing(database name: String, _ operation: String) -> LMDBError {
    LMDBError(
      .missing, operation: operation, path: folder,
      detail: "the database \(name) is not where it was; open the store again")
  }

  func acquireOpeningLock(
    until deadline: Double, isWanted: () -> Bool = { true }
  ) throws(LMDBError) -> OpeningLock {
    while true {
      if let lock = try OpeningLock.acquireAtOnce(files) { return lock }
      guard isWanted() else { throw compactionCancelled() }
      try refuseEnd("compact")
      guard SystemCall.seconds < deadline else {
        throw LMDBError(
          .inUse, operation: "compact", path: folder, detail: "another process opens the store")
      }
      SystemCall.sleep(microseconds: 1000)
    }
  }

  func compactionCancelled() -> LMDBError {
    LMDBError(
      .cancelled, operation: "compact", path: folder,
      detail: "nobody wants the store to be compacted any more")
  }

  /// Behind LMDB. Nobody is inside any more.
  func closeLockProbe() {
    lockWord?.unmap()
    lockWord = nil
    lockProbe.withLock { probe in
      if let descriptor = probe { ReaderLock.close(descriptor) }
      probe = nil
    }
  }
}
