extension RecordWriter {
  /// Writes the new record of a document with the fields of the old one that its type does not
  /// know, so that an app of an older version loses nothing that a newer one has stored.
  ///
  /// Embedded documents are merged likewise, where a field holds one directly; elements of
  /// arrays have no identity that would tell which belongs to which.
  ///
  /// - Returns: The range of the merged record, as ``endDocument(key:)`` does; nil when there
  ///   is nothing to keep.
  /// - Throws: ``RecordError`` when one of the records is damaged.
  mutating func merge(
    old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer
  ) throws(RecordError) -> Range<Int>? {
    guard try holdsUnknown(old, schema: binding.root) else { return nil }
    _ = try putMerged(old: old, new: new, schema: binding.root, depth: 1)
    return try endDocument(key: key)
  }

  private func reader(
    _ record: UnsafeRawBufferPointer, depth: Int
  ) throws(RecordError) -> RecordReader {
    try RecordReader(record, binding: binding, schema: binding.anonymous, depth: depth)
  }

  /// Whether a record has fields that `schema` does not know, at any depth.
  private func holdsUnknown(
    _ bytes: UnsafeRawBufferPointer, schema: SchemaBinding, depth: Int = 1
  ) throws(RecordError) -> Bool {
    guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let record = try reader(bytes, depth: depth)
    for oldSlot in 0..<record.slotCount {
      guard let value = try record.value(inSlot: oldSlot),
        let slot = slot(of: oldSlot, in: record.table, for: schema)
      else { continue }
      guard schema.knownSlots.contains(slot) else { return true }
      if let inner = embedded(in: slot, of: schema), value.nextIsRecord,
        try holdsUnknown(value.rest, schema: inner, depth: depth + 1)
      {
        return true
      }
    }
    return false
  }

  /// The slot in the schema's own table of a field that an old record has in `table`; nil where
  /// its own table has no such field.
  private func slot(of oldSlot: Int, in table: Int, for schema: SchemaBinding) -> Int? {
    if table == schema.table { return oldSlot }
    let (old, new) = (binding.collection.tables[table], binding.collection.tables[schema.table])
    guard oldSlot < old.fields.count, let slot = new.slot(of: old[oldSlot].name),
      schema.knownSlots.contains(slot) || new[slot].kind == old[oldSlot].kind
    else { return nil }
    return slot
  }

  /// Writes a merged record up to its end, which is the caller's.
  private mutating func putMerged(
    old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer, schema: SchemaBinding, depth: Int
  ) throws(RecordError) -> Frame {
    let oldRecord = try reader(old, depth: depth)
    let newRecord = try reader(new, depth: depth)
    var oldSlots: [Int: Int]?
    var slotCount = max(oldRecord.slotCount, newRecord.slotCount)
    if oldRecord.table != schema.table {
      let moved = (0..<oldRecord.slotCount).compactMap { old in
        slot(of: old, in: oldRecord.table, for: schema).map { ($0, old) }
      }
      oldSlots = Dictionary(moved, uniquingKeysWith: { first, _ in first })
      slotCount = max(newRecord.slotCount, (moved.map(\.0).max() ?? -1) + 1)
    }
    let outer = begin(Frame(table: schema.table, slotCount: slotCount))
    for slot in 0..<slotCount {
      let oldValue = try oldRecord.value(inSlot: oldSlots.map { $0[slot] ?? -1 } ?? slot)
      if let newValue = try newRecord.value(inSlot: slot) {
        beginValue(slot: slot)
        if let oldValue, let inner = embedded(in: slot, of: schema), newValue.nextIsRecord,
          oldValue.nextIsRecord, try RecordHeader(newValue.rest).table == inner.table,
          try holdsUnknown(oldValue.rest, schema: inner, depth: depth + 1)
        {
          let frame = try putMerged(
            old: oldValue.rest, new: newValue.rest, schema: inner, depth: depth + 1)
          endEmbedded(frame)
        } else {
          try append(newValue)
        }
      } else if let oldValue, !schema.knownSlots.contains(slot) {
        beginValue(slot: slot)
        try append(oldValue)
      }
    }
    return outer
  }

  private func embedded(in slot: Int, of schema: SchemaBinding) -> SchemaBinding? {
    guard let field = schema.field(inSlot: slot),
      case .document(let reference) = field.kind.unwrapped
    else { return nil }
    return binding.schema(of: reference.type)
  }

  /// Copies one value.
  mutating func append(_ value: ValueReader) throws(RecordError) {
    var end = value
    try end.skip()
    append(UnsafeRawBufferPointer(start: value.at, count: end.at - value.at))
  }
}

extension ValueReader {
  var nextIsRecord: Bool { at < end && at.load(as: UInt8.self) == RecordFormat.marker }

  var rest: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: at, count: left)
  }
}

extension SchemaBinding {
  fileprivate func field(inSlot slot: Int) -> FieldDescription? {
    fields.indices.first { Int(slots[$0]) == slot && knownSlots.contains(slot) }
      .map { fields[$0] }
  }
}
