import CLarderLMDB

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Every call to LMDB in the package. Keys and values are never passed as NULL: some versions
/// crash on it.
@usableFromInline
enum Calls {
  static let supportedVersion = (major: Int32(0), minor: Int32(9))

  static func version() -> (major: Int32, minor: Int32, patch: Int32, text: String) {
    var (major, minor, patch) = (Int32(0), Int32(0), Int32(0))
    let text = mdb_version(&major, &minor, &patch)
    return (major, minor, patch, text.map { String(cString: $0) } ?? "an unnamed LMDB")
  }

  /// Turns LMDB's status into an error; cold, so that callers stay small.
  @inline(never)
  static func failure(
    _ status: Int32, _ operation: String, path: String? = nil, detail: String? = nil
  ) -> LMDBError {
    LMDBError(
      code(status), operation: operation, path: path,
      detail: detail ?? String(cString: mdb_strerror(status)))
  }

  /// The same, for calls that know only the transaction: its folder is asked of LMDB.
  @inline(never)
  static func failure(
    _ status: Int32, _ operation: String, transaction: OpaquePointer, detail: String? = nil
  ) -> LMDBError {
    let environment = mdb_txn_env(transaction)
    var path: UnsafePointer<CChar>?
    if let environment { mdb_env_get_path(environment, &path) }
    let folder = path.map { String(cString: $0) }
    guard status == SystemCall.invalid, detail == nil else {
      return failure(status, operation, path: folder, detail: detail)
    }
    // LMDB says EINVAL for a handle that the snapshot does not know.
    return LMDBError(
      .missing, operation: operation, path: folder,
      detail: "this transaction began before its database was opened; begin or renew after")
  }

  private static func code(_ status: Int32) -> LMDBError.Code {
    switch status {
    case MDB_MAP_FULL: .mapFull
    case MDB_READERS_FULL: .readersFull
    case MDB_DBS_FULL: .databasesFull
    case MDB_TXN_FULL: .transactionFull
    case MDB_CORRUPTED: .corrupted
    case MDB_PAGE_NOTFOUND: .pageNotFound
    case MDB_PANIC: .panic
    case MDB_INVALID: .invalidFile
    case MDB_VERSION_MISMATCH: .versionMismatch
    case MDB_MAP_RESIZED: .mapResized
    case MDB_BAD_TXN: .badTransaction
    case MDB_BAD_VALSIZE: .badValueSize
    case MDB_KEYEXIST: .keyExists
    case MDB_BAD_RSLOT: .lockTableDamaged
    case SystemCall.accessDenied: .readOnly
    case 1...: .system(errno: status)
    default: .other(status)
    }
  }
}

// MARK: - Environment

extension Calls {
  /// Opens the environment, halving the map while the address space refuses it.
  static func openEnvironment(
    _ folder: String, options: EnvironmentOptions, withoutLocks: Bool
  ) throws(LMDBError) -> OpaquePointer {
    var flags = UInt32(MDB_NOTLS)
    if options.isReadOnly { flags |= UInt32(MDB_RDONLY) }
    if withoutLocks { flags |= UInt32(MDB_NOLOCK) }
    switch options.durability {
    case .durable: break
    case .recentCommitsMayBeLost: flags |= UInt32(MDB_NOMETASYNC)
    case .volatile: flags |= UInt32(MDB_NOSYNC)
    }
    var mapByteCount = options.mapByteCount
    while true {
      let (status, environment) = try openEnvironment(
        folder, flags: flags, mapByteCount: mapByteCount, options: options)
      if let environment { return environment }
      guard status == SystemCall.noMemory, mapByteCount / 2 >= EnvironmentOptions.smallestHalvedMap
      else {
        throw openFailure(status, folder)
      }
      mapByteCount /= 2
    }
  }

