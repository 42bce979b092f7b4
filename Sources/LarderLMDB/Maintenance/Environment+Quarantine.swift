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
  /// A note says so from just before until ``endQuarantine(_:)``: opening is refused meanwhile. Where
  /// there is one already, nothing is moved a second time.
  ///
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/inUse`` when the store is open in this
  ///   process or another one. Nothing was moved then.
  public static func setAside(_ folder: String) throws(LMDBError) -> SetAside {
    let files = try StoreFiles(existing: folder)
    guard let lock = try OpeningLock.acquire(files, isReadOnly: false) else {
      throw SystemCall.failure(SystemCall.accessDenied, "setAside", path: files.opening)
    }
    let identity = try SafeFiles.checkFile(files.data, isReadOnly: false)
    if let identity {
      guard Registry.shared.claimAlone(identity) else { throw files.isOpen("setAside") }
    }
    defer { if let identity { Registry.shared.remove(identity) } }
    guard try lock.isAlone(files) else { throw files.isOpen("setAside") }
    try lock.refuseUnseenReaders(files)

    let begun = try begunQuarantine(files, lock)
    if let target = begun,
      try SafeFiles.checkFile(target + "/data.mdb", isReadOnly: false) != nil
    {
      return SetAside(folder: target, report: pageReport(target + "/data.mdb"))
    }
    guard let identity else {
      guard begun == nil, try lock.quarantined() != nil else {
        throw StoreFiles.missing(files.folder, "there is no data.mdb")
      }
      // Nothing is left to go on from.
      try lock.note(quarantined: nil)
      throw StoreFiles.missing(files.folder, "the folder of the file that was set aside is gone")
    }
    let report = pageReport(files.data)
    let target: String
    if let begun {
      target = begun
    } else {
      target = try SafeFiles.makeQuarantine(beside: files.folder)
    }
    // First: what is noted and was not moved yet is moved by the next try.
    try lock.note(quarantined: target.split(separator: "/").last.map(String.init))
    try move(files, identity, lock, to: target)
    try lock.note(.unknown, isDurable: false)
    return SetAside(folder: target, report: report)
  }

  /// Notes that all that can be read of the file that was set aside is in the store now.
  ///
  /// - Throws: ``LMDBError`` when the note cannot be written; the store is then refused as before.
  public static func endQuarantine(_ folder: String) throws(LMDBError) {
    let files = try StoreFiles(existing: folder)
    guard let lock = try OpeningLock.acquire(files, isReadOnly: false) else { return }
    try lock.note(quarantined: nil)
  }

  /// The folder of a quarantine that was cut short; nil without one, and where the folder is gone.
  private static func begunQuarantine(
    _ files: StoreFiles, _ lock: borrowing OpeningLock
  ) throws(LMDBError) -> String? {
    guard let name = try lock.quarantined(), !name.contains("/"), name != "..", name != "." else {
      return nil
    }
    let target = SafeFiles.parent(of: files.folder) + "/" + name
    return try SafeFiles.checkFolder(target, isReadOnly: false) ? target : nil
  }

  private static func move(
    _ files: StoreFiles, _ identity: FileIdentity, _ lock: borrowing OpeningLock, to target: String
  ) throws(LMDBError) {
    let moved = target + "/data.mdb"
    do throws(LMDBError) {
      try files.check(files.opening, is: try lock.identity())
      try files.check(files.data, is: identity)
      try SafeFiles.move(files.data, to: moved)
      // Somebody may have been faster than the look.
      if try SafeFiles.identity(moved) != identity {
        try SafeFiles.move(moved, to: files.data)
        throw StoreFiles.replaced(files.data)
      }
    } catch {
      rmdir(target)  // Empty; one that stays harms nothing.
      try? lock.note(quarantined: nil)  // The first failure is the one to report.
      throw error
    }
    try SafeFiles.syncFolder(target)
    try SafeFiles.syncFolder(files.folder)
  }

  /// The faults in the pages of a store that was found damaged when it was opened, one line each, at most a hundred.
  package static func pageFaults(of folder: String) -> [String] {
    pageReport(folder + "/data.mdb").faults.map { "\($0)" }
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
}
