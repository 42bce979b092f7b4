internal import LarderLMDB

/// The entries of one index that a change of documents adds and removes, written together and
/// sorted: twice as fast as one by one.
final class IndexChanges {
  private let encoder: IndexEncoder
  private let keyKind: KeyKind
  // Nobody else is asked while these are written, and a check of that costs as much as an entry.
  @exclusivity(unchecked) private var bytes = OrderedBytes(capacity: 4096)
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Those that are being written.
  @exclusivity(unchecked) private var taken: [Entry] = []

  private struct Entry {
    var start: Int
    var count: UInt16
    var valueCount: UInt16
    var isCut: Bool
    var isInsertion: Bool
    /// Whether no other document may have this value.
    var isUnique: Bool
    /// The last byte of the key, where ``IndexChanges/takeNext(of:)`` has looked at it.
    var lastByte: UInt8 = 0
  }

  var index: CollectionIndex { encoder.index }

  /// What may be collected before it is written. Unique indexes are checked at the end only, so
  /// that documents may swap their values.
  ///
  /// What is written later than the first time goes between what is there, and leaves pages half full:
  /// with 8 MiB a store of 1,000,000 contacts with two indexes was 1.39 times as large as C's, with
  /// 32 MiB 1.21 times.
  private static let maximumByteCount = 32 << 20

  /// What is done with a document that has the value of another one in a unique index.
  enum Conflict {
    /// Nothing is written, and the error says so.
    case refused
    /// It is written, and ``conflict`` says so: it was stored before the index was. With the one that
    /// is known already.
    case collected(String?)
  }

  private let refusesConflicts: Bool
  /// The first two documents that have the same value.
  private(set) var conflict: String?

  init(_ index: CollectionIndex, in collection: Collection, conflict: Conflict = .refused) {
    encoder = IndexEncoder(index, in: collection)
    keyKind = collection.keyKind
    if case .collected(let known) = conflict {
      refusesConflicts = false
      self.conflict = known
    } else {
      refusesConflicts = true
    }
  }

  /// Whether what was collected is to be written now.
  var isFull: Bool { isLarge && !index.definition.isUnique }

  var isLarge: Bool { bytes.count > Self.maximumByteCount }

  /// About what the entries so far take in memory while they are sorted.
  var sortingByteCount: Int {
    let entry = MemoryLayout<Entry>.stride + 2 * MemoryLayout<KeySort.Item>.stride
    return bytes.count + entries.count * entry
  }

  func insert(_ record: borrowing RecordReader, key: UnsafeRawBufferPointer) {
    add(record, key, isInsertion: true)
  }

  func delete(_ record: borrowing RecordReader, key: UnsafeRawBufferPointer) {
    add(record, key, isInsertion: false)
  }

  func replace(
    _ old: borrowing RecordReader, by new: borrowing RecordReader, key: UnsafeRawBufferPointer
  ) {
    if encoder.looksTheSame(old, new) { return }
    add(old, key, isInsertion: false)
    add(new, key, isInsertion: true)
  }

  private func add(
    _ record: borrowing RecordReader, _ key: UnsafeRawBufferPointer, isInsertion: Bool
  ) {
    encoder.encode(record, into: &bytes) { values, isCut, equalsNothing, bytes in
      bytes.append(key)
      entries.append(
        Entry(
          start: values.lowerBound,
          count: UInt16(truncatingIfNeeded: bytes.count - values.lowerBound),
          valueCount: UInt16(truncatingIfNeeded: values.count), isCut: isCut,
          isInsertion: isInsertion, isUnique: index.definition.isUnique && !equalsNothing))
    }
  }