  private static func openEnvironment(
    _ folder: String, flags: UInt32, mapByteCount: Int, options: EnvironmentOptions
  ) throws(LMDBError) -> (status: Int32, environment: OpaquePointer?) {
    var created: OpaquePointer?
    let status = made(.createEnvironment, in: folder) { mdb_env_create(&created) }
    guard status == MDB_SUCCESS, let environment = created else {
      throw failure(status, "mdb_env_create", path: folder)
    }
    var step = made(.setMapSize, in: folder) { mdb_env_set_mapsize(environment, mapByteCount) }
    if step == MDB_SUCCESS {
      step = made(.setMaximumDatabases, in: folder) {
        mdb_env_set_maxdbs(environment, MDB_dbi(options.maximumDatabaseCount))
      }
    }
    if step == MDB_SUCCESS {
      step = made(.setMaximumReaders, in: folder) {
        mdb_env_set_maxreaders(environment, UInt32(options.maximumReaderCount))
      }
    }
    if step == MDB_SUCCESS {
      step = made(.openEnvironment, in: folder) {
        mdb_env_open(environment, folder, flags, 0o600)
      }
    }
    guard step == MDB_SUCCESS else {
      mdb_env_close(environment)
      return (step, nil)
    }
    return (MDB_SUCCESS, environment)
  }

  private static func openFailure(_ status: Int32, _ folder: String) -> LMDBError {
    guard status == MDB_INVALID || status == MDB_VERSION_MISMATCH else {
      if status == SystemCall.accessDenied {
        return SystemCall.failure(status, "mdb_env_open", path: folder)
      }
      return failure(status, "mdb_env_open", path: folder)
    }
    return failure(
      status, "mdb_env_open", path: folder,
      detail: "this program uses \(version().text), and the file was written by another LMDB"
        + " format (perhaps 1.0) or is no LMDB file")
  }

  static func close(environment: OpaquePointer) {
    mdb_env_close(environment)
  }

  static func dataDescriptor(_ environment: OpaquePointer) throws(LMDBError) -> Int32 {
    var descriptor: Int32 = -1
    let status = made(.descriptor, in: folder(environment)) {
      mdb_env_get_fd(environment, &descriptor)
    }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_env_get_fd") }
    return descriptor
  }

  static func sync(_ environment: OpaquePointer, path: String) throws(LMDBError) {
    let status = made(.sync, in: path) { mdb_env_sync(environment, 1) }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_env_sync", path: path) }
  }

  static func checkReaders(_ environment: OpaquePointer, path: String) throws(LMDBError) -> Int {
    #if LARDER_MUTANTS
      if Mutant.readerCheckOff.isOn { return 0 }
    #endif
    var freed: Int32 = 0
    let status = made(.checkReaders, in: path) { mdb_reader_check(environment, &freed) }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_reader_check", path: path) }
    return Int(freed)
  }

  /// Reader slots that are taken: LMDB lists one a line, under one line of heading.
  static func readers(
    _ environment: OpaquePointer, path: String
  ) throws(LMDBError) -> [EnvironmentReader] {
    var readers: [EnvironmentReader] = []
    let status = withUnsafeMutablePointer(to: &readers) { readers in
      made(.listReaders, in: path) {
        mdb_reader_list(
          environment,
          { line, context in
            guard let line, let context else { return 0 }
            if let reader = EnvironmentReader(line: String(cString: line)) {
              context.assumingMemoryBound(to: [EnvironmentReader].self).pointee.append(reader)
            }
            return 0
          }, readers)
      }
    }
    guard status >= 0 else { throw failure(status, "mdb_reader_list", path: path) }
    return readers
  }

  /// Bytes of one page, the unit in which the file grows.
  static func pageByteCount(_ environment: OpaquePointer) -> Int {
    var stat = MDB_stat()
    mdb_env_stat(environment, &stat)  // It fails for no environment that is open.
    return Int(stat.ms_psize)
  }

  static func setMapSize(
    _ environment: OpaquePointer, _ byteCount: Int, path: String
  ) throws(LMDBError) {
    let status = made(.setMapSize, in: path) { mdb_env_set_mapsize(environment, byteCount) }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_env_set_mapsize", path: path) }
  }

