/// The names of the files in a store's folder.
struct StoreFiles: Sendable {
  let folder: String

  // Put together once: every write transaction looks at the first two.
  let data: String
  /// LMDB's lock table. Never opened by us: closing it would drop LMDB's own locks.
  let lock: String
  /// Ours: locked while the store is opened, and the note whether its creation was finished.
  let opening: String

  /// Where a copy is made that is to take the place of the data file; a leftover of a process that
  /// died is removed by whoever opens the store next.
  var staging: String { folder + "/.larder-staging" }

  /// Finds the folder, or makes it, and refuses what is not safe to open.
  init(_ path: String, isReadOnly: Bool, isPublished: Bool = false) throws(LMDBError) {
    let path = try SafeFiles.folderPath(path)
    if !(try SafeFiles.checkFolder(path, isReadOnly: isReadOnly)) {
      if isPublished { throw Self.missing(path, "nothing was published here yet") }
      guard !isReadOnly else { throw Self.nothingToRead(path, "there is no such folder") }
      try SafeFiles.createFolder(path)
    }
    folder = try SafeFiles.absolute(path)
    data = folder + "/data.mdb"
    lock = folder + "/lock.mdb"
    opening = folder + "/larder.lock"
    try check(isReadOnly: isReadOnly)
  }

  /// The folder of a store, which is not made where it is missing.
  init(existing path: String) throws(LMDBError) {
    let path = try SafeFiles.folderPath(path)
    guard try SafeFiles.checkFolder(path, isReadOnly: false) else {
      throw Self.missing(path, "there is no such folder")
    }
    try self.init(path, isReadOnly: false)
  }

  func check(isReadOnly: Bool) throws(LMDBError) {
    for file in [data, lock, opening] {
      _ = try SafeFiles.checkFile(file, isReadOnly: isReadOnly)
    }
  }

  func isOpen(_ operation: String) -> LMDBError {
    LMDBError(
      .inUse, operation: operation, path: folder,
      detail: "the store is open in this process or another one")
  }

  static func missing(_ path: String, _ detail: String) -> LMDBError {
    LMDBError(.missing, operation: "open", path: path, detail: detail)
  }

  /// The same for what was to be opened to be read.
  static func nothingToRead(_ path: String, _ detail: String) -> LMDBError {
    missing(path, detail + "; open the store for writing once to create it")
  }
}
