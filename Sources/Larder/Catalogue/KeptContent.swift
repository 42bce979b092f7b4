internal import LarderLMDB

extension StoreError {
  /// Whether what a type declares does not go with what the collection has.
  var isOfShape: Bool {
    if case .kindMismatch = self { true } else { isOfKey }
  }

  /// Whether it says another thing of the key.
  var isOfKey: Bool {
    switch self {
    case .keyKind, .keyField: true
    default: false
    }
  }
}

extension Transaction where Self: ~Copyable {
  /// Whether what the documents of a collection hold is written the same way under another description.
  ///
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  borrowing func keeps(
    _ content: Declaration.KeptContent, of collection: Collection,
    under other: CollectionDescription
  ) throws -> Bool {
    switch content {
    case .anything: try statistics(of: collection.documents).entryCount == 0
    case .fields(let names): try keeps(names, of: collection, under: other, inTable: nil)
    }
  }

  /// Whether the values that documents hold in some fields have the same bytes under another description: nil and
  /// the empty array do, under most. Costs a look at the documents, up to the first whose values have not.
  ///
  /// - Parameter table: Which records are meant; nil for all.
  /// - Throws: ``StoreError/damagedRecord(collection:key:reason:)``.
  borrowing func keeps(
    _ names: [String], of collection: Collection, under other: CollectionDescription,
    inTable table: Int?
  ) throws -> Bool {
    let binding = CollectionBinding(collection)
    let otherBinding = CollectionBinding(Collection(other, documents: collection.documents))
    var writer = RecordWriter(binding: otherBinding)
    writer.mayLackFields = true
    var cursor = try cursor(in: collection.documents)
    while try cursor.next() {
      let key = cursor.key
      for name in names {
        let stored = try binding.reading(cursor.value, key: key) { record in
          table == nil || table == record.table
            ? try record.storedValue(of: name, in: collection.description) : nil
        }
        guard let (value, bytes) = stored else { continue }
        writer.removeAll()
        do {
          let range = try writer.putDocument([name: value], key: key)
          let written = try writer.withBytes { written in
            try otherBinding.reading(UnsafeRawBufferPointer(rebasing: written[range]), key: key) {
              try $0.storedValue(of: name, in: other)
            }
          }
          if written?.bytes != bytes { return false }
        } catch is CoercionError {
          return false
        }
      }
    }
    return true
  }
}

extension RecordReader {
  /// The value of a field and its bytes; nil where the record has none.
  fileprivate borrowing func storedValue(
    of name: String, in description: CollectionDescription
  ) throws(RecordError) -> (value: Value, bytes: [UInt8])? {
    let table = description.tables[table]
    guard let slot = table.slot(of: name), var reader = try value(inSlot: slot) else { return nil }
    let start = reader.at
    let value = try reader.value(as: table[slot].kind)
    return (value, [UInt8](UnsafeRawBufferPointer(start: start, count: reader.at - start)))
  }
}
