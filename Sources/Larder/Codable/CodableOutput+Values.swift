// Writing out values that have no field table: containers are dictionaries and arrays.

extension CodableOutput {
  /// Writes the value of an entry, with everything in it. What encoded nothing is an empty
  /// dictionary.
  func putValue(of entry: Int, into writer: inout RecordWriter) {
    let node = Int(state.pointee.entries[entry].node)
    if node < 0 { return putBytes(of: entry, into: &writer) }
    if state.pointee.nodes[node].keys != nil {
      putKeyed(node, into: &writer) { entry, writer in putValue(of: entry, into: &writer) }
    } else {
      putUnkeyed(node, into: &writer) { entry, writer in putValue(of: entry, into: &writer) }
    }
  }

  @inline(__always) func putBytes(of entry: Int, into writer: inout RecordWriter) {
    let (start, end) = (state.pointee.entries[entry].start, state.pointee.entries[entry].end)
    if start == end { return writer.putMap(count: 0) }
    writer.append(
      UnsafeRawBufferPointer(start: state.pointee.bytes.base + start, count: end &- start))
  }

  /// Writes an unkeyed container; `body` writes the value of an entry.
  @inline(__always) func putUnkeyed(
    _ node: Int, into writer: inout RecordWriter, _ body: (Int, inout RecordWriter) -> Void
  ) {
    let (order, count) = (state.pointee.nodes[node].order, Int(state.pointee.nodes[node].count))
    // What a type that is a dictionary has put here come in pairs.
    let isMap = order == .sortedPairs && count.isMultiple(of: 2)
    if isMap { writer.putMap(count: count / 2) } else { writer.putArray(count: count) }
    if order == .asWritten {
      return forEachEntry(of: node) { body($0, &writer) }
    }
    let start = writer.count
    var ends: [Int] = []
    var place = 0
    forEachEntry(of: node) { entry in
      body(entry, &writer)
      place += 1
      if !isMap || place.isMultiple(of: 2) { ends.append(writer.count) }
    }
    writer.sortItems(from: start, ends: ends)
  }

  /// Writes a keyed container as a dictionary; `body` writes the value of an entry.
  @inline(__always) func putKeyed(
    _ node: Int, into writer: inout RecordWriter, _ body: (Int, inout RecordWriter) -> Void
  ) {
    let start = state.pointee.sorted.count
    let end = sortEntries(of: node)
    writer.putMap(count: end &- start)
    for place in start..<end {
      let entry = Int(state.pointee.sorted[place])
      writer.append(key(of: state.pointee.entries[entry]))
      body(entry, &writer)
    }
    state.pointee.sorted.shrink(to: start)
  }

  /// Puts a keyed container's entries behind those in `sorted`, in the order of the bytes of
  /// their keys, each key once, and returns where they end. Of a key that was encoded twice the
  /// last value stays.
  private func sortEntries(of node: Int) -> Int {
    let start = state.pointee.sorted.count
    forEachEntry(of: node) {
      state.pointee.sorted.append(Int32(truncatingIfNeeded: $0))
    }
    let count = state.pointee.sorted.count &- start
    if count <= 24 { sortFew(from: start) } else { sortMany(from: start) }
    var kept = start
    for place in start..<start &+ count {
      let entry = state.pointee.sorted[place]
      if kept > start, order(state.pointee.sorted[kept &- 1], entry) == 0 { kept &-= 1 }
      state.pointee.sorted[kept] = entry
      kept &+= 1
    }
    return kept
  }

  private func sortFew(from start: Int) {
    let sorted = state.pointee.sorted.base
    for end in start &+ 1..<max(start &+ 1, state.pointee.sorted.count) {
      let entry = sorted[end]
      var place = end
      while place > start, order(sorted[place &- 1], entry) > 0 {
        sorted[place] = sorted[place &- 1]
        place &-= 1
      }
      sorted[place] = entry
    }
  }

  private func sortMany(from start: Int) {
    var many = UnsafeMutableBufferPointer(
      start: state.pointee.sorted.base + start, count: state.pointee.sorted.count &- start)
    many.sort { first, second in
      let order = order(first, second)
      return order < 0 || order == 0 && first < second
    }
  }

  /// Below zero, zero or above zero, by the bytes of the keys.
  @inline(__always) private func order(_ first: Int32, _ second: Int32) -> Int {
    let entries = state.pointee.entries.base
    let (left, right) = (entries[Int(first)].prefix, entries[Int(second)].prefix)
    if left != right { return left < right ? -1 : 1 }
    return Bytes.compare(key(of: entries[Int(first)]), key(of: entries[Int(second)]))
  }
}