  static func copy(
    _ environment: OpaquePointer, to descriptor: Int32, compacting: Bool, path: String
  ) throws(LMDBError) {
    let flags = compacting ? UInt32(MDB_CP_COMPACT) : 0
    let folder = folder(environment)
    var status = made(.copy, in: folder) { mdb_env_copyfd2(environment, descriptor, flags) }
    if status == MDB_READERS_FULL {
      mdb_reader_check(environment, nil)
      status = made(.copy, in: folder) { mdb_env_copyfd2(environment, descriptor, flags) }
    }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_env_copyfd2", path: path) }
  }

  static func information(
    _ environment: OpaquePointer
  ) -> (
    mapByteCount: Int, lastPageNumber: Int, lastTransactionID: Int, maximumReaderCount: Int,
    /// Slots of readers that were in use at once, in all processes together.
    readerCount: Int
  ) {
    var info = MDB_envinfo()
    mdb_env_info(environment, &info)
    return (
      info.me_mapsize, info.me_last_pgno, info.me_last_txnid, Int(info.me_maxreaders),
      Int(info.me_numreaders)
    )
  }

  /// The last page that a reader may look at; 0 where that is not known.
  static func lastPageNumber(of transaction: OpaquePointer) -> Int {
    guard let environment = mdb_txn_env(transaction) else { return 0 }
    let known = information(environment)
    return min(known.lastPageNumber, known.mapByteCount / pageByteCount(environment) - 1)
  }
}

// MARK: - Transactions

extension Calls {
  enum Begin {
    case begun(OpaquePointer)
    case mapResized
    case readersFull
    /// A commit has failed so that LMDB does nothing more before it is opened again.
    case panicked
  }

  static func begin(
    _ environment: OpaquePointer, parent: OpaquePointer? = nil, readOnly: Bool, path: String
  ) throws(LMDBError) -> Begin {
    var transaction: OpaquePointer?
    let status = made(.begin, in: path) {
      mdb_txn_begin(environment, parent, readOnly ? UInt32(MDB_RDONLY) : 0, &transaction)
    }
    if status == MDB_SUCCESS, let transaction {
      count(transactions: 1, in: path)
      return .begun(transaction)
    }
    if status == MDB_MAP_RESIZED { return .mapResized }
    if status == MDB_READERS_FULL { return .readersFull }
    if status == MDB_PANIC { return .panicked }
    if status == SystemCall.invalid {
      throw SystemCall.failure(status, "mdb_txn_begin", path: path)
    }
    throw failure(status, "mdb_txn_begin", path: path)
  }

  @inline(__always)
  static func renew(_ transaction: OpaquePointer) -> Int32 {
    made(.renew, in: folder(transaction: transaction)) { mdb_txn_renew(transaction) }
  }

  /// Whether a new transaction may succeed where one was not renewed.
  static func passes(_ status: Int32) -> Bool { isMapResized(status) || status == MDB_PANIC }

  static func isMapResized(_ status: Int32) -> Bool { status == MDB_MAP_RESIZED }

  @inline(__always)
  static func reset(_ transaction: OpaquePointer) { mdb_txn_reset(transaction) }

  static func abort(_ transaction: OpaquePointer) {
    count(transactions: -1, in: folder(transaction: transaction))
    mdb_txn_abort(transaction)
  }

  static func commit(_ transaction: OpaquePointer, path: String?) throws(LMDBError) {
    count(transactions: -1, in: folder(transaction: transaction))
    // A commit that fails ends the transaction all the same.
    let status = made(
      .commit, in: folder(transaction: transaction), instead: { mdb_txn_abort(transaction) }
    ) { mdb_txn_commit(transaction) }
    guard status == MDB_SUCCESS else { throw failure(status, "mdb_txn_commit", path: path) }
  }

  @usableFromInline
  static func id(_ transaction: OpaquePointer) -> Int { Int(mdb_txn_id(transaction)) }
}

// MARK: - Databases

