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
    try store.write { tx in
      let documents = try #require(tx.catalogue["Parcel"]).documents
      try lost.withEncodedKey { _ = try tx.transaction.delete($0, in: documents) }
      tx.hasWrittenMore = true
    }
    return store
  }

  private func isDamagedIndex(_ error: StoreError?) -> Bool {
    guard case .damagedIndex("Parcel", _, let reason)? = error else { return false }
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

  @Test("clearing that saves the document again which is gone mends the index")
  func mending() throws {
    let store = try store(without: 43)
    let parcels = store.repository(of: Parcel.self)
    let third = Parcel.where { $0.shelf == 3 }
    let kept = [3, 43].map { Parcel(id: $0, shelf: 3) }

    let report = try parcels.save(kept, clearBeforeSaving: third)
    #expect(report.deleted == 28 && report.inserted == 1 && report.unchanged == 1)
    #expect(try parcels.fetch(third) == kept)
    #expect(try store.check().isSound)
    try verifyAndClose(store)
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
