/// One branch or leaf page whose nodes have been found to lie within it, apart from each other.
struct PageNodes {
  let page: UnsafeRawBufferPointer
  let count: Int
  let isBranch: Bool

  /// A key and what stands beside it.
  struct Node {
    let place: Int
    let key: UnsafeRawBufferPointer
    /// The child page of a branch's node.
    let child: Int
    /// Flags of a leaf's node.
    let flags: UInt16
    /// Bytes of the value, wherever it stands.
    let valueByteCount: Int
    /// Where the value or its page number stands.
    var valuePlace: Int { place + PageFormat.nodeByteCount + key.count }

    init(_ page: UnsafeRawBufferPointer, _ place: Int) {
      self.place = place
      let low = Int(page.uint32(place))
      flags = page.uint16(place + 4)
      child = low | Int(flags) << 32
      valueByteCount = low
      let start = place + PageFormat.nodeByteCount
      // Not beyond the page, which is checked before anybody looks at the key.
      let end = min(start + Int(page.uint16(place + 6)), page.count)
      key = UnsafeRawBufferPointer(rebasing: page[start..<end])
    }
  }

  subscript(index: Int) -> Node {
    Node(page, Int(page.uint16(PageFormat.headerByteCount + 2 * index)))
  }

  /// The value of a leaf's node that stands in the page itself.
  func value(_ node: Node) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: page[node.valuePlace..<node.valuePlace + node.valueByteCount])
  }

  /// - Parameters:
  ///   - minimumCount: Nodes that the page must have.
  ///   - starts: One bit for every second byte of a page, all clear; they are clear again after.
  /// - Throws: What is wrong inside of the page.
  init(
    _ page: UnsafeRawBufferPointer, number: Int, isBranch: Bool, minimumCount: Int,
    starts: UnsafeMutablePointer<UInt64>
  ) throws(PageFault) {
    self.page = page
    self.isBranch = isBranch
    func fault(_ reason: String) -> PageFault { PageFault(page: number, reason: reason) }
    guard page.int(0) == number else { throw fault("it carries the number \(page.int(0))") }
    let flags = page.uint16(10)
    guard flags == (isBranch ? PageFormat.branch : PageFormat.leaf) else {
      let hexadecimal = String(flags, radix: 16)
      throw fault("its flags are 0x\(hexadecimal), not those of a \(isBranch ? "branch" : "leaf")")
    }
    let lower = Int(page.uint16(12))
    let upper = Int(page.uint16(14))
    guard lower >= PageFormat.headerByteCount, lower <= upper, upper <= page.count,
      lower & 1 == 0, upper & 1 == 0
    else { throw fault("its free room, \(lower) to \(upper), is none") }
    count = (lower - PageFormat.headerByteCount) / 2
    guard count >= minimumCount else { throw fault("it has \(count) nodes") }
    if let reason = Self.reasonOfNodes(page, count, upper, isBranch, starts) { throw fault(reason) }
  }

  /// What is wrong with the nodes; nil when they fill the page from `upper` to its end, each once.
  private static func reasonOfNodes(
    _ page: UnsafeRawBufferPointer, _ count: Int, _ upper: Int, _ isBranch: Bool,
    _ starts: UnsafeMutablePointer<UInt64>
  ) -> String? {
    let most = PageFormat.maximumNodeByteCount(pageByteCount: page.count)
    var sum = 0
    var lowest = page.count
    var marked = 0
    defer {
      for index in 0..<marked {
        let place = Int(page.uint16(PageFormat.headerByteCount + 2 * index))
        starts[place >> 7] = 0
      }
    }
    for index in 0..<count {
      let place = Int(page.uint16(PageFormat.headerByteCount + 2 * index))
      guard place >= upper, place & 1 == 0, place <= page.count - PageFormat.nodeByteCount else {
        return "node \(index) lies at \(place)"
      }
      let bit: UInt64 = 1 << UInt64(place >> 1 & 63)
      guard starts[place >> 7] & bit == 0 else { return "node \(index) is there twice" }
      starts[place >> 7] |= bit
      marked = index + 1
      lowest = min(lowest, place)

      let keyByteCount = Int(page.uint16(place + 6))
      guard keyByteCount <= PageFormat.maximumKeyByteCount,
        keyByteCount > 0 || isBranch && index == 0
      else { return "the key of node \(index) takes \(keyByteCount) bytes" }
      var byteCount = PageFormat.nodeByteCount + keyByteCount
      if !isBranch {
        let flags = page.uint16(place + 4)
        guard flags & (flags &- 1) == 0, flags <= PageFormat.isTree else {
          return "node \(index) has flags 0x\(String(flags, radix: 16))"
        }
        byteCount += flags == PageFormat.isBig ? 8 : Int(page.uint32(place))
        guard byteCount <= most else { return "node \(index) takes \(byteCount) bytes" }
      }
      sum += byteCount + byteCount & 1
      if place + byteCount > page.count { return "node \(index) goes beyond the page" }
    }
    guard sum == page.count - upper, lowest == upper || count == 0 else {
      return "its nodes take \(sum) bytes of \(page.count - upper)"
    }
    // Each ends where another one begins; as they fill the room exactly, none lies over another.
    for index in 0..<count {
      let node = Node(page, Int(page.uint16(PageFormat.headerByteCount + 2 * index)))
      var end = node.valuePlace
      if !isBranch { end += node.flags == PageFormat.isBig ? 8 : node.valueByteCount }
      end += end & 1
      guard end == page.count || starts[end >> 7] & 1 << UInt64(end >> 1 & 63) != 0 else {
        return "node \(index) lies over another one"
      }
    }
    return nil
  }
}
