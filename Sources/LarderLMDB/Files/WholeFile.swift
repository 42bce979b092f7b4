#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Files that others see whole or not at all.
package enum WholeFile {
  private static var prefix: String { ".larder-" }

  /// Copies a file to a place where another one may be, which whoever has it open reads on. It takes no
  /// lock, and has its name once it is on the disk; a process that is killed before leaves a file with a
  /// name of its own.
  ///
  /// - Parameters:
  ///   - target: Its folder must exist.
  ///   - unique: A text that no other call has, for the name until then.
  /// - Throws: ``LMDBError``; the target is as it was then.
  package static func put(
    copying source: String, at target: String, unique: String
  ) throws(LMDBError) {
    let folder = SafeFiles.parent(of: target)
    #if LARDER_MUTANTS
      if Mutant.publishedInPlace.isOn {
        let output = SystemCall.open(target, O_WRONLY | O_CLOEXEC)
        if output >= 0 {
          defer { SystemCall.closeDescriptor(output) }
          return try copy(source, to: output, target, pieceByteCount: 512)
        }
      }
    #endif
    let staged = folder + "/" + prefix + unique
    let output = try SafeFiles.createFile(staged)
    do throws(LMDBError) {
      defer { SystemCall.closeDescriptor(output) }
      try copy(source, to: output, staged, pieceByteCount: 1 << 20)
      try SafeFiles.flush(output, staged)
      try SafeFiles.move(staged, to: target)
    } catch {
      unlink(staged)
      throw error
    }
    try SafeFiles.syncFolder(folder)
  }

  /// Copies a file that may change its name meanwhile, to a place where there is none.
  ///
  /// - Returns: False where there is no such file.
  /// - Throws: ``LMDBError``; a part may be at the target then.
  package static func copy(_ source: String, to target: String) throws(LMDBError) -> Bool {
    guard try exists(source) else { return false }
    let output = try SafeFiles.createFile(target)
    defer { SystemCall.closeDescriptor(output) }
    do throws(LMDBError) {
      try copy(source, to: output, target, pieceByteCount: 1 << 20)
    } catch {
      // It may have gone in between.
      guard try exists(source) else { return false }
      throw error
    }
    return true
  }

  /// Makes an empty file where there is none.
  package static func touch(_ path: String) throws(LMDBError) {
    do throws(LMDBError) {
      try SafeFiles.ensureFile(path)
    } catch {
      // Another process may have been faster.
      guard try exists(path) else { throw error }
    }
  }

  /// Whether there is a file or a folder. One that cannot be asked about is no absent one.
  package static func exists(_ path: String) throws(LMDBError) -> Bool {
    try SafeFiles.identity(path) != nil
  }

  /// The names in a folder, in no order; nil where there is none.
  package static func names(in folder: String) throws(LMDBError) -> [String]? {
    try exists(folder) ? SafeFiles.names(in: folder) : nil
  }

  /// Makes a folder for this user only, where there is none. One that is there may be another user's, as no store
  /// is written to in it.
  ///
  /// - Parameter isLasting: Whether it has to be there after a loss of power.
  package static func makeFolder(_ path: String, isLasting: Bool) throws(LMDBError) {
    guard mkdir(path, 0o700) == 0 else {
      // Another process may have been faster.
      if errno == EEXIST { return }
      throw SystemCall.failure("mkdir", path: path)
    }
    if isLasting { try SafeFiles.syncFolder(SafeFiles.parent(of: path)) }
  }

  /// Removes a file, if it is there.
  package static func remove(_ path: String) throws(LMDBError) { try SafeFiles.remove(path) }

  /// Removes what processes have left in a folder that were killed in `put`, `seconds` ago or earlier.
  /// There is no lock that would tell sooner, and nobody takes so long for one file.
  package static func removeLeftovers(in folder: String, olderThan seconds: Int = 3600) {
    guard let names = try? SafeFiles.names(in: folder) else { return }
    for name in names where name.hasPrefix(prefix) {
      var status = stat()
      let path = folder + "/" + name
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if SafeFiles.age(of: path) ?? 0 >= seconds { unlink(path) }
    }
  }

  private static func copy(
    _ source: String, to output: Int32, _ target: String, pieceByteCount: Int
  ) throws(LMDBError) {
    let input = SystemCall.open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw SystemCall.failure("open", path: source) }
    defer { SystemCall.closeDescriptor(input) }
    var piece = [UInt8](repeating: 0, count: pieceByteCount)
    while true {
      let count = read(input, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemCall.failure("read", path: source) }
      if count == 0 { return }
      try write(piece[..<count], to: output, target)
    }
  }

  private static func write(
    _ bytes: ArraySlice<UInt8>, to output: Int32, _ path: String
  ) throws(LMDBError) {
    var rest = bytes
    guard SafeFiles.mayWrite(rest.count, to: output) else {
      throw SystemCall.failure(EFBIG, "write", path: path)
    }
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { SystemCall.write(output, $0) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemCall.failure("write", path: path) }
      rest = rest.dropFirst(count)
    }
  }

}

extension SafeFiles {
  /// Seconds since a file, or the names in a folder, were changed; nil where there is none.
  static func age(of path: String) -> Int? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      let changed = status.st_mtimespec.tv_sec
    #else
      let changed = status.st_mtim.tv_sec
    #endif
    return Int(time(nil)) - Int(changed)
  }
}
