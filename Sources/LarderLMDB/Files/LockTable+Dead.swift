// What the table says of processes that are gone. Nobody has the store open, and LMDB has not cleared
// it yet.
extension LockTable {
  /// Whether a process ended inside of a transaction, as one does that LMDB ended on a damaged page.
  /// True also where that cannot be told.
  func someoneDiedInside() -> Bool {
    #if os(Linux) && canImport(Glibc)
      guard let file = try? PageFile(files.lock), let byteCount = try? file.byteCount(),
        byteCount >= Place.readers, byteCount <= Self.maximumByteCount
      else { return true }
      return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { buffer in
        guard (try? file.read(buffer, at: 0)) == true else { return true }
        let bytes = UnsafeRawBufferPointer(buffer)
        guard bytes.uint32(0) == PageFormat.magic else { return true }
        // The kernel sets this bit where the owner of a robust mutex ends.
        let ownerDied: UInt32 = 0x4000_0000
        if bytes.uint32(Place.writers) & ownerDied != 0 { return true }
        let readerCount = Int(bytes.uint32(Place.readerCount))
        guard readerCount <= (byteCount - Place.readers) / Place.lineByteCount else { return true }
        return (0..<readerCount).contains { number in
          let reader = Place.readers + number * Place.lineByteCount
          return bytes.uint32(reader + 8) != 0 && bytes.int(reader) != Self.noTransaction
        }
      }
    #else
      return true
    #endif
  }

  private static var noTransaction: Int { -1 }
  /// Larger than any table that Larder asks for.
  private static var maximumByteCount: Int { 1 << 20 }
}
