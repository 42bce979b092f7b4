#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Looks at files before LMDB opens them, because LMDB follows links and waits for pipes.
enum SafeFiles {
  /// The identity of what `path` names, itself and not what it may point to; nil when absent.
  static func identity(_ path: String) throws(LMDBError) -> FileIdentity? {
    #if os(Linux)
      switch FileIdentity.look(path) {
      case .found(let identity): return identity
      case .absent: return nil
      case .unknown: break
      }
    #endif
    return try status(path).map { FileIdentity($0) }
  }

  /// The identity of a regular file; nil when absent.
  ///
  /// For writing, the file must also be ours and have no second name.
  static func checkFile(_ path: String, isReadOnly: Bool) throws(LMDBError) -> FileIdentity? {
    guard let status = try status(path) else { return nil }
    try checkFile(status, path, isReadOnly: isReadOnly)
    return FileIdentity(status)
  }

  static func checkFile(_ status: stat, _ path: String, isReadOnly: Bool) throws(LMDBError) {
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw unsafe(
        path,
        "it is \(kind(status)), not a regular file; remove or replace it if you trust the folder")
    }
    guard !isReadOnly else { return }
    guard status.st_uid == geteuid() else { throw unsafe(path, owner(status)) }
    guard status.st_nlink == 1 else {
      throw unsafe(
        path,
        "it has \(status.st_nlink) names, so another one may belong to others; remove or replace it, such as by a copy"
      )
    }
  }

  /// True when `path` is a folder, false when absent.
  static func checkFolder(_ path: String, isReadOnly: Bool) throws(LMDBError) -> Bool {
    guard let status = try status(path) else { return false }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      let isLink = status.st_mode & S_IFMT == S_IFLNK
      throw unsafe(
        path,
        "it is \(kind(status)), not a folder"
          + (isLink ? "; give the path of the folder that it leads to" : ""))
    }
    guard !isReadOnly else { return true }
    guard status.st_uid == geteuid() else { throw unsafe(path, owner(status)) }
    // Where others may rename what is in it, a look at a file says nothing of the one that is opened
    // next. The group is often the user's own, and trusted by who gives it the right.
    let (writableForAll, sticky): (mode_t, mode_t) = (0o002, 0o1000)
    guard status.st_mode & writableForAll == 0 || status.st_mode & sticky != 0 else {
      throw unsafe(path, "every user may write to the folder; take that right away (chmod o-w)")
    }
    return true
  }

  /// True when this process owns the folder and so may leave files of its own in it.
  static func isOurs(_ folder: String) throws(LMDBError) -> Bool {
    guard let status = try status(folder) else { return false }
    return status.st_uid == geteuid() && access(folder, W_OK) == 0
  }

  /// Whether this process may write to a file that is there, by its rights and those of the disk.
  static func mayWrite(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor < 0 else {
      close(descriptor)
      return true
    }
    return errno != EACCES && errno != EPERM && errno != EROFS
  }

  /// Makes the last folder of `path` if it is absent, for our eyes only.
  static func createFolder(_ path: String) throws(LMDBError) {
    if try checkFolder(path, isReadOnly: false) { return }
    guard mkdir(path, 0o700) == 0 else {
      // Another process may have made it in between.
      if errno == EEXIST, try checkFolder(path, isReadOnly: false) { return }
      throw SystemCall.failure("mkdir", path: path)
    }
    guard chmod(path, 0o700) == 0 else { throw SystemCall.failure("chmod", path: path) }
    try syncFolder(parent(of: path))
  }

  /// Makes an empty file that did not exist, for our eyes only whatever the umask says, and
  /// gives its open descriptor.
  static func createFile(_ path: String) throws(LMDBError) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw SystemCall.failure("open", path: path) }
    guard fchmod(descriptor, 0o600) == 0 else {
      let failure = SystemCall.failure("fchmod", path: path)
      close(descriptor)
      throw failure
    }
    return descriptor
  }

  /// The file that is open by this descriptor.
  static func identity(of descriptor: Int32, path: String) throws(LMDBError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemCall.failure("fstat", path: path) }
    return FileIdentity(status)
  }

  /// Makes the file if it is absent.
  static func ensureFile(_ path: String) throws(LMDBError) {
    if try identity(path) == nil { close(try createFile(path)) }
  }

  static func remove(_ path: String) throws(LMDBError) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw SystemCall.failure("unlink", path: path)
    }
  }

  static func byteCount(_ path: String) throws(LMDBError) -> Int {
    guard let status = try status(path) else { throw SystemCall.failure("lstat", path: path) }
    return Int(status.st_size)
  }

  static func names(in path: String) throws(LMDBError) -> [String] {
    guard let stream = opendir(path) else { throw SystemCall.failure("opendir", path: path) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    // It ends alike where there are no more names and where they cannot be read.
    guard errno == 0 else { throw SystemCall.failure("readdir", path: path) }
    return names
  }

  /// Bytes that are free on the disk of a folder, for this user; nil where the system does not tell.
  static func freeByteCount(_ path: String) -> Int? {
    var status = statvfs()
    guard statvfs(path, &status) == 0 else { return nil }
    return Int(
      clamping: UInt64(status.f_bavail).multipliedReportingOverflow(
        by: UInt64(status.f_frsize)
      ).partialValue)
  }

  /// On a full disk LMDB reports a write that was cut short as an input/output error. This is the error to throw instead;
  /// nil where the error is another one, or the disk has room.
  static func lackOfRoom(_ error: any Error, in folder: String) -> LMDBError? {
    guard case .system(SystemCall.inputOutput)? = (error as? LMDBError)?.code,
      let free = freeByteCount(folder), free < 64 << 10
    else { return nil }
    return SystemCall.failure(SystemCall.noSpace, "write", path: folder)
  }

  /// Removes a folder of ours with the files in it, which has no folders; nothing where there is
  /// none.
  static func removeFolder(_ path: String) throws(LMDBError) {
    guard try checkFolder(path, isReadOnly: false) else { return }
    for name in try names(in: path) { try remove(path + "/" + name) }
    guard rmdir(path) == 0 || errno == ENOENT else {
      throw SystemCall.failure("rmdir", path: path)
    }
  }

  static func isEmptyFolder(_ path: String) throws(LMDBError) -> Bool {
    try names(in: path).isEmpty
  }

  static func move(_ path: String, to target: String) throws(LMDBError) {
    guard rename(path, target) == 0 else { throw SystemCall.failure("rename", path: target) }
  }

  /// Has the drive write a file, or the names in a folder. On Apple's systems fsync reaches the drive and no further.
  ///
  /// - Returns: False where that failed, and `errno` says why.
  static func flush(_ descriptor: Int32) -> Bool {
    #if canImport(Darwin)
      // Some file systems know no such request.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
    #endif
    return fsync(descriptor) == 0
  }

  static func flush(_ descriptor: Int32, _ path: String) throws(LMDBError) {
    guard flush(descriptor) else { throw SystemCall.failure("fsync", path: path) }
  }

  static func syncFolder(_ path: String) throws(LMDBError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemCall.failure("open", path: path) }
    defer { close(descriptor) }
    let status = Calls.made(.syncFolder, in: path) { flush(descriptor) ? 0 : errno }
    guard status == 0 else { throw SystemCall.failure(status, "fsync", path: path) }
  }

  static func closeOnExec(_ descriptor: Int32, path: String) throws(LMDBError) {
    guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      throw SystemCall.failure("fcntl", path: path)
    }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The path of a folder without the slashes at its end, which would make `lstat` follow a link.
  ///
  /// - Throws: ``LMDBError`` for a path that the system would take for another one.
  static func folderPath(_ path: String) throws(LMDBError) -> String {
    guard !path.isEmpty else {
      throw LMDBError(
        .system(errno: ENOENT), operation: "open", path: path,
        detail: "the path is empty, as is that of a URL which is no UTF-8")
    }
    guard !path.utf8.contains(0) else {
      throw LMDBError(
        .system(errno: EINVAL), operation: "open",
        path: path.replacing("\0", with: "\\0"),
        detail: "the path has a zero byte, at which the system would cut it; take it out")
    }
    var path = path[...]
    while path.count > 1, path.hasSuffix("/") { path = path.dropLast() }
    return String(path)
  }

  /// The path as every working directory understands it.
  static func absolute(_ path: String) throws(LMDBError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw SystemCall.failure("realpath", path: path)
    }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  static func unsafe(_ path: String, _ reason: String) -> LMDBError {
    LMDBError(.unsafeFile, operation: "open", path: path, detail: reason)
  }

  /// How the file was left; nil when absent.
  static func stamp(_ path: String) throws(LMDBError) -> FileStamp? {
    try status(path).map { FileStamp($0) }
  }

  private static func status(_ path: String) throws(LMDBError) -> stat? {
    var status = stat()
    #if LARDER_MUTANTS
      if Mutant.followsLinks.isOn, stat(path, &status) == 0 { return status }
    #endif
    if lstat(path, &status) == 0 { return status }
    if errno == ENOENT { return nil }
    throw SystemCall.failure("lstat", path: path)
  }

  private static func owner(_ status: stat) -> String {
    "it belongs to user \(status.st_uid), and this process runs as user \(geteuid()); run it as the other one, or "
      + "give the store to this one (chown)"
  }

  private static func kind(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFLNK: "a symbolic link"
    case S_IFIFO: "a pipe"
    case S_IFDIR: "a folder"
    case S_IFSOCK: "a socket"
    case S_IFREG: "a regular file"
    default: "a device"
    }
  }
}
