/// A node of the tree that rows lie in: a chunk of them, or nodes that are all of one height.
///
/// A tree whose nodes carry counts, because a change of one row of a million copies one chunk and three
/// or four nodes: 7 microseconds. Of a flat list of chunks all references have to be copied, 2,000 for
/// chunks of 512 rows, and a longer chunk, too: 52 microseconds; 68 with chunks of 1,000, 107 with
/// chunks of 128. An array takes 590,000. Passing all rows costs the same with each. Chunks of 32 rows
/// save two microseconds, and make the tree higher and more broken up; chunks of 128 take two more.
/// (Models of ten fields, five of them text on the heap.)
///
/// The nodes are arrays, so that Swift copies those that are shared and changes the others in place.
@usableFromInline
enum RowNode<Element: Sendable>: Sendable {
  /// Empty only where there are no rows at all.
  case leaf(ContiguousArray<Element>)
  case branch(ContiguousArray<Child>)

  @usableFromInline
  struct Child: Sendable {
    /// How many rows it holds.
    @usableFromInline var count: Int
    @usableFromInline var node: RowNode

    init(_ node: RowNode) {
      self.node = node
      count = node.count
    }
  }

  static var leafCapacity: Int { 64 }
  static var branchCapacity: Int { 32 }
  /// Of leaves that are made from many rows: some room is left.
  static var usualLeafCount: Int { leafCapacity * 3 / 4 }

  var count: Int {
    switch self {
    case .leaf(let elements): elements.count
    case .branch(let children): children.reduce(0) { $0 &+ $1.count }
    }
  }

  /// The leaf that has the row at an offset, and the offset of its first row.
  @inlinable func leaf(at offset: Int) -> (elements: ContiguousArray<Element>, start: Int) {
    var node = self
    var start = 0
    while true {
      switch node {
      case .leaf(let elements): return (elements, start)
      case .branch(let children):
        var place = 0
        while start &+ children[place].count <= offset {
          start &+= children[place].count
          place &+= 1
        }
        node = children[place].node
      }
    }
  }
}

// MARK: Making nodes

extension RowNode {
  /// The root of a tree with these nodes, which are of one height.
  static func root(over nodes: ContiguousArray<Child>) -> RowNode {
    var level = nodes
    while level.count > 1 { level = branches(level) }
    return level.first?.node ?? .leaf([])
  }

  /// As many leaves as elements need, about equally full.
  private static func leaves(_ elements: ContiguousArray<Element>) -> ContiguousArray<Child> {
    cut(elements, capacity: leafCapacity) { Child(.leaf($0)) }
  }

  private static func branches(_ children: ContiguousArray<Child>) -> ContiguousArray<Child> {
    cut(children, capacity: branchCapacity) { Child(.branch($0)) }
  }

  private static func cut<Item>(
    _ items: ContiguousArray<Item>, capacity: Int, _ node: (ContiguousArray<Item>) -> Child
  ) -> ContiguousArray<Child> {
    if items.count <= capacity { return [node(items)] }
    let usualCount = items.count <= 2 * capacity ? capacity : capacity * 3 / 4
    let pieceCount = (items.count + usualCount - 1) / usualCount
    return ContiguousArray(
      (0..<pieceCount).map { piece in
        let start = piece * items.count / pieceCount
        return node(ContiguousArray(items[start..<(piece + 1) * items.count / pieceCount]))
      })
  }
}

// MARK: Changes

extension RowNode {
  mutating func set(_ element: Element, at offset: Int) {
    switch self {
    case .leaf(var elements):
      // What is taken apart has no second owner, and is changed in place.
      self = .leaf([])
      elements[offset] = element
      self = .leaf(elements)
    case .branch(var children):
      self = .leaf([])
      var (place, start) = (0, 0)
      while start + children[place].count <= offset {
        start += children[place].count
        place += 1
      }
      children[place].node.set(element, at: offset - start)
      self = .branch(children)
    }
  }

  /// Puts elements in the place of the rows at some offsets.
  ///
  /// - Returns: Nodes of the same height that come behind this one, where it has become too full.
  mutating func replace(
    _ range: Range<Int>, with new: ContiguousArray<Element>
  ) -> ContiguousArray<Child> {
    var pieces: ContiguousArray<Child>
    switch self {
    case .leaf(var elements):
      self = .leaf([])
      elements.replaceSubrange(range, with: new)
      if elements.count <= Self.leafCapacity {
        self = .leaf(elements)
        return []
      }
      pieces = Self.leaves(elements)
    case .branch(var children):
      self = .leaf([])
      Self.replace(range, with: new, in: &children)
      if children.count <= Self.branchCapacity {
        self = .branch(children)
        return []
      }
      pieces = Self.branches(children)
    }
    self = pieces.removeFirst().node
    return pieces
  }