extension Calls {
  /// The handle of a named database; nil when it is missing and `create` is false, or when the
  /// name belongs to a plain record and `skipsRecords` is true.
  static func openDatabase(
    _ transaction: OpaquePointer, named name: String, create: Bool, skipsRecords: Bool = false,
    maximum: Int
  ) throws(LMDBError) -> Database? {
    var handle: MDB_dbi = 0
    let status = made(.openDatabase, in: folder(transaction: transaction)) {
      mdb_dbi_open(transaction, name, create ? UInt32(MDB_CREATE) : 0, &handle)
    }
    switch status {
    case MDB_SUCCESS: return Database(number: handle)
    case MDB_NOTFOUND where !create: return nil
    case MDB_INCOMPATIBLE where skipsRecords: return nil
    case MDB_DBS_FULL:
      throw failure(
        status, "mdb_dbi_open", transaction: transaction,
        detail: "all \(maximum) handles for named databases are taken, so \(name) cannot be opened")
    case MDB_BAD_VALSIZE:
      throw failure(
        status, "mdb_dbi_open", transaction: transaction,
        detail: "a database's name has 1 to 511 bytes, this one \(name.utf8.count)")
    default: throw failure(status, "mdb_dbi_open", transaction: transaction)
    }
  }

  /// Must be called once before any key is sought in the main database: LMDB 0.9 knows no order
  /// of its keys before, and calls a null pointer.
  static func openMain(_ transaction: OpaquePointer) throws(LMDBError) {
    var handle: MDB_dbi = 0
    let status = made(.openDatabase, in: folder(transaction: transaction)) {
      mdb_dbi_open(transaction, nil, 0, &handle)
    }
    guard status == MDB_SUCCESS, handle == Database.main.number else {
      throw failure(status, "mdb_dbi_open", transaction: transaction)
    }
  }

  static func statistics(
    _ transaction: OpaquePointer, _ database: Database
  ) throws(LMDBError) -> DatabaseStatistics {
    var stat = MDB_stat()
    let status = made(.statistics, in: folder(transaction: transaction)) {
      mdb_stat(transaction, database.number, &stat)
    }
    // A database that another process emptied or never made reads as empty.
    guard status == MDB_SUCCESS || status == MDB_NOTFOUND else {
      throw failure(status, "mdb_stat", transaction: transaction)
    }
    return DatabaseStatistics(
      entryCount: bounded(stat.ms_entries, by: 1 << 48), depth: Int(stat.ms_depth),
      branchPageCount: bounded(stat.ms_branch_pages), leafPageCount: bounded(stat.ms_leaf_pages),
      overflowPageCount: bounded(stat.ms_overflow_pages), pageByteCount: Int(stat.ms_psize))
  }

  /// Pages of a database's tree; none where the transaction does not know the database, which
  /// then is younger.
  static func pageCount(_ transaction: OpaquePointer, _ database: UInt32) -> Int {
    var stat = MDB_stat()
    guard mdb_stat(transaction, database, &stat) == MDB_SUCCESS else { return 0 }
    return bounded(stat.ms_branch_pages) + bounded(stat.ms_leaf_pages)
      + bounded(stat.ms_overflow_pages)
  }

  /// A count that LMDB reads from a page, which may be damaged. The sum of many, in bytes, still is a
  /// number.
  private static func bounded(_ count: Int, by most: Int = PageFormat.maximumPageCount) -> Int {
    max(0, min(count, most))
  }

  static func empty(_ transaction: OpaquePointer, _ database: Database) throws(LMDBError) {
    let status = made(.empty, in: folder(transaction: transaction)) {
      mdb_drop(transaction, database.number, 0)
    }
    guard status == MDB_SUCCESS else {
      throw failure(status, "mdb_drop", transaction: transaction)
    }
  }
}

// MARK: - Records

extension Calls {
  @inline(__always)
  static func lend(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
    MDB_val(
      mv_size: bytes.count,
      mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        ?? UnsafeMutableRawPointer(bitPattern: 16))
  }

