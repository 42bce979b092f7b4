/// What a `Codable` value has encoded so far: a tree that is written out when it is whole, since
/// Swift lets containers be filled in any order, several at a time.
///
/// Encoded values lie one behind the other in one stretch of bytes; entries say where.
final class CodableOutput {
  /// Behind a pointer, as each access to a class's own property would be checked for exclusivity.
  let state: UnsafeMutablePointer<State>

  struct State: ~Copyable {
    var bytes = RecordWriter(binding: .none, capacity: 512)
    var entries: [Entry] = []
    var nodes: [Node] = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// What could not be thrown where it was found.
    var failure: EncodingError?
    /// The same as whether there is one, which takes longer to tell.
    var hasFailed = false
    /// The traits of the types that were met, for as long as they are few.
    fileprivate var traits: [(type: Any.Type, traits: CodingTraits)] = []
    /// The last type of keys that was found not to take any name.
    var namedKeys: ObjectIdentifier?
    /// By table and slot, the type that the field was last found to take.
    var accepted: [[Accepted?]] = []
    /// By slot, the last entry that was noted to take it, in whatever container; -1 for none.
    var takers: [Int] = []
    /// By container, the entries of keys, for large ones in which nested containers were asked for.
    fileprivate var keyed: [Int: KeyedEntries] = [:]
  }

  fileprivate struct KeyedEntries {
    /// The last one of each key.
    var entries: [String: Int] = [:]
    /// The last entry that was looked at; -1 where there is none.
    var last = -1
  }

  /// One value, and in a keyed container its key.
  struct Entry {
    /// The container that the entry is in; -1 for the value itself.
    let parent: Int
    var key = ""
    /// The key, where it is an integer on disk.
    var number: Int64?
    /// The type of the key.
    var keys: (any CodingKey.Type)?
    /// What the value was encoded as; nil for a container that a type asked for itself:
    /// `nestedContainer(keyedBy:forKey:)` and its like.
    var type: Any.Type?
    /// Whether a nil would not have been encoded at all.
    var isOptional = false
    /// Whether the entry only notes that the value is nil, for what its type tells the catalogue.
    var isAbsent = false
    /// Whether the value is in the bytes as the format has values of the type.
    var isNative = false
    /// Where the value is in the bytes; empty as long as there is none.
    var place = 0..<0
    /// The container that is the value; -1 where the value is in the bytes.
    var node = -1
    /// The next in the same container; -1 behind the last.
    var next = -1
    /// Where it goes in a record, if it does; only while one is being written.
    var slot = -1
    /// Whether the value is a dictionary, or only holds one.
    var isDictionary = false
    /// Whether that dictionary's keys are integers on disk.
    var hasIntegerKeys = false
  }

  struct Accepted: Equatable {
    let type: ObjectIdentifier
    let isOptional: Bool
  }

  struct Node {
    /// The type of its keys, the first one where a subclass and its superclass share it; nil for
    /// an unkeyed container.
    let keys: (any CodingKey.Type)?
    /// The entry that it is the value of.
    let owner: Int
    var order = ItemOrder.asWritten
    var hasIntegerKeys = false
    /// Whether it only marks the level of an optional.
    var isOptionalLevel = false
    var count = 0
    var first = -1
    var last = -1
  }

  init() {
    state = .allocate(capacity: 1)
    state.initialize(to: State())
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The entry of the value itself, which all others are inside of.
  static var root: Int { 0 }

  /// Encodes a value, in place of the last one.
  ///
  /// - Throws: `EncodingError`, or whatever the type's `encode(to:)` throws.
  func encode<Value: Encodable>(
    _ value: Value, _ userInfo: [CodingUserInfoKey: any Sendable] = [:]
  ) throws {
    state.pointee.bytes.removeAll()
    state.pointee.entries.removeAll(keepingCapacity: true)
    state.pointee.nodes.removeAll(keepingCapacity: true)
    if !state.pointee.keyed.isEmpty { state.pointee.keyed = [:] }
    state.pointee.userInfo = userInfo
    if state.pointee.hasFailed {
      state.pointee.failure = nil
      state.pointee.hasFailed = false
    }
    state.pointee.entries.append(Entry(parent: -1))
    try ValueEncoder(output: self, entry: Int32(Self.root), depth: 0).encode(value)
  }
}

// MARK: Adding

extension CodableOutput {
  /// Adds an entry to a container, and encodes its value.
  @inline(__always)
  func add<Value: Encodable>(
    _ value: Value, _ entry: consuming Entry, depth: Int32, _ traits: CodingTraits? = nil
  ) throws {
    let start = state.pointee.bytes.count
    let isFrequent = state.pointee.bytes.put(frequent: value)
    entry.type = Value.self
    entry.isNative = isFrequent
    entry.place = start..<state.pointee.bytes.count
    let index = state.pointee.add(entry)
    if !isFrequent { try encode(value, at: index, depth: depth, traits) }
  }

