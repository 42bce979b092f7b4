// What the nodes of leaves hold: values, named databases, and lists of free pages.

extension PageWalk {
  mutating func check(
    _ node: PageNodes.Node, _ nodes: PageNodes, _ page: Int
  ) throws(LMDBError) {
    switch node.flags {
    case PageFormat.isBig:
      let first = nodes.page.int(node.valuePlace)
      guard try claimRun(first, node.valueByteCount, from: page) else { return }
      if tree.isFreeList { try checkFreePages(node, at: first * pageByteCount + 16, page) }
    case PageFormat.isTree:
      guard tree.isMain, node.valueByteCount == PageFormat.treeByteCount else {
        return add(page, "it has a tree where none can be")
      }
      let name = String(decoding: node.key, as: UTF8.self)
      let record = TreeRecord(nodes.page, at: node.valuePlace)
      guard record.flags == 0 else {
        return add(page, "database \(name) has flags that no store of Larder has")
      }
      trees.append(("database \(name)", record, page))
    default:
      guard tree.isFreeList else { return }
      checkFreePages(nodes.value(node), transaction: node.key.int(0), page)
    }
  }

  /// Claims the pages of a value that stands on pages of its own.
  private mutating func claimRun(
    _ first: Int, _ byteCount: Int, from page: Int
  ) throws(LMDBError) -> Bool {
    guard claim(first, from: page) else { return false }
    var count = 0
    let isRead = try withUnsafeTemporaryAllocation(
      byteCount: PageFormat.headerByteCount, alignment: 8
    ) { header throws(LMDBError) in
      guard try file.read(header, at: first * pageByteCount) else { return false }
      let header = UnsafeRawBufferPointer(header)
      guard header.int(0) == first, header.uint16(10) == PageFormat.overflow else { return false }
      count = Int(header.uint32(12))
      return true
    }
    guard isRead else {
      add(first, "it is not the first page of a value")
      return false
    }
    let needed = PageFormat.overflowPageCount(byteCount, pageByteCount: pageByteCount)
    guard count >= needed, count <= lastPage + 1 - first else {
      add(first, "its value takes \(needed) pages and has \(count)")
      return false
    }
    for other in first + 1..<first + count {
      guard claim(other, from: first) else { return false }
    }
    tree.overflowPageCount += count
    return true
  }

  private mutating func checkFreePages(
    _ node: PageNodes.Node, at offset: Int, _ page: Int
  ) throws(LMDBError) {
    let transaction = node.key.int(0)
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(node.valueByteCount, 8), alignment: 8)
    defer { buffer.deallocate() }
    let value = UnsafeMutableRawBufferPointer(rebasing: buffer[..<node.valueByteCount])
    guard try file.read(value, at: offset) else { return add(page, "the file ends in its value") }
    checkFreePages(UnsafeRawBufferPointer(value), transaction: transaction, page)
  }

  /// Notes the pages that a transaction let go of.
  private mutating func checkFreePages(
    _ list: UnsafeRawBufferPointer, transaction: Int, _ page: Int
  ) {
    guard (1...max(1, self.transaction)).contains(transaction) else {
      return add(page, "transaction \(transaction) of the free list has not been")
    }
    guard list.count >= 8, list.count & 7 == 0, (0..<list.count / 8).contains(list.int(0)) else {
      return add(page, "the free pages of transaction \(transaction) are no list")
    }
    var last = Int.max
    for index in 0..<list.int(0) {
      let number = list.int(8 * (index + 1))
      guard number < last, number >= PageFormat.metaPageCount, number <= lastPage else {
        return add(page, "the free pages of transaction \(transaction) are out of order")
      }
      last = number
      guard number < pageCount else {
        guard freeBeyond.insert(number).inserted else {
          return add(number, "it is free twice")
        }
        continue
      }
      guard !used.contains(number) else { return add(number, "it is in use and free") }
      guard free.insert(number) else { return add(number, "it is free twice") }
    }
  }
}
