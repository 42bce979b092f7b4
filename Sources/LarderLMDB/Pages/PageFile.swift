#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The pages of a data file, read and never mapped: no damage, and no other process that cuts the
/// file off, can do more than make a read fail.
struct PageFile: ~Copyable {
  private let descriptor: Int32
  let path: String

  init(_ path: String) throws(LMDBError) {
    descriptor = SystemCall.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    self.path = path
    guard descriptor >= 0 else { throw SystemCall.failure("open", path: path) }
  }

  deinit { if descriptor >= 0 { SystemCall.closeDescriptor(descriptor) } }

  func identity() throws(LMDBError) -> FileIdentity {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemCall.failure("fstat", path: path) }
    return FileIdentity(status)
  }

  func byteCount() throws(LMDBError) -> Int {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw SystemCall.failure("fstat", path: path) }
    return Int(status.st_size)
  }

  /// Fills `buffer`; false where the file ends before.
  ///
  /// - Throws: ``LMDBError`` when the disk cannot be read.
  func read(
    _ buffer: UnsafeMutableRawBufferPointer, at offset: Int
  ) throws(LMDBError) -> Bool {
    var done = 0
    while done < buffer.count, let start = buffer.baseAddress {
      let count = pread(descriptor, start + done, buffer.count - done, off_t(offset + done))
      if count == 0 { return false }
      if count < 0 {
        if errno == EINTR { continue }
        throw SystemCall.failure("pread", path: path)
      }
      done += count
    }
    return true
  }

  /// Tells the system that all of the file is about to be read, for files that fit its memory.
  func prefetch(byteCount: Int) {
    #if os(Linux)
      // Advice: what it returns changes nothing.
      if byteCount <= 1 << 30 { _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_WILLNEED) }
    #endif
  }
}
