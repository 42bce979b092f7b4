// Merging for documents that have no schema.

/// Which fields of one collection the documents of a batch know, slot by slot.
final class KnownFields {
  private let knowledge: any FieldKnowledge
  private let collection: Collection
  /// By table and slot; made when a table is first asked about.
  private var slots: [Int: [Bool]] = [:]
  /// Likewise, of fields that they know.
  private var initialValues: [Int: [UnsafeRawBufferPointer?]] = [:]

  /// nil where nothing is known: for documents that have a schema.
  init?(_ knowledge: (any FieldKnowledge)?, in collection: Collection) {
    guard let knowledge else { return nil }
    self.knowledge = knowledge
    self.collection = collection
  }

  func knows(slot: Int, table: Int) -> Bool {
    if let known = slots[table] { return slot < known.count && known[slot] }
    let known = collection.tables[table].fields.map { knowledge.knows($0.name, table: table) }
    slots[table] = known
    return slot < known.count && known[slot]
  }

  deinit {
    for values in initialValues.values { for case let bytes? in values { bytes.deallocate() } }
  }

  /// A reader in front of the value that a field has where a document lacks it; nil where it has none.
  func initialValue(slot: Int, table: Int, like reader: ValueReader) -> ValueReader? {
    if initialValues[table] == nil {
      initialValues[table] = collection.tables[table].fields.map { field in
        knowledge.initialValue(of: field.name, table: table).map { bytes in
          let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
          copy.copyBytes(from: bytes)
          return UnsafeRawBufferPointer(copy)
        }
      }
    }
    guard let values = initialValues[table], slot < values.count, let bytes = values[slot],
      let start = bytes.baseAddress
    else { return nil }
    return ValueReader(
      start, start + bytes.count, binding: reader.binding, depth: reader.depth)
  }
}

extension ValueReader {
  /// Whether the values in front of two readers have the same bytes.
  fileprivate func isEqual(to other: ValueReader) throws(RecordError) -> Bool {
    var (end, otherEnd) = (self, other)
    try end.skip()
    try otherEnd.skip()
    return Bytes.equal(
      UnsafeRawBufferPointer(start: at, count: end.at - at),
      UnsafeRawBufferPointer(start: other.at, count: otherEnd.at - other.at))
  }
}

extension RecordWriter {
  /// Writes the new record of a document with the fields of the old one that its type does not
  /// know, as ``merge(old:new:key:)`` does for types with a schema.
  ///
  /// - Returns: The range of the merged record; nil when there is nothing to keep.
  /// - Throws: ``RecordError`` when one of the records is damaged.
  mutating func merge(
    old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
    knowing known: KnownFields
  ) throws(RecordError) -> Range<Int>? {
    // A document may be an enum itself.
    if try isOtherCase(old, than: new, known, depth: 1) { return nil }
    guard try keepsFields(of: old, in: new, known, depth: 1) else { return nil }
    _ = try putMerged(old: old, new: new, known, depth: 1)
    return try endDocument(key: key)
  }

  private func reader(
    _ record: UnsafeRawBufferPointer, depth: Int
  ) throws(RecordError) -> RecordReader {
    guard depth <= RecordFormat.maximumDepth else { throw .tooDeep }
    return try RecordReader(record, binding: binding, schema: binding.anonymous, depth: depth)
  }

  /// Whether an old record has fields that the type of the new one does not know, at any depth.
  private func keepsFields(
    of old: UnsafeRawBufferPointer, in new: UnsafeRawBufferPointer, _ known: KnownFields,
    depth: Int
  ) throws(RecordError) -> Bool {
    let old = try reader(old, depth: depth)
    let new = try reader(new, depth: depth)
    for oldSlot in 0..<old.slotCount {
      guard let value = try old.value(inSlot: oldSlot),
        let slot = slot(of: oldSlot, in: old.table, for: new.table, known)
      else { continue }
      guard known.knows(slot: slot, table: new.table) else { return true }
      if let newValue = try new.value(inSlot: slot) {
        if try keepsFields(of: value, in: newValue, known, depth: depth + 1) { return true }
      } else if let initial = known.initialValue(slot: slot, table: new.table, like: value) {
        if try value.isEqual(to: initial) { return true }
        if try keepsFields(of: value, in: initial, known, depth: depth + 1) { return true }
      }
    }
    return false
  }

  /// The same of two values: documents, or those that dictionaries have under the same keys.
  private func keepsFields(
    of old: ValueReader, in new: ValueReader, _ known: KnownFields, depth: Int
  ) throws(RecordError) -> Bool {
    if old.nextIsRecord, new.nextIsRecord {
      if try isOtherCase(old.rest, than: new.rest, known, depth: depth) { return false }
      return try keepsFields(of: old.rest, in: new.rest, known, depth: depth)
    }
    guard old.nextIsMap, new.nextIsMap, try old.holdsRecords() else { return false }
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let new = try new.pairs()
    for (key, value) in try old.pairs() {
      guard let newValue = new[key] else { continue }
      if try keepsFields(of: value, in: newValue, known, depth: depth + 1) { return true }
    }
    return false
  }

