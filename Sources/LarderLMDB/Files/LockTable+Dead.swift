#if os(Linux) && canImport(Glibc)
  import Glibc
#endif

/// What the table says of processes that are gone. Nobody has the store open, and LMDB has not
/// cleared it yet.
///
/// ```
/// 0 magic, 4    4 format, 4    8 the readers' mutex    last transaction, 8    readers, 4
/// then, each at a multiple of 64: the writers' mutex; readers of 64 bytes: transaction, 8    process, 4
/// ```
/// Source: OpenLDAP's `mdb.c` of LMDB 0.9, "Reader Lock Table".
extension LockTable {
  /// Whether a process ended inside of a transaction, as one does that LMDB ended on a damaged page.
  /// True also where that cannot be told.
  func someoneDiedInside() -> Bool {
    #if os(Linux) && canImport(Glibc)
      guard let file = try? PageFile(files.lock), let byteCount = try? file.byteCount() else {
        return true
      }
      let mutex = MemoryLayout<pthread_mutex_t>.size
      let countPlace = Self.aligned(8 + mutex, 8) + 8
      let writerPlace = Self.aligned(countPlace + 8, Self.line)
      let firstReader = writerPlace + Self.aligned(mutex, Self.line)
      guard byteCount >= firstReader, byteCount <= Self.maximumByteCount else { return true }
      return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
        guard (try? file.read(buffer, at: 0)) == true else { return true }
        let bytes = UnsafeRawBufferPointer(buffer)
        guard bytes.uint32(0) == PageFormat.magic else { return true }
        // The kernel sets this bit where the owner of a robust mutex ends.
        let ownerDied: UInt32 = 0x4000_0000
        if bytes.uint32(writerPlace) & ownerDied != 0 { return true }
        let readerCount = Int(bytes.uint32(countPlace))
        guard readerCount <= (byteCount - firstReader) / Self.line else { return true }
        return (0..<readerCount).contains { number in
          let reader = firstReader + number * Self.line
          return bytes.uint32(reader + 8) != 0 && bytes.int(reader) != Self.noTransaction
        }
      }
    #else
      return true
    #endif
  }

  private static var line: Int { 64 }
  private static var noTransaction: Int { -1 }
  /// Larger than any table that Larder asks for.
  private static var maximumByteCount: Int { 1 << 20 }

  private static func aligned(_ count: Int, _ to: Int) -> Int { (count + to - 1) / to * to }
}
