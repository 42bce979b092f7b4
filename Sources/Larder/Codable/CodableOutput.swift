/// What a `Codable` value has encoded so far: a tree that is written out when it is whole, since
/// Swift lets containers be filled in any order, several at a time.
///
/// Encoded values lie one behind the other in one stretch of bytes; entries say where.
@usableFromInline final class CodableOutput {
  /// Behind a pointer, as each access to a class's own property would be checked for exclusivity.
  let state: UnsafeMutablePointer<State>

  struct State: ~Copyable {
    var bytes = RecordWriter(binding: .none, capacity: 512)
    var entries: ContiguousArray<Entry> = []
    var nodes: ContiguousArray<Node> = []
    /// Entries in the order in which they are written out, of all nodes that are being written.
    var sorted: ContiguousArray<Int> = []
    var userInfo: [CodingUserInfoKey: any Sendable] = [:]
    /// What could not be thrown where it was found.
    var failure: EncodingError?
  }

  /// One value, and in a keyed container its key.
  struct Entry {
    /// The next in the same container; -1 behind the last.
    var next = -1
    /// The container that is the value; -1 where the value is in the bytes.
    var node = -1
    var keyStart = 0
    var keyEnd = 0
    var start = 0
    /// Where the value ends; equal to `start` as long as there is none.
    var end = 0
    /// The first 8 bytes of the key: most comparisons end here.
    var prefix: UInt64 = 0
  }

  struct Node {
    let isKeyed: Bool
    var order = ItemOrder.asWritten
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

  /// Forgets the last value; its memory is used again.
  func begin(_ userInfo: [CodingUserInfoKey: any Sendable]) {
    state.pointee.bytes.removeAll()
    state.pointee.entries.removeAll(keepingCapacity: true)
    state.pointee.nodes.removeAll(keepingCapacity: true)
    state.pointee.sorted.removeAll(keepingCapacity: true)
    state.pointee.userInfo = userInfo
    state.pointee.failure = nil
    state.pointee.entries.append(Entry())
  }

  /// The entry of the value itself, which all others are inside of.
  static let root = 0
}

// MARK: Adding

extension CodableOutput {
  func addNode(_ entry: Int, isKeyed: Bool) -> Int {
    let node = addDetachedNode(isKeyed: isKeyed)
    state.pointee.entries[entry].node = node
    return node
  }

  /// Adds a container that is nowhere.
  func addDetachedNode(isKeyed: Bool) -> Int {
    state.pointee.nodes.append(Node(isKeyed: isKeyed))
    return state.pointee.nodes.count - 1
  }

  /// Adds an entry without a value to an unkeyed container.
  @inline(__always) func addEntry(to node: Int) -> Int {
    link(Entry(), to: node)
  }

  /// Adds an entry to a keyed container, and its value if `body` writes one.
  @inline(__always) func addEntry(
    _ key: some CodingKey, to node: Int, _ body: (inout RecordWriter) -> Void = { _ in }
  ) -> Int {
    let keyStart = state.pointee.bytes.count
    state.pointee.bytes.put(key.stringValue)
    state.pointee.bytes.reserve(8)
    let keyEnd = state.pointee.bytes.count
    let word = (state.pointee.bytes.base + keyStart).loadUnaligned(as: UInt64.self)
    // Behind a short key lies what was written there once.
    let unusedBits = 8 &* max(0, 8 &- (keyEnd &- keyStart))
    let prefix = (UInt64(bigEndian: word) &>> unusedBits) &<< unusedBits
    body(&state.pointee.bytes)
    return link(
      Entry(
        keyStart: keyStart, keyEnd: keyEnd, start: keyEnd, end: state.pointee.bytes.count,
        prefix: prefix), to: node)
  }

  @inline(__always) private func link(_ entry: Entry, to node: Int) -> Int {
    let index = state.pointee.entries.count
    state.pointee.entries.append(entry)
    let last = state.pointee.nodes[node].last
    if last >= 0 {
      state.pointee.entries[last].next = index
    } else {
      state.pointee.nodes[node].first = index
    }
    state.pointee.nodes[node].last = index
    state.pointee.nodes[node].count &+= 1
    return index
  }

  /// The entry of a key that the container has already.
  func entry(of key: some CodingKey, in node: Int) -> Int? {
    // Written behind everything else, to be compared as it would stand there.
    let start = state.pointee.bytes.count
    state.pointee.bytes.put(key.stringValue)
    let wanted = UnsafeRawBufferPointer(
      start: state.pointee.bytes.base + start, count: state.pointee.bytes.count - start)
    state.pointee.bytes.count = start
    var found: Int?
    var entry = state.pointee.nodes[node].first
    while entry >= 0 {
      if Bytes.equal(self.key(of: entry), wanted) { found = entry }
      entry = state.pointee.entries[entry].next
    }
    return found
  }

  func hasValue(_ entry: Int) -> Bool {
    let entry = state.pointee.entries[entry]
    return entry.node >= 0 || entry.end > entry.start
  }

