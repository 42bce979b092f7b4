internal import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

// Who writes right now. LMDB's lock is a robust mutex in its lock file, whose first word is the number
// of the thread that has it; the kernel clears it when that thread dies. It is looked at for what is
// said of a writer that others wait for, and to notice that there is none. Where the library that
// makes mutexes is not known here, nothing is said.

extension Environment {
  /// The process that has LMDB's lock; nil where nobody has it, or nobody can tell.
  package var writeHolder: WriteHolder? {
    guard let thread = writeLockWord.map({ $0 & Self.ownerMask }), thread != 0 else { return nil }
    return WriteHolder(thread: Int32(bitPattern: thread))
  }

  /// Whether writes here wait for one of another process, or would if they were so far.
  package var waitsForOtherProcess: Bool {
    if turn?.isAwaited == true { return true }
    return writeHolder.map { $0.processID != processID } ?? false
  }

  /// Lets the calling thread go on with the write that another thread has begun, and waits. To be
  /// called by that one again before it ends the write.
  package func goOnWriting() {
    writingThread.store(SystemCall.threadNumber, ordering: .relaxed)
  }

  /// Whether nobody alive has LMDB's lock; false where nobody can tell.
  var isWriteLockFree: Bool { writeLockWord.map { $0 & Self.ownerMask == 0 } ?? false }

  private static var ownerMask: UInt32 { 0x3FFF_FFFF }

  private var writeLockWord: UInt32? {
    #if canImport(Glibc) && _endian(little) && _pointerBitWidth(_64)
      guard lockIdentity != nil, forkCount == Forks.current else { return nil }
      return lockProbe.withLock { probe in
        if probe == nil { probe = try? files.openLockProbe() }
        guard let probe, Self.word(of: probe, at: 0) == PageFormat.magic else { return nil }
        return Self.word(of: probe, at: LockTable.Place.writers)
      }
    #else
      return nil
    #endif
  }

  private static func word(of descriptor: Int32, at place: Int) -> UInt32? {
    #if canImport(Glibc)
      var word: UInt32 = 0
      return pread(descriptor, &word, 4, off_t(place)) == 4 ? word : nil
    #else
      return nil
    #endif
  }
}

extension WriteHolder {
  /// The process of a thread; nil where the system does not tell.
  init?(thread: Int32) {
    #if canImport(Glibc)
      let descriptor = SystemCall.open("/proc/\(thread)/status", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      defer { SystemCall.closeDescriptor(descriptor) }
      var bytes = [UInt8](repeating: 0, count: 1024)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { return nil }
      var (process, isStopped) = (Int32?.none, false)
      for line in String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n") {
        let words = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
        guard words.count >= 2 else { continue }
        if words[0] == "Tgid:" { process = Int32(words[1]) }
        if words[0] == "State:" { isStopped = words[1] == "T" || words[1] == "t" }
      }
      guard let process else { return nil }
      self.init(processID: process, isStopped: isStopped)
    #else
      return nil
    #endif
  }
}
