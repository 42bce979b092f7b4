#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension Environment {
  /// A data file that was moved aside.
  public struct SetAside: Sendable {
    /// The folder that holds it now, beside the store's.
    public let folder: String
    /// What was wrong with its pages.
    public let report: PageReport
  }

  /// Moves the data file of a store that is open nowhere into a new folder beside the store's, named
  /// after it and the time. Nothing is deleted; the store's folder is then as one without a store.
  ///
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/inUse`` when the store is open in this
  ///   process or another one. Nothing was moved then.
  public static func setAside(_ folder: String) throws(LMDBError) -> SetAside {
    let files = try StoreFiles(existing: folder)
    guard let lock = try OpeningLock.acquire(files, isReadOnly: false),
      let identity = try SafeFiles.checkFile(files.data, isReadOnly: false)
    else { throw StoreFiles.missing(files.folder, "there is no data.mdb") }
    guard Registry.shared.claimAlone(identity) else { throw files.isOpen("setAside") }
    defer { Registry.shared.remove(identity) }
    guard !(try files.isOpenElsewhere(except: identity)) else { throw files.isOpen("setAside") }

    let report = pageReport(files.data)
    let target = try makeFolder(beside: files.folder)
    guard rename(files.data, target + "/data.mdb") == 0 else {
      let failure = SystemCall.failure("rename", path: files.data)
      rmdir(target)  // Empty; one that stays harms nothing.
      throw failure
    }
    try SafeFiles.syncFolder(target)
    try SafeFiles.syncFolder(files.folder)
    try lock.note(.unknown, isDurable: false)
    _ = consume lock
    return SetAside(folder: target, report: report)
  }

  /// What is wrong with the file, a disk that cannot read it included.
  private static func pageReport(_ path: String) -> PageReport {
    var report = PageReport()
    do throws(LMDBError) {
      let file = try PageFile(path)
      switch try MetaPages.read(file) {
      case .failure(let fault): report.faults = [fault]
      case .success(let metas):
        let contradiction = try metas.contradiction(file)
        var walk = try PageWalk(file, metas.newest)
        try walk.run(metas.newest)
        report = walk.report
        if let contradiction { report.faults.insert(contradiction, at: 0) }
      }
    } catch {
      report.faults = [PageFault(page: 0, reason: "\(error)")]
    }
    return report
  }

  private static func makeFolder(beside folder: String) throws(LMDBError) -> String {
    var now = time(nil)
    var date = tm()
    gmtime_r(&now, &date)
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let stamp =
      digits(date.tm_year + 1900, 4) + digits(date.tm_mon + 1, 2) + digits(date.tm_mday, 2) + "T"
      + digits(date.tm_hour, 2) + digits(date.tm_min, 2) + digits(date.tm_sec, 2) + "Z"
    for attempt in 1...1000 {
      let path = "\(folder).quarantine-\(stamp)" + (attempt == 1 ? "" : "-\(attempt)")
      if mkdir(path, 0o700) == 0 {
        try SafeFiles.syncFolder(SafeFiles.parent(of: path))
        return path
      }
      guard errno == EEXIST else { throw SystemCall.failure("mkdir", path: path) }
    }
    throw SystemCall.failure(EEXIST, "mkdir", path: folder)
  }
}
