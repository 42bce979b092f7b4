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
}