  /// Writes the value of an entry, which has none yet.
  @inline(__always) func write(_ entry: Int, _ body: (inout RecordWriter) -> Void) {
    state.pointee.entries[entry].start = state.pointee.bytes.count
    body(&state.pointee.bytes)
    state.pointee.entries[entry].end = state.pointee.bytes.count
  }
}

// MARK: Writing out

extension CodableOutput {
  /// Writes the value of an entry, with everything in it. What encoded nothing is an empty
  /// dictionary.
  func putValue(of entry: Int, into writer: inout RecordWriter) {
    let node = state.pointee.entries[entry].node
    if node < 0 {
      let (start, end) = (state.pointee.entries[entry].start, state.pointee.entries[entry].end)
      if start == end { return writer.putMap(count: 0) }
      return append(start, end, to: &writer)
    }
    if state.pointee.nodes[node].isKeyed {
      putKeyed(node, into: &writer)
    } else {
      putUnkeyed(node, into: &writer)
    }
  }

  private func append(_ start: Int, _ end: Int, to writer: inout RecordWriter) {
    writer.append(
      UnsafeRawBufferPointer(start: state.pointee.bytes.base + start, count: end &- start))
  }

  private func putUnkeyed(_ node: Int, into writer: inout RecordWriter) {
    let (order, count) = (state.pointee.nodes[node].order, state.pointee.nodes[node].count)
    writer.putArray(count: count)
    let start = writer.count
    var ends: [Int] = []
    var place = 0
    var entry = state.pointee.nodes[node].first
    while entry >= 0 {
      putValue(of: entry, into: &writer)
      place += 1
      if order == .sorted || order == .sortedPairs && place.isMultiple(of: 2) {
        ends.append(writer.count)
      }
      entry = state.pointee.entries[entry].next
    }
    writer.sortItems(from: start, ends: ends)
  }

  private func putKeyed(_ node: Int, into writer: inout RecordWriter) {
    withSortedEntries(of: node) { entries in
      writer.putMap(count: entries.count)
      for place in entries {
        let entry = state.pointee.sorted[place]
        append(
          state.pointee.entries[entry].keyStart, state.pointee.entries[entry].keyEnd, to: &writer)
        putValue(of: entry, into: &writer)
      }
    }
  }

  /// Lends the places in `sorted` of a keyed container's entries: in the order of the bytes of
  /// their keys, each key once. Of a key that was encoded twice the last value stays.
  func withSortedEntries(of node: Int, _ body: (Range<Int>) -> Void) {
    let start = state.pointee.sorted.count
    var entry = state.pointee.nodes[node].first
    while entry >= 0 {
      state.pointee.sorted.append(entry)
      entry = state.pointee.entries[entry].next
    }
    let count = state.pointee.nodes[node].count
    if count <= 24 { sortFew(from: start) } else { sortMany(from: start) }
    var kept = start
    for place in start..<start &+ count {
      let entry = state.pointee.sorted[place]
      if kept > start, order(state.pointee.sorted[kept &- 1], entry) == 0 { kept &-= 1 }
      state.pointee.sorted[kept] = entry
      kept &+= 1
    }
    body(start..<kept)
    state.pointee.sorted.removeLast(state.pointee.sorted.count - start)
  }

  private func sortFew(from start: Int) {
    let bytes = UnsafeRawPointer(state.pointee.bytes.base)
    state.pointee.entries.withUnsafeBufferPointer { entries in
      state.pointee.sorted.withUnsafeMutableBufferPointer { sorted in
        for end in start &+ 1..<max(start &+ 1, sorted.count) {
          let entry = sorted[end]
          var place = end
          while place > start,
            Self.order(entries[sorted[place &- 1]], entries[entry], in: bytes) > 0
          {
            sorted[place] = sorted[place &- 1]
            place &-= 1
          }
          sorted[place] = entry
        }
      }
    }
  }

  private func sortMany(from start: Int) {
    let sorted = state.pointee.sorted[start...].sorted { first, second in
      let order = order(first, second)
      return order < 0 || order == 0 && first < second
    }
    state.pointee.sorted.replaceSubrange(start..., with: sorted)
  }

  private func order(_ first: Int, _ second: Int) -> Int {
    Self.order(
      state.pointee.entries[first], state.pointee.entries[second], in: state.pointee.bytes.base)
  }

  /// Below zero, zero or above zero, by the bytes of the keys.
  @inline(__always) private static func order(
    _ first: Entry, _ second: Entry, in bytes: UnsafeRawPointer
  ) -> Int {
    if first.prefix != second.prefix { return first.prefix < second.prefix ? -1 : 1 }
    return Bytes.compare(
      UnsafeRawBufferPointer(
        start: bytes + first.keyStart, count: first.keyEnd &- first.keyStart),
      UnsafeRawBufferPointer(
        start: bytes + second.keyStart, count: second.keyEnd &- second.keyStart))
  }

  private func key(of entry: Int) -> UnsafeRawBufferPointer {
    let start = state.pointee.entries[entry].keyStart
    return UnsafeRawBufferPointer(
      start: state.pointee.bytes.base + start, count: state.pointee.entries[entry].keyEnd &- start)
  }
}
