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

extension MetaPages {
  /// What tells that the numbers of the transactions are not those that the pages were written with,
  /// so that the newest commit would be taken for an older one; nil when nothing does.
  ///
  /// A commit writes into its own list of free pages, under its own number, what it let go of: at
  /// least the root that it replaced.
  ///
  /// The older commit's pages need not be there any more. Where meta pages are not flushed, a loss
  /// of power leaves two commits of which the older one's pages were given to one that is gone. So
  /// of its list only the number counts that a newest commit would have which is taken for older,
  /// and only in a list as long as it should be.
  ///
  /// The file must not change meanwhile.
  func contradiction(_ file: borrowing PageFile) throws(LMDBError) -> PageFault? {
    if let last = try Self.lastFreeing(older, file, isCounted: true), last == older.transaction + 2
    {
      return PageFault(
        page: older.number,
        reason: "it is of transaction \(older.transaction), and its free pages of \(last)")
    }
    guard !older.main.isEmpty, let last = try Self.lastFreeing(newest, file) else { return nil }
    guard last != newest.transaction else { return nil }
    return PageFault(
      page: newest.number,
      reason: "it is of transaction \(newest.transaction), and its free pages of \(last)")
  }

  /// Whether the older page has the trees of the commit behind the newest: what LMDB leaves of one
  /// whose meta page could not be written. It looks as if the newest commit were of an older number,
  /// so that somebody must know that there was such a failure.
  ///
  /// The file must not change meanwhile.
  func isHalfCommit(_ file: borrowing PageFile) throws(LMDBError) -> Bool {
    // It has the old end of the file, too, beyond which the root of a new tree may lie.
    if let last = try Self.lastFreeing(older, file), last != newest.transaction + 1 { return false }
    let last = try Self.lastFreeing(newest, file)
    // The first commit let go of nothing.
    return last == newest.transaction || older.transaction == 0 && last == 0
  }

  /// The last transaction in the list of free pages, 0 where it is empty; nil where it cannot be read.
  ///
  /// - Parameter isCounted: Nil also where its one page has not as many entries as the meta page says.
  private static func lastFreeing(
    _ meta: MetaPage, _ file: borrowing PageFile, isCounted: Bool = false
  ) throws(LMDBError) -> Int? {
    let tree = meta.freeList
    if tree.isEmpty { return 0 }
    guard (1...PageFormat.maximumDepth).contains(tree.depth) else { return nil }
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: meta.pageByteCount, alignment: 16)
    defer { buffer.deallocate() }
    var starts = [UInt64](repeating: 0, count: meta.pageByteCount / 128 + 1)
    var page = tree.root
    for level in 1...tree.depth {
      guard page >= PageFormat.metaPageCount, page <= meta.lastPage,
        try file.read(buffer, at: page * meta.pageByteCount)
      else { return nil }
      let nodes = starts.withUnsafeMutableBufferPointer { starts in
        starts.baseAddress.flatMap {
          try? PageNodes(
            UnsafeRawBufferPointer(buffer), number: page, isBranch: level < tree.depth,
            minimumCount: 1, starts: $0)
        }
      }
      guard let nodes else { return nil }
      if isCounted, tree.depth == 1, nodes.count != tree.entryCount { return nil }
      let last = nodes[nodes.count - 1]
      if level == tree.depth { return last.key.count == 8 ? last.key.int(0) : nil }
      page = last.child
    }
    return nil
  }
}
