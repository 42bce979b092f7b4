internal import Synchronization

extension Environment {
  /// The named database, opened or created in a transaction of its own; nil when it is missing
  /// and `create` is false.
  ///
  /// Asking again is a look-up in a dictionary. A new handle serves only transactions that begin
  /// after it.
  ///
  /// - Throws: ``LMDBError``: ``LMDBError/Code/nestedWrite`` for a name not asked for before
  ///   while this thread holds the write transaction, ``LMDBError/Code/databasesFull``,
  ///   ``LMDBError/Code/badValueSize`` for a name that LMDB cannot take, or what
  ///   ``beginWrite()`` throws. Nothing is created then.
  public func database(named name: String, create: Bool) throws(LMDBError) -> Database? {
    try checkFork("database")
    if let known = handles.withLock({ $0[name] }) { return known }
    guard !name.utf8.contains(0), !name.isEmpty else {
      throw LMDBError(
        .badValueSize, operation: "database", path: folder,
        detail: "a database's name must not be empty or contain a zero byte")
    }
    try refuseSecondWrite("database")
    let found = try openingHandles.withLock { _ throws(LMDBError) -> Database? in
      if let known = handles.withLock({ $0[name] }) { return known }
      return try openDatabases(inRead: [name]).first
    }
    if found != nil || !create { return found }
    return try createDatabase(named: name)
  }

  /// The handle of a named database that was asked for before; nil where it was not, or was
  /// missing then. Also inside a write.
  public func knownDatabase(named name: String) -> Database? { handles.withLock { $0[name] } }

  /// How many databases are known whose names begin with one of `prefixes`.
  public func knownDatabaseCount(of prefixes: [String]) -> Int {
    handles.withLock { handles in
      handles.keys.count { name in prefixes.contains { name.hasPrefix($0) } }
    }
  }

  /// The names of all named databases, in the order of their bytes; reads the main database.
  ///
  /// - Throws: ``LMDBError``, as ``database(named:create:)`` does.
  public func databaseNames() throws(LMDBError) -> [String] {
    try refuseSecondWrite("databaseNames")
    return try openingHandles.withLock { _ throws(LMDBError) -> [String] in
      let names = try readMainKeys()
      _ = try openDatabases(inRead: names)
      return handles.withLock { handles in names.filter { handles[$0] != nil } }
    }
  }

  /// Opens all databases that exist, so that most handles are older than every snapshot.
  func openExistingDatabases() throws(LMDBError) {
    try openingHandles.withLock { _ throws(LMDBError) in
      // In a read transaction: opening must not wait for a writer, which may take long.
      try openMainToRead()
      _ = try openDatabases(inRead: try readMainKeys())
      // An opening that reads nothing more takes no reader's slot.
      while let handle = pool.take() { discard(handle) }
    }
  }

  /// How many keys the main database of the store in `folder` has, and so how many named databases at most;
  /// nil where no commit in its file can be told. Reads the meta pages, and opens nothing in LMDB.
  public static func mainKeyCount(in folder: String) -> Int? {
    do {
      return try MetaPages.newestReadable(PageFile(folder + "/data.mdb")).0?.main.entryCount
    } catch {
      // Whoever opens the store is told why its file cannot be read.
      return nil
    }
  }

  private func createDatabase(named name: String) throws(LMDBError) -> Database? {
    while true {
      let openingCount = handleOpenings.load(ordering: .acquiring)
      // Behind writers of any process: nothing may be held meanwhile that a read could need.
      let transaction = try beginWrite()
      openingHandles.lock()
      defer { openingHandles.unlock() }
      if let known = handles.withLock({ $0[name] }) { return known }
      // LMDB would give it the number of one that was opened since the transaction began.
      guard handleOpenings.load(ordering: .acquiring) == openingCount else { continue }
      return try createDatabase(named: name, in: transaction)
    }
  }

  /// Ends the transaction, whatever happens.
  private func createDatabase(
    named name: String, in transaction: consuming WriteTransaction
  ) throws(LMDBError) -> Database? {
    let database = try Calls.openDatabase(
      transaction.handle.pointer, named: name, create: true, maximum: options.maximumDatabaseCount)
    // Still inside behind the commit: whoever opens LMDB again does so with all handles that are known.
    gate.enterAgain()
    defer { gate.leave() }
    try transaction.commit()
    if let database { keep([name: database]) }
    return database
  }

  /// Opens those of `names` that exist and are not known yet, in one read transaction that is
  /// committed: only that keeps the handles.
  private func openDatabases(inRead names: [String]) throws(LMDBError) -> [Database] {
    let unknown = handles.withLock { handles in names.filter { handles[$0] == nil } }
    guard !unknown.isEmpty else { return [] }
    try enter("database")
    defer { gate.leave() }
    let handle = try beginFreshRead()
    var found: [String: Database] = [:]
    do throws(LMDBError) {
      for name in unknown { found[name] = try open(name, in: handle, create: false) }
    } catch {
      discard(handle)
      throw error
    }
    let pointer = handle.pointer
    handle.deallocate()
    try Calls.commit(pointer, path: folder)
    keep(found)
    return Array(found.values)
  }

  private func open(
    _ name: String, in handle: TransactionHandle, create: Bool
  ) throws(LMDBError) -> Database? {
    try Calls.openDatabase(
      handle.pointer, named: name, create: create, skipsRecords: true,
      maximum: options.maximumDatabaseCount)
  }

  private func keep(_ found: [String: Database]) {
    handles.withLock { $0.merge(found) { _, new in new } }
    if !found.isEmpty { handleOpenings.add(1, ordering: .releasing) }
  }

  private func openMainToRead() throws(LMDBError) {
    let transaction = try beginRead()
    try Calls.openMain(transaction.handle.pointer)
  }

  private func readMainKeys() throws(LMDBError) -> [String] {
    let transaction = try beginRead()
    return try Self.mainKeys(transaction)
  }

  /// The keys of the main database that can be names.
  private static func mainKeys(
    _ transaction: borrowing some Transaction & ~Copyable
  ) throws(LMDBError) -> [String] {
    var keys: [String] = []
    var cursor = try transaction.cursor(in: .main)
    while try cursor.next() {
      guard !cursor.key.contains(0), let name = String(validating: cursor.key, as: UTF8.self)
      else { continue }
      keys.append(name)
    }
    return keys
  }
}
