#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// That the store's file was set aside and is being read into a new one, which is not whole before
// that has ended: a note of its own, so that nobody takes the new store for all there was.
extension OpeningLock {
  private static let place = 512
  private static let byteCount = 512
  private static let word = "salvaging "

  /// The name of the folder beside the store's that the file was set aside in; nil where no
  /// quarantine was begun, or it has ended.
  borrowing func quarantined() throws(LMDBError) -> String? {
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    let count = pread(descriptor, &bytes, bytes.count, off_t(Self.place))
    guard count >= 0 else { throw SystemCall.failure("pread", path: path) }
    // A name may have line feeds of its own.
    let text = bytes[..<count].prefix { $0 != 0 }
    guard text.starts(with: Self.word.utf8), text.last == UInt8(ascii: "\n") else { return nil }
    return String(decoding: text.dropFirst(Self.word.utf8.count).dropLast(), as: UTF8.self)
  }

  /// Writes the note, and returns when it is on the disk; nil when the quarantine has ended.
  borrowing func note(quarantined name: String?) throws(LMDBError) {
    var bytes = name.map { Array((Self.word + $0 + "\n").utf8) } ?? []
    bytes += [UInt8](repeating: 0, count: max(0, Self.byteCount - bytes.count))
    try write(bytes, at: off_t(Self.place))
    try SafeFiles.flush(descriptor, path)
  }

  /// - Throws: ``LMDBError/Code/unfinishedQuarantine`` where the store is only half of what it was.
  borrowing func refuseQuarantine(_ files: StoreFiles) throws(LMDBError) {
    guard let name = try quarantined() else { return }
    throw LMDBError(
      .unfinishedQuarantine, operation: "open", path: files.folder,
      detail: "its damaged file was set aside in"
        + " \(SafeFiles.parent(of: files.folder) + "/" + name), and not all of it was read yet")
  }
}

extension SafeFiles {
  /// Makes a folder that a store's file is set aside in.
  static func makeQuarantine(beside folder: String) throws(LMDBError) -> String {
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
        try syncFolder(parent(of: path))
        return path
      }
      guard errno == EEXIST else { throw SystemCall.failure("mkdir", path: path) }
    }
    throw SystemCall.failure(EEXIST, "mkdir", path: folder)
  }
}
