#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The exclusive lock on `larder.lock` that one opener holds at a time, of all processes and
/// threads.
///
/// LMDB's first opener resets the shared transaction id and restores it later. If it is killed
/// in between while another process waits, that one starts from zero and overwrites commits.
struct OpeningLock: ~Copyable {
  /// What the file says about the store beside it.
  enum Creation: Equatable {
    case unfinished
    /// Also what an empty file means: a store that was copied here has none.
    case finished

    /// Of one length, so that writing it is one write of one sector.
    var text: String {
      switch self {
      case .unfinished: "creating\n"
      case .finished: "ready   \n"
      }
    }
  }

  let descriptor: Int32
  let path: String

  /// Takes over an open file that is not locked yet.
  init(descriptor: Int32, path: String) {
    self.descriptor = descriptor
    self.path = path
    // A child that is forked while it is locked must not keep it locked.
    Forks.willLock(descriptor)
  }

  /// Waits for the lock. Nil when the folder is another user's, opened to read only: nothing
  /// may be left behind there.
  ///
  /// - Throws: ``LMDBError``, with ``LMDBError/Code/openingElsewhere(by:)`` where another process has it
  ///   for longer than `wait` says.
  static func acquire(
    _ files: StoreFiles, isReadOnly: Bool, _ wait: OpenWait = OpenWait()
  ) throws(LMDBError) -> OpeningLock? {
    let start = SystemCall.seconds
    while true {
      guard let descriptor = try open(files.opening, files.folder, isReadOnly: isReadOnly) else {
        return nil
      }
      let lock = OpeningLock(descriptor: descriptor, path: files.opening)
      // Another process may have removed the file while we waited, and then locks another one.
      if try lock.isStillInPlace(isReadOnly: isReadOnly, wait, since: start) {
        if !isReadOnly { lock.reserveRoom() }
        return lock
      }
    }
  }

  deinit {
    // A child made without `fork` shares the lock, so closing alone would not release it.
    flock(descriptor, LOCK_UN)
    Forks.close(locked: descriptor)
  }

  func creation() throws(LMDBError) -> Creation {
    let expected = Creation.unfinished.text
    var bytes = [UInt8](repeating: 0, count: expected.utf8.count)
    let count = pread(descriptor, &bytes, bytes.count, 0)
    guard count >= 0 else { throw SystemCall.failure("pread", path: path) }
    return bytes.elementsEqual(expected.utf8) ? .unfinished : .finished
  }

  /// Writes the note and returns when it is on the disk.
  func note(_ creation: Creation) throws(LMDBError) {
    let bytes = Array(creation.text.utf8)
    try write(bytes, at: 0)
    try SafeFiles.flush(descriptor, path)
  }

  /// A disk that takes only a part of it is full.
  borrowing func write(_ bytes: [UInt8], at place: off_t) throws(LMDBError) {
    let (descriptor, path) = (descriptor, path)
    let status = Calls.made(.note, in: path) {
      let count = pwrite(descriptor, bytes, bytes.count, place)
      return count == bytes.count ? 0 : count < 0 ? errno : SystemCall.noSpace
    }
    guard status == 0 else { throw SystemCall.failure(status, "pwrite", path: path) }
  }

  private static func open(
    _ path: String, _ folder: String, isReadOnly: Bool
  ) throws(LMDBError) -> Int32? {
    while true {
      // O_NONBLOCK: a pipe put there after the check must not make us wait for its writer.
      #if LARDER_MUTANTS
        let noFollow = Mutant.followsLinks.isOn ? 0 : O_NOFOLLOW
      #else
        let noFollow = O_NOFOLLOW
      #endif
      let mode = (isReadOnly ? O_RDONLY : O_RDWR) | O_CLOEXEC | noFollow | O_NONBLOCK
      let descriptor = SystemCall.open(path, mode)
      if descriptor >= 0 { return descriptor }
      guard errno == ENOENT else { throw SystemCall.failure("open", path: path) }
      if isReadOnly, !(try SafeFiles.isOurs(folder)) { return nil }
      do throws(LMDBError) {
        return try SafeFiles.createFile(path)
      } catch  where error.code == .system(errno: EEXIST) {
        continue
      }
    }
  }

  private borrowing func isStillInPlace(
    isReadOnly: Bool, _ wait: OpenWait, since start: Double
  ) throws(LMDBError) -> Bool {
    #if LARDER_MUTANTS
      if Mutant.openGuard.isOn { return true }
    #endif
    try lock(wait, since: start)
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemCall.failure("fstat", path: path) }
    guard try SafeFiles.identity(path) == FileIdentity(status) else { return false }
    try SafeFiles.checkFile(status, path, isReadOnly: isReadOnly)
    return true
  }
}
