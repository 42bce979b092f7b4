#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The lock by which others know that the reader slots of this process are in use: of the byte of
/// `lock.mdb` that its process id counts.
///
/// LMDB takes it with its first snapshot, and frees the slots of a process that does not hold it, which
/// it finds out at each `mdb_reader_check` of any program and behind a writer that died. Pages of
/// snapshots that are read are overwritten then. LMDB's lock belongs to the process: whoever in it opens
/// the file and closes it again, as a copy of the folder does, lets go of it, and LMDB never takes it
/// again.
///
/// So a lock of an open file takes its place, which nobody else lets go of, and which every LMDB takes
/// for that of a process that lives. LMDB asks for its own only once, so that this one is taken behind
/// that. It costs an opening 30 microseconds, and a snapshot nothing.
enum ReaderLock {
  /// Called when LMDB has just opened the environment, and nobody reads in it yet.
  ///
  /// - Returns: A descriptor of `lock.mdb`, to be closed behind LMDB, by ``close(_:)``; nil
  ///   where the system has no such locks.
  /// - Throws: ``LMDBError``, with code ``LMDBError/Code/processIDTaken`` where another process has the
  ///   lock. What LMDB has opened is still open then.
  static func take(_ environment: OpaquePointer, _ files: StoreFiles) throws(LMDBError) -> Int32? {
    #if os(Linux)
      // A process that ends lets go of its locks one after the other; and a child that this one has just
      // spawned has them until it runs its program.
      let deadline = SystemCall.seconds + endingSeconds
      while true {
        do throws(LMDBError) {
          if case .begun(let snapshot) = try Calls.begin(
            environment, readOnly: true, path: files.folder)
          {
            Calls.abort(snapshot)
          }
          break
        } catch  where error.code == .system(errno: EAGAIN) || error.code == .system(errno: EACCES)
        {
          guard SystemCall.seconds < deadline else { throw taken(files) }
          SystemCall.sleep(microseconds: 1000)
        }
      }
      let descriptor = Forks.openToLock {
        SystemCall.open(files.lock, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      }
      guard descriptor >= 0 else { throw SystemCall.failure("open", path: files.lock) }
      #if LARDER_MUTANTS
        if Mutant.readerLock.isOn { return descriptor }
      #endif
      let isTaken = replace(descriptor)
      guard isTaken else {
        // This lets go of LMDB's locks, which is to be closed now.
        Forks.close(locked: descriptor)
        throw taken(files)
      }
      return descriptor
    #else
      return nil
    #endif
  }

  /// Gives the lock back with the descriptor, behind LMDB. A child that was just spawned has a share in
  /// it, which closing alone would leave.
  static func close(_ descriptor: Int32) {
    #if os(Linux)
      var none = FileRange.lock(F_UNLCK, at: off_t(Forks.processID))
      _ = fcntl(descriptor, FileRange.set, &none)
    #endif
    Forks.close(locked: descriptor)
  }

  #if os(Linux)
    private static var endingSeconds: Double { 2 }

    /// - Returns: False where another process has the lock; true also where LMDB's own has to do.
    private static func replace(_ descriptor: Int32) -> Bool {
      let place = off_t(Forks.processID)
      // LMDB does not begin a snapshot without its lock, nor with ours.
      var found = FileRange.lock(F_WRLCK, at: place)
      guard fcntl(descriptor, FileRange.ask, &found) == 0, found.l_type != Int16(F_UNLCK),
        found.l_pid == Forks.processID
      else { return true }
      // Nobody reads here: it harms nothing that there is no lock for a moment.
      var none = FileRange.lock(F_UNLCK, at: place)
      guard fcntl(descriptor, F_SETLK, &none) == 0 else { return true }
      var lock = FileRange.lock(F_WRLCK, at: place)
      if fcntl(descriptor, FileRange.set, &lock) == 0 { return true }
      if errno == EAGAIN || errno == EACCES { return false }
      var own = FileRange.lock(F_WRLCK, at: place)
      return fcntl(descriptor, F_SETLK, &own) == 0
    }

    private static func taken(_ files: StoreFiles) -> LMDBError {
      LMDBError(
        .processIDTaken, operation: "open", path: files.folder,
        detail: "another process that has it open has the process id of this one,"
          + " \(Forks.processID), as happens with containers that count processes on their own")
    }
  #endif
}
