#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Lets other processes hear of a commit: eight bytes of `larder.lock`, behind its notes, that are
/// written once others can see what was committed. Whoever wants to know looks out for writes to
/// that file.
///
/// Not the data file: LMDB writes its last page a moment before the commit can be seen, so that
/// whoever hears of that write may look too early, and hears no more.
final class CommitBell: Sendable {
  private static let place: off_t = 64

  /// Nil once the environment is closed.
  private let descriptor: Locked<Int32?>
  /// Of the same file. Whoever uses it is inside of the environment, which is not closed meanwhile.
  let turn: WriteTurn

  /// Nil where the file cannot be written; then others find out when they look by themselves.
  init?(_ files: StoreFiles) {
    let file = SystemCall.open(files.opening, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    descriptor = Locked(file)
    turn = WriteTurn(file)
  }

  deinit { silence() }

  /// Gives the descriptor back: a store that is closed has none, however long it is held.
  func silence() {
    descriptor.withLock { descriptor in
      if let open = descriptor { SystemCall.closeDescriptor(open) }
      descriptor = nil
    }
  }

  /// Costs one system call. That it failed is nobody's error: what was committed stays so.
  func ring(_ transaction: Int) {
    var number = UInt64(transaction).littleEndian
    descriptor.withLock { descriptor in
      guard let descriptor else { return }
      pwrite(descriptor, &number, MemoryLayout<UInt64>.size, Self.place)
    }
  }
}
