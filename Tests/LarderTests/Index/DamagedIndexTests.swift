import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite struct DamagedIndexTests {
  let folder = TestFolder()

  /// 300 parcels on ten shelves, of which one is gone without its index entries.
  private func store(without lost: Int) throws -> Store {
    let store = try Store(at: folder.store)
    try store.repository(of: Parcel.self).save((0..<300).map { Parcel(id: $0, shelf: $0 % 10) })
    try lose(lost, of: "Parcel", in: store)
    return store
  }

  /// Deletes a document and leaves its index entries.
  private func lose(_ key: Int, of name: String, in store: Store) throws {
    try store.write { tx in
      let documents = try #require(tx.catalogue[name]).documents
      try key.withEncodedKey { _ = try tx.transaction.delete($0, in: documents) }
      tx.hasWrittenMore = true
    }
  }

  private func isDamagedIndex(_ error: StoreError?, in name: String = "Parcel") -> Bool {
    guard case .damagedIndex(name, "shelf", let reason)? = error else { return false }
    return reason == "it names a document that is not there"
  }

  @Test("an index that names a document which is gone is told of, and nothing is deleted by it")
  func deleting() throws {
    let store = try store(without: 43)
    let parcels = store.repository(of: Parcel.self)
    let third = Parcel.where { $0.shelf == 3 }

    #expect(isDamagedIndex(storeError { _ = try parcels.fetch(third) }))
    #expect(isDamagedIndex(storeError { try parcels.delete(third) }))
    #expect(
      isDamagedIndex(
        storeError { try parcels.save([Parcel(id: 3, shelf: 3)], clearBeforeSaving: third) }))
    #expect(try parcels.count() == 299)
    #expect(try parcels.get(13) != nil)
    #expect(try parcels.delete(Parcel.where { $0.shelf == 4 }) == 30)
    try store.close()
  }

  @Test("a document that an index names and that is gone is not saved again as if it were there")
  func savedAgain() throws {
    let store = try store(without: 43)
    let parcels = store.repository(of: Parcel.self)
    let third = Parcel.where { $0.shelf == 3 }
    for shelf in [3, 5] {
      for kept in [[3, 43], [43], [43, 1_000]] {
        let saved = kept.map { Parcel(id: $0, shelf: shelf) }
        #expect(isDamagedIndex(storeError { try parcels.save(saved, clearBeforeSaving: third) }))
      }
    }
    #expect(try parcels.count() == 299)
    #expect(try parcels.get(3)?.shelf == 3)
    try store.close()
  }

  @Test("what was deleted before damage was met is not kept, also where a body swallows the error")
  func swallowed() throws {
    let store = try Store(at: folder.store)
    let barrels = store.repository(of: Barrel.self)
    try barrels.save((0..<300).map { Barrel(id: $0, shelf: $0 % 10) })
    try lose(243, of: "Barrel", in: store)
    let third = Barrel.where { $0.shelf == 3 }
    func isTold(_ body: (inout WriteScope) throws -> Void) -> Bool {
      isDamagedIndex(
        storeError {
          try store.write { tx in
            try tx.save(Barrel(id: 1_000, shelf: 1))
            try? body(&tx)
          }
        }, in: "Barrel")
    }
    #expect(isTold { tx in try tx.delete(third) })
    #expect(isTold { tx in try tx.save([Barrel(id: 3, shelf: 4)], clearBeforeSaving: third) })
    #expect(try barrels.count() == 299)
    #expect(try barrels.get(3)?.shelf == 3 && barrels.get(13) != nil)
    try store.close()
  }

  @Test("a damaged record is not deleted by an index that only names it")
  func damagedRecord() throws {
    let store = try Store(at: folder.store)
    let parcels = store.repository(of: Parcel.self)
    try parcels.save((0..<300).map { Parcel(id: $0, shelf: $0 % 10) })
    try store.write { tx in
      let documents = try #require(tx.catalogue["Parcel"]).documents
      try 43.withEncodedKey { key in
        var record = try #require(
          try tx.transaction.withValue(for: key, in: documents) { [UInt8]($0) })
        record[record.count - 1] ^= 1
        try record.withUnsafeBytes { try tx.transaction.put($0, for: key, in: documents) }
      }
      tx.hasWrittenMore = true
    }

    let third = Parcel.where { $0.shelf == 3 }
    for body in [
      { _ = try parcels.delete(third) },
      { _ = try parcels.save([Parcel(id: 3, shelf: 3)], clearBeforeSaving: third) },
    ] {
      guard case .damagedRecord("Parcel", "43", .checksum)? = storeError({ try body() }) else {
        Issue.record("it was deleted")
        return
      }
    }
    #expect(try parcels.count() == 300)
    try store.close()
  }
}

/// A document without a unique index: what saves it is not undone by itself.
private struct Barrel: Document, Identifiable, Equatable {
  var id: Int
  var shelf: Int

  static let schema = Schema<Barrel>(
    "Barrel", key: \.id, fields: [Field("id", \.id), Field("shelf", \.shelf).indexed()])

  init(id: Int, shelf: Int) {
    self.id = id
    self.shelf = shelf
  }

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(shelf, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    shelf = try record.get(1)
  }
}
