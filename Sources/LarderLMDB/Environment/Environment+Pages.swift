internal import Synchronization

extension Environment {
  /// Reads every page of one snapshot and compares it with what LMDB takes for granted: see
  /// ``PageReport``. Nothing is changed; others may write meanwhile, and the file grows by what they
  /// write.
  ///
  /// Costs about as much as reading the trees of the file; values on pages of their own are not
  /// read. Two bits of memory for each page.
  ///
  /// - Parameter progress: Told every 4,096 pages how many of how many were read; false ends the
  ///   walk.
  /// - Throws: ``LMDBError``, as ``beginRead()`` does, or when the disk cannot be read. What is wrong
  ///   with pages is in the report.
  public func checkPages(
    progress: (_ read: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(LMDBError) -> PageReport {
    // LMDB reuses no page that a snapshot as old as this one could see, so that those of the newest
    // commit, which is as old or newer, stay as they are.
    let transaction = try beginRead()
    // Where the files are gone or others, they are at fault, and not what cannot be read.
    try files.check(files.data, is: dataIdentity)
    if let lockIdentity { try files.check(files.lock, is: lockIdentity) }
    var lastFault: PageFault?
    for attempt in 0..<Self.metaAttempts {
      if attempt > 0 { SystemCall.sleep(microseconds: 1000) }
      let file = try PageFile(files.data)
      // Another store may lie there by now.
      guard try file.identity() == dataIdentity else { throw StoreFiles.replaced(files.data) }
      switch try MetaPages.read(file) {
      // Half of it may have been written by now.
      case .failure(let fault): lastFault = fault
      case .success(let metas):
        guard metas.newest.transaction >= transaction.id else { continue }
        var walk = try PageWalk(file, metas.newest)
        try walk.run(metas.newest, progress: progress)
        return walk.report
      }
    }
    var report = PageReport()
    report.faults = [
      lastFault ?? PageFault(page: 0, reason: "it is older than transaction \(transaction.id)")
    ]
    return report
  }

  private static var metaAttempts: Int { 10 }

  /// Notes that something in the store was found damaged: whoever opens it next, alone, looks at all
  /// pages first.
  public func noteSuspicion() {
    // Advice for the next opener, which a store that cannot take it opens without.
    guard let lock = try? OpeningLock.acquireAtOnce(files) else { return }
    lock.noteSuspicion()
  }

  /// Notes that a commit failed: without it what LMDB leaves of one looks like damage.
  func noteFailedCommit() {
    // Where the meta page could not be written LMDB puts the old one back, into the system's memory
    // only: after a loss of power the commit that failed could be there after all. Where the disk
    // fails once more, nobody can say what is on it.
    try? Calls.sync(pointer.raw, path: folder)
    let deadline = SystemCall.seconds + 1
    repeat {
      do throws(LMDBError) {
        guard let lock = try OpeningLock.acquireAtOnce(files) else {
          SystemCall.sleep(microseconds: 1000)
          continue
        }
        return try lock.note(.failed, isDurable: false)
      } catch {
        return  // The failure of the commit is the one to report.
      }
    } while SystemCall.seconds < deadline
  }

  /// Whether somebody else than LMDB has changed the file: nothing was committed since it was opened.
  private var isForeign: Bool {
    guard !hasWritten.load(ordering: .relaxed), let file = try? PageFile(files.data),
      case .success(let metas)? = try? MetaPages.read(file)
    else { return false }
    return metas.newest.transaction == transactionAtOpening
  }

  /// Notes that the last process closed the store. LMDB has closed; the registry still keeps others
  /// in this process out.
  func noteClosed() {
    // After a crash of the system, what is not on the disk must be looked at.
    guard options.durability != .volatile, lockIdentity != nil,
      let lock = try? OpeningLock.acquireAtOnce(files)
    else { return }
    // A store that is not noted as closed is looked at once more than needed.
    guard (try? files.isOpenElsewhere(except: dataIdentity)) == false,
      !OpenMark.isSet(.open, lock.descriptor),
      (try? lock.session()) == .open(dataIdentity),
      (try? SafeFiles.identity(files.data)) == dataIdentity
    else { return }
    if (try? SafeFiles.stamp(files.data)) != stampAtOpening {
      guard !isForeign else { return lock.noteSuspicion() }
      FileStamp.seal(files.data)
    }
    guard let stamp = try? SafeFiles.stamp(files.data) else { return }
    try? lock.note(.closed(stamp), isDurable: false)
  }
}
