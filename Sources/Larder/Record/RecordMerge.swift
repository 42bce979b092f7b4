#if LARDER_MUTANTS
  internal import LarderLMDB
#endif

extension RecordWriter {
  /// Writes the new record of a document with the fields of the old one that its type does not
  /// know, so that an app of an older version loses nothing that a newer one has stored.
  ///
  /// Embedded documents are merged likewise, where a field holds one directly or a dictionary holds
  /// it under the same key; elements of arrays and sets have no identity that would tell which
  /// belongs to which.
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
      if let kind = schema.field(inSlot: slot)?.kind,
        try holdsUnknown(value, kind, depth: depth + 1)
      {
        return true
      }
    }
    return false
  }

  /// Whether there are such fields in a value of a field that `schema` knows.
  private func holdsUnknown(
    _ value: ValueReader, _ kind: Kind<SchemaReference>, depth: Int
  ) throws(RecordError) -> Bool {
    if let inside = value.insideOptional, case .optional(.optional(let inner)) = kind {
      return try holdsUnknown(inside, .optional(inner), depth: depth)
    }
    switch kind.unwrapped {
    case .document(let reference):
      guard value.nextIsRecord else { return false }
      return try holdsUnknown(
        value.rest, schema: binding.schema(of: reference.type), depth: depth)
    case .dictionary(_, let inner) where inner.holdsDocuments && value.nextIsMap:
      guard depth < RecordFormat.maximumDepth else { throw .tooDeep }
      var value = value
      for _ in 0..<(try value.mapCount()) {
        try value.skipOne()
        if try holdsUnknown(value, inner, depth: depth + 1) { return true }
        try value.skipOne()
      }
      return false
    default: return false
    }
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
        if let oldValue, let kind = schema.field(inSlot: slot)?.kind {
          try putMerged(old: oldValue, new: newValue, kind, depth: depth + 1)
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

  /// Writes a value of a field that `schema` knows, with what the old one has to keep.
  private mutating func putMerged(
    old: ValueReader, new: ValueReader, _ kind: Kind<SchemaReference>, depth: Int
  ) throws(RecordError) {
    guard try holdsUnknown(old, kind, depth: depth) else { return try append(new) }
    if case .optional(.optional(let inner)) = kind {
      guard let old = old.insideOptional, let new = new.insideOptional else {
        return try append(new)
      }
      putArray(count: 1)
      return try putMerged(old: old, new: new, .optional(inner), depth: depth)
    }
    switch kind.unwrapped {
    case .document(let reference) where new.nextIsRecord:
      let inner = binding.schema(of: reference.type)
      guard try RecordHeader(new.rest).table == inner.table else { return try append(new) }
      let frame = try putMerged(old: old.rest, new: new.rest, schema: inner, depth: depth)
      endEmbedded(frame)
    case .dictionary(_, let inner) where new.nextIsMap && Self.mergesDictionaries:
      try putMergedPairs(old: old, new: new) {
        (writer, old, new) throws(RecordError) in
        try writer.putMerged(old: old, new: new, inner, depth: depth + 1)
      }
    default: try append(new)
    }
  }

  private static var mergesDictionaries: Bool {
    #if LARDER_MUTANTS
      !Mutant.unmergedDictionaries.isOn
    #else
      true
    #endif
  }

  /// Writes the dictionary `new`, where `body` writes the values whose keys `old` has too.
  mutating func putMergedPairs(
    old: ValueReader, new: ValueReader,
    _ body: (inout RecordWriter, _ old: ValueReader, _ new: ValueReader) throws(RecordError) -> Void
  ) throws(RecordError) {
    let oldValues = try old.pairs()
    var pairs = new
    let count = try pairs.mapCount()
    putMap(count: count)
    for _ in 0..<count {
      let key = try pairs.key()
      append(key)
      if let oldValue = oldValues[[UInt8](key)] {
        try body(&self, oldValue, pairs)
      } else {
        try append(pairs)
      }
      try pairs.skipOne()
    }
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

  var nextIsMap: Bool {
    guard at < end else { return false }
    let tag = at.load(as: UInt8.self)
    return tag & 0xF0 == 0x80 || tag == 0xDE || tag == 0xDF
  }

  /// A reader in front of what an optional around an optional holds, which is an array of one; nil
  /// in front of anything else.
  fileprivate var insideOptional: ValueReader? {
    guard at < end, at.load(as: UInt8.self) == 0x91 else { return nil }
    var inside = self
    inside.at += 1
    return inside
  }

  /// The bytes of the next value, such as a dictionary's key, which is then behind the reader.
  fileprivate mutating func key() throws(RecordError) -> UnsafeRawBufferPointer {
    let start = at
    try skipOne()
    return UnsafeRawBufferPointer(start: start, count: at - start)
  }

  /// Readers in front of a dictionary's values, by the bytes of their keys.
  func pairs() throws(RecordError) -> [[UInt8]: ValueReader] {
    var reader = self
    var pairs: [[UInt8]: ValueReader] = [:]
    for _ in 0..<(try reader.mapCount()) {
      let key = [UInt8](try reader.key())
      pairs[key] = reader
      try reader.skipOne()
    }
    return pairs
  }

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
