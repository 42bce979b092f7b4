#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// A creation ends with its first commit, and then a note says so. One that was cut short left the
// note that it began, and a file of which it depends what is done with it.
extension Environment {
  /// What a file holds whose creation was never noted as finished.
  enum Remains: Equatable {
    case nothing
    /// Nothing was ever committed to it, so that nothing of it was promised.
    case uncommitted
    /// A commit: the creation was cut short behind it, or the file comes from elsewhere.
    case committed
    /// Bytes that no creation leaves.
    case foreign
  }

  /// True when a store must be created; there is no data file then.
  ///
  /// A file that holds something is never deleted: one that was committed to is opened, one of
  /// another kind is moved aside.
  static func mustCreate(
    _ files: StoreFiles, _ lock: borrowing OpeningLock?, _ creation: OpeningLock.Creation,
    _ options: Options
  ) throws(LMDBError) -> Bool {
    let exists = try SafeFiles.identity(files.data) != nil
    if exists, creation == .finished {
      // LMDB would take it for a new file and write to it.
      guard try SafeFiles.byteCount(files.data) > 0 else {
        throw LMDBError(
          .invalidFile, operation: "open", path: files.folder, detail: "data.mdb is empty")
      }
      return false
    }
    let remains = exists ? try remains(of: files.data) : .nothing
    if remains == .committed { return false }
    guard !options.isReadOnly else {
      throw StoreFiles.missing(files.folder, advice(remains))
    }
    // One that is open elsewhere has lost its file, and whoever has it open does not know yet.
    if try lock?.isAlone(files) == false { throw StoreFiles.replaced(files.data) }
    try clear(files, remains)
    return true
  }

  private static func advice(_ remains: Remains) -> String {
    switch remains {
    case .nothing, .committed: "there is no data.mdb"
    case .uncommitted: "its creation was never finished, and nothing was committed to it"
    case .foreign:
      "its creation was never finished, and data.mdb is no file of LMDB, which would be moved aside"
    }
  }

  /// Makes room for a new store.
  static func clear(_ files: StoreFiles, _ remains: Remains) throws(LMDBError) {
    switch remains {
    case .foreign:
      let target = try SafeFiles.makeQuarantine(beside: files.folder)
      try SafeFiles.move(files.data, to: target + "/data.mdb")
      try SafeFiles.syncFolder(target)
    case .uncommitted: try SafeFiles.remove(files.data)
    case .nothing, .committed: break
    }
    try SafeFiles.remove(files.lock)
  }

  /// LMDB writes two meta pages of transaction 0 before anything else, and a commit puts its number
  /// into one of them once everything else is on the disk.
  static func remains(of path: String) throws(LMDBError) -> Remains {
    let file = try PageFile(path)
    let count = try min(file.byteCount(), 2 * PageFormat.pageByteCounts.upperBound)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
    defer { bytes.deallocate() }
    guard try file.read(bytes, at: 0) else { return .foreign }
    var metas: [MetaPage] = []
    var start = 0
    while start + PageFormat.metaByteCount <= count {
      let page = UnsafeRawBufferPointer(rebasing: bytes[start..<start + PageFormat.metaByteCount])
      if let meta = (0...1).lazy.compactMap({ try? MetaPage(page, number: $0) }).first {
        metas.append(meta)
      }
      start = start == 0 ? PageFormat.pageByteCounts.lowerBound : start * 2
    }
    if metas.contains(where: { $0.transaction > 0 }) { return .committed }
    // A loss of power leaves any part of what was not flushed.
    return metas.isEmpty && bytes.contains { $0 != 0 } ? .foreign : .uncommitted
  }
}
