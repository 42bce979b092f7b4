import Foundation
import LarderTesting
import Testing

@testable import Larder

/// Two conditions on one text whose bounds are alike up to where entries of indexes are cut.
@Suite struct CutTextTests {
  /// Behind the kind of a value an entry has 249 bytes of a text.
  static let stems = [
    String(repeating: "x", count: 248), String(repeating: "x", count: 249),
    String(repeating: "x", count: 251), String(repeating: "x", count: 600),
    String(repeating: "x", count: 248) + "\u{E9}", String(repeating: "\u{65E5}", count: 84),
  ]

  enum Indexed: CaseIterable {
    case ascending, descending, unique, behindShelf, beforeShelf, twice

    func declare(in collection: DynamicCollection) throws {
      switch self {
      case .ascending: try collection.createIndex(on: "path")
      case .descending: try collection.createIndex(on: .descending(FieldPath(field: "path")))
      case .unique: try collection.createIndex(on: "path", unique: true)
      case .behindShelf: try collection.createIndex(on: "shelf", "path")
      case .beforeShelf: try collection.createIndex(on: "path", "shelf")
      case .twice:
        try collection.createIndex(on: "path")
        try collection.createIndex(on: .descending(FieldPath(field: "path")), "alias")
      }
    }
  }

  private static func volumes(_ stem: String) -> [Volume] {
    (0..<700).map { Volume(id: $0, path: stem + "\(1000 + $0)", alias: "a") }
  }

  /// Runs `body` with 700 documents, of which 21 lie between the bounds.
  private func withVolumes(
    _ stem: String, _ index: Indexed, _ body: (Store, StoreRepository<Volume>) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let volumes = store.repository(of: Volume.self)
      try volumes.save(Self.volumes(stem))
      try index.declare(in: store.collection("Volume"))
      try store.collection("Volume").buildIndexes()
      try body(store, volumes)
    }
  }

  private func between(_ stem: String) -> Query<Volume> {
    let (low, high) = (stem + "1100", stem + "1120")
    return Volume.where { $0.path >= low && $0.path <= high && $0.shelf == 0 }
  }

  @Test(
    "fetch and count find what lies between two such bounds", arguments: stems, Indexed.allCases)
  func found(stem: String, index: Indexed) throws {
    try withVolumes(stem, index) { store, volumes in
      let query = between(stem)
      let ids = Array(100...120)

      // By the index too, where the planner would rather read everything.
      var isByIndex = false
      try store.eachPlan(of: query) { keys, plan in
        #expect(keys == ids)
        if case .index = plan.source { isByIndex = true }
      }
      #expect(isByIndex)
      #expect(try volumes.fetch(query).map(\.id) == ids)
      #expect(try volumes.fetch(query.sorted(by: \.path, .reverse)).map(\.id) == ids.reversed())
      #expect(try volumes.fetch(query.sorted(by: \.path).limit(3)).map(\.id) == [100, 101, 102])
      #expect(try volumes.count(query) == 21)
      let open = Volume.where {
        $0.path > stem + "1100" && $0.path < stem + "1102" && $0.path > stem
      }
      #expect(try volumes.fetch(open).map(\.id) == [101])
      let several = (0..<5).map { stem + "110\($0)" }
      #expect(
        try volumes.fetch(Volume.where { $0.path.isIn(several) && $0.path > stem + "1102" })
          .map(\.id) == [103, 104])
    }
  }

  @Test("so do queries without a type", arguments: stems, Indexed.allCases)
  func untyped(stem: String, index: Indexed) throws {
    try withVolumes(stem, index) { store, _ in
      let collection = store.collection("Volume")
      let query = DynamicQuery.where {
        $0.path > .string(stem + "1100") && $0.path <= .string(stem + "1120") && $0.shelf == 0
      }

      let found = try collection.fetch(query).map { $0["id"] }
      let count = try collection.count(query)

      #expect(found == (101...120).map { Value.integer($0) })
      #expect(count == 20)
    }
  }

  @Test(
    "delete and clear-before-save take what lies between two such bounds",
    arguments: stems, Indexed.allCases)
  func deleted(stem: String, index: Indexed) throws {
    try withVolumes(stem, index) { store, volumes in
      let report = try volumes.save(
        [Volume(id: 1000, path: stem + "new")], clearBeforeSaving: between(stem))
      #expect(report.deleted == 21)

      let low = Volume.where { $0.path >= stem + "1000" && $0.path < stem + "1050" }
      #expect(try volumes.delete(low) == 50)
      #expect(try volumes.count() == 700 + 1 - 21 - 50)
    }
  }

  @Test(
    "a watcher hears of what comes between two such bounds and of what leaves",
    .timeLimit(.minutes(20)), arguments: Indexed.allCases)
  func watched(index: Indexed) async throws {
    let stem = Self.stems[2]
    try await withTemporaryStore { store in
      let volumes = store.repository(of: Volume.self)
      try await volumes.save(Self.volumes(stem))
      try index.declare(in: store.collection("Volume"))
      try await store.collection("Volume").buildIndexes()
      var changes = volumes.watch(between(stem)).makeAsyncIterator()
      var list: [Volume] = []
      list.apply(try #require(try await changes.next()))
      #expect(list.map(\.id) == Array(100...120))

      try await volumes.save(Volume(id: 1000, path: stem + "1110a"))
      list.apply(try #require(try await changes.next()))
      #expect(list.map(\.id) == Array(100...120) + [1000])
      try await volumes.save(Volume(id: 110, path: stem + "1999"))
      list.apply(try #require(try await changes.next()))
      #expect(list.map(\.id) == Array(100...109) + Array(111...120) + [1000])
    }
  }
}
