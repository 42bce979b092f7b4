// Writing out a value that is whole.

extension CodableOutput {
  /// Writes the value as the document whose record was begun, without its end.
  ///
  /// - Returns: Whether the catalogue has a field of a fitting kind for everything that was
  ///   encoded; the record must not be used where it has not.
  func putDocument(into writer: inout RecordWriter, _ guest: CodableGuest) -> Bool {
    var writing = Writing(output: self, guest: guest)
    let table = writer.binding.collection.documentTable
    writing.putFields(of: state.pointee.entries[Self.root].node, table, into: &writer) {
      $1.widen(table: table, slotCount: Int32($0))
    }
    return writing.fits
  }

  /// Writes the value where there is no field table: containers are dictionaries and arrays, and
  /// what encoded nothing is an empty dictionary.
  func putValue(into writer: inout RecordWriter) {
    var writing = Writing(output: self, guest: nil)
    writing.put(Self.root, as: .any, into: &writer)
  }
}

/// Writes out a tree: keyed containers are records where the catalogue has a field table for them.
private struct Writing {
  let output: CodableOutput
  /// Told which fields the types of keys know.
  let guest: CodableGuest?
  /// Whether everything has a field of a fitting kind.
  var fits = true

  private var state: UnsafeMutablePointer<CodableOutput.State> { output.state }

  /// Writes a value as the catalogue keeps it.
  mutating func put(_ entry: Int, as kind: Kind<Int>, into writer: inout RecordWriter) {
    let index = state.pointee.entries[entry].node
    guard index >= 0 else { return putLeaf(entry, as: kind, into: &writer) }
    let node = state.pointee.nodes[index]
    let isPairs = node.order == .sortedPairs
    switch kind.unwrapped {
    case .any:
      if node.keys != nil {
        putKeyed(index, as: .any, into: &writer)
      } else {
        putUnkeyed(index, as: .any, .any, into: &writer)
      }
    case _ where node.isOptionalLevel:
      guard case .optional(let inner) = kind, case .optional = inner else { return fits = false }
      putUnkeyed(index, as: inner, inner, into: &writer)
    case .array(let element) where node.keys == nil && !isPairs,
      .set(let element) where node.keys == nil && !isPairs:
      putUnkeyed(index, as: element, element, into: &writer)
    case .dictionary(let key, let value) where node.keys == nil && isPairs:
      putUnkeyed(index, as: key, value, into: &writer)
    case .dictionary(_, let value):
      guard let keys = node.keys, state.pointee.takesAnyName(keys) else { return fits = false }
      putKeyed(index, as: value, into: &writer)
    case .document(let table):
      guard let keys = node.keys, !state.pointee.takesAnyName(keys) else { return fits = false }
      var outer: RecordWriter.Frame?
      putFields(of: index, table, into: &writer) {
        outer = $1.begin(RecordWriter.Frame(table: table, slotCount: $0))
      }
      if let outer { writer.endEmbedded(outer) }
    default: fits = false
    }
  }

  /// Writes a value that is no container.
  private mutating func putLeaf(
    _ entry: Int, as kind: Kind<Int>, into writer: inout RecordWriter
  ) {
    let place = state.pointee.entries[entry].place
    if kind.unwrapped != .any, !state.pointee.entries[entry].isNative {
      let isNil = !place.isEmpty && state.pointee.isNil(entry)
      if !isNil || !kind.isOptional { fits = false }
    }
    putBytes(place, into: &writer)
  }

  @inline(__always)
  private func putBytes(_ place: Range<Int>, into writer: inout RecordWriter) {
    if place.isEmpty { return writer.putMap(count: 0) }
    state.pointee.bytes.withBytes { writer.append(UnsafeRawBufferPointer(rebasing: $0[place])) }
  }

  /// Writes an unkeyed container, whose elements are of two kinds in turn.
  private mutating func putUnkeyed(
    _ node: Int, as first: Kind<Int>, _ second: Kind<Int>, into writer: inout RecordWriter
  ) {
    let (order, count) = (state.pointee.nodes[node].order, state.pointee.nodes[node].count)
    // What a type that is a dictionary has put here come in pairs.
    let isMap = order == .sortedPairs && count.isMultiple(of: 2)
    if isMap { writer.putMap(count: count / 2) } else { writer.putArray(count: count) }
    let start = writer.count
    var ends: [Int] = []
    var isSecond = false
    output.forEachEntry(of: node) { entry in
      put(entry, as: isSecond ? second : first, into: &writer)
      if order != .asWritten, isSecond || !isMap { ends.append(writer.count) }
      isSecond.toggle()
    }
    writer.sortItems(from: start, ends: ends)
  }
}

// MARK: Dictionaries

extension Writing {
  private struct Member {
    /// The first bytes of its key, with zeros behind fewer: most comparisons end with them.
    let prefix: UInt64
    let entry: Int
    /// Where its key is in the bytes.
    let key: Range<Int>
  }

  /// Writes a keyed container as a dictionary, in the order of the bytes of its keys. Of a key
  /// that was encoded twice the last value stays.
  private mutating func putKeyed(
    _ node: Int, as kind: Kind<Int>, into writer: inout RecordWriter
  ) {
    let start = state.pointee.bytes.count
    let members = members(of: node)
    writer.putMap(count: members.count)
    for member in members {
      putBytes(member.key, into: &writer)
      put(member.entry, as: kind, into: &writer)
    }
    state.pointee.bytes.count = start
  }

