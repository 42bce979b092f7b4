#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Looks at a data file before LMDB maps it: a page behind the file's end would end the process
/// with a bus error.
///
/// A file that is as long as its newer meta page says is let through at once. One that is shorter
/// was cut off, or its last pages were never used; it is told apart by walking its trees, which
/// reads every branch and leaf page. Other damage is not looked for here.
/// Source: the page layout of LMDB 0.9, `mdb.c`, "Page Flags" to `MDB_meta`.
struct Preflight: ~Copyable {
  private let descriptor: Int32
  private let path: String
  private let pageByteCount: Int
  private let pageCount: Int
  private var seen: Set<Int> = []

  /// - Throws: ``LMDBError/Code/corrupted`` for a file that was cut off.
  static func check(_ path: String) throws(LMDBError) {
    let descriptor = SystemCall.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemCall.failure("open", path: path) }
    defer { SystemCall.closeDescriptor(descriptor) }
    // Another process may commit meanwhile; what is wrong then is right a moment later.
    for attempt in 0..<3 {
      // The size after the meta page: a commit in between only makes the file longer.
      guard let meta = Meta.newest(descriptor) else { return }
      let byteCount = try SafeFiles.byteCount(path)
      if byteCount >= meta.neededByteCount { return }
      var walk = Preflight(descriptor, path, meta, byteCount)
      do throws(LMDBError) {
        for root in meta.roots { try walk.visit(root, depth: 0) }
        return
      } catch {
        if attempt == 2 { throw error }
      }
    }
  }

  private init(_ descriptor: Int32, _ path: String, _ meta: Meta, _ byteCount: Int) {
    self.descriptor = descriptor
    self.path = path
    pageByteCount = meta.pageByteCount
    pageCount = byteCount / meta.pageByteCount
  }

  private func corrupted() -> LMDBError {
    LMDBError(
      .corrupted, operation: "open", path: path,
      detail: "the file was cut off, and pages that it needs are missing")
  }

  /// Visits a page and all below it; no tree of LMDB is deeper than 32 pages.
  private mutating func visit(_ number: Int, depth: Int) throws(LMDBError) {
    if number == -1 { return }  // An empty tree.
    guard (2..<max(2, pageCount)).contains(number), depth < 32, seen.insert(number).inserted,
      let page = Bytes(descriptor, at: number * pageByteCount, count: pageByteCount)
    else { throw corrupted() }
    let isBranch = page.uint16(10) & 0x01 != 0
    let lower = Int(page.uint16(12))
    guard (16...pageByteCount).contains(lower) else { throw corrupted() }
    for place in stride(from: 16, to: lower - 1, by: 2) {
      let node = Int(page.uint16(place))
      guard (lower...pageByteCount - 8).contains(node) else { throw corrupted() }
      let size = Int(page.uint16(node)) | Int(page.uint16(node + 2)) << 16
      let flags = Int(page.uint16(node + 4))
      if isBranch {
        try visit(size | flags << 32, depth: depth + 1)
        continue
      }
      let data = node + 8 + Int(page.uint16(node + 6))
      if flags & 0x01 != 0 {  // The value stands on pages of its own.
        guard data <= pageByteCount - 8 else { throw corrupted() }
        try visitOverflow(page.int(data), size: size)
      } else if flags & 0x02 != 0 {  // A named database: its root is the last number.
        guard data <= pageByteCount - 48 else { throw corrupted() }
        try visit(page.int(data + 40), depth: depth + 1)
      }
    }
  }

  private func visitOverflow(_ number: Int, size: Int) throws(LMDBError) {
    let count = (16 + size + pageByteCount - 1) / pageByteCount
    guard number >= 2, number <= pageCount, count <= pageCount - number else {
      throw corrupted()
    }
  }

  /// What a meta page says that is needed here.
  private struct Meta {
    let pageByteCount: Int
    let neededByteCount: Int
    let roots: [Int]
    private let transaction: Int

    /// The newer of the two; nil where neither is one, which LMDB then says itself.
    static func newest(_ descriptor: Int32) -> Meta? {
      guard let first = Bytes(descriptor, at: 0, count: 176), let one = Meta(first) else {
        return nil
      }
      guard let second = Bytes(descriptor, at: one.pageByteCount, count: 176),
        let other = Meta(second)
      else { return one }
      return other.transaction > one.transaction ? other : one
    }

    private init?(_ page: borrowing Bytes) {
      guard page.uint16(10) & 0x08 != 0, page.int(16) & 0xFFFF_FFFF == 0xBEEF_C0DE else {
        return nil
      }
      let size = Int(page.uint16(40)) | Int(page.uint16(42)) << 16
      let last = page.int(136)
      guard (512...65536).contains(size), size & (size - 1) == 0, (1..<1 << 44).contains(last)
      else { return nil }
      pageByteCount = size
      neededByteCount = (last + 1) * size
      roots = [page.int(40 + 40), page.int(88 + 40)]
      transaction = page.int(144)
    }
  }

  /// Bytes of the file, read and not mapped.
  private struct Bytes: ~Copyable {
    private let bytes: [UInt8]

    init?(_ descriptor: Int32, at offset: Int, count: Int) {
      var bytes = [UInt8](repeating: 0, count: count)
      guard pread(descriptor, &bytes, count, off_t(offset)) == count else { return nil }
      self.bytes = bytes
    }

    func uint16(_ place: Int) -> UInt16 { UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8 }

    func int(_ place: Int) -> Int {
      bytes.withUnsafeBytes {
        Int(littleEndian: $0.loadUnaligned(fromByteOffset: place, as: Int.self))
      }
    }
  }
}