  /// Collects the deletion of whatever the document under `key` has in the index, by reading all
  /// of it.
  func purge(_ key: UnsafeRawBufferPointer, _ transaction: borrowing WriteTransaction) throws {
    var cursor = try transaction.cursor(in: index.database)
    while try cursor.next() {
      guard let count = index.valueByteCount(ofEntry: cursor.key, cursor.value),
        Bytes.equal(UnsafeRawBufferPointer(rebasing: cursor.key[count...]), key)
      else { continue }
      let start = bytes.count
      bytes.append(cursor.key)
      entries.append(
        Entry(
          start: start, count: UInt16(truncatingIfNeeded: cursor.key.count),
          valueCount: UInt16(truncatingIfNeeded: count), isCut: IndexEntry.isCut(cursor.value),
          isInsertion: false, isUnique: false))
    }
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    bytes[entry.start..<entry.start + Int(entry.count)]
  }
}

// MARK: Writing

extension IndexChanges {
  /// Writes what was collected.
  ///
  /// - Throws: ``StoreError/uniqueViolation(collection:index:value:key:otherKey:)``; LMDB's errors.
  ///   The transaction, or the one that it is nested in, must then be let go of.
  func write(to transaction: inout WriteTransaction, _ collection: Collection) throws {
    guard !entries.isEmpty else { return }
    try write(sorted()[...], to: &transaction, collection)
    bytes.removeAll()
    entries.removeAll(keepingCapacity: true)
  }

  /// The collected entries in the order of the index. They stay valid until more is collected, or all is written.
  func sorted() -> [KeySort.Item] { KeySort.sorted(count: entries.count) { key(entries[$0]) } }

  /// Writes a part of what was collected, which stays there.
  ///
  /// - Parameters:
  ///   - sorted: Of ``sorted()``.
  ///   - changed: Keys of documents whose entries are left out.
  /// - Throws: As ``write(to:_:)``.
  func write(
    _ sorted: ArraySlice<KeySort.Item>, leavingOut changed: Set<[UInt8]> = [],
    to transaction: inout WriteTransaction, _ collection: Collection
  ) throws {
    var sorted = sorted
    if !changed.isEmpty {
      sorted =
        sorted.filter { item in
          !changed.contains([UInt8](item.key[Int(entries[Int(item.place)].valueCount)...]))
        }[...]
    }
    var cursor = try transaction.cursor(in: index.database)
    if index.definition.isUnique {
      try delete(sorted, &cursor)
      try insert(sorted, &cursor, in: collection, transaction)
    } else {
      try write(sorted, &cursor)
    }
  }

  /// In one pass: what is both deleted and inserted stays.
  private func write(_ sorted: ArraySlice<KeySort.Item>, _ cursor: inout Cursor) throws {
    var end = EndOfIndex()
    try end.find(&cursor, in: index)
    var rest = sorted
    while !rest.isEmpty {
      takeNext(of: &rest)
      var place = 0
      while place < taken.count {
        let entry = taken[place]
        var isInserted = entry.isInsertion
        var isDeleted = !entry.isInsertion
        place += 1
        while place < taken.count, haveEqualKeys(taken[place], entry) {
          if taken[place].isInsertion { isInserted = true } else { isDeleted = true }
          place += 1
        }
        if isInserted, !isDeleted {
          try put(entry, &cursor, &end)
        } else if isDeleted, !isInserted, try cursor.seek(key(entry)) {
          try cursor.delete()
        }
      }
    }
  }

  /// Entries that are looked at before the first of them is written.
  private static let countAtOnce = 64

  /// Fetches the next entries into ``taken``, and with them all that have the key of the last one.
  ///
  /// Sorted, they lie all over the memory. Where each was fetched when its turn came, the processor waited for it 70
  /// nanoseconds long; in a loop that does nothing else it waits for several at a time.
  private func takeNext(of sorted: inout ArraySlice<KeySort.Item>) {
    taken.removeAll(keepingCapacity: true)
    while let item = sorted.first {
      var entry = entries[Int(item.place)]
      entry.lastByte = item.key[item.key.count - 1]
      if taken.count >= Self.countAtOnce, let last = taken.last, !haveEqualKeys(entry, last) {
        return
      }
      taken.append(entry)
      sorted.removeFirst()
    }
  }

