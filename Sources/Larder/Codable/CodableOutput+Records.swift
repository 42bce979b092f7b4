// Writing out values as documents: keyed containers are records where the catalogue has a field
// table for them.

extension CodableOutput {
  /// Writes the value as the document whose record was begun, without its end.
  ///
  /// - Returns: Whether the catalogue has a field of a fitting kind for everything that was
  ///   encoded; the record must not be used where it has not.
  func putDocument(into writer: inout RecordWriter) -> Bool {
    let node = Int(state.pointee.entries[Self.root].node)
    let table = writer.binding.collection.documentTable
    guard let order = assignSlots(node, table: table, &writer) else { return false }
    writer.widen(table: table, slotCount: order.slotCount)
    return putFields(of: node, order, table: table, into: &writer)
  }

  /// Writes an embedded document.
  private func putRecord(_ node: Int, table: Int, into writer: inout RecordWriter) -> Bool {
    guard let order = assignSlots(node, table: table, &writer) else { return false }
    let outer = writer.begin(RecordWriter.Frame(table: table, slotCount: Int(order.slotCount)))
    let isWhole = putFields(of: node, order, table: table, into: &writer)
    writer.endEmbedded(outer)
    return isWhole
  }
}

// MARK: Fields

extension CodableOutput {
  private struct FieldOrder {
    /// One more than the highest slot.
    var slotCount: Int32 = 0
    /// Whether each slot is higher than the one before.
    var isAscending = true
  }

  /// Finds the slot of every entry of a keyed container; nil where the table lacks one, or has a
  /// field of another kind.
  private func assignSlots(
    _ node: Int, table: Int, _ writer: inout RecordWriter
  ) -> FieldOrder? {
    var order = FieldOrder()
    guard let firstKeys = state.pointee.nodes[node].keys else { return nil }
    let binding = writer.binding
    let collection = binding.collection
    var plan = binding.slotPlans.plan(firstKeys, table)
    writer.knowledge.add(firstKeys, table: table)
    let entries = state.pointee.entries.base
    var index = Int(state.pointee.nodes[node].first)
    while index >= 0 {
      let slot: Int
      let type = entries[index].type
      if let name = entries[index].name {
        if _slowPath(plan.pointee.keys != name.pointee.keys) {
          plan = binding.slotPlans.plan(name.pointee.keys, table)
          writer.knowledge.add(name.pointee.keys, table: table)
        }
        guard let found = plan.pointee.slot(of: name, in: collection) else { return nil }
        slot = found
        if _slowPath(!plan.pointee.takes(type, name)) {
          guard collection.tables[table][slot].kind.takes(type) else { return nil }
          plan.pointee.noteThatItTakes(type, name)
        }
      } else {
        guard let found = collection.tables[table].slot(of: text(ofKey: index)),
          collection.tables[table][found].kind.takes(type)
        else { return nil }
        slot = found
      }
      entries[index].slot = Int32(truncatingIfNeeded: slot)
      if slot < order.slotCount {
        order.isAscending = false
      } else {
        order.slotCount = Int32(truncatingIfNeeded: slot &+ 1)
      }
      index = Int(entries[index].next)
    }
    return order
  }

  private func putFields(
    of node: Int, _ order: FieldOrder, table: Int, into writer: inout RecordWriter
  ) -> Bool {
    var isWhole = true
    if order.isAscending {
      forEachEntry(of: node) {
        isWhole = putField($0, table: table, into: &writer) && isWhole
      }
      return isWhole
    }
    // Of a key that was encoded twice the last value stays.
    var fields: [Int32: Int] = [:]
    forEachEntry(of: node) { fields[state.pointee.entries[$0].slot] = $0 }
    for field in fields.sorted(by: { $0.key < $1.key }) {
      isWhole = putField(field.value, table: table, into: &writer) && isWhole
    }
    return isWhole
  }

  @inline(__always) private func putField(
    _ entry: Int, table: Int, into writer: inout RecordWriter
  ) -> Bool {
    let slot = Int(state.pointee.entries[entry].slot)
    writer.beginValue(slot: slot)
    if isNative(entry) {
      putBytes(of: entry, into: &writer)
      return true
    }
    return put(entry, as: writer.binding.collection.tables[table][slot].kind, into: &writer)
  }

  /// Whether a value is in the bytes, and of a type that the field is known to take.
  @inline(__always) private func isNative(_ entry: Int) -> Bool {
    state.pointee.entries[entry].type.traits?.pointee.native != nil
  }

  /// Writes a value as the catalogue keeps it; false where it is of another kind.
  private func put(_ entry: Int, as kind: Kind<Int>, into writer: inout RecordWriter) -> Bool {
    let node = Int(state.pointee.entries[entry].node)
    if node < 0 { return putLeaf(entry, as: kind, into: &writer) }
    let takesAnyName = state.pointee.nodes[node].keys?.pointee.takesAnyName
    var isWhole = true
    if state.pointee.nodes[node].isOptionalLevel, kind.unwrapped != .any {
      guard case .optional(let inner) = kind, case .optional = inner else { return false }
      putUnkeyed(node, into: &writer) { isWhole = put($0, as: inner, into: &$1) && isWhole }
      return isWhole
    }
    switch (kind.unwrapped, takesAnyName) {
    case (.any, _): putValue(of: entry, into: &writer)
    case (.document(let table), false?): return putRecord(node, table: table, into: &writer)
    case (.array(let element), nil), (.set(let element), nil):
      guard state.pointee.nodes[node].order != .sortedPairs else { return false }
      putUnkeyed(node, into: &writer) { isWhole = put($0, as: element, into: &$1) && isWhole }
    case (.dictionary(_, let value), true?):
      putKeyed(node, into: &writer) { isWhole = put($0, as: value, into: &$1) && isWhole }
    case (.dictionary(let key, let value), nil):
      guard state.pointee.nodes[node].order == .sortedPairs else { return false }
      var isKey = false
      putUnkeyed(node, into: &writer) {
        isKey.toggle()
        isWhole = put($0, as: isKey ? key : value, into: &$1) && isWhole
      }
    default: return false
    }
    return isWhole
  }

  /// Writes a value that is no container.
  private func putLeaf(
    _ entry: Int, as kind: Kind<Int>, into writer: inout RecordWriter
  ) -> Bool {
    let start = state.pointee.entries[entry].start
    if state.pointee.entries[entry].end == start {
      // It encoded nothing: an empty dictionary.
      if kind.unwrapped != .any { return false }
    } else if !isNative(entry), kind.unwrapped != .any {
      let isNil = state.pointee.bytes.base.load(fromByteOffset: start, as: UInt8.self) == 0xC0
      guard isNil, kind.isOptional else { return false }
    }
    putBytes(of: entry, into: &writer)
    return true
  }
}
