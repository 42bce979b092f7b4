/// Reads what can be read from a data file that LMDB must not open.
///
/// Records are handed out as they stand on pages that are sound in themselves; whether a record is
/// whole, and of which database, its own checksum has to tell. First come the records that the trees
/// of the newest commit lead to, then, where trees are broken and the list of free pages is whole,
/// those on leaves that no tree leads to any more and that are not free: of old records that were
/// changed or deleted before the commit none is handed out.
public struct PageSalvage: ~Copyable {
  private let file: PageFile
  private let meta: MetaPage?
  private let pageByteCount: Int
  /// Pages of the file.
  public let pageCount: Int
  private var reached: PageSet
  private var free: PageSet
  private var isFreeListWhole = true
  private let buffers: UnsafeMutableRawBufferPointer
  private let starts: UnsafeMutablePointer<UInt64>
  /// Whether the meta pages do not tell which commit is the newest, so that it may be the one before.
  public let mayBeEarlier: Bool
  /// Pages that something leads to and that cannot be read.
  public private(set) var skippedPageCount = 0
  private var readPageCount = 0

  /// What a record is handed to; `database` is nil where no tree leads to it. `readPageCount` is how
  /// many of the file's pages were read by then.
  public typealias Body = (
    _ database: String?, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    _ readPageCount: Int
  ) throws -> Void

  /// - Parameter path: The data file. It must not change meanwhile.
  /// - Throws: ``LMDBError`` when it cannot be opened.
  public init(path: String) throws(LMDBError) {
    let file = try PageFile(path)
    let (meta, isNewest) = try MetaPages.newestReadable(file)
    let byteCount = try file.byteCount()
    self.file = file
    self.meta = meta
    mayBeEarlier = !isNewest
    pageByteCount = meta?.pageByteCount ?? 4096
    pageCount = byteCount / pageByteCount
    reached = PageSet(limit: pageCount)
    free = PageSet(limit: pageCount)
    buffers = .allocate(byteCount: (PageFormat.maximumDepth + 1) * pageByteCount, alignment: 16)
    let wordCount = pageByteCount / 128 + 1
    starts = .allocate(capacity: wordCount)
    starts.initialize(repeating: 0, count: wordCount)
  }

  deinit {
    buffers.deallocate()
    starts.deallocate()
  }

  /// Lends every record; a second call lends none of the trees' again.
  ///
  /// - Throws: ``LMDBError`` when the disk cannot be read; whatever `body` throws.
  public mutating func forEachRecord(_ body: Body) throws {
    guard let meta else {
      // Nobody knows where anything is.
      skippedPageCount = pageCount
      return
    }
    for page in 0..<min(PageFormat.metaPageCount, pageCount) { _ = reached.insert(page) }
    try readFreeList(meta.freeList)
    var trees: [(String, TreeRecord)] = []
    try visit(meta.main, name: "", &trees, body)
    var ignored: [(String, TreeRecord)] = []
    for (name, tree) in trees { try visit(tree, name: name, &ignored, body) }
    // Without a fault every page is reached; with a broken list, pages may be old.
    guard skippedPageCount > 0, isFreeListWhole else { return }
    try visitOrphans(upTo: meta.lastPage, body)
  }

  /// A page's nodes; nil, and counted, where it cannot be read.
  private mutating func nodes(
    _ page: Int, level: Int, isBranch: Bool
  ) throws(LMDBError) -> PageNodes? {
    let start = level * pageByteCount
    let buffer = UnsafeMutableRawBufferPointer(rebasing: buffers[start..<start + pageByteCount])
    readPageCount += 1
    guard try file.read(buffer, at: page * pageByteCount) else { return nil }
    return try? PageNodes(
      UnsafeRawBufferPointer(buffer), number: page, isBranch: isBranch, minimumCount: 1,
      starts: starts)
  }

  private func isPage(_ page: Int) -> Bool {
    (PageFormat.metaPageCount..<max(PageFormat.metaPageCount, pageCount)).contains(page)
  }
}

// MARK: Trees

extension PageSalvage {
  private mutating func visit(
    _ tree: TreeRecord, name: String, _ trees: inout [(String, TreeRecord)], _ body: Body
  ) throws {
    guard !tree.isEmpty else { return }
    guard (1...PageFormat.maximumDepth).contains(tree.depth), tree.flags == 0 else {
      skippedPageCount += 1
      return
    }
    try visit(tree.root, 1, tree, name, &trees, body)
  }

  private mutating func visit(
    _ page: Int, _ level: Int, _ tree: TreeRecord, _ name: String,
    _ trees: inout [(String, TreeRecord)], _ body: Body
  ) throws {
    let isBranch = level < tree.depth
    guard isPage(page), !reached.contains(page), !free.contains(page),
      let nodes = try nodes(page, level: level, isBranch: isBranch)
    else {
      skippedPageCount += 1
      return
    }
    _ = reached.insert(page)
    for index in 0..<nodes.count {
      if isBranch {
        try visit(nodes[index].child, level + 1, tree, name, &trees, body)
      } else if nodes[index].flags == PageFormat.isTree {
        guard name.isEmpty, nodes[index].valueByteCount == PageFormat.treeByteCount else {
          continue
        }
        trees.append(
          (
            String(decoding: nodes[index].key, as: UTF8.self),
            TreeRecord(nodes.page, at: nodes[index].valuePlace)
          ))
      } else {
        try lend(nodes[index], nodes, name, body)
      }
    }
  }

