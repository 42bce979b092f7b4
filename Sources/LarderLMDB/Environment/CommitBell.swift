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

  private let descriptor: Int32
  /// Of the same file.
  let turn: WriteTurn

  /// Nil where the file cannot be written; then others find out when they look by themselves.
  init?(_ files: StoreFiles) {
    descriptor = SystemCall.open(files.opening, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    turn = WriteTurn(descriptor)
    guard descriptor >= 0 else { return nil }
  }

  deinit { close(descriptor) }

  /// Costs one system call. That it failed is nobody's error: what was committed stays so.
  func ring(_ transaction: Int) {
    var number = UInt64(transaction).littleEndian
    pwrite(descriptor, &number, MemoryLayout<UInt64>.size, Self.place)
  }
}
