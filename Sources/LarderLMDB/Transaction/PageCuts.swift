extension Transaction where Self: ~Copyable {
  /// Keys that cut the records of a database into parts of about as many pages each, ascending. They are lent, as
  /// long as the transaction lives.
  ///
  /// Read from the branch pages where they lie in the map, some dozens at most. None in a write transaction, and none
  /// where the tree has one page, or a branch page is not as it should be. Keys there are not checked: where one is
  /// damaged, the way down to it passes over records.
  ///
  /// - Parameters:
  ///   - name: The database's own, under which the main database has its tree.
  ///   - maximumCount: Keys at most.
  /// - Throws: ``LMDBError`` when a page cannot be read.
  package borrowing func cuts(
    of database: Database, named name: String, maximumCount: Int
  ) throws -> [UnsafeRawBufferPointer] {
    let byteCount = handle.state.pointee.runPageByteCount
    guard byteCount > 0 else { return [] }
    var name = name
    let main = try name.withUTF8 { name in
      try withValue(for: UnsafeRawBufferPointer(name), in: .main) { bytes in
        bytes.count == PageFormat.treeByteCount
          ? (TreeRecord(bytes, at: 0), Self.firstPage(below: bytes, byteCount)) : nil
      }
    }
    guard let (tree, first) = main ?? nil, (2...PageFormat.maximumDepth).contains(tree.depth)
    else { return [] }
    var cursor = try cursor(in: database)
    // Where the number of either page is damaged, they do not agree on where the file begins.
    guard let first, try cursor.first(), Self.firstPage(below: cursor.key, byteCount) == first
    else { return [] }
    let pages = BranchPages(
      first: first, byteCount: byteCount, lastPage: Calls.lastPageNumber(of: handle.pointer))
    var children = [BranchPages.Child(key: .init(start: nil, count: 0), page: tree.root)]
    // Pages above the leaves, from the root down, until there are enough of them.
    for _ in 1..<tree.depth where children.count <= maximumCount {
      guard let next = pages.children(of: children) else { return [] }
      children = next
    }
    let partCount = min(maximumCount + 1, children.count)
    return (1..<max(partCount, 1)).map { children[$0 * children.count / partCount].key }
  }

  /// Where page 0 lies, by the number of the leaf that some bytes stand in.
  private static func firstPage(
    below bytes: UnsafeRawBufferPointer, _ byteCount: Int
  ) -> UnsafeRawPointer? {
    guard let start = bytes.baseAddress,
      let leaf = UnsafeRawPointer(
        bitPattern: UInt(bitPattern: start) & ~(UInt(byteCount) - 1))
    else { return nil }
    let number = UnsafeRawBufferPointer(start: leaf, count: byteCount).int(0)
    guard (1..<PageFormat.maximumPageCount).contains(number) else { return nil }
    return UnsafeRawPointer(bitPattern: Int(bitPattern: leaf) - number * byteCount)
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
    withUnsafeTemporaryAllocation(of: UInt64.self, capacity: byteCount / 128) { starts in
      starts.initialize(repeating: 0)
      guard let starts = starts.baseAddress else { return nil }
      var children: [Child] = []
      for parent in parents {
        guard (2...lastPage).contains(parent.page) else { return nil }
        let page = UnsafeRawBufferPointer(start: first + parent.page * byteCount, count: byteCount)
        guard
          let nodes = try? PageNodes(
            page, number: parent.page, isBranch: true, minimumCount: 1, starts: starts)
        else { return nil }
        for index in 0..<nodes.count {
          // The first node of a page has any key, and is found where its parent's key says.
          let node = nodes[index]
          children.append(Child(key: index == 0 ? parent.key : node.key, page: node.child))
        }
      }
      return children
    }
  }
}
