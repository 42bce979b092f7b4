// Finding values: by slot in a record, by key in a dictionary.

extension CodableInput.State {
  @inline(__always) func checkDepth(_ frame: Int) throws(RecordError) {
    if _slowPath(frames.base[frame].depth >= RecordFormat.maximumDepth) {
      throw .tooDeep
    }
  }

  /// - Throws: ``RecordError/invalid(_:)`` where a document is asked for as something else.
  @inline(__always) func checkNotDocument(_ frame: Int) throws(RecordError) {
    guard _slowPath(frames.base[frame].isDocument) else { return }
    throw .invalid("a document is read by way of a keyed container, not as a single value or array")
  }

  /// Looks at the value of a frame as a keyed container: returns the record that it is, or nil
  /// for a dictionary, whose entries are then known.
  @inline(__always) mutating func readKeyed(_ frame: Int) throws(RecordError) -> RecordPlace? {
    switch frames.base[frame].layout {
    case .record: return frames.base[frame].record
    case .map: return nil
    case .unread: return try readUnread(frame)
    }
  }

  private mutating func readUnread(_ frame: Int) throws(RecordError) -> RecordPlace? {
    try checkDepth(frame)
    let value = frames[frame]
    var reader = reader(frame, at: value.start)
    if value.start < value.end, value.start.load(as: UInt8.self) == RecordFormat.marker {
      guard reader.depth < RecordFormat.maximumDepth else { throw .tooDeep }
      let record = try RecordReader(
        UnsafeRawBufferPointer(start: reader.at, count: reader.left), binding: reader.binding,
        schema: reader.binding.anonymous, depth: reader.depth + 1)
      let place = RecordPlace(record)
      frames[frame] = CodableInput.Frame(value, place)
      return place
    }
    try readMap(frame, &reader)
    return nil
  }

  private mutating func readMap(_ frame: Int, _ reader: inout ValueReader) throws(RecordError) {
    let count = try reader.mapCount()
    let first = entries.count
    for _ in 0..<count {
      let start = reader.at
      try reader.skipOne()
      let key = UnsafeRawBufferPointer(start: start, count: reader.at - start)
      entries.append(
        MapEntry(key: start, value: reader.at, prefix: key.keyPrefix))
      try reader.skipOne()
    }
    if count > Self.fewCount { sortEntries(from: first) }
    frames[frame].layout = .map
    frames[frame].firstEntry = first
    frames[frame].nextEntry = first
    frames[frame].entryCount = count
    frames[frame].valueEnd = reader.at
  }

  /// How many elements an array has; the reader then stands in front of the first. Of a
  /// dictionary with other keys than text, as of every one that is to be a dictionary, keys and
  /// values are elements in turn.
  func elementCount(
    _ frame: Int, _ reader: inout ValueReader
  ) throws(RecordError) -> Int {
    let isMap = reader.nextIsMap
    guard isMap else { return try reader.arrayCount() }
    var ahead = reader
    let count = try ahead.mapCount()
    guard frames[frame].isDictionary || count > 0 && !ahead.nextIsString else {
      return try reader.arrayCount()  // Which says what is wrong.
    }
    reader = ahead
    return 2 * count
  }

  // MARK: By slot

  /// Where the value under a compact key is in a record; nil where it has none.
  @inline(__always) func value(
    _ name: UnsafePointer<KeyName>, _ slots: UnsafePointer<SlotPlan>, _ frame: Int
  ) throws(RecordError) -> UnsafeRawPointer? {
    let frame = frames.base + frame
    let slot = frame.pointee.binding._withUnsafeGuaranteedRef {
      slots.pointee.slot(of: name, in: $0.collection)
    }
    guard let slot, let record = frame.pointee.record else { return nil }
    return try record.value(inSlot: slot)
  }

  // MARK: By key

  /// Dictionaries of up to so many keys are looked through, larger ones are sorted.
  private static var fewCount: Int { 16 }

  /// Where the value under a compact key is in a dictionary; nil where there is none.
  @inline(__always) func value(
    _ name: UnsafePointer<KeyName>, _ frame: Int
  ) -> UnsafeRawPointer? {
    entry(name.pointee.encoded, name.pointee.prefix, frame).map {
      entries.base[$0].value
    }
  }