  @inline(__always)
  static func take(_ value: MDB_val) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }

  @usableFromInline
  static func get(
    _ transaction: OpaquePointer, _ database: UInt32, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    var key = lend(key)
    var value = MDB_val()
    let status = made(.get, in: folder(transaction: transaction)) {
      mdb_get(transaction, database, &key, &value)
    }
    if status == MDB_SUCCESS { return take(value) }
    if status == MDB_NOTFOUND { return nil }
    throw keyFailure(status, "mdb_get", transaction, key.mv_size)
  }

  @usableFromInline
  static func put(
    _ transaction: OpaquePointer, _ database: UInt32, _ key: UnsafeRawBufferPointer,
    _ value: UnsafeRawBufferPointer, append: Bool
  ) throws(LMDBError) {
    var key = lend(key)
    var value = lend(value)
    let flags = append ? UInt32(MDB_APPEND) : 0
    let status = made(.put, in: folder(transaction: transaction)) {
      mdb_put(transaction, database, &key, &value, flags)
    }
    guard status == MDB_SUCCESS else {
      throw keyFailure(status, "mdb_put", transaction, key.mv_size)
    }
  }

  @usableFromInline
  static func delete(
    _ transaction: OpaquePointer, _ database: UInt32, _ key: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    var key = lend(key)
    var unused = MDB_val()
    let status = made(.delete, in: folder(transaction: transaction)) {
      mdb_del(transaction, database, &key, &unused)
    }
    if status == MDB_SUCCESS { return true }
    if status == MDB_NOTFOUND { return false }
    throw keyFailure(status, "mdb_del", transaction, key.mv_size)
  }

  @inline(never)
  private static func keyFailure(
    _ status: Int32, _ operation: String, _ transaction: OpaquePointer, _ keyByteCount: Int
  ) -> LMDBError {
    let environment = mdb_txn_env(transaction)
    switch status {
    case MDB_BAD_VALSIZE:
      let longest = environment.map { mdb_env_get_maxkeysize($0) } ?? 511
      return failure(
        status, operation, transaction: transaction,
        detail: "the key has \(keyByteCount) bytes, and LMDB takes 1 to \(longest)")
    case MDB_KEYEXIST:
      return failure(
        status, operation, transaction: transaction,
        detail: "the key to append does not come after the last one")
    case MDB_MAP_FULL:
      let map = environment.map { information($0).mapByteCount } ?? 0
      return failure(
        status, operation, transaction: transaction, detail: "the map of \(map) bytes is full")
    default: return failure(status, operation, transaction: transaction)
    }
  }
}

// MARK: - Cursors

extension Calls {
  static func openCursor(
    _ transaction: OpaquePointer, _ database: UInt32
  ) throws(LMDBError) -> OpaquePointer {
    var cursor: OpaquePointer?
    let status = made(.openCursor, in: folder(transaction: transaction)) {
      mdb_cursor_open(transaction, database, &cursor)
    }
    guard status == MDB_SUCCESS, let cursor else {
      throw failure(status, "mdb_cursor_open", transaction: transaction)
    }
    count(cursors: 1, in: folder(transaction: transaction))
    return cursor
  }

  /// Whether two keys of one length are the same.
  @usableFromInline
  static func areEqual(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
    guard let start = left.baseAddress, let other = right.baseAddress else {
      return left.isEmpty && right.isEmpty
    }
    return memcmp(start, other, left.count) == 0
  }

  @usableFromInline
  static func closeCursor(_ cursor: OpaquePointer) {
    count(cursors: -1, in: folder(cursor: cursor))
    mdb_cursor_close(cursor)
  }

  /// One record as a cursor found it, laid out as two `MDB_val`, so that LMDB writes into it
  /// without a copy.
  @usableFromInline
  struct Found {
    @usableFromInline var keyByteCount = 0
    @usableFromInline var keyStart: UnsafeMutableRawPointer?
    @usableFromInline var valueByteCount = 0
    @usableFromInline var valueStart: UnsafeMutableRawPointer?

    @usableFromInline init() {}

