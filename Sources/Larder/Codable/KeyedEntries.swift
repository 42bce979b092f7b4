/// Where the values of a dictionary that has text as keys, or of an embedded record, are found.
final class KeyedEntries {
  private struct Entry {
    let key: UnsafeRawBufferPointer
    let value: UnsafeRawPointer
  }

  /// Of a dictionary; sorted by the keys when they are too many to look through.
  let decoder: ValueDecoder
  private let entries: ContiguousArray<Entry>
  /// Of a record, by slot.
  private let slots: ContiguousArray<UnsafeRawPointer?>
  /// The names of a record's fields; nil for a dictionary.
  private let table: FieldTable?
  /// Behind the values, with what their readers have in common.
  private let end: ValueReader

  private static let fewCount = 16

  /// - Parameter reader: In front of the dictionary or record; behind it afterwards.
  init(_ reader: inout ValueReader, _ decoder: ValueDecoder) throws(RecordError) {
    self.decoder = decoder
    if reader.at < reader.end, reader.at.load(as: UInt8.self) == RecordFormat.marker {
      var slots: ContiguousArray<UnsafeRawPointer?> = []
      var table: FieldTable?
      end = try Self.read(&reader, &slots, &table)
      self.slots = slots
      self.table = table
      entries = []
      return
    }
    slots = []
    table = nil
    var entries: ContiguousArray<Entry> = []
    let count = try reader.mapCount()
    entries.reserveCapacity(min(count, 1024))
    for _ in 0..<count {
      let key = try reader.stringBytes()
      entries.append(Entry(key: key, value: reader.at))
      try reader.skip()
    }
    end = reader
    // As the coder writes them they are sorted already.
    if count > Self.fewCount {
      let isSorted = zip(entries, entries.dropFirst()).allSatisfy {
        Self.order($0.key, $1.key) < 0
      }
      if !isSorted { entries.sort { Self.order($0.key, $1.key) < 0 } }
    }
    self.entries = entries
  }

  private static func read(
    _ reader: inout ValueReader, _ slots: inout ContiguousArray<UnsafeRawPointer?>,
    _ table: inout FieldTable?
  ) throws(RecordError) -> ValueReader {
    guard reader.depth < RecordFormat.maximumDepth else { throw .tooDeep }
    let bytes = UnsafeRawBufferPointer(start: reader.at, count: reader.left)
    let binding = reader.binding
    let record = try RecordReader(
      bytes, binding: binding, schema: binding.anonymous, depth: reader.depth + 1)
    let fields = binding.collection.tables[record.table]
    for slot in 0..<min(record.slotCount, fields.fields.count) {
      slots.append(try record.value(inSlot: slot)?.at)
    }
    table = fields
    reader.at = record.end
    return ValueReader(record.end, record.end, binding: binding, depth: reader.depth + 1)
  }

  /// A reader in front of the value under a key.
  @inline(__always) subscript(name: String) -> ValueReader? {
    guard let value = place(of: name) else { return nil }
    var reader = end
    reader.at = value
    return reader
  }

  /// The keys, as far as they are text.
  var names: [String] {
    guard let table else {
      return entries.compactMap { String(validating: $0.key, as: UTF8.self) }
    }
    return slots.indices.compactMap { slots[$0] == nil ? nil : table.fields[$0].name }
  }

  private func place(of name: String) -> UnsafeRawPointer? {
    if let table {
      guard let slot = table.slot(of: name), slot < slots.count else { return nil }
      return slots[slot]
    }
    var name = name
    return name.withUTF8 { find(UnsafeRawBufferPointer($0)) }
  }

  private func find(_ name: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
    if entries.count <= Self.fewCount {
      for entry in entries where Bytes.equal(entry.key, name) { return entry.value }
      return nil
    }
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      let order = Self.order(entries[middle].key, name)
      if order == 0 { return entries[middle].value }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The order of the encoded keys: their length comes first.
  private static func order(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Int {
    left.count == right.count ? Bytes.compare(left, right) : left.count - right.count
  }
}