  /// Where the value under any key is; nil where there is none.
  @inline(never) func value(
    _ key: some CodingKey, _ frame: Int
  ) throws(RecordError) -> UnsafeRawPointer? {
    if let record = frames[frame].record {
      guard let slot = slot(of: key.stringValue, record.table, frame) else { return nil }
      return try record.value(inSlot: slot)
    }
    return entry(of: key, frame).map { entries[$0].value }
  }

  private func slot(of name: String, _ table: Int, _ frame: Int) -> Int? {
    frames[frame].binding._withUnsafeGuaranteedRef {
      $0.collection.tables[table].slot(of: name)
    }
  }

  private func entry(of key: some CodingKey, _ frame: Int) -> Int? {
    var writer = RecordWriter(binding: .none, capacity: 64)
    writer.put(key.stringValue)
    let found = writer.withBytes { entry($0, $0.keyPrefix, frame) }
    guard found == nil, let number = key.intValue else { return found }
    writer.removeAll()
    writer.put(Int64(number))
    return writer.withBytes { entry($0, $0.keyPrefix, frame) }
  }

  @inline(__always) private func entry(
    _ key: UnsafeRawBufferPointer, _ prefix: UInt64, _ frame: Int
  ) -> Int? {
    let frame = frames.base + frame
    let first = frame.pointee.firstEntry
    let count = frame.pointee.entryCount
    if count > Self.fewCount { return largeEntry(key, prefix, first, count) }
    // Types ask for their keys in one order each time; the next one is often the next here.
    let end = first &+ count
    var index = frame.pointee.nextEntry
    for _ in 0..<count {
      if index >= end { index = first }
      if entries.base[index].prefix == prefix,
        key.count <= 8 || Bytes.equal(entries.base[index].keyBytes, key)
      {
        frame.pointee.nextEntry = index &+ 1
        return index
      }
      index &+= 1
    }
    return nil
  }

  @inline(never) private func largeEntry(
    _ key: UnsafeRawBufferPointer, _ prefix: UInt64, _ first: Int, _ count: Int
  ) -> Int? {
    var low = first
    var high = first + count
    while low < high {
      let middle = (low + high) / 2
      let order = Bytes.compare(entries[middle].keyBytes, key)
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private func sortEntries(from first: Int) {
    var entries = UnsafeMutableBufferPointer(
      start: entries.base + first, count: entries.count - first)
    // As the coder writes them they are sorted already.
    let isSorted = zip(entries, entries.dropFirst()).allSatisfy {
      Bytes.compare($0.keyBytes, $1.keyBytes) < 0
    }
    if !isSorted { entries.sort { Bytes.compare($0.keyBytes, $1.keyBytes) < 0 } }
  }

  // MARK: Keys

  /// The keys that a type has for what is here.
  func allKeys<Key: CodingKey>(_ frame: Int) -> [Key] {
    let value = frames[frame]
    if let record = value.record {
      return value.binding._withUnsafeGuaranteedRef { binding in
        let fields = binding.collection.tables[record.table].fields
        return (0..<min(record.slotCount, fields.count)).compactMap { slot in
          record.mayHaveValue(inSlot: slot) ? Key(stringValue: fields[slot].name) : nil
        }
      }
    }
    return (value.firstEntry..<value.firstEntry + value.entryCount).compactMap {
      EncodedKey(entries[$0].keyBytes).codingKey(Key.self)
    }
  }

  /// Where a key stands that is not compact.
  func keyPlace(_ key: some CodingKey, _ frame: Int) -> KeyPlace {
    if let record = frames[frame].record {
      return slot(of: key.stringValue, record.table, frame).map {
        .slot($0, table: record.table)
      } ?? .none
    }
    guard let entry = entry(of: key, frame) else { return .none }
    return .encoded(entries[entry].key, end: entries[entry].value)
  }
}

extension CodableInput.Frame {
  /// The same value, which was found to be a record.
  fileprivate init(_ frame: CodableInput.Frame, _ record: RecordPlace) {
    self = CodableInput.Frame(
      generation: frame.generation, parent: frame.parent, depth: frame.depth, layout: .record,
      isDictionary: frame.isDictionary, isDocument: frame.isDocument, key: frame.key,
      start: frame.start, end: record.end, valueEnd: record.end, binding: frame.binding,
      recordDepth: frame.recordDepth + 1, record: record)
  }
}

extension ValueReader {
  fileprivate var nextIsMap: Bool {
    guard at < end else { return false }
    let tag = at.load(as: UInt8.self)
    return tag & 0xF0 == 0x80 || tag == 0xDE || tag == 0xDF
  }
}
