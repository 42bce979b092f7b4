/// The page layout of LMDB 0.9 on machines with 64 bits, little-endian.
///
/// ```
/// page       0 number, 8    8 pad, 2    10 flags, 2
///            12 lower, 2    14 upper, 2      overflow pages: 12 how many pages the run has, 4
///            16 place of each node, 2 each, in the order of the keys; from `upper` on the nodes
/// branch     0 child page, low 32 bits    4 its high 16 bits    6 key length, 2    8 key
/// leaf       0 value length, 4            4 flags, 2            6 key length, 2    8 key, value
/// tree       0 pad, 4    4 flags, 2    6 depth, 2    8 branch pages, 8    16 leaf pages, 8
///            24 overflow pages, 8      32 entries, 8              40 root, 8: -1 when empty
/// meta page  16 magic, 4    20 version, 4    24 address, 8    32 map size, 8
///            40 tree of the free list, whose pad is the page size
///            88 main tree    136 last page, 8    144 transaction, 8
/// free list  a transaction, 8 -> a count, then so many pages that it let go of, descending
/// ```
/// Source: OpenLDAP's `mdb.c` of LMDB 0.9, the comments and structures from "Page Flags" to
/// `MDB_meta`, and "Internal ID List" of `midl.h`. Pages 0 and 1 are meta pages; a commit of
/// transaction `n` writes page `n & 1`.
enum PageFormat {
  static let headerByteCount = 16
  static let nodeByteCount = 8
  static let treeByteCount = 48
  static let metaByteCount = 152
  static let metaPageCount = 2
  static let magic: UInt32 = 0xBEEF_C0DE
  static let version: UInt32 = 1
  /// Levels of the deepest tree that LMDB's cursors take.
  static let maximumDepth = 32
  static let maximumKeyByteCount = 511
  static let pageByteCounts = 512...32_768
  /// More than the address space of a process has.
  static let maximumPageCount = 1 << 38

  /// Flags of a page.
  static let branch: UInt16 = 0x01
  static let leaf: UInt16 = 0x02
  static let overflow: UInt16 = 0x04
  static let meta: UInt16 = 0x08

  /// Flags of a leaf's node: the value stands on pages of its own; it is a tree; it is several.
  static let isBig: UInt16 = 0x01
  static let isTree: UInt16 = 0x02

  /// Flags of a tree: keys are integers, which the free list's alone are. A file that is no folder
  /// carries another one there.
  static let integerKeys: UInt16 = 0x08
  static let withoutFolder: UInt16 = 0x4000

  /// The largest node, value included, whose value stands in the leaf itself.
  static func maximumNodeByteCount(pageByteCount: Int) -> Int {
    ((pageByteCount - headerByteCount) / 2 & ~1) - 2
  }

  /// Pages that a value on pages of its own takes at least.
  static func overflowPageCount(_ valueByteCount: Int, pageByteCount: Int) -> Int {
    (headerByteCount - 1 + valueByteCount) / pageByteCount + 1
  }
}

extension UnsafeRawBufferPointer {
  // The place is always within: whoever calls has compared it with the page's size.

  @inline(__always) func uint16(_ place: Int) -> UInt16 {
    UInt16(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt16.self))
  }

  @inline(__always) func uint32(_ place: Int) -> UInt32 {
    UInt32(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt32.self))
  }

  @inline(__always) func int(_ place: Int) -> Int {
    Int(
      truncatingIfNeeded: Int64(littleEndian: loadUnaligned(fromByteOffset: place, as: Int64.self)))
  }
}

/// What LMDB keeps of one tree.
struct TreeRecord: Equatable {
  let pad: UInt32
  let flags: UInt16
  let depth: Int
  let branchPageCount: Int
  let leafPageCount: Int
  let overflowPageCount: Int
  let entryCount: Int
  let root: Int

  static let noPage = -1

  init(_ bytes: UnsafeRawBufferPointer, at place: Int) {
    pad = bytes.uint32(place)
    flags = bytes.uint16(place + 4)
    depth = Int(bytes.uint16(place + 6))
    branchPageCount = bytes.int(place + 8)
    leafPageCount = bytes.int(place + 16)
    overflowPageCount = bytes.int(place + 24)
    entryCount = bytes.int(place + 32)
    root = bytes.int(place + 40)
  }

  var isEmpty: Bool { root == Self.noPage }

  /// Whether a file could have so many pages.
  var isPossible: Bool {
    let pages = 0..<PageFormat.maximumPageCount
    return pages.contains(branchPageCount) && pages.contains(leafPageCount)
      && pages.contains(overflowPageCount) && entryCount >= 0
  }
}

/// A meta page: where one commit left the file.
struct MetaPage: Equatable {
  /// 0 or 1.
  let number: Int
  let pageByteCount: Int
  let freeList: TreeRecord
  let main: TreeRecord
  let lastPage: Int
  let transaction: Int

  /// - Throws: What is wrong with the page itself; the trees are not looked at.
  init(_ bytes: UnsafeRawBufferPointer, number: Int) throws(PageFault) {
    func fault(_ reason: String) -> PageFault { PageFault(page: number, reason: reason) }
    guard bytes.count >= PageFormat.metaByteCount else { throw fault("the file ends in it") }
    guard bytes.uint16(10) == PageFormat.meta else { throw fault("it is no meta page") }
    guard bytes.uint32(16) == PageFormat.magic else { throw fault("the mark of LMDB is missing") }
    let version = bytes.uint32(20)
    guard version == PageFormat.version else {
      throw fault("its format is \(version), not \(PageFormat.version)")
    }
    self.number = number
    freeList = TreeRecord(bytes, at: 40)
    main = TreeRecord(bytes, at: 88)
    lastPage = bytes.int(136)
    transaction = bytes.int(144)
    pageByteCount = Int(freeList.pad)
    guard PageFormat.pageByteCounts.contains(pageByteCount), pageByteCount.nonzeroBitCount == 1
    else { throw fault("the page size \(pageByteCount) is none") }
    guard (1..<PageFormat.maximumPageCount).contains(lastPage) else {
      throw fault("the last page \(lastPage) is none")
    }
    guard (0..<Int.max).contains(transaction) else {
      throw fault("the transaction \(transaction) is none")
    }
    guard freeList.flags & ~PageFormat.withoutFolder == PageFormat.integerKeys, main.flags == 0
    else {
      throw fault("its trees have flags that no store of Larder has")
    }
    guard freeList.isPossible, main.isPossible else {
      throw fault("its trees have more pages than any file")
    }
    guard bytes.int(0) == number else { throw fault("it carries the number \(bytes.int(0))") }
  }

  /// Bytes that the file has when every page was written.
  var fullByteCount: Int { (lastPage + 1) * pageByteCount }
}
