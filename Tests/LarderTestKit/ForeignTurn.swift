#if os(Linux)
  import Foundation

  /// The turn of processes that write, taken as another process would: the kernel tells them apart by
  /// how the file was opened. Nobody writes while it is held: those who wait pass it by after two seconds,
  /// which a busy machine may take to look once, unless their `WriteWait.checkSeconds` is infinite.
  package final class ForeignTurn: Sendable {
    private let file: FileHandle

    package init(_ path: String) throws {
      file = try FileHandle(forUpdating: URL(filePath: path))
      // A program that is started meanwhile would have the turn, too.
      _ = fcntl(file.fileDescriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Takes it without waiting; false where somebody else has it.
    package func take() -> Bool { set(F_WRLCK) }

    package func giveBack() { precondition(set(F_UNLCK), "the kernel does not take back a lock") }

    /// Gives it back as the kernel does for a process that has died. A copy of the file that a program has
    /// which is just being started keeps nothing.
    package func die() {
      _ = set(F_UNLCK)
      try? file.close()
    }

    private func set(_ kind: Int32) -> Bool {
      var lock = flock()
      lock.l_type = Int16(kind)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = 1 << 20
      lock.l_len = 1
      return fcntl(file.fileDescriptor, 37, &lock) == 0  // F_OFD_SETLK
    }
  }
#endif
