/// What a `Codable` value has encoded so far: a tree that is written out when it is whole, since
/// Swift lets containers be filled in any order, several at a time.
///
/// Encoded values lie one behind the other in one stretch of bytes; entries say where.
@usableFromInline final class CodableOutput {
  /// Behind a pointer, as each access to a class's own property would be checked for exclusivity.
  let state: UnsafeMutablePointer<State>

  struct State: ~Copyable {
    var bytes = RecordWriter(binding: .none, capacity: 512)
    var entries = RawList<Entry>(capacity: 32)
    var nodes = RawList<Node>(capacity: 8)
    /// Entries in the order in which they are written out, of all nodes that are being written.
    var sorted = RawList<Int32>(capacity: 32)
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// Whether values that are nil are noted too, for what they tell the catalogue.
    var isDeclaring = false
    /// What could not be thrown where it was found.
    var failure: EncodingError?
    var hasFailed = false
    var containers = ContainerCache<EncodingCell>()
  }

  /// One value, and in a keyed container its key.
  struct Entry: BitwiseCopyable {
    /// The next in the same container; -1 behind the last.
    var next: Int32 = -1
    /// The container that is the value; -1 where the value is in the bytes.
    var node: Int32 = -1
    /// The container that the entry is in; -1 for the value itself.
    let parent: Int32
    /// Where it goes in a record; only while one is being written.
    var slot: Int32 = -1
    var type = StaticType.none
    /// The dictionary that the value is, or only holds.
    var dictionary = StaticType.none
    /// Whether it only notes that the value is nil, and was not encoded.
    var isAbsent = false
    /// nil where the key stands in the bytes.
    var name: UnsafePointer<KeyName>?
    var keyStart: Int = 0
    var keyEnd: Int = 0
    var start: Int = 0
    /// Where the value ends; equal to `start` as long as there is none.
    var end: Int = 0
    /// See ``Swift/UnsafeRawBufferPointer/keyPrefix``.
    var prefix: UInt64 = 0
  }

  struct Node: BitwiseCopyable {
    /// The type of its keys; nil for an unkeyed container. The first one, where a subclass and
    /// its superclass share it.
    let keys: UnsafePointer<KeyPlan>?
    /// The entry that it is the value of.
    let owner: Int32
    var order = ItemOrder.asWritten
    var hasIntegerKeys = false
    /// Whether it only marks the level of an optional.
    var isOptionalLevel = false
    var count: Int32 = 0
    var first: Int32 = -1
    var last: Int32 = -1
  }

  /// What a keyed container encodes into.
  final class EncodingCell: ContainerCell {
    let keys: UnsafePointer<KeyPlan>
    @exclusivity(unchecked) var isFree = false
    /// nil when the value has been encoded: what is written then goes nowhere.
    @exclusivity(unchecked) private(set) var state: UnsafeMutablePointer<State>?
    private let output: Unmanaged<CodableOutput>
    @exclusivity(unchecked) var node: Int
    /// Containers that this one is inside of.
    @exclusivity(unchecked) var depth: Int32

    init(
      _ output: CodableOutput, _ node: Int, depth: Int32, _ keys: UnsafePointer<KeyPlan>
    ) {
      self.output = .passUnretained(output)
      state = output.state
      self.node = node
      self.depth = depth
      self.keys = keys
    }

    func die() { state = nil }

    /// Lends the output, which lives as long as the value is being encoded; nil afterwards.
    @inline(__always) func withOutput<Result>(
      _ body: (CodableOutput) throws -> Result
    ) rethrows -> Result? {
      guard state != nil else { return nil }
      return try output._withUnsafeGuaranteedRef { try body($0) }
    }
  }

  init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Forgets the last value; its memory is used again.
  func begin(_ userInfo: [CodingUserInfoKey: any Sendable], isDeclaring: Bool = false) {
    state.pointee.bytes.removeAll()
    state.pointee.entries.shrink(to: 0)
    state.pointee.nodes.shrink(to: 0)
    state.pointee.sorted.shrink(to: 0)
    state.pointee.userInfo = userInfo
    state.pointee.isDeclaring = isDeclaring
    if state.pointee.hasFailed {
      state.pointee.hasFailed = false
      state.pointee.failure = nil
    }
    state.pointee.entries.append(Entry(parent: -1))
  }

  /// The entry of the value itself, which all others are inside of.
  static var root: Int { 0 }
}

// MARK: Adding

extension CodableOutput.State {
  /// Adds the container that is the value of an entry, or one that is nowhere.
  mutating func addNode(
    _ entry: Int, keys: UnsafePointer<KeyPlan>?, isDetached: Bool = false
  ) -> Int {
    let node = nodes.count
    nodes.append(CodableOutput.Node(keys: keys, owner: Int32(truncatingIfNeeded: entry)))
    if !isDetached {
      entries[entry].node = Int32(truncatingIfNeeded: node)
      if let traits = entries[entry].dictionary.traits {
        nodes[node].order = .sortedPairs
        nodes[node].hasIntegerKeys = traits.pointee.hasIntegerKeys
      }
    }
    return node
  }

