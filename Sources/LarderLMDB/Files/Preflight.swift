/// Looks at a data file before LMDB maps it: LMDB trusts what is on a page, and ends the process, or
/// loops, where it is not true.
///
/// The meta pages, the ends of their lists of free pages and the file's size are always compared.
/// All other pages are walked when there is a reason, and only while no other process has the store
/// open: those have looked at it when they opened it, and a writer among them would change pages
/// while they are read.
///
/// A reason is whatever may have put other bytes into the file than LMDB did: it is not as it was left
/// when it was closed, or half a second behind the last commit where it was not closed; it is another
/// file; the system went down with it; something damaged was met. And a process that ended inside of a transaction, since a damaged page may have ended it. What is
/// left is a disk that gives back other bytes than were written, in a file that nobody touched: it may
/// end one process, and the next opening finds it.
///
/// A walk takes about a millisecond for each MiB of small documents in the system's cache, which is
/// much for a launch; to compare the file with the note takes a system call, whatever its size. A
/// checksum for each page is not to be had: LMDB writes pages without telling which.
struct Preflight {
  let files: StoreFiles
  /// Of the data file.
  let identity: FileIdentity?
  /// Nil for a folder of another user.
  let session: OpeningLock.Session?
  /// The file as it was noted while the store was open.
  let rest: FileStamp?
  let isAlone: Bool
  let isRequested: Bool

  /// Files up to this size are walked at every opening, which takes about a millisecond.
  static let smallByteCount = 4 << 20

  /// - Returns: Whether the older meta page is half of a commit that failed. LMDB takes the other one.
  /// - Throws: ``LMDBError/Code/corrupted`` for a file that LMDB must not open.
  @discardableResult
  func check() throws(LMDBError) -> Bool {
    #if LARDER_MUTANTS
      if Mutant.preflight.isOn { return false }
    #endif
    // A page may be half written by a process that has the store open; a moment later it is whole.
    for attempt in 0..<(isAlone ? 1 : 5) {
      if attempt > 0 { SystemCall.sleep(microseconds: 2000) }
      var isHalf = false
      guard let fault = try firstLook(&isHalf) else { return isHalf }
      if isAlone || attempt == 4 { throw LMDBError(path: files.data, faults: [fault]) }
    }
    return false
  }

  /// Nil when the file may be opened, after a walk where there is a reason for one.
  private func firstLook(_ isHalf: inout Bool) throws(LMDBError) -> PageFault? {
    let file = try PageFile(files.data)
    let metas: MetaPages
    switch try MetaPages.read(file) {
    case .success(let found): metas = found
    // LMDB has words of its own for a file that is none of its kind.
    case .failure(let fault): return try MetaPages.isForeign(file) ? nil : fault
    }
    if isAlone, let fault = try metas.contradiction(file) {
      guard session == .failed, try metas.isHalfCommit(file) else { return fault }
      isHalf = true
    }
    let byteCount = try file.byteCount()
    // A transaction that wrote pages and let go of them leaves a file that ends before them.
    let isShort = byteCount < metas.newest.fullByteCount
    let isCutOff = isShort ? try !isAsClosed() : false
    let isSuspect = isAlone ? try isSuspect(byteCount) : false
    guard isCutOff || isSuspect else { return nil }
    var walk = try PageWalk(file, metas.newest)
    try walk.run(metas.newest)
    if isAlone, !walk.report.isSound {
      throw LMDBError(path: files.data, faults: walk.report.faults)
    }
    return walk.report.faults.first
  }

  private func isSuspect(_ byteCount: Int) throws(LMDBError) -> Bool {
    if isRequested || byteCount <= Self.smallByteCount { return true }
    switch session {
    case .unknown?, .suspect?, .failed?: return true
    case .open(let boot, let file)?:
      // A process that was killed leaves a whole file, unless a page ended it or somebody wrote to the
      // file behind it; a system that went down may not.
      if boot != SystemCall.bootID || file != identity?.number { return true }
      if LockTable(files: files).someoneDiedInside() { return true }
      return try !isAsAtRest()
    case .closed?: return try !isAsClosed()
    case nil: return false
    }
  }

  /// Whether the file is as the last process left it when it closed the store.
  private func isAsClosed() throws(LMDBError) -> Bool {
    guard case .closed(let stamp)? = session else { return false }
    #if LARDER_MUTANTS
      if Mutant.fileStamp.isOn { return true }
    #endif
    return try SafeFiles.stamp(files.data) == stamp
  }

  /// Whether the file is as it was noted behind the last commit of processes that did not close it.
  private func isAsAtRest() throws(LMDBError) -> Bool {
    #if LARDER_MUTANTS
      if Mutant.fileStamp.isOn { return true }
    #endif
    return try SafeFiles.stamp(files.data) == rest
  }

  /// - Throws: ``LMDBError/Code/lockFileReplaced`` where those who have the store open have another
  ///   data file. They and this process would share a lock file, in which the number of the last
  ///   commit is that of the other file.
  ///
  /// What was noted before the system was started again is of nobody who has it open now, and a disk may
  /// have another number since then: one who only reads, and may not write the note, leaves it so.
  func checkCompany() throws(LMDBError) {
    guard !isAlone, case .open(let boot, let file)? = session, boot == SystemCall.bootID,
      file != identity?.number
    else { return }
    throw LMDBError(
      .lockFileReplaced, operation: "open", path: files.data,
      detail: "the file was replaced while other processes have the store open")
  }
}

extension LMDBError {
  /// What was found to be wrong with a data file.
  init(path: String, faults: [PageFault]) {
    let first = faults.first.map { "\($0)" } ?? "a page is damaged"
    let more = faults.count > 1 ? ", and \(faults.count - 1) more faults" : ""
    self.init(.corrupted, operation: "open", path: path, detail: first + more)
  }
}

extension MetaPages {
  /// Whether LMDB itself will refuse the file, for not being one of its own or of another version.
  static func isForeign(_ file: borrowing PageFile) throws(LMDBError) -> Bool {
    try withUnsafeTemporaryAllocation(
      byteCount: PageFormat.metaByteCount, alignment: 8
    ) { buffer throws(LMDBError) in
      guard try file.read(buffer, at: 0) else { return true }
      let first = UnsafeRawBufferPointer(buffer)
      let isOne =
        first.uint16(10) & PageFormat.meta != 0
        && first.uint32(16) == PageFormat.magic
      // A file of LMDB whose first page is damaged has another one, behind it.
      if isOne { return first.uint32(20) != PageFormat.version }
      var size = PageFormat.pageByteCounts.lowerBound
      while size <= PageFormat.pageByteCounts.upperBound {
        if try file.read(buffer, at: size),
          (try? MetaPage(UnsafeRawBufferPointer(buffer), number: 1)) != nil
        {
          return false
        }
        size *= 2
      }
      return true
    }
  }
}