  private func haveEqualKeys(_ left: Entry, _ right: Entry) -> Bool {
    left.lastByte == right.lastByte && Bytes.equal(key(left), key(right))
  }

  private func delete(_ sorted: ArraySlice<KeySort.Item>, _ cursor: inout Cursor) throws {
    for item in sorted where !entries[Int(item.place)].isInsertion {
      if try cursor.seek(item.key) { try cursor.delete() }
    }
  }

  private func insert(
    _ sorted: ArraySlice<KeySort.Item>, _ cursor: inout Cursor, in collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws {
    var end = EndOfIndex()
    try end.find(&cursor, in: index)
    var rest = sorted
    while !rest.isEmpty {
      takeNext(of: &rest)
      var previous: Entry?
      for entry in taken where entry.isInsertion {
        // Elements of one array that are equal have one entry.
        if let previous, haveEqualKeys(previous, entry), !Self.putsRepeatedEntries { continue }
        previous = entry
        if entry.isUnique, conflict == nil {
          do {
            try refuseSecond(entry, &cursor, &end, collection, transaction)
          } catch let error as StoreError {
            guard case .uniqueViolation = error, !refusesConflicts else { throw error }
            conflict = "\(error)"
          }
        }
        try put(entry, &cursor, &end)
      }
    }
    if refusesConflicts, case .building = index.state {
      try refuseSecondAmongOthers(collection, transaction)
    }
  }

  private static var putsRepeatedEntries: Bool {
    #if LARDER_MUTANTS
      Mutant.repeatedEntries.isOn
    #else
      false
    #endif
  }

  /// Asks the documents themselves, as not all of them are in the index yet. That takes as long as a
  /// query without an index, for each save until the index is built: a value that were let in now
  /// would be there for good.
  private func refuseSecondAmongOthers(
    _ collection: Collection, _ transaction: borrowing WriteTransaction
  ) throws {
    var owners: [[UInt8]: UnsafeRawBufferPointer] = [:]
    for entry in entries where entry.isInsertion && entry.isUnique {
      let key = key(entry)
      let values = UnsafeRawBufferPointer(rebasing: key[..<Int(entry.valueCount)])
      owners[[UInt8](values)] = UnsafeRawBufferPointer(rebasing: key[Int(entry.valueCount)...])
    }
    if owners.isEmpty { return }
    let binding = CollectionBinding(collection)
    var cursor = try transaction.cursor(in: collection.documents)
    var found = OrderedBytes()
    while try cursor.next() {
      // A damaged document has no value: saving or deleting it mends that.
      guard let record = try? collection.verified(cursor.value, key: cursor.key),
        let reader = try? RecordReader(
          record, binding: binding, schema: binding.anonymous, depth: 1)
      else { continue }
      let key = cursor.key
      var conflict: (owner: UnsafeRawBufferPointer, isCut: Bool)?
      found.removeAll()
      encoder.encode(reader, into: &found) { values, isCut, _, bytes in
        guard let owner = owners[[UInt8](bytes[values])], !Bytes.equal(owner, key) else {
          return
        }
        conflict = (owner, isCut)
      }
      guard let (owner, isCut) = conflict else { continue }
      if try !isCut || haveTheSameWholeValue(owner, key, collection, transaction) {
        throw try violation(owner, key, collection, transaction)
      }
    }
  }

  private func violation(
    _ key: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, _ collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws -> StoreError {
    .uniqueViolation(
      collection: collection.name, index: index.name,
      value: try valueText(key, collection, transaction), key: keyKind.text(of: key),
      otherKey: keyKind.text(of: other))
  }

  private func put(_ entry: Entry, _ cursor: inout Cursor, _ end: inout EndOfIndex) throws {
    let key = key(entry)
    let value = IndexEntry.value(
      of: key, valueByteCount: Int(entry.valueCount), isCut: entry.isCut, index: index.number)
    try withUnsafeBytes(of: value.littleEndian) { value in
      try cursor.put(value, for: key, end.takes(key) ? .append : .upsert)
    }
  }

  /// - Throws: ``StoreError/uniqueViolation(collection:index:value:key:otherKey:)`` where another
  ///   document has the entry's value.
  private func refuseSecond(
    _ entry: Entry, _ cursor: inout Cursor, _ end: inout EndOfIndex, _ collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws {
    let key = key(entry)
    let value = UnsafeRawBufferPointer(rebasing: key[..<Int(entry.valueCount)])
    let primaryKey = UnsafeRawBufferPointer(rebasing: key[Int(entry.valueCount)...])
    if end.isBefore(value) { return }
    // The entry behind them is looked at, too: damage may have made one of them sort there.
    var hasOne = try index.seek(atOrAfter: value, &cursor)
    while hasOne {
      let count = try index.checkedValueByteCount(ofEntry: cursor.key, cursor.value)
      guard cursor.key.starts(with: value) else { return }
      guard IndexEntry.isCut(cursor.value) == entry.isCut, count == value.count else {
        hasOne = try cursor.next()
        continue
      }
      let other = UnsafeRawBufferPointer(rebasing: cursor.key[count...])
      if !Bytes.equal(other, primaryKey) {
        let isSame =
          try !entry.isCut || haveTheSameWholeValue(primaryKey, other, collection, transaction)
        if isSame {
          throw try violation(primaryKey, other, collection, transaction)
        }
      }
      hasOne = try cursor.next()
    }
  }

  /// Whether two documents whose values are cut in the index, and have one hash, are the same.
  private func haveTheSameWholeValue(
    _ key: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, _ collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws -> Bool {
    let values = try wholeValues(key, collection, transaction)
    return try !values.isDisjoint(with: wholeValues(other, collection, transaction))
  }

  private func wholeValues(
    _ key: UnsafeRawBufferPointer, _ collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws -> Set<[UInt8]> {
    let binding = CollectionBinding(collection)
    var values: Set<[UInt8]> = []
    _ = try transaction.withRecord(for: key, binding) { record in
      var bytes = OrderedBytes()
      encoder.encode(record, into: &bytes, limit: IndexEncoder.noLimit) { range, _, _, bytes in
        values.insert([UInt8](bytes[range]))
      }
    }
    return values
  }

  /// The values of a document in this index, as a person reads them.
  private func valueText(
    _ key: UnsafeRawBufferPointer, _ collection: Collection,
    _ transaction: borrowing WriteTransaction
  ) throws -> String {
    let binding = CollectionBinding(collection)
    let document = try transaction.withRecord(for: key, binding) { try DynamicDocument($0) }
    return document.map { index.text(of: $0) } ?? ""
  }
}

/// The last key of an index, as far as it is known: keys behind it are appended, which packs the
/// pages full.
private struct EndOfIndex {
  private var last: [UInt8] = []
  private var isEmpty = true
  /// Whether the checksum of the last entry holds.
  private var isWhole = true
  private var isAppending = false

  mutating func find(_ cursor: inout Cursor, in index: CollectionIndex) throws {
    guard try cursor.last() else { return }
    isEmpty = false
    isWhole = index.valueByteCount(ofEntry: cursor.key, cursor.value) != nil
    last = [UInt8](cursor.key)
  }

  func isBefore(_ value: UnsafeRawBufferPointer) -> Bool {
    // Once something was appended the end is not known any more. And an entry that damage has made smaller may
    // stand behind greater ones.
    if isAppending || !isWhole { return false }
    return isEmpty || last.withUnsafeBytes { Bytes.compare($0, value) < 0 }
  }

  /// Whether a key comes behind all others. Keys are asked for in ascending order.
  mutating func takes(_ key: UnsafeRawBufferPointer) -> Bool {
    if !isAppending {
      isAppending = isEmpty || last.withUnsafeBytes { Bytes.compare($0, key) < 0 }
    }
    return isAppending
  }
}
