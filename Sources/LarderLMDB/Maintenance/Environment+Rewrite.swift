extension Environment {
  /// Writes every record into a file of its own, database by database and in the order of their keys,
  /// and looks at all its pages.
  ///
  /// That fills the pages: deletes here and there leave them half empty, LMDB joins only those that
  /// are less than a quarter full, and a copy of pages keeps them as they are. What takes no less that
  /// way is copied page by page. The caller keeps everybody from writing.
  ///
  /// - Parameter files: A folder that is only the caller's.
  /// - Returns: False where `progress` ended it.
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/corrupted`` where a page is damaged; what
  ///   `prepare` throws.
  func stageRewritten(
    in files: StoreFiles, prepare: (Environment) throws -> Void,
    progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Bool {
    // A cursor would follow what stands on a damaged page.
    let report = try checkPages()
    guard report.isSound else { throw LMDBError(path: self.files.data, faults: report.faults) }
    let total = usedByteCount(in: try beginRead())
    do {
      guard try rewrite(into: files, total: total, progress) else { return false }
    } catch let error as LMDBError where error.code == .mapFull {
      return try stage(in: files, prepare: prepare, progress: progress)
    }
    guard try SafeFiles.byteCount(files.data) <= total else {
      return try stage(in: files, prepare: prepare, progress: progress)
    }
    try finishStaged(files, prepare: prepare)
    return true
  }

  private func rewrite(
    into files: StoreFiles, total: Int, _ progress: (Int, Int) -> Bool
  ) throws -> Bool {
    try Self.removeStaged(files)
    let names = try databaseNames()
    let known = handles.withLock { $0 }
    var options = Options()
    options.maximumDatabaseCount = self.options.maximumDatabaseCount
    options.mapByteCount = try mapByteCount()
    // The whole file is flushed at the end.
    options.durability = .volatile
    SystemCall.closeDescriptor(try SafeFiles.createFile(files.data))
    var isWhole = false
    try Self.withStaged(files, options) { target in
      var rewriting = Rewriting(target: target, total: total)
      let transaction = try beginRead()
      for name in names {
        guard let database = known[name],
          let copy = try target.database(named: name, create: true)
        else { throw StoreFiles.missing(folder, "the database \(name) is gone") }
        guard try rewriting.copy(database, of: transaction, into: copy, progress) else { return }
      }
      let nameKeys = Set(names.map { Array($0.utf8) })
      guard
        try rewriting.copy(
          .main, of: transaction, into: .main, without: nameKeys, progress)
      else { return }
      try Calls.sync(target.pointer.raw, path: files.folder)
      isWhole = progress(total, total)
    }
    return isWhole
  }
}

/// Records on their way into another file.
private struct Rewriting {
  let target: Environment
  /// Bytes that a copy of pages would take, about as many as there will be.
  let total: Int
  private var written = 0
  private var told = 0

  /// What one transaction writes: LMDB keeps the pages that one has changed in memory.
  private static let transactionByteCount = 16 << 20
  private static let progressByteCount = 1 << 20

  init(target: Environment, total: Int) {
    self.target = target
    self.total = total
  }

  /// Copies the records of one database.
  ///
  /// - Parameter without: Keys to be left out.
  /// - Returns: False where `progress` ended it.
  mutating func copy(
    _ database: Database, of source: borrowing ReadTransaction, into copy: Database,
    without names: Set<[UInt8]> = [], _ progress: (_ written: Int, _ total: Int) -> Bool
  ) throws -> Bool {
    var cursor = try source.cursor(in: database)
    var hasMore = try cursor.first()
    while hasMore {
      let writing = try target.beginWrite()
      let end = written + Self.transactionByteCount
      let isWanted = try writing.withCursor(in: copy) { out in
        while hasMore, written < end {
          if names.isEmpty || !names.contains(Array(cursor.key)) {
            // Behind the databases' names, which are there already, a record cannot be appended.
            try out.put(cursor.value, for: cursor.key, names.isEmpty ? .append : .upsert)
          }
          written += cursor.key.count + cursor.value.count + Self.nodeByteCount
          guard tell(progress) else { return false }
          hasMore = try cursor.next()
        }
        return true
      }
      guard isWanted else { return false }
      try writing.commit()
    }
    return true
  }

  /// Head and place of a record on its page.
  private static let nodeByteCount = 10

  private mutating func tell(_ progress: (Int, Int) -> Bool) -> Bool {
    guard written >= told + Self.progressByteCount else { return true }
    told = written
    return progress(min(written, total), total)
  }
}
