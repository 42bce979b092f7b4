#if canImport(Glibc)
  import Glibc
#endif

/// The word of `lock.mdb` that names the thread which has LMDB's lock of writers, as memory: every write
/// looks at it, for which a call of the system would be too much.
struct LockWord: Sendable {
  #if canImport(Glibc) && _endian(little) && _pointerBitWidth(_64)
    private let start: Int

    /// Nil where the file cannot be mapped, or is not as LMDB 0.9 has it.
    init?(_ descriptor: Int32?) {
      guard let descriptor,
        let page = mmap(nil, SystemCall.pageByteCount, PROT_READ, MAP_SHARED, descriptor, 0),
        page != MAP_FAILED
      else { return nil }
      start = Int(bitPattern: page)
      // A map is a share in the open file, with which a forked child would keep the ``ReaderLock``.
      guard madvise(page, SystemCall.pageByteCount, MADV_DONTFORK) == 0,
        page.load(as: UInt32.self) == PageFormat.magic
      else {
        unmap()
        return nil
      }
    }

    /// Zero for nobody.
    var owner: Int32 {
      let page = UnsafeRawPointer(bitPattern: start)
      let word = page?.load(fromByteOffset: LockTable.Place.writers, as: UInt32.self) ?? 0
      return Int32(bitPattern: word & Self.ownerMask)
    }

    /// Nobody may look at it any more.
    func unmap() { munmap(UnsafeMutableRawPointer(bitPattern: start), SystemCall.pageByteCount) }
  #else
    init?(_ descriptor: Int32?) { return nil }
    var owner: Int32 { 0 }
    func unmap() {}
  #endif

  /// Without the bits that others wait, and that the owner has died.
  static var ownerMask: UInt32 { 0x3FFF_FFFF }
}
