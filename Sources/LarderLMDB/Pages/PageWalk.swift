#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#endif

/// Reads every page of one commit's trees and compares it with all that LMDB takes for granted:
/// what it finds sound, LMDB can read, and write to, without a crash or an endless loop.
///
/// The trees have the depth and the counts that their records say; pages carry their own number,
/// and are reached once; nodes lie within their page, apart from each other; keys ascend, and lie
/// between those of the branches above; no page in use is free. What values hold is not looked at.
/// It takes two bits of memory for each page of the file.
///
/// The file must not change meanwhile, or the commit must be held by a reader.
struct PageWalk: ~Copyable {
  let file: PageFile
  let pageByteCount: Int
  let pageCount: Int
  let lastPage: Int
  let transaction: Int
  private(set) var report = PageReport()
  var used: PageSet
  var free: PageSet
  /// Free pages behind the end of the file: they were never written.
  var freeBeyond: Set<Int> = []
  /// Named databases, found in the main tree.
  var trees: [(name: String, record: TreeRecord, page: Int)] = []
  /// A page for each level of a tree.
  private let buffers: UnsafeMutableRawBufferPointer
  private let starts: UnsafeMutablePointer<UInt64>
  private let startWordCount: Int
  var isStopped = false
  private var nextProgress = Self.progressPageCount
  private static let progressPageCount = 4096

  /// The tree that is walked.
  var tree = Tree()

  struct Tree {
    var name = ""
    var depth = 0
    var isFreeList = false
    var isMain = false
    var branchPageCount = 0
    var leafPageCount = 0
    var overflowPageCount = 0
    var entryCount = 0
  }

  init(_ file: consuming PageFile, _ meta: MetaPage) throws(LMDBError) {
    pageByteCount = meta.pageByteCount
    let byteCount = try file.byteCount()
    pageCount = byteCount / pageByteCount
    lastPage = meta.lastPage
    transaction = meta.transaction
    used = PageSet(limit: pageCount)
    free = PageSet(limit: pageCount)
    buffers = .allocate(
      byteCount: (PageFormat.maximumDepth + 1) * pageByteCount, alignment: 16)
    startWordCount = pageByteCount / 128 + 1
    starts = .allocate(capacity: startWordCount)
    starts.initialize(repeating: 0, count: startWordCount)
    file.prefetch(byteCount: byteCount)
    self.file = file
    report.pageByteCount = pageByteCount
    report.pageCount = pageCount
  }

  deinit {
    buffers.deallocate()
    starts.deallocate()
  }

  /// Walks all trees of the commit.
  ///
  /// - Parameter progress: Told now and then how many pages of how many were read; false ends the
  ///   walk early.
  /// - Throws: ``LMDBError`` when the disk cannot be read.
  mutating func run(
    _ meta: MetaPage, progress: (Int, Int) -> Bool = { _, _ in true }
  ) throws(LMDBError) {
    for page in 0..<min(PageFormat.metaPageCount, pageCount) { _ = used.insert(page) }
    tree = Tree(name: "the free list", isFreeList: true)
    try walk(meta.freeList, page: meta.number, progress)
    tree = Tree(name: "the main tree", isMain: true)
    try walk(meta.main, page: meta.number, progress)
    // One after the other, as the tree in a main leaf would need a second set of buffers.
    var next = 0
    while next < trees.count, !isStopped {
      tree = Tree(name: trees[next].name)
      try walk(trees[next].record, page: trees[next].page, progress)
      next += 1
    }
    if report.faults.isEmpty, !isStopped { checkEnd() }
    report.usedPageCount = used.count
    report.freePageCount = free.count + freeBeyond.count
    report.isComplete = !isStopped
  }

  mutating func add(_ page: Int, _ reason: String) {
    add(PageFault(page: page, reason: reason))
  }

  private mutating func add(_ fault: PageFault) {
    report.faults.append(fault)
    if report.faults.count >= PageReport.maximumFaultCount { isStopped = true }
  }

  /// Pages that LMDB allocated and gave back before they were written make a file shorter than its
  /// last page says. They are free then; a last page far behind is damage.
  private mutating func checkEnd() {
    let missing = lastPage + 1 - pageCount - freeBeyond.count
    if missing > Self.maximumMissingCount {
      add(0, "the last page is \(lastPage), and the file has \(pageCount) pages")
    }
  }

  private static let maximumMissingCount = 1 << 16
}

// MARK: Trees

