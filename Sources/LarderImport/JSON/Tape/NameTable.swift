/// The names of members and the orders that they come in, kept from document to document.
///
/// The members of an object lead from node to node: a node stands for all names from the object's
/// beginning up to one, as the hidden classes of engines for JavaScript do. As documents of one
/// file have nearly always the same names in the same order, the next name is guessed and compared
/// byte by byte; nothing is hashed then, and a name that a node leads to stands nowhere before it,
/// for that was made sure of when the node was made. Each member's node has an entry of its own for
/// the objects inside it.
///
/// Nobody vouches for names, so that both tables have an end. An object whose next name finds no
/// room in them goes on without nodes (``SeenNames``). Hashes have a key that is random in each
/// process.
struct NameTable: ~Copyable, Sendable {
  /// How often the numbers of names have been given anew.
  private(set) var generation = 0

  /// The names with numbers, one behind the other; they are compared eight bytes at a time.
  private(set) var bytes = Slab<UInt8>(capacity: 64, margin: 8, filler: 0)
  private(set) var nodes = Slab<Node>(capacity: 8, filler: Node())
  private var names: [Name] = []
  private var numbers: [NameFingerprint: Int32] = [:]
  /// Names that came without a node since there was no room for more.
  private var missCount = 0
  private var isFull = false

  static let mostNodes = 8_192
  static let mostNames = 4_096
  static let mostBytes = 256 << 10
  /// As far as a node is from the beginning of its object.
  static let mostDepth = 1_024
  /// An object in which more names than these follow upon one is likely a dictionary.
  static let mostChildren = 16

  /// One name, behind all that lead to it.
  struct Node: BitwiseCopyable, Sendable {
    /// Where the name is among the bytes, and its length; no name can have the first node's.
    var start: UInt32 = 0
    var count: UInt32 = .max
    var name: Int32 = 0
    var parent: Int32 = 0
    /// The node that followed last time.
    var likely: Int32 = 0
    var firstChild: Int32 = 0
    var nextSibling: Int32 = 0
    /// The beginning of objects in this member; 0 before there was one.
    var inner: Int32 = 0
    var depth: Int16 = 0
    var childCount: Int16 = 0
  }

  private struct Name: Sendable {
    var start: Int
    var count: Int
    /// Whether it stands in a text as it is, without escapes.
    var isPlain: Bool
  }

  /// The node of no name: what a node leads to that leads nowhere.
  static let none = 0
  /// The member that a document is.
  static let root = 1
  /// The member that the objects are in whose own place has no node.
  static let anywhere = 2

  init() { clear() }

  private mutating func clear() {
    bytes.removeAll(keepingUpTo: 1 << 12)
    nodes.removeAll(keepingUpTo: 1 << 8)
    names = [Name(start: 0, count: 0, isPlain: false)]
    numbers = [:]
    missCount = 0
    isFull = false
    for _ in 0..<5 { nodes.append(Node()) }
    nodes[Self.root].inner = 3
    nodes[Self.anywhere].inner = 4
  }

  /// How many names have numbers, from 1 on.
  var nameCount: Int { names.count - 1 }

  /// Lends the bytes of the name with a number.
  func withName<Result>(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    let name = names[number]
    return body(UnsafeBufferPointer(start: bytes.base + name.start, count: name.count))
  }

  /// Forgets everything where most names find no room, so that what a file began with does not
  /// slow down all that follows. Called between documents.
  mutating func renewIfWornOut() {
    guard isFull, missCount > 16 * Self.mostNodes else { return }
    clear()
    generation += 1
  }

  /// The beginning of the objects in the member of `node`.
  mutating func inner(of node: Int) -> Int {
    let inner = Int(nodes[node].inner)
    if inner > 0 { return inner }
    guard nodes.count < Self.mostNodes else {
      isFull = true
      return Int(nodes[Self.anywhere].inner)
    }
    nodes.append(Node())
    nodes[node].inner = Int32(nodes.count - 1)
    return nodes.count - 1
  }

  /// What following a name found.
  enum Step {
    case node(Int)
    /// The name stands before already.
    case duplicate
    /// There is no room for it.
    case none
  }

  /// The node of a name that comes after that of `node`.
  mutating func step(from node: Int, _ name: UnsafeBufferPointer<UInt8>) -> Step {
    var child = Int(nodes[node].firstChild)
    while child > 0 {
      let number = Int(nodes[child].name)
      if withName(number, { haveSameBytes($0, name) }) {
        nodes[node].likely = Int32(child)
        return .node(child)
      }
      child = Int(nodes[child].nextSibling)
    }
    guard nodes[node].childCount < Self.mostChildren, nodes[node].depth < Self.mostDepth else {
      return .none
    }
    guard nodes.count < Self.mostNodes, let number = number(addingIfMissing: name) else {
      isFull = true
      return .none
    }
    var before = node
    while before > 0 {
      if nodes[before].name == number { return .duplicate }
      before = Int(nodes[before].parent)
    }
    return .node(add(number, behind: node))
  }

  private mutating func add(_ number: Int32, behind node: Int) -> Int {
    let parent = nodes[node]
    let name = names[Int(number)]
    let child = Int32(nodes.count)
    nodes.append(
      Node(
        start: UInt32(name.start), count: name.isPlain ? UInt32(name.count) : .max, name: number,
        parent: Int32(node), nextSibling: parent.firstChild, depth: parent.depth + 1))
    nodes[node].firstChild = child
    nodes[node].childCount += 1
    nodes[node].likely = child
    return Int(child)
  }

  /// The number of a name that came without a node, or 0.
  mutating func number(
    of name: UnsafeBufferPointer<UInt8>, _ fingerprint: NameFingerprint
  ) -> Int {
    missCount += 1
    return numbers[fingerprint].map(Int.init) ?? 0
  }

  private mutating func number(addingIfMissing name: UnsafeBufferPointer<UInt8>) -> Int32? {
    let fingerprint = NameFingerprint(name)
    if let number = numbers[fingerprint] { return number }
    guard nameCount < Self.mostNames, bytes.count + name.count <= Self.mostBytes else {
      return nil
    }
    let isPlain = !name.isEmpty && name.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    names.append(Name(start: bytes.count, count: name.count, isPlain: isPlain))
    for byte in name { bytes.append(byte) }
    numbers[fingerprint] = Int32(nameCount)
    return Int32(nameCount)
  }

  /// The names on the way from an object's beginning to `node`, from the last on.
  func forEachName(upTo node: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    var node = node
    while nodes[node].name > 0 {
      withName(Int(nodes[node].name), body)
      node = Int(nodes[node].parent)
    }
  }
}

private func haveSameBytes(
  _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
) -> Bool {
  left.count == right.count && left.elementsEqual(right)
}
