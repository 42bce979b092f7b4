#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Says to others that a store is open here, by a lock of one byte of `larder.lock` that many may
/// share.
///
/// LMDB says it by a lock on `lock.mdb`, which belongs to the process: whoever in this process opens
/// that file and closes it again, as a copy of the folder does, lets go of it. The next opener then
/// takes itself for the first, and clears a table of readers that is in use. This lock belongs to an
/// open file of its own, so that nobody else lets go of it, and the kernel does when the process ends.
final class OpenMark: Sendable {
  enum Kind: Int {
    /// The store is open in LMDB.
    case open = 16
    /// It is read without LMDB's lock file, in which a writer would look for readers.
    case unseen = 17

    /// Behind the bytes of the ``WriteTurn`` and of the ``CommitBell``.
    fileprivate var place: off_t { 1 << 20 + off_t(rawValue) }
  }

  /// Nil once it has ended.
  private let descriptor: Locked<Int32?>
  private let kind: Kind
  private let forkCount = Forks.current

  /// Nil where the file cannot be opened or locked. Called under the opening lock.
  init?(_ files: StoreFiles, _ kind: Kind) {
    guard let file = Self.set(files, kind) else { return nil }
    descriptor = Locked(file)
    self.kind = kind
  }

  /// Sets it again, behind ``end()``. Called under the opening lock.
  func begin(_ files: StoreFiles) {
    descriptor.withLock { $0 = $0 ?? Self.set(files, kind) }
  }

  private static func set(_ files: StoreFiles, _ kind: Kind) -> Int32? {
    #if os(Linux)
      let file = Forks.openToLock {
        SystemCall.open(files.opening, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      }
      guard file >= 0 else { return nil }
      var lock = FileRange.lock(F_RDLCK, at: kind.place)
      guard fcntl(file, FileRange.set, &lock) == 0 else {
        Forks.close(locked: file)
        return nil
      }
      return file
    #else
      return nil
    #endif
  }

  // In a forked child another thread of its parent may have had the descriptor's lock for ever.
  deinit { if forkCount == Forks.current { end() } }

  /// To be called before LMDB closes: a mark without LMDB's lock means that this one was lost.
  func end() {
    descriptor.withLock { descriptor in
      if let open = descriptor {
        // A child that was just spawned has a share in the lock, which closing alone would leave.
        #if os(Linux)
          var none = FileRange.lock(F_UNLCK, at: kind.place)
          _ = fcntl(open, FileRange.set, &none)
        #endif
        Forks.close(locked: open)
      }
      descriptor = nil
    }
  }

  /// Whether another open file has the mark too: another process's, or that of another copy of this
  /// library in this process.
  var isElsewhere: Bool {
    descriptor.withLock { descriptor in
      if let descriptor { Self.isSet(kind, descriptor) } else { false }
    }
  }

  /// - Parameter descriptor: Of `larder.lock`; marks that were set through it do not count.
  static func isSet(_ kind: Kind, _ descriptor: Int32) -> Bool {
    #if os(Linux)
      var lock = FileRange.lock(F_WRLCK, at: kind.place)
      return fcntl(descriptor, FileRange.ask, &lock) == 0 && lock.l_type != Int16(F_UNLCK)
    #else
      return false
    #endif
  }
}