    @inlinable var key: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: keyStart, count: keyByteCount)
    }

    @inlinable var value: UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: valueStart, count: valueByteCount)
    }

    /// What LMDB seeks from is read out of the same place that it answers in.
    @inlinable init(seeking key: UnsafeRawBufferPointer) {
      keyByteCount = key.count
      keyStart = UnsafeMutableRawPointer(mutating: key.baseAddress)
    }
  }

  @usableFromInline
  enum Move { case first, last, next, previous, current, atOrAfterKey }

  /// False, with `found` unspecified, when there is no record there.
  @usableFromInline
  static func move(
    _ cursor: OpaquePointer, _ move: Move, _ found: inout Found
  ) throws(LMDBError) -> Bool {
    let operation =
      switch move {
      case .first: MDB_FIRST
      case .last: MDB_LAST
      case .next: MDB_NEXT
      case .previous: MDB_PREV
      case .current: MDB_GET_CURRENT
      case .atOrAfterKey: MDB_SET_RANGE
      }
    let status = withUnsafeMutableBytes(of: &found) { bytes in
      let values = bytes.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: MDB_val.self)
      // Where it stands is asked without reading a page, which cannot fail.
      if move == .current { return mdb_cursor_get(cursor, values, values + 1, operation) }
      return made(.moveCursor, in: folder(cursor: cursor)) {
        mdb_cursor_get(cursor, values, values + 1, operation)
      }
    }
    if status == MDB_SUCCESS { return true }
    if status == MDB_NOTFOUND { return false }
    found = Found()
    throw moveFailure(status, cursor)
  }

  @inline(never)
  private static func moveFailure(_ status: Int32, _ cursor: OpaquePointer) -> LMDBError {
    failure(status, "mdb_cursor_get", transaction: mdb_cursor_txn(cursor))
  }

  /// The record it stands on, empty when it stands on none.
  @usableFromInline
  static func current(_ cursor: OpaquePointer) -> Found {
    var found = Found()
    // This reads no page and so cannot fail; LMDB says EINVAL when a delete emptied the tree.
    let stands = (try? move(cursor, .current, &found)) ?? false
    return stands ? found : Found()
  }

  @usableFromInline
  static func put(
    _ cursor: OpaquePointer, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    append: Bool
  ) throws(LMDBError) {
    try put(cursor, key, value, flags: append ? UInt32(MDB_APPEND) : 0)
  }

  /// LMDB trusts that the key is the one it stands on, and may move the bytes of that key while
  /// it reads them: so it gets a copy, compared first.
  static func replace(
    _ cursor: OpaquePointer, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    let place = current(cursor).key
    guard place.count == key.count, areEqual(place, key) else {
      throw LMDBError(
        .other(MDB_NOTFOUND), operation: "mdb_cursor_put",
        detail: "the cursor does not stand on the record to replace; seek its key first")
    }
    let failure = withUnsafeTemporaryAllocation(byteCount: key.count, alignment: 1) {
      copy -> LMDBError? in
      copy.copyMemory(from: key)
      do throws(LMDBError) {
        try put(cursor, UnsafeRawBufferPointer(copy), value, flags: UInt32(MDB_CURRENT))
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  @inline(__always)
  private static func put(
    _ cursor: OpaquePointer, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    flags: UInt32
  ) throws(LMDBError) {
    var key = lend(key)
    var value = lend(value)
    let status = made(.putCursor, in: folder(cursor: cursor)) {
      mdb_cursor_put(cursor, &key, &value, flags)
    }
    guard status == MDB_SUCCESS else {
      throw keyFailure(status, "mdb_cursor_put", mdb_cursor_txn(cursor), key.mv_size)
    }
  }

  static func delete(_ cursor: OpaquePointer) throws(LMDBError) {
    let status = made(.deleteCursor, in: folder(cursor: cursor)) { mdb_cursor_del(cursor, 0) }
    guard status == MDB_SUCCESS else {
      throw failure(status, "mdb_cursor_del", transaction: mdb_cursor_txn(cursor))
    }
  }
}