  /// Encodes a value of any type into an entry, which has none yet.
  @inline(never)
  private func encode<Value: Encodable>(
    _ value: Value, at entry: Int, depth: Int32, _ known: CodingTraits?
  ) throws {
    let traits = known ?? state.pointee.traits(of: Value.self)
    guard let native = traits.native else {
      return try ValueEncoder(output: self, entry: Int32(entry), depth: depth + 1)
        .encodeWhole(value, traits)
    }
    let start = state.pointee.bytes.count
    native.store(value, into: &state.pointee.bytes)
    try checkStored(entry)
    state.pointee.entries[entry].isNative = true
    state.pointee.entries[entry].place = start..<state.pointee.bytes.count
  }

  /// - Throws: `EncodingError` where the value that was written last, an entry's, cannot be stored.
  func checkStored(_ entry: Int) throws {
    guard let reason = state.pointee.bytes.failure else { return }
    state.pointee.bytes.failure = nil
    throw EncodingError.invalidValue(
      (),
      EncodingError.Context(
        codingPath: path(to: entry), debugDescription: "\(reason)", underlyingError: reason))
  }
}

extension CodableOutput.State {
  /// Adds an entry behind the last of its container.
  @inline(__always) mutating func add(_ entry: consuming CodableOutput.Entry) -> Int {
    let index = entries.count
    let parent = entry.parent
    entries.append(entry)
    let last = nodes[parent].last
    if last >= 0 { entries[last].next = index } else { nodes[parent].first = index }
    nodes[parent].last = index
    nodes[parent].count += 1
    return index
  }

  /// An entry for a value under a key.
  @inline(__always) func entry<Key: CodingKey>(_ key: Key, in node: Int) -> CodableOutput.Entry {
    var entry = CodableOutput.Entry(parent: node, key: key.stringValue, keys: Key.self)
    if _slowPath(nodes[node].hasIntegerKeys) { entry.number = key.intValue.map(Int64.init) }
    return entry
  }

  /// The last entry with a key in a keyed container, without those that only note a nil; nil where there
  /// is none.
  mutating func lastEntry(under key: String, in node: Int) -> Int? {
    // Looking at a few is faster than a dictionary.
    let isSmall = nodes[node].count < 16
    var found: Int?
    var known = isSmall ? CodableOutput.KeyedEntries() : keyed.removeValue(forKey: node) ?? .init()
    var entry = known.last < 0 ? nodes[node].first : entries[known.last].next
    while entry >= 0 {
      if !entries[entry].isAbsent {
        if !isSmall {
          known.entries[entries[entry].key] = entry
        } else if entries[entry].key == key {
          found = entry
        }
      }
      known.last = entry
      entry = entries[entry].next
    }
    if isSmall { return found }
    found = known.entries[key]
    keyed[node] = known
    return found
  }

  /// Adds an entry whose value is nil.
  mutating func addNil(_ entry: consuming CodableOutput.Entry) {
    let start = bytes.count
    bytes.putNil()
    entry.place = start..<bytes.count
    _ = add(entry)
  }

  /// Adds the container that is the value of an entry, or one that is nowhere.
  mutating func addNode(_ entry: Int, keys: (any CodingKey.Type)?, isDetached: Bool) -> Int {
    var node = CodableOutput.Node(keys: keys, owner: entry)
    if entries[entry].isDictionary { node.order = .sortedPairs }
    node.hasIntegerKeys = entries[entry].hasIntegerKeys
    if !isDetached { entries[entry].node = nodes.count }
    nodes.append(node)
    return nodes.count - 1
  }

  /// The traits of a type, without asking other threads.
  mutating func traits(of type: Any.Type) -> CodingTraits {
    for known in traits where known.type == type { return known.traits }
    let found = CodingTraits.of(type)
    if traits.count < 16 { traits.append((type, found)) }
    return found
  }

  /// Whether any text at all is a key of a type.
  mutating func takesAnyName(_ keys: any CodingKey.Type) -> Bool {
    if namedKeys == ObjectIdentifier(keys) { return false }
    if keys.takesAnyName { return true }
    namedKeys = ObjectIdentifier(keys)
    return false
  }

  func hasValue(_ entry: Int) -> Bool {
    entries[entry].node >= 0 || !entries[entry].place.isEmpty
  }
}

extension CodingKey {
  /// Whether any text at all is a key, as in a dictionary.
  static var takesAnyName: Bool { Self(stringValue: "\u{1}any name at all\u{1}") != nil }
}

// MARK: Looking

extension CodableOutput {
  /// Those that only note a nil among them.
  @inline(__always) func forEachEntry(of node: Int, _ body: (Int) throws -> Void) rethrows {
    var entry = state.pointee.nodes[node].first
    while entry >= 0 {
      try body(entry)
      entry = state.pointee.entries[entry].next
    }
  }

  /// The way to the value of an entry.
  func path(to entry: Int) -> [any CodingKey] {
    let parent = state.pointee.entries[entry].parent
    guard parent >= 0 else { return [] }
    let node = state.pointee.nodes[parent]
    let path = path(to: node.owner)
    if node.isOptionalLevel { return path }
    if node.keys != nil {
      let (key, keys) = (state.pointee.entries[entry].key, state.pointee.entries[entry].keys)
      return path + [keys?.init(stringValue: key) ?? PathKey.name(key)]
    }
    var place = 0
    forEachEntry(of: parent) { if $0 < entry { place += 1 } }
    return path + [PathKey.index(place)]
  }
}
