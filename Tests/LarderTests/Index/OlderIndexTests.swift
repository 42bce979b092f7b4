import Foundation
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

  /// A store of 700 parcels whose indexes have to be built anew.
  private func makeStore() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Parcel.self)
      .save((0..<700).map { Parcel(id: $0, code: "c\($0)", shelf: $0 % 10) })
    try store.collection("Parcel").buildIndexes()
    try makeOld(store)
    try store.close()
  }

  private func expectIndexed(_ store: Store) throws {
    let query = Parcel.where { $0.shelf == 3 }
    #expect(try store.repository(of: Parcel.self).fetch(query).count == 70)
    guard case .index = try query.explain(in: store).source else {
      Issue.record("the index is not used")
      return
    }
    #expect(!store.engine.hasNumbersToRenew)
  }

  @Test("opening waits for no writer, and reads without the index meanwhile")
  func writer() throws {
    try makeStore()
    let path = folder.store
    let environment = try Environment.open(at: path, options: StoreOptions().environment)
    let query = Parcel.where { $0.shelf == 3 }

    let writing = try environment.beginWrite()
    let store = try OnThread { try Store(at: path) }.value()
    #expect(try store.repository(of: Parcel.self).fetch(query).count == 70)
    #expect(try query.explain(in: store).source == .scan)
    _ = consume writing

    try store.collection("Parcel").buildIndexes()
    try expectIndexed(store)
    try verifyAndClose(store)
    try environment.close()
  }

  @Test("a store without room for another database opens, and its indexes are built anew")
  func databasesFull() throws {
    try makeStore()
    var options = StoreOptions()
    options.maximumDatabaseCount = StoreOptions.spareDatabaseCount + 5

    let store = try Store(at: folder.store, options: options)
    #expect(try store.collection("Parcel").indexes().count == 4)
    try store.collection("Parcel").buildIndexes()

    try expectIndexed(store)
    try verifyAndClose(store)
  }

  @Test("an index that cannot be built anew is passed over, and is tried again")
  func failing() throws {
    try makeStore()
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    _ = CallFaults.watch(folder.store) { $0 == .empty ? EIO : nil }
    defer { CallFaults.stopWatching(folder.store) }

    let store = try Store(at: folder.store, options: options)
    try store.settle()
    let told = events.withLock {
      $0.filter { $0.message == "an index cannot be built anew yet" }.map { $0.metadata["index"] }
    }
    #expect(told.count == 4 && Set(told).count == 4)
    let query = Parcel.where { $0.shelf == 3 }
    #expect(try store.repository(of: Parcel.self).count(query) == 70)
    #expect(throws: (any Error).self) { try store.collection("Parcel").buildIndexes() }
    CallFaults.stopWatching(folder.store)

    try store.collection("Parcel").buildIndexes()
    try expectIndexed(store)
    try verifyAndClose(store)
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
