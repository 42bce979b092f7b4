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

/// The two meta pages of a file.
struct MetaPages {
  let newest: MetaPage
  let older: MetaPage

  /// - Throws: ``PageFault`` as an error in ``LMDBError``'s place, when they do not fit each other.
  static func read(_ file: borrowing PageFile) throws(LMDBError) -> Result<MetaPages, PageFault> {
    do {
      let first = try meta(0, at: 0, file)
      let second: MetaPage
      do {
        second = try meta(1, at: first.pageByteCount, file)
      } catch let fault as PageFault {
        return .failure(fault)
      }
      return fit(first, second)
    } catch let error as LMDBError {
      throw error
    } catch let fault as PageFault {
      return .failure(fault)
    } catch {
      preconditionFailure("reading a meta page threw \(error)")
    }
  }

  private static func meta(_ number: Int, at offset: Int, _ file: borrowing PageFile) throws
    -> MetaPage
  {
    try withUnsafeTemporaryAllocation(byteCount: PageFormat.metaByteCount, alignment: 8) { buffer in
      guard try file.read(buffer, at: offset) else {
        throw PageFault(page: number, reason: "the file ends in it")
      }
      return try MetaPage(UnsafeRawBufferPointer(buffer), number: number)
    }
  }

  /// Each commit writes the page that its number chooses, so that they are one commit apart. A new
  /// file has two of transaction 0.
  private static func fit(_ first: MetaPage, _ second: MetaPage) -> Result<MetaPages, PageFault> {
    let (newest, older) =
      second.transaction > first.transaction ? (second, first) : (first, second)
    guard first.pageByteCount == second.pageByteCount else {
      return .failure(PageFault(page: 1, reason: "its page size differs from that of page 0"))
    }
    let isNew = newest.transaction == 0 && older.transaction == 0
    guard isNew || newest.transaction == older.transaction + 1,
      newest.transaction & 1 == newest.number
    else {
      return .failure(
        PageFault(
          page: newest.number,
          reason: "transaction \(newest.transaction) does not follow \(older.transaction)"))
    }
    return .success(MetaPages(newest: newest, older: older))
  }
}