  private mutating func lend(
    _ node: PageNodes.Node, _ nodes: PageNodes, _ name: String?, _ body: Body
  ) throws {
    guard node.flags == PageFormat.isBig else {
      return try body(name, node.key, nodes.value(node), readPageCount)
    }
    let first = nodes.page.int(node.valuePlace)
    guard let value = try bigValue(first, byteCount: node.valueByteCount) else {
      skippedPageCount += 1
      return
    }
    defer { value.deallocate() }
    try body(
      name, node.key, UnsafeRawBufferPointer(rebasing: value[..<node.valueByteCount]),
      readPageCount)
  }

  /// A value that stands on pages of its own, for the caller to deallocate; nil where it is none.
  private mutating func bigValue(
    _ first: Int, byteCount: Int
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    let count = PageFormat.overflowPageCount(byteCount, pageByteCount: pageByteCount)
    guard isPage(first), count <= pageCount - first else { return nil }
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.headerByteCount, alignment: 8)
    defer { header.deallocate() }
    guard try file.read(header, at: first * pageByteCount) else { return nil }
    let page = UnsafeRawBufferPointer(header)
    guard page.int(0) == first, page.uint16(10) == PageFormat.overflow,
      Int(page.uint32(12)) >= count
    else { return nil }
    for page in first..<first + count where !reached.insert(page) { return nil }
    readPageCount += count
    let value = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 1), alignment: 8)
    let bytes = UnsafeMutableRawBufferPointer(rebasing: value[..<byteCount])
    do throws(LMDBError) {
      if try file.read(bytes, at: first * pageByteCount + PageFormat.headerByteCount) {
        return value
      }
    } catch {
      value.deallocate()
      throw error
    }
    value.deallocate()
    return nil
  }
}

// MARK: Free pages and orphans

extension PageSalvage {
  private mutating func readFreeList(_ tree: TreeRecord) throws {
    var count = 0
    try readFreeList(tree.root, 1, tree, &count)
    if count != tree.entryCount { isFreeListWhole = false }
  }

  private mutating func readFreeList(
    _ page: Int, _ level: Int, _ tree: TreeRecord, _ count: inout Int
  ) throws {
    if page == TreeRecord.noPage { return }
    let isBranch = level < tree.depth
    guard level <= PageFormat.maximumDepth, isPage(page), !reached.contains(page),
      let nodes = try nodes(page, level: level, isBranch: isBranch)
    else {
      isFreeListWhole = false
      return
    }
    _ = reached.insert(page)
    for index in 0..<nodes.count {
      if isBranch {
        try readFreeList(nodes[index].child, level + 1, tree, &count)
      } else {
        count += 1
        var pages: [Int]?
        try lend(nodes[index], nodes, nil) { _, _, list, _ in pages = Self.freePages(list) }
        guard let pages else {
          isFreeListWhole = false
          continue
        }
        for page in pages where page < pageCount { _ = free.insert(page) }
      }
    }
  }

  /// The pages in one record of the list; nil when it is none.
  private static func freePages(_ list: UnsafeRawBufferPointer) -> [Int]? {
    guard list.count >= 8, (0..<list.count / 8).contains(list.int(0)) else { return nil }
    let pages = (0..<list.int(0)).map { list.int(8 * ($0 + 1)) }
    return pages.allSatisfy { $0 >= PageFormat.metaPageCount } ? pages : nil
  }

  /// The leaves that broken trees do not lead to any more.
  private mutating func visitOrphans(upTo lastPage: Int, _ body: Body) throws {
    // Pages behind belong to a later commit.
    let end = max(PageFormat.metaPageCount, min(pageCount, lastPage + 1))
    for page in PageFormat.metaPageCount..<end
    where !reached.contains(page) && !free.contains(page) {
      guard let nodes = try nodes(page, level: 0, isBranch: false) else { continue }
      _ = reached.insert(page)
      for index in 0..<nodes.count where nodes[index].flags != PageFormat.isTree {
        try lend(nodes[index], nodes, nil, body)
      }
    }
  }
}

extension MetaPages {
  /// The newest meta page that is sound in itself, and whether it is the newest of all for sure.
  static func newestReadable(
    _ file: borrowing PageFile
  ) throws(LMDBError) -> (MetaPage?, isNewest: Bool) {
    if case .success(let metas) = try read(file) {
      return (metas.newest, try metas.contradiction(file) == nil)
    }
    var found: [MetaPage] = []
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.metaByteCount, alignment: 8)
    defer { buffer.deallocate() }
    var size = 0
    while size <= PageFormat.pageByteCounts.upperBound {
      if try file.read(buffer, at: size),
        let meta = try? MetaPage(UnsafeRawBufferPointer(buffer), number: size == 0 ? 0 : 1)
      {
        found.append(meta)
      }
      size = size == 0 ? PageFormat.pageByteCounts.lowerBound : size * 2
    }
    return (found.max { $0.transaction < $1.transaction }, false)
  }
}
