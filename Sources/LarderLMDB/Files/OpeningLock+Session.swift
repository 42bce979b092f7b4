#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// How the store was left, behind the note on its creation: whoever opens it first since then, of all
// processes, reads this. It is written under the lock only.
extension OpeningLock {
  enum Session: Equatable {
    /// No note: a copy, or a store that was last open by an earlier version.
    case unknown
    /// The last process closed it, and left the data file like this.
    case closed(FileStamp)
    /// Open, since this boot of the system or another one (nil where the system does not tell), with
    /// the data file of this ``FileIdentity/number``.
    case open(boot: String?, file: UInt64)
    /// A damaged record or page was met.
    case suspect
    /// A commit failed, and the older of the two meta pages may be half of it: LMDB takes back its
    /// number, and not its trees. The next commit writes that page anew.
    case failed

    static func open(_ file: FileIdentity) -> Session {
      .open(boot: SystemCall.bootID, file: file.number)
    }

    fileprivate static let place = 16
    fileprivate static let byteCount = 80

    fileprivate var text: String {
      let text =
        switch self {
        case .unknown: ""
        case .closed(let stamp): "closed \(String(stamp.number, radix: 16))"
        case .open(let boot, let file): "open \(boot ?? "-") \(String(file, radix: 16))"
        case .suspect: "suspect"
        case .failed: "failed"
        }
      return text + String(repeating: " ", count: Self.byteCount - 1 - text.utf8.count) + "\n"
    }

    fileprivate init(_ text: String) {
      let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
      let number = words.last.flatMap { UInt64($0, radix: 16) }
      switch (words.first, words.count, number) {
      case ("closed"?, 2, let number?): self = .closed(FileStamp(number: number))
      case ("suspect"?, 1, _): self = .suspect
      // Whatever is behind it: the disk that failed may have taken half of the note.
      case ("failed"?, _, _): self = .failed
      case ("open"?, 3, let number?):
        self = .open(boot: words[1] == "-" ? nil : String(words[1]), file: number)
      default: self = .unknown
      }
    }
  }

  borrowing func session() throws(LMDBError) -> Session {
    var bytes = [UInt8](repeating: 0, count: Session.byteCount)
    let count = pread(descriptor, &bytes, bytes.count, off_t(Session.place))
    guard count >= 0 else { throw SystemCall.failure("pread", path: path) }
    return Session(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Writes the note; `isDurable` returns when it is on the disk.
  borrowing func note(_ session: Session, isDurable: Bool) throws(LMDBError) {
    let bytes = Array(session.text.utf8)
    try write(bytes, at: off_t(Session.place))
    guard isDurable else { return }
    try SafeFiles.flush(descriptor, path)
  }

  /// Notes that the open store has another data file from now on. What is noted of damage stays.
  borrowing func noteReplaced(_ old: FileIdentity, by new: FileIdentity) throws(LMDBError) {
    if try session() == .open(old) { try note(.open(new), isDurable: false) }
  }

  /// Notes that the store was found damaged, for whoever opens it next. Also who only reads does: no
  /// document is changed by it. Advice, which a store that cannot take it goes without.
  borrowing func noteSuspicion() {
    if (try? session()) == .failed { return }  // All pages are looked at then, too.
    if (try? note(.suspect, isDurable: false)) != nil { return }
    withWritable { try? $0.note(.suspect, isDurable: false) }
  }

  /// Notes that one who only reads has opened the store alone, with this data file: whoever joins
  /// compares. Advice, too. On the disk, as a writer who joins finds it and notes nothing.
  borrowing func noteReader(of file: FileIdentity, _ stamp: FileStamp?) {
    let isNoted = (try? session()) == .open(file)
    withWritable { lock in
      lock.reserveRoom()
      // Or else a reader that is killed would cost the next opening a look at all pages.
      if let stamp { lock.noteRest(stamp) }
      if !isNoted { try? lock.note(.open(file), isDurable: true) }
    }
  }

  /// Lends the same file open to be written to, which a reader's descriptor is not, if this process may.
  private borrowing func withWritable(_ body: (borrowing OpeningLock) -> Void) {
    let other = SystemCall.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    if other >= 0 { body(OpeningLock(descriptor: other, path: path)) }
  }

  /// The lock, if nobody has it; nil otherwise.
  ///
  /// - Throws: ``LMDBError`` when the file is not there, or cannot be opened.
  static func acquireAtOnce(_ files: StoreFiles) throws(LMDBError) -> OpeningLock? {
    let descriptor = SystemCall.open(files.opening, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno == ENOENT else { throw SystemCall.failure("open", path: files.opening) }
      throw LMDBError(
        .lockFileReplaced, operation: "open", path: files.opening,
        detail: "the file was removed while the store is open")
    }
    let lock = OpeningLock(descriptor: descriptor, path: files.opening)
    // Where somebody else has it, letting go of this one closes its own file only.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return nil }
    var status = stat()
    // No error to report: whoever needs the note and cannot write it leaves the store as open.
    guard fstat(descriptor, &status) == 0,
      (try? SafeFiles.identity(files.opening)) == FileIdentity(status)
    else { return nil }
    return lock
  }
}

extension StoreFiles {
  /// A descriptor of LMDB's lock file to ask with. Closing it lets go of this process's own locks
  /// on the file.
  func openLockProbe() throws(LMDBError) -> Int32 {
    let descriptor = SystemCall.open(lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw SystemCall.failure("open", path: lock) }
    return descriptor
  }

  /// Whether another process has the file locked.
  func isLocked(_ descriptor: Int32) throws(LMDBError) -> Bool {
    var question = flock()
    question.l_type = Int16(F_WRLCK)
    question.l_whence = Int16(SEEK_SET)
    question.l_start = 0
    question.l_len = 1
    guard fcntl(descriptor, F_GETLK, &question) != -1 else {
      throw SystemCall.failure("fcntl", path: lock)
    }
    return question.l_type != Int16(F_UNLCK)
  }
}

extension SystemCall {
  /// Another text after each start of the system; nil where it cannot be told.
  static let bootID: String? = {
    #if os(Linux)
      let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { closeDescriptor(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 36)
      guard read(descriptor, &bytes, bytes.count) == bytes.count else { return nil }
    #else
      var count = 37
      var bytes = [UInt8](repeating: 0, count: count)
      guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0, count == 37 else {
        return nil
      }
      bytes.removeLast()
    #endif
    let text = String(decoding: bytes, as: UTF8.self)
    return text.allSatisfy { $0.isHexDigit || $0 == "-" } ? text : nil
  }()
}