  /// Adds an entry to an unkeyed container, and its value if `body` writes one.
  @inline(__always) mutating func addEntry(
    to node: Int, _ type: StaticType, _ body: (inout RecordWriter) -> Void = { _ in }
  ) -> Int {
    var entry = CodableOutput.Entry(parent: Int32(truncatingIfNeeded: node))
    entry.type = type
    entry.start = bytes.count
    body(&bytes)
    entry.end = bytes.count
    return link(entry, to: node)
  }

  /// Adds an entry to a keyed container, and its value if `body` writes one.
  @inline(__always) mutating func addEntry<Key: CodingKey>(
    _ key: Key, _ keys: UnsafePointer<KeyPlan>, to node: Int, _ type: StaticType,
    isAbsent: Bool = false, _ body: (inout RecordWriter) -> Void = { _ in }
  ) -> Int {
    var entry = CodableOutput.Entry(parent: Int32(truncatingIfNeeded: node))
    entry.type = type
    entry.isAbsent = isAbsent
    if let name = keys.name(of: key) {
      entry.name = name
      entry.prefix = name.pointee.prefix
    } else {
      putKey(key, node, &entry)
    }
    entry.start = bytes.count
    body(&bytes)
    entry.end = bytes.count
    return link(entry, to: node)
  }

  @inline(never) private mutating func putKey(
    _ key: some CodingKey, _ node: Int, _ entry: inout CodableOutput.Entry
  ) {
    entry.keyStart = bytes.count
    if nodes[node].hasIntegerKeys, let number = key.intValue {
      bytes.put(Int64(number))
    } else {
      bytes.put(key.stringValue)
    }
    entry.keyEnd = bytes.count
    let key = UnsafeRawBufferPointer(
      start: bytes.base + entry.keyStart, count: entry.keyEnd &- entry.keyStart)
    entry.prefix = key.keyPrefix
  }

  @inline(__always) private mutating func link(_ entry: CodableOutput.Entry, to node: Int) -> Int {
    let index = entries.count
    entries.append(entry)
    let last = Int(nodes[node].last)
    if last >= 0 {
      entries[last].next = Int32(truncatingIfNeeded: index)
    } else {
      nodes[node].first = Int32(truncatingIfNeeded: index)
    }
    nodes[node].last = Int32(truncatingIfNeeded: index)
    nodes[node].count &+= 1
    return index
  }

  @inline(__always) func hasValue(_ entry: Int) -> Bool {
    entries[entry].node >= 0
      || entries[entry].end > entries[entry].start
  }

  /// Writes the value of an entry, which has none yet.
  @inline(__always) mutating func write(_ entry: Int, _ body: (inout RecordWriter) -> Void) {
    let start = bytes.count
    body(&bytes)
    entries[entry].start = start
    entries[entry].end = bytes.count
  }
}

// MARK: Looking

extension CodableOutput {
  @inline(__always) func forEachEntry(of node: Int, _ body: (Int) throws -> Void) rethrows {
    var entry = Int(state.pointee.nodes[node].first)
    while entry >= 0 {
      try body(entry)
      entry = Int(state.pointee.entries[entry].next)
    }
  }

  /// The entry of a key that the container has already.
  func entry(of key: some CodingKey, in node: Int) -> Int? {
    var found: Int?
    forEachEntry(of: node) { entry in
      if text(ofKey: entry) == key.stringValue { found = entry }
    }
    return found
  }

  /// The key as it stands on disk.
  @inline(__always) func key(of entry: Entry) -> UnsafeRawBufferPointer {
    if let name = entry.name { return name.pointee.encoded }
    return UnsafeRawBufferPointer(
      start: state.pointee.bytes.base + entry.keyStart, count: entry.keyEnd &- entry.keyStart)
  }

  /// The text of a key in a keyed container.
  func text(ofKey index: Int) -> String {
    let entry = state.pointee.entries[index]
    if let name = entry.name { return name.pointee.string }
    return EncodedKey(key(of: entry)).text
  }

  /// The way to the value of an entry.
  func path(to entry: Int) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var index = entry
    while index >= 0, state.pointee.entries[index].parent >= 0 {
      let node = Int(state.pointee.entries[index].parent)
      if state.pointee.nodes[node].keys != nil {
        path.append(key(at: index))
      } else if !state.pointee.nodes[node].isOptionalLevel {
        var place = 0
        var other = Int(state.pointee.nodes[node].first)
        while other >= 0, other != index {
          place += 1
          other = Int(state.pointee.entries[other].next)
        }
        path.append(PathKey(index: place))
      }
      index = Int(state.pointee.nodes[node].owner)
    }
    return path.reversed()
  }

  private func key(at index: Int) -> any CodingKey {
    let text = text(ofKey: index)
    let keys = state.pointee.entries[index].name?.pointee.keys
    return keys?.pointee.type.init(stringValue: text) ?? PathKey(stringValue: text)
  }
}
