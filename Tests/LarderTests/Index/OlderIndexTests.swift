import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Indexes as the first version of their format has them.
@Suite struct OlderIndexTests {
  let folder = TestFolder()

  @Test("an index whose entries have no checksum is built anew, and answers nothing before")
  func firstVersion() throws {
    let store = try Store(at: folder.store)
    let parcels = (0..<700).map { Parcel(id: $0, code: "c\($0)", shelf: $0 % 10) }
    try store.repository(of: Parcel.self).save(parcels)
    try store.collection("Parcel").buildIndexes()
    try makeOld(store)
    try store.close()

    let query = Parcel.where { $0.shelf == 3 }
    let reading = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))
    #expect(try reading.repository(of: Parcel.self).count(query) == 70)
    #expect(try query.explain(in: reading).source == .scan)
    try reading.close()
    let writing = try Store(at: folder.store)
    #expect(throws: StoreError.self) {
      try writing.repository(of: Parcel.self).save(Parcel(id: -1, code: "c699"))
    }
    try writing.collection("Parcel").buildIndexes()

    #expect(try writing.repository(of: Parcel.self).fetch(query).count == 70)
    guard case .index = try query.explain(in: writing).source else {
      Issue.record("the index is not used")
      return
    }
    try verifyAndClose(writing)
  }

  /// Takes from every index what the first version of the format did not have.
  private func makeOld(_ store: Store) throws {
    let records = try #require(
      try store.engine.environment.database(named: Layout.indexesName, create: false))
    try store.write { tx in
      for index in try #require(tx.catalogue["Parcel"]).indexes {
        var keys: [[UInt8]] = []
        do {
          var cursor = try tx.transaction.cursor(in: index.database)
          while try cursor.next() { keys.append([UInt8](cursor.key)) }
        }
        for key in keys {
          try key.withUnsafeBytes { key in
            try tx.transaction.put(
              UnsafeRawBufferPointer(start: nil, count: 0), for: key, in: index.database)
          }
        }
        try Self.record(index).withUnsafeBytes { record in
          try withUnsafeBytes(of: index.number.bigEndian) { key in
            try tx.transaction.put(record, for: key, in: records)
          }
        }
      }
      tx.hasWrittenMore = true
    }
  }

  private static func record(_ index: CollectionIndex) -> [UInt8] {
    let definition = index.definition
    var writer = RecordWriter(binding: .none)
    writer.putArray(count: 8)
    writer.put(1 as Int64)
    writer.put(definition.collection)
    writer.put(definition.name)
    writer.putArray(count: definition.parts.count)
    for part in definition.parts {
      writer.putArray(count: 4)
      writer.putArray(count: part.path.count)
      for name in part.path { writer.put(name) }
      writer.put(Int64(part.scalar.rawValue))
      writer.put(Int64((part.isMultiple ? 1 : 0) | (part.isDescending ? 2 : 0)))
      part.absent.withUnsafeBytes { writer.put($0) }
    }
    writer.put(definition.isUnique)
    if let filter = definition.filter {
      filter.withUnsafeBytes { writer.put($0) }
    } else {
      writer.putNil()
    }
    writer.put(Int64(definition.unicode))
    writer.putArray(count: 2)
    writer.put(1 as Int64)
    writer.putNil()
    let hash = writer.withBytes { Checksum.hash($0, seed: UInt64(index.number)) }
    writer.appendInteger(hash.littleEndian)
    return writer.withBytes { [UInt8]($0) }
  }
}