  private static func replace(
    _ range: Range<Int>, with new: ContiguousArray<Element>,
    in children: inout ContiguousArray<Child>
  ) {
    // What comes between two children comes into the left one.
    var (first, start) = (0, 0)
    while first < children.count - 1, start + children[first].count <= range.lowerBound,
      start + children[first].count < range.lowerBound || !range.isEmpty
    {
      start += children[first].count
      first += 1
    }
    var (last, lastStart) = (first, start)
    while lastStart + children[last].count < range.upperBound {
      lastStart += children[last].count
      last += 1
    }
    let own = range.lowerBound - start..<min(range.upperBound - start, children[first].count)
    let siblings = children[first].node.replace(own, with: new)
    children[first].count += new.count - own.count - siblings.reduce(0) { $0 + $1.count }
    if last > first {
      let rest = 0..<range.upperBound - lastStart
      // Never too full, as rows only go.
      _ = children[last].node.replace(rest, with: [])
      children[last].count -= rest.count
      children.replaceSubrange(first + 1..<last, with: siblings)
    } else if !siblings.isEmpty {
      children.insert(contentsOf: siblings, at: first + 1)
    }
    mend(&children, first..<min(first + siblings.count + 2, children.count))
  }

  /// Joins children in which little is left with their neighbours, and takes out those in which
  /// nothing is.
  private static func mend(_ children: inout ContiguousArray<Child>, _ places: Range<Int>) {
    var end = places.upperBound
    while end > places.lowerBound, children.count > 1 {
      let place = min(end, children.count) - 1
      end = place
      if children[place].count == 0 {
        children.remove(at: place)
      } else if children[place].node.isSparse {
        let left = min(place, children.count - 2)
        let joined = join(children[left].node, children[left + 1].node)
        children.replaceSubrange(left...left + 1, with: joined)
        // Two in which next to nothing was may have to be joined with a third.
        if joined.count == 1 { end = left + 1 }
      }
    }
  }

  private var isSparse: Bool {
    switch self {
    case .leaf(let elements): elements.count < Self.leafCapacity / 4
    case .branch(let children): children.count < Self.branchCapacity / 4
    }
  }

  private static func join(_ left: RowNode, _ right: RowNode) -> ContiguousArray<Child> {
    switch (left, right) {
    case (.leaf(let left), .leaf(let right)): return leaves(left + right)
    case (.branch(let left), .branch(let right)):
      var children = left + right
      // One that was alone could not be joined with anything.
      mend(&children, left.count - 1..<left.count + 1)
      return branches(children)
    case (.leaf, .branch), (.branch, .leaf):
      preconditionFailure("children of one node are of one height")
    }
  }
}

// MARK: What is shared

extension RowNode {
  /// The memory that its rows or children are in: equal for nodes that share it, and for no others
  /// as long as both exist.
  var identity: UInt {
    switch self {
    case .leaf(let elements):
      elements.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    case .branch(let children):
      children.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
  }

  /// How many rows from an offset on are of one node that both trees have; zero where none that
  /// begins there is.
  @usableFromInline func sharedCount(with other: RowNode, at offset: Int) -> Int {
    var (left, right) = (self, other)
    var (leftStart, rightStart) = (0, 0)
    var (leftHeight, rightHeight) = (height, other.height)
    while true {
      if leftHeight == rightHeight {
        if leftStart == offset, rightStart == offset, left.identity == right.identity {
          return left.count
        }
        if leftHeight == 0 { return 0 }
      }
      // Down on the side that is higher, or on both.
      let difference = leftHeight - rightHeight
      if difference >= 0 {
        left = left.child(at: offset, &leftStart)
        leftHeight -= 1
      }
      if difference <= 0 {
        right = right.child(at: offset, &rightStart)
        rightHeight -= 1
      }
    }
  }

  /// How many branches are above its leaves.
  private var height: Int {
    var (node, height) = (self, 0)
    while case .branch(let children) = node {
      node = children[0].node
      height += 1
    }
    return height
  }

  /// The child of a branch that has the row at an offset; `start` is the offset of the first row of
  /// the branch, and then of the child.
  private func child(at offset: Int, _ start: inout Int) -> RowNode {
    guard case .branch(let children) = self else { return self }
    var place = 0
    while start + children[place].count <= offset {
      start += children[place].count
      place += 1
    }
    return children[place].node
  }
}
