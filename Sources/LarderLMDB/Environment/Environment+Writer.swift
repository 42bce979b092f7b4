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

  private static var ownerMask: UInt32 { LockWord.ownerMask }

  private var writeLockWord: UInt32? {
    #if canImport(Glibc) && _endian(little) && _pointerBitWidth(_64)
      guard lockIdentity != nil, forkCount == Forks.current else { return nil }
      return lockProbe.withLock { probe in
        guard let probe, Self.word(of: probe, at: 0) == PageFormat.magic else { return nil }
        return Self.word(of: probe, at: LockTable.Place.writers)
      }
    #else
      return nil
    #endif
  }

  /// Where a disk without room takes a page of the lock file away, the kernel cannot clear the lock of
  /// a thread that ends, and whoever asks for it sleeps for ever. Called by who has the turn, so that no
  /// other writer of this library, of whatever container, can have the lock: what is left are threads of
  /// this process, and programs that know no turns. The caller is inside.
  ///
  /// - Throws: ``LMDBError/Code/lockTableDamaged``; ``LMDBError/Code/closed``.
  func refuseLostLock(_ word: LockWord) throws(LMDBError) {
    #if canImport(Glibc)
      let owner = word.owner
      let deadline = SystemCall.seconds + patience.withLock(\.lostSeconds)
      while owner != 0, word.owner == owner, !SystemCall.isThread(owner), turn?.isConfirmed == true
      {
        try refuseEnd("beginWrite")
        guard SystemCall.seconds < deadline else {
          throw LMDBError(
            .lockTableDamaged, operation: "beginWrite", path: files.lock,
            detail:
              "the lock of writers is that of thread \(owner), which has ended without letting"
              + " go of it, as on a disk that was full")
        }
        SystemCall.sleep(microseconds: 20_000)
      }
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
