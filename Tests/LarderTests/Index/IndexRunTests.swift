import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Indexes whose entries are read beside the writes of others, and put later.
@Suite struct IndexRunTests {
  private static let count = 3_000

  /// A store with documents and no index, in which runs are small.
  private func withStore(
    changeCount: Int = 100_000, _ body: (Store, StoreRepository<Parcel>) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      try store.repository(of: PlainParcel.self).save(
        (0..<Self.count).map {
          PlainParcel(
            id: $0, code: "c\(($0 * 7919) % Self.count)", shelf: $0 % 70,
            labels: ["l\($0 % 30)", "m"], note: $0 % 3 == 0 ? "n\($0 % 11)" : "")
        })
      store.engine.indexRuns.withLock {
        $0.limits = IndexRun.Limits(
          leastDocumentCount: 100, byteCount: 40_000, documentsAtOnce: 64,
          entriesPerWrite: 50,
          changeCount: changeCount)
      }
      try body(store, store.repository(of: Parcel.self))
    }
  }

  /// Declares an index by one who is in the writer's line.
  private func declare(_ field: String, unique: Bool, in engine: Engine) throws {
    let collection = try #require(engine.catalogue["Parcel"])
    let index = try DynamicLowering(collection: collection)
      .index(on: [DynamicIndexPart(FieldPath(field: field))], name: nil, unique: unique, where: nil)
    try engine.declare(Declaration(of: index, in: collection.description))
  }

  /// Changes some documents anywhere.
  private func change(
    _ parcels: StoreRepository<Parcel>, _ random: inout RandomSource, _ next: inout Int
  ) throws {
    let id = random.int(0..<Self.count)
    switch random.int(0..<6) {
    case 0: try parcels.delete(keys: [id, id + 1])
    case 1:
      // What two of the indexes do not have.
      guard var parcel = try parcels.get(id), parcel.note != "" else { return }
      parcel.shelf += 1
      try parcels.save(parcel)
    case 2:
      guard var parcel = try parcels.get(id) else { return }
      parcel.note = parcel.note == "" ? "new" : ""
      try parcels.save(parcel)
    case 3:
      // A unique value goes from one document to another.
      guard var first = try parcels.get(id), var second = try parcels.get((id + 500) % Self.count)
      else { return }
      swap(&first.code, &second.code)
      try parcels.save([first, second])
    case 4:
      next += 1
      try parcels.save(Parcel(id: id, code: "r\(next)", shelf: 99, labels: ["r", "r"]))
    default:
      next += 1
      try parcels.save(Parcel(id: Self.count + next, code: "r\(next)", labels: ["l1", "r"]))
    }
  }

  private func expectComplete(
    _ store: Store, _ parcels: StoreRepository<Parcel>, _ hint: String
  ) throws {
    #expect(
      try store.collection("Parcel").indexes().map(\.state) == .init(repeating: .complete, count: 4)
    )
    // Entry by entry; what is missing, and what is there and should not be.
    #expect(try store.check().problems == [], "\(hint)")
    let all = try parcels.fetch(Parcel.all)
    #expect(
      try parcels.count(Parcel.where { $0.labels.contains("r") })
        == all.count { $0.labels.contains("r") })
  }

  @Test(
    "what is changed after it was read, and before its entries are put, is in the index as it is then"
  )
  func changed() throws {
    var random = RandomSource()
    try withStore { store, parcels in
      try store.declare(Parcel.self)
      let engine = store.engine
      var (next, runCount) = (0, 0)
      var isBuilding = true
      while isBuilding {
        engine.readIndexRun(of: "Parcel")
        if engine.indexRuns.withLock({ $0.run }) != nil { runCount += 1 }
        for _ in 0..<random.int(0..<4) { try change(parcels, &random, &next) }
        try engine.writer.run { _ = try engine.workOnIndex(of: "Parcel") }
        if random.bool() { try change(parcels, &random, &next) }
        isBuilding = try store.collection("Parcel").indexes().contains { $0.state == .building }
      }

      #expect(runCount > 0, "\(random.hint)")
      try expectComplete(store, parcels, random.hint)
    }
  }

  @Test("what is changed while it is read, by the background, is in the index as it is then")
  func changedMeanwhile() throws {
    var random = RandomSource()
    try withStore { store, parcels in
      var next = 0
      try store.declare(Parcel.self)
      while try store.collection("Parcel").indexes().contains(where: { $0.state == .building }) {
        try change(parcels, &random, &next)
      }
      try expectComplete(store, parcels, random.hint)
    }
  }

  @Test(
    "where too much is changed, where all is erased, and without a log, a build comes to its end all the same"
  )
  func givenUp() throws {
    var random = RandomSource()
    try withStore(changeCount: 1) { store, parcels in
      var next = 0
      try store.declare(Parcel.self)
      while try store.collection("Parcel").indexes().contains(where: { $0.state == .building }) {
        for _ in 0..<3 { try change(parcels, &random, &next) }
      }
      try expectComplete(store, parcels, random.hint)
    }
    try withStore { store, parcels in
      try store.declare(Parcel.self)
      store.engine.readIndexRun(of: "Parcel")
      try parcels.eraseAllData()
      try parcels.save((0..<300).map { Parcel(id: $0, code: "e\($0)", shelf: $0) })
      try store.collection("Parcel").buildIndexes()
      try expectComplete(store, parcels, random.hint)
    }
    try withStore { store, parcels in
      var next = 0
      try store.collection("Parcel").setChangeLog(false)
      try store.declare(Parcel.self)
      while try store.collection("Parcel").indexes().contains(where: { $0.state == .building }) {
        try change(parcels, &random, &next)
      }
      try expectComplete(store, parcels, random.hint)
    }
  }

  private func expectConflict(in store: Store) throws {
    let state = try store.collection("Parcel").indexes().first { $0.name == "code" }?.state
    guard case .failed(let reason) = state else {
      Issue.record("\(state as Any)")
      return
    }
    #expect(reason.contains("c0"))
  }

  @Test("two documents with one value, far from each other, fail a unique index")
  func conflict() throws {
    try withStore { store, _ in
      try store.repository(of: PlainParcel.self).save(PlainParcel(id: 2_999, code: "c0"))
      try store.declare(Parcel.self)

      #expect(throws: StoreError.self) { try store.collection("Parcel").buildIndexes() }

      try expectConflict(in: store)
    }
  }

  @Test("they do where one of them is saved again, with that value, after it was read")
  func conflictSavedAgain() throws {
    try withStore { store, _ in
      let plain = store.repository(of: PlainParcel.self)
      let collection = store.collection("Parcel")
      try plain.save(PlainParcel(id: 2_999, code: "c0"))
      let engine = store.engine
      // In the writer's line, where the background does not come in between.
      try engine.writer.run {
        try declare("code", unique: true, in: engine)
        var note = 0
        while case .building = try collection.indexes()[0].state {
          engine.readIndexRun(of: "Parcel")
          let run = try #require(engine.indexRuns.withLock { $0.run })
          // The steps behind the first do not meet it any more.
          note += 1
          let again = PlainParcel(id: 2_999, code: "c0", note: "\(note)")
          _ = try engine.perform { try $0.save([again]) }
          while engine.indexRuns.withLock({ $0.run === run }) { try engine.workOnIndex() }
        }
      }

      try expectConflict(in: store)
    }
  }

  @Test("an index that is built anew at its beginning forgets the conflict that was met")
  func builtAnew() throws {
    try withStore { store, _ in
      let plain = store.repository(of: PlainParcel.self)
      try plain.save(PlainParcel(id: 100, code: "c0"))
      let engine = store.engine
      try engine.writer.run {
        try declare("code", unique: true, in: engine)
        // The first of its entries, which are those of the conflict.
        engine.readIndexRun(of: "Parcel")
        try engine.workOnIndex()
        #expect(engine.indexRuns.withLock { $0.run } != nil)
        _ = try engine.perform { try $0.delete(PlainParcel(id: 100)) }
      }

      try store.collection("Parcel").rebuildIndexes()

      #expect(try store.collection("Parcel").indexes().map(\.state) == [.complete])
      #expect(try store.check().problems == [])
    }
  }

  @Test(
    "a run is of use where another process has come some way, and of none where it has come further"
  )
  func outrun() throws {
    try withStore { store, _ in
      let engine = store.engine
      try engine.writer.run {
        try declare("shelf", unique: false, in: engine)
        func run(_ byteCount: Int) throws -> IndexRun {
          var limits = engine.indexRuns.withLock { $0.limits }
          limits.byteCount = byteCount
          let records = try #require(
            try engine.environment.database(named: Layout.indexesName, create: false))
          return try #require(
            try IndexRun(
              reading: 1, in: engine.catalogue, records: records, engine.environment, limits))
        }
        /// Takes steps with it; returns how many.
        func put(_ run: IndexRun) throws -> Int {
          engine.indexRuns.withLock { $0.begin(run, for: 1, $0.generation) }
          var count = 0
          while engine.indexRuns.withLock({ $0.run === run }) {
            try engine.workOnIndex()
            count += 1
          }
          return count
        }
        let (short, same, long) = (try run(20_000), try run(20_000), try run(60_000))

        #expect(try put(short) > 1)
        #expect(try put(long) > put(same))
      }
      try store.collection("Parcel").buildIndexes()

      #expect(try store.collection("Parcel").indexes().map(\.entryCount) == [Self.count])
      #expect(try store.check().problems == [])
    }
  }

  @Test("an index that is dropped while its entries are read, and declared again, has all of them")
  func declaredAgain() throws {
    try withStore { store, parcels in
      let collection = store.collection("Parcel")
      for _ in 0..<5 {
        try collection.createIndex(on: "shelf", name: "again")
        store.engine.readIndexRun(of: "Parcel")
        try store.engine.writer.run { _ = try store.engine.workOnIndex(of: "Parcel") }
        try collection.dropIndex("again")
      }
      try collection.createIndex(on: "shelf", name: "again")
      try collection.buildIndexes()

      #expect(try collection.indexes().map(\.entryCount) == [Self.count])
      #expect(try store.check().problems == [])
    }
  }
}
