extension Transaction where Self: ~Copyable {
  /// Keys that cut the records of a database into parts of about as many pages each, ascending. They are lent, as
  /// long as the transaction lives.
  ///
  /// Read from the branch pages where they lie in the map, some dozens at most. None in a write transaction, and none
  /// where the tree has one page, or a page that is not as it should be: this is no check.
  ///
  /// - Parameters:
  ///   - name: The database's own, under which the main database has its tree.
  ///   - most: Keys at most.
  /// - Throws: ``LMDBError`` when a page cannot be read.
  package borrowing func cuts(
    of database: Database, named name: String, most: Int
  ) throws -> [UnsafeRawBufferPointer] {
    var name = name
    let tree = try name.withUTF8 { name in
      try withValue(for: UnsafeRawBufferPointer(name), in: .main) { bytes in
        bytes.count == PageFormat.treeByteCount ? TreeRecord(bytes, at: 0) : nil
      }
    }
    guard let tree = tree ?? nil, (2...PageFormat.maximumDepth).contains(tree.depth),
      let pages = try branchPages(above: database)
    else { return [] }
    var children = [BranchPages.Child(key: .init(start: nil, count: 0), page: tree.root)]
    // Pages above the leaves, from the root down, until there are enough of them.
    for _ in 1..<tree.depth where children.count <= most {
      guard let next = pages.children(of: children) else { return [] }
      children = next
    }
    let partCount = min(most + 1, children.count)
    return (1..<max(partCount, 1)).map { children[$0 * children.count / partCount].key }
  }

  /// Where the pages lie; nil where they cannot be read where they lie, or there is no record.
  private borrowing func branchPages(above database: Database) throws -> BranchPages? {
    let byteCount = handle.state.pointee.runPageByteCount
    guard byteCount > 0 else { return nil }
    var cursor = try cursor(in: database)
    guard try cursor.first(), let key = cursor.key.baseAddress else { return nil }
    // Keys always stand in the leaf itself.
    let place = UInt(bitPattern: key) & ~(UInt(byteCount) - 1)
    guard let leaf = UnsafeRawPointer(bitPattern: place) else { return nil }
    let number = UnsafeRawBufferPointer(start: leaf, count: byteCount).int(0)
    let last = Calls.lastPageNumber(of: handle.pointer)
    guard last > 0, (1...last).contains(number) else { return nil }
    return BranchPages(first: leaf - number * byteCount, byteCount: byteCount, lastPage: last)
  }
}

/// Branch pages of a snapshot, read where they lie.
private struct BranchPages {
  /// Where page 0 lies.
  let first: UnsafeRawPointer
  let byteCount: Int
  let lastPage: Int

  struct Child {
    /// No key below the page comes before it.
    let key: UnsafeRawBufferPointer
    let page: Int
  }

  /// The children of pages that follow each other; nil where one of the pages is not as it should be.
  func children(of parents: [Child]) -> [Child]? {
    var children: [Child] = []
    for parent in parents {
      guard (1...lastPage).contains(parent.page) else { return nil }
      let page = UnsafeRawBufferPointer(start: first + parent.page * byteCount, count: byteCount)
      let lower = Int(page.uint16(12))
      guard page.int(0) == parent.page, page.uint16(10) == PageFormat.branch, lower <= byteCount,
        lower >= PageFormat.headerByteCount
      else { return nil }
      for index in 0..<(lower - PageFormat.headerByteCount) / 2 {
        let place = Int(page.uint16(PageFormat.headerByteCount + 2 * index))
        guard place <= byteCount - PageFormat.nodeByteCount else { return nil }
        let node = PageNodes.Node(page, place)
        // The first node of a page has any key, and is found where its parent's key says.
        children.append(Child(key: index == 0 ? parent.key : node.key, page: node.child))
      }
    }
    return children
  }
}
