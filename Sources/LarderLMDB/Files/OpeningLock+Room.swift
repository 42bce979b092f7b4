#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The notes are written again with each session, also on a disk that has become full: a store is opened
// there to read, and to delete.
extension OpeningLock {
  /// All notes lie in it.
  private static let roomByteCount = 4096

  /// Gives the notes their place on the disk, where they are overwritten from now on, also on a file
  /// system that copies what is overwritten (btrfs). Only a file that is empty can still be marked so.
  ///
  /// Without it a note may find no room, and is refused then.
  borrowing func reserveRoom() {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size == 0 else { return }
    _ = SafeFiles.overwriteInPlace(descriptor)
    _ = SafeFiles.fill(descriptor, byteCount: Self.roomByteCount)
  }

  /// Notes that the store is open, and returns when that is on the disk: before the first page is
  /// written, or a loss of power would go unnoticed.
  ///
  /// Where the disk has no room for it, what is noted is taken away instead, which needs none: whoever
  /// opens the store next, alone, looks at all pages.
  borrowing func noteOpen(_ file: FileIdentity) throws(LMDBError) {
    do throws(LMDBError) {
      try note(.open(file), isDurable: true)
    } catch {
      // An empty file says that the store is whole, and says nothing of how it was left.
      guard error.code == .system(errno: ENOSPC) || error.code == .system(errno: EDQUOT),
        try creation() == .finished, try quarantined() == nil,
        ftruncate(descriptor, 0) == 0, SafeFiles.flush(descriptor)
      else { throw error }
    }
  }
}