  private func members(of node: Int) -> [Member] {
    var members: [Member] = []
    members.reserveCapacity(state.pointee.nodes[node].count)
    output.forEachEntry(of: node) { entry in
      guard !state.pointee.entries[entry].isAbsent else { return }
      let start = state.pointee.bytes.count
      if let number = state.pointee.entries[entry].number {
        state.pointee.bytes.put(number)
      } else {
        state.pointee.bytes.put(state.pointee.entries[entry].key)
      }
      // Behind what is written stands anything.
      state.pointee.bytes.reserve(8)
      let key = start..<state.pointee.bytes.count
      let first = (state.pointee.bytes.base + start).loadUnaligned(as: UInt64.self).bigEndian
      members.append(
        Member(prefix: first & ~(UInt64.max >> UInt64(8 * key.count)), entry: entry, key: key))
    }
    return state.pointee.bytes.withBytes { bytes in
      func order(_ first: Member, _ second: Member) -> Int {
        if first.prefix != second.prefix { return first.prefix < second.prefix ? -1 : 1 }
        return Bytes.compare(
          UnsafeRawBufferPointer(rebasing: bytes[first.key]),
          UnsafeRawBufferPointer(rebasing: bytes[second.key]))
      }
      members.sort {
        let order = order($0, $1)
        return order < 0 || order == 0 && $0.entry < $1.entry
      }
      return members.indices.filter {
        $0 + 1 == members.count || order(members[$0], members[$0 + 1]) != 0
      }.map { members[$0] }
    }
  }
}

// MARK: Records

extension Writing {
  /// Writes the fields of a keyed container; `begin` begins the record, with so many slots.
  mutating func putFields(
    of node: Int, _ number: Int, into writer: inout RecordWriter,
    _ begin: (Int, inout RecordWriter) -> Void
  ) {
    let table = writer.binding.collection.tables[number]
    guard let slotCount = assignSlots(node, table, number) else { return fits = false }
    begin(slotCount, &writer)
    output.forEachEntry(of: node) { putField($0, table, into: &writer) }
  }

  @inline(__always) private mutating func putField(
    _ entry: Int, _ table: FieldTable, into writer: inout RecordWriter
  ) {
    let slot = state.pointee.entries[entry].slot
    guard slot >= 0 else { return }
    writer.beginValue(slot: slot)
    if state.pointee.entries[entry].isNative {
      putBytes(state.pointee.entries[entry].place, into: &writer)
    } else {
      put(entry, as: table[slot].kind, into: &writer)
    }
  }

  /// Finds the slot of every entry of a keyed container that is to be written, and returns one more
  /// than the highest; nil where the table lacks one, or has a field of another kind.
  private func assignSlots(_ node: Int, _ table: FieldTable, _ number: Int) -> Int? {
    guard var keys = state.pointee.nodes[node].keys else { return nil }
    guest?.codableKnowledge.add(keys, table: number)
    var slotCount = 0
    // Where the next key often is, as types encode their keys in one order each time.
    var next = 0
    // While every slot is higher than those before, none can be taken.
    var isAscending = true
    var entry = state.pointee.nodes[node].first
    while entry >= 0 {
      if let others = state.pointee.entries[entry].keys, others != keys {
        keys = others
        guest?.codableKnowledge.add(keys, table: number)
      }
      let isAbsent = state.pointee.entries[entry].isAbsent
      let isThere =
        next < table.fields.count && table.fields[next].name == state.pointee.entries[entry].key
      if let slot = isThere ? next : table.slot(of: state.pointee.entries[entry].key) {
        if !isAbsent {
          guard state.pointee.accepts(entry, table, number, slot) else { return nil }
          if slot < slotCount, isAscending {
            isAscending = false
            takeSlots(of: node, before: entry)
          }
          state.pointee.entries[entry].slot = slot
          if !isAscending { state.pointee.takeSlot(entry) }
          slotCount = max(slotCount, slot + 1)
        }
        next = slot + 1
      } else if !isAbsent {
        return nil
      }
      entry = state.pointee.entries[entry].next
    }
    return slotCount
  }

  private func takeSlots(of node: Int, before end: Int) {
    output.forEachEntry(of: node) {
      if $0 < end, state.pointee.entries[$0].slot >= 0 { state.pointee.takeSlot($0) }
    }
  }
}

extension CodableOutput.State {
  /// Notes that an entry's value goes in its slot. Of a key that was encoded twice the last value
  /// stays.
  fileprivate mutating func takeSlot(_ entry: Int) {
    let slot = entries[entry].slot
    while takers.count <= slot { takers.append(-1) }
    let other = takers[slot]
    // It may be one of another container, or of another value.
    if other >= 0, other < entry, entries[other].parent == entries[entry].parent,
      entries[other].slot == slot
    {
      entries[other].slot = -1
    }
    takers[slot] = entry
  }

  /// Whether the field in a slot takes values of the type of an entry.
  fileprivate mutating func accepts(
    _ entry: Int, _ table: FieldTable, _ number: Int, _ slot: Int
  ) -> Bool {
    guard let type = entries[entry].type else { return true }
    let wanted = CodableOutput.Accepted(
      type: ObjectIdentifier(type), isOptional: entries[entry].isOptional)
    if number < accepted.count, slot < accepted[number].count, accepted[number][slot] == wanted {
      return true
    }
    guard table[slot].kind.takes(type, isOptional: wanted.isOptional) else { return false }
    while accepted.count <= number { accepted.append([]) }
    while accepted[number].count <= slot { accepted[number].append(nil) }
    accepted[number][slot] = wanted
    return true
  }

  /// Whether a value that is in the bytes is nil.
  func isNil(_ entry: Int) -> Bool {
    bytes.withBytes { $0[entries[entry].place.lowerBound] == 0xC0 }
  }
}
