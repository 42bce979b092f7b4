import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct IndexBuildTests {
  private func fill(_ store: Store, _ count: Int) throws {
    try store.repository(of: PlainParcel.self).save(
      (0..<count).map {
        PlainParcel(id: $0, code: "c\($0)", shelf: $0 % 7, labels: ["l\($0 % 3)", "m"])
      })
  }

  @Test("an index over documents that are there already is built in steps and then used")
  func built() throws {
    try withTemporaryStore { store in
      try fill(store, 20_000)
      try store.declare(Parcel.self)
      let collection = store.collection("Parcel")
      var steps: [Int] = []
      try collection.buildIndexes { steps.append($0.completed) }

      #expect(try collection.indexes().map(\.state) == Array(repeating: .complete, count: 4))
      #expect(
        try collection.indexes().map(\.entryCount) == [20_000, 40_000, 20_000, 0])
      let plan = try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: Parcel.self))
        let query = Parcel.where { $0.code == "c77" }
        return try Planner(query.selection, binding.collection).plan(
          LentTransaction(snapshot.transaction))
      }
      guard case .index(let access) = plan.source else {
        Issue.record("\(plan)")
        return
      }
      #expect(access.index.name == "code")
    }
  }

  @Test("writes while an index is built are in it, wherever the build is")
  func concurrent() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      try fill(store, 20_000)
      try store.declare(Parcel.self)
      let parcels = store.repository(of: Parcel.self)
      for round in 0..<40 {
        let id = random.int(0..<20_000)
        switch round % 3 {
        case 0: try parcels.delete(keys: [id, id + 1])
        case 1: try parcels.save(Parcel(id: id, code: "r\(round)", shelf: 99, labels: ["r"]))
        default: try parcels.save(Parcel(id: 20_000 + id, code: "n\(round)", labels: ["r"]))
        }
        // The background's steps come in between.
        try store.engine.writer.run { _ = try store.engine.workOnIndex() }
      }
      try store.collection("Parcel").buildIndexes()

      // Checked again, entry by entry, when the store is closed.
      let all = try parcels.fetch(Parcel.all)
      #expect(
        try parcels.fetch(Parcel.where { $0.shelf == 99 }) == all.filter { $0.shelf == 99 })
      #expect(
        try parcels.count(Parcel.where { $0.labels.contains("r") })
          == all.count { $0.labels.contains("r") })
    }
  }

  @Test("a build that was cut off goes on when the store is opened again")
  func resumed() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-resumed-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try Store(at: folder)
      try fill(store, 30_000)
      try store.declare(Parcel.self)
      try store.close()
    }

    let store = try Store(at: folder)
    try store.collection("Parcel").buildIndexes()

    #expect(try store.collection("Parcel").indexes().allSatisfy { $0.state == .complete })
    #expect(try store.check().problems == [])
    try store.close()
  }

  @Test("an index that another process left unfinished is built by one that only reads")
  func abandoned() async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    try fill(store, 60_000)
    let other = try OtherProcess("index-and-die", folder.store, "Parcel", "note")
    #expect(try other.expect("building") == "true")
    #expect(other.wait() == 0)

    // Nothing is written here but by the background.
    let isBuilt = try await eventually {
      try store.collection("Parcel").indexes().map(\.state) == [.complete]
    }

    #expect(isBuilt)
    #expect(try store.collection("Parcel").indexes().map(\.entryCount) == [60_000])
    try verifyAndClose(store)
  }

  @Test("an index that no type declares any more stays, until it is dropped")
  func dropped() throws {
    try withTemporaryStore { store in
      try store.repository(of: Parcel.self).save((0..<100).map { Parcel(id: $0, shelf: $0) })
      let plain = store.repository(of: PlainParcel.self)
      try plain.save(PlainParcel(id: 1000, shelf: 5))
      let collection = store.collection("Parcel")
      #expect(try collection.indexes().map(\.name).contains("shelf"))

      #expect(try collection.dropIndex("shelf"))
      #expect(try !collection.dropIndex("shelf"))

      #expect(try !collection.indexes().map(\.name).contains("shelf"))
      #expect(try plain.fetch(PlainParcel.where { $0.shelf == 5 }).map(\.id) == [5, 1000])
      // The type that declares it makes it again.
      try store.repository(of: Parcel.self).save(Parcel(id: 1001, shelf: 5))
      #expect(try collection.indexes().map(\.name).contains("shelf"))
      #expect(try plain.fetch(PlainParcel.where { $0.shelf == 5 }).count == 3)
    }
  }

  @Test("erasing all data empties the indexes")
  func erased() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save((0..<100).map { Parcel(id: $0, code: "\($0)", labels: ["x"]) })

      try parcels.eraseAllData()

      #expect(try store.collection("Parcel").indexes().allSatisfy { $0.entryCount == 0 })
      try parcels.save(Parcel(id: 5, code: "7"))
    }
  }

  @Test("an index over a field that widens is built anew with the wider kind")
  func widened() throws {
    struct Narrow: Document, Identifiable {
      var id: Int
      var size: Int32
      static let schema = Schema<Narrow>(
        "Sized", key: \.id, fields: [Field("id", \.id), Field("size", \.size).indexed()])
      func encode(into record: inout RecordWriter) {
        record.put(id, at: 0)
        record.put(size, at: 1)
      }
      init(id: Int, size: Int32) { (self.id, self.size) = (id, size) }
      init(from record: borrowing RecordReader) throws(RecordError) {
        self.init(id: try record.get(0), size: try record.get(1))
      }
    }
    struct Wide: Document, Identifiable {
      var id: Int
      var size: Double
      static let schema = Schema<Wide>(
        "Sized", key: \.id, fields: [Field("id", \.id), Field("size", \.size).indexed()])
      func encode(into record: inout RecordWriter) {
        record.put(id, at: 0)
        record.put(size, at: 1)
      }
      init(id: Int, size: Double) { (self.id, self.size) = (id, size) }
      init(from record: borrowing RecordReader) throws(RecordError) {
        self.init(id: try record.get(0), size: try record.get(1))
      }
    }
    try withTemporaryStore { store in
      try store.repository(of: Narrow.self).save((0..<100).map { Narrow(id: $0, size: Int32($0)) })
      let wide = store.repository(of: Wide.self)
      try wide.save(Wide(id: 1000, size: 41.5))

      let found = try wide.fetch(
        Wide.where { $0.size > 40 && $0.size < 43 }.sorted(by: \.size, .reverse))
      #expect(found.map(\.id) == [42, 1000, 41])
      #expect(try store.collection("Sized").indexes().count == 1)
    }
  }

  @Test("what cannot be indexed is refused when it is declared, and says why")
  func refused() throws {
    struct Bad: Document, Identifiable {
      var id: Int
      var pairs: [String: Int]
      static let schema = Schema<Bad>(
        "Bad", key: \.id, fields: [Field("id", \.id), Field("pairs", \.pairs).indexed()])
      func encode(into record: inout RecordWriter) {
        record.put(id, at: 0)
        record.put(pairs, at: 1)
      }
      init(id: Int) { (self.id, pairs) = (id, [:]) }
      init(from record: borrowing RecordReader) throws(RecordError) { self.init(id: 0) }
    }
    try withTemporaryStore { store in
      let error = #expect(throws: StoreError.self) {
        try store.repository(of: Bad.self).save(Bad(id: 1))
      }

      let names = try store.collectionNames()
      #expect(error?.description.contains("`pairs` is neither text") == true)
      #expect(error?.description.contains("store what the index is to hold in a property") == true)
      #expect(names == [])
    }
  }
}