  /// Whether two records look like cases of an enum, each with its payload, a record too, under its
  /// name, and the old one's is not known: with both in it the record could be read by nobody. A struct
  /// looks alike only where all properties but one are nil, and that one is an embedded value.
  private func isOtherCase(
    _ old: UnsafeRawBufferPointer, than new: UnsafeRawBufferPointer, _ known: KnownFields,
    depth: Int
  ) throws(RecordError) -> Bool {
    let old = try reader(old, depth: depth)
    let new = try reader(new, depth: depth)
    guard let oldSlot = try onlyRecord(in: old), let newSlot = try onlyRecord(in: new),
      let slot = slot(of: oldSlot, in: old.table, for: new.table, known)
    else { return false }
    return slot != newSlot && !known.knows(slot: slot, table: new.table)
  }

  /// The slot of a record's only value, where that is a record; nil where it has other ones, or none.
  private func onlyRecord(in record: borrowing RecordReader) throws(RecordError) -> Int? {
    var found: Int?
    for slot in 0..<record.slotCount {
      guard let value = try record.value(inSlot: slot) else { continue }
      guard found == nil, value.nextIsRecord else { return nil }
      found = slot
    }
    return found
  }

  /// The slot in a new record's table of a field that an old record has in its own; nil where the
  /// new one's table has no such field.
  private func slot(
    of oldSlot: Int, in old: Int, for new: Int, _ known: KnownFields
  ) -> Int? {
    let (oldTable, newTable) = (binding.collection.tables[old], binding.collection.tables[new])
    guard oldSlot < oldTable.fields.count else { return nil }
    if old == new { return oldSlot }
    guard let slot = newTable.slot(of: oldTable[oldSlot].name),
      known.knows(slot: slot, table: new) || newTable[slot].kind == oldTable[oldSlot].kind
    else { return nil }
    return slot
  }

  /// Writes a merged record up to its end, which is the caller's.
  private mutating func putMerged(
    old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, _ known: KnownFields, depth: Int
  ) throws(RecordError) -> Frame {
    let old = try reader(old, depth: depth)
    let new = try reader(new, depth: depth)
    var oldSlots: [Int: Int] = [:]
    for oldSlot in 0..<old.slotCount {
      if let slot = slot(of: oldSlot, in: old.table, for: new.table, known) {
        oldSlots[slot] = oldSlot
      }
    }
    let slotCount = max(new.slotCount, (oldSlots.keys.max() ?? -1) + 1)
    let outer = begin(Frame(table: new.table, slotCount: slotCount))
    for slot in 0..<slotCount {
      let oldValue = try old.value(inSlot: oldSlots[slot] ?? -1)
      if let newValue = try new.value(inSlot: slot) {
        beginValue(slot: slot)
        if let oldValue {
          try putMerged(old: oldValue, new: newValue, known, depth: depth + 1)
        } else {
          try append(newValue)
        }
      } else if let oldValue {
        if !known.knows(slot: slot, table: new.table) {
          beginValue(slot: slot)
          try append(oldValue)
        } else if let initial = known.initialValue(slot: slot, table: new.table, like: oldValue) {
          // Either they are equal, or the initial value takes over what nobody here knows.
          if try oldValue.isEqual(to: initial) {
            beginValue(slot: slot)
            try append(oldValue)
          } else if try keepsFields(of: oldValue, in: initial, known, depth: depth + 1) {
            beginValue(slot: slot)
            try putMerged(old: oldValue, new: initial, known, depth: depth + 1)
          }
        }
      }
    }
    return outer
  }

  private mutating func putMerged(
    old: ValueReader, new: ValueReader, _ known: KnownFields, depth: Int
  ) throws(RecordError) {
    guard try keepsFields(of: old, in: new, known, depth: depth) else { return try append(new) }
    if new.nextIsRecord {
      let frame = try putMerged(old: old.rest, new: new.rest, known, depth: depth)
      return endEmbedded(frame)
    }
    try putMergedPairs(old: old, new: new) { (writer, old, new) throws(RecordError) in
      try writer.putMerged(old: old, new: new, known, depth: depth + 1)
    }
  }
}

extension ValueReader {
  /// Whether the values of a dictionary are documents, or dictionaries: its first one tells.
  fileprivate func holdsRecords() throws(RecordError) -> Bool {
    var reader = self
    guard try reader.mapCount() > 0 else { return false }
    try reader.skipOne()
    return reader.nextIsRecord || reader.nextIsMap
  }
}