extension PageWalk {
  private mutating func walk(
    _ record: TreeRecord, page: Int, _ progress: (Int, Int) -> Bool
  ) throws(LMDBError) {
    if isStopped { return }
    let faultCount = report.faults.count
    if record.isEmpty {
      guard record.depth == 0 else {
        return add(page, "\(tree.name) has no root and \(record.depth) levels")
      }
    } else {
      guard (1...PageFormat.maximumDepth).contains(record.depth) else {
        return add(page, "\(tree.name) has \(record.depth) levels")
      }
      tree.depth = record.depth
      try visit(record.root, level: 1, from: page, lower: nil, upper: nil, progress)
    }
    guard report.faults.count == faultCount, !isStopped else { return }
    compare(tree.entryCount, record.entryCount, "entries", page)
    compare(tree.branchPageCount, record.branchPageCount, "branch pages", page)
    compare(tree.leafPageCount, record.leafPageCount, "leaf pages", page)
    compare(tree.overflowPageCount, record.overflowPageCount, "overflow pages", page)
  }

  private mutating func compare(_ found: Int, _ said: Int, _ what: String, _ page: Int) {
    if found != said { add(page, "\(tree.name) has \(found) \(what) and says \(said)") }
  }

  /// Notes that the page is in use; false when it cannot be.
  mutating func claim(_ page: Int, from parent: Int) -> Bool {
    guard page >= PageFormat.metaPageCount, page <= lastPage else {
      add(parent, "it leads to page \(page), and there are \(lastPage + 1)")
      return false
    }
    guard page < pageCount else {
      add(page, "the file ends before it")
      return false
    }
    guard !free.contains(page) else {
      add(page, "it is free, and page \(parent) leads to it")
      return false
    }
    guard used.insert(page) else {
      add(page, "two places lead to it, page \(parent) the second time")
      return false
    }
    return true
  }

  /// Visits a page and all below it. The keys in it lie from `lower` to below `upper`.
  private mutating func visit(
    _ page: Int, level: Int, from parent: Int, lower: UnsafeRawBufferPointer?,
    upper: UnsafeRawBufferPointer?, _ progress: (Int, Int) -> Bool
  ) throws(LMDBError) {
    guard !isStopped, claim(page, from: parent) else { return }
    if used.count >= nextProgress {
      nextProgress = used.count + Self.progressPageCount
      guard progress(used.count, pageCount) else {
        isStopped = true
        return
      }
    }
    let start = level * pageByteCount
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers[start..<start + pageByteCount])
    guard try file.read(buffer, at: page * pageByteCount) else {
      return add(page, "the file ends in it")
    }
    let isBranch = level < tree.depth
    let nodes: PageNodes
    do throws(PageFault) {
      // LMDB asserts two in a branch, except in the free list, which it changes while it reads.
      nodes = try PageNodes(
        UnsafeRawBufferPointer(buffer), number: page, isBranch: isBranch,
        minimumCount: isBranch && !tree.isFreeList ? 2 : 1, starts: starts)
    } catch {
      return add(error)
    }
    guard checkOrder(nodes, page, lower, upper) else { return }
    if isBranch {
      tree.branchPageCount += 1
      for index in 0..<nodes.count {
        try visit(
          nodes[index].child, level: level + 1, from: page,
          lower: index == 0 ? lower : nodes[index].key,
          upper: index + 1 < nodes.count ? nodes[index + 1].key : upper, progress)
      }
    } else {
      tree.leafPageCount += 1
      tree.entryCount += nodes.count
      for index in 0..<nodes.count where !isStopped { try check(nodes[index], nodes, page) }
    }
  }

  /// Keys ascend within the page and lie within the bounds. The first of a branch stands for
  /// everything below the second, whatever it is.
  private mutating func checkOrder(
    _ nodes: PageNodes, _ page: Int, _ lower: UnsafeRawBufferPointer?,
    _ upper: UnsafeRawBufferPointer?
  ) -> Bool {
    let first = nodes.isBranch ? 1 : 0
    guard first < nodes.count else { return true }
    if tree.isFreeList {
      for index in first..<nodes.count where nodes[index].key.count != 8 {
        add(page, "key \(index) of the free list is no transaction")
        return false
      }
    }
    for index in first..<nodes.count {
      let earlier = index == first ? lower : nodes[index - 1].key
      if let earlier {
        let order = compare(earlier, nodes[index].key)
        guard order < 0 || order == 0 && index == first && !nodes.isBranch else {
          add(page, "key \(index) is out of order")
          return false
        }
      }
    }
    if let upper, compare(nodes[nodes.count - 1].key, upper) >= 0 {
      add(page, "its last key belongs to the page after it")
      return false
    }
    return true
  }

  private func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    if tree.isFreeList, left.count == 8, right.count == 8 {
      let (left, right) = (UInt(bitPattern: left.int(0)), UInt(bitPattern: right.int(0)))
      return left < right ? -1 : left == right ? 0 : 1
    }
    let common = min(left.count, right.count)
    if common > 0, let a = left.baseAddress, let b = right.baseAddress {
      let difference = Int(memcmp(a, b, common))
      if difference != 0 { return difference }
    }
    return left.count - right.count
  }
}
