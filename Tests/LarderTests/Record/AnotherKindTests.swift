import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Types that declare what the stored fields cannot become, where no document stands in the way.
@Suite(.timeLimit(.minutes(20))) struct AnotherKindTests {
  private let folder = TestFolder()

  // MARK: Fields

  /// Saves a value of one type, deletes it, and saves one of another type.
  private func replace<Old: Storable & Sendable, New: Storable & Sendable & Equatable>(
    _ old: Old, by new: New, erasing: Bool
  ) throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Old>.self).save(One(old))
      #expect(throws: StoreError.self) { try store.declare(One<New>.self) }
      let olds = store.repository(of: One<Old>.self)
      if erasing { try olds.eraseAllData() } else { try olds.delete(key: "a") }
      let news = store.repository(of: One<New>.self)

      // Whoever reads has to declare first: what is read may be older than what holds now.
      #expect(throws: StoreError.self) { try news.fetch(One<New>.all) }
      try store.declare(One<New>.self)
      #expect(try news.fetch(One<New>.all).isEmpty)
      try news.save(One(new))

      #expect(try news.get("a")?.value == new)
      // What was there before can still be read as what it was.
      let changes = try store.history().changes
      #expect(changes.map(\.kind) == [.inserted, erasing ? .erased : .deleted, .inserted])
      #expect(erasing || changes[1].old?["value"] != nil)
      #expect(throws: StoreError.self) { try olds.count() }
    }
  }

  @Test(
    "a collection that holds nothing takes whatever a type declares", arguments: [false, true])
  func empty(erasing: Bool) throws {
    try replace("5", by: 5, erasing: erasing)
    try replace(5.5, by: Decimal(string: "5.5"), erasing: erasing)
    try replace(Decimal(5), by: 5, erasing: erasing)
    try replace(-5, by: UInt64.max, erasing: erasing)
    try replace(["b", "a"], by: Set(["a"]), erasing: erasing)
    try replace(UUID(), by: "text", erasing: erasing)
    try replace(Date(), by: "text", erasing: erasing)
    try replace(Geo(lat: 1, lon: 2), by: "text", erasing: erasing)
    try replace([Geo(lat: 1, lon: 2)], by: [1], erasing: erasing)
  }

  @Test("versions that take turns on a collection without documents come back to their tables")
  func turns() throws {
    try withTemporaryStore { store in
      for _ in 0..<4 {
        try store.declare(One<String>.self)
        try store.declare(One<Int>.self)
        try store.declare(One<[Geo]>.self)
      }
      #expect(store.engine.catalogue["One"]?.tables.count ?? 0 < 8)
    }
  }

  @Test(
    "two types that do not go together in one write are refused soon, and leave little behind",
    arguments: [0, 5])
  func together(nilCount: Int) throws {
    try withTemporaryStore { store in
      try store.repository(of: One<String?>.self)
        .save((0..<nilCount).map { One<String?>(nil, id: "\($0)") })
      var runs = 0
      #expect(throws: StoreError.self) {
        try store.write { tx in
          runs += 1
          if nilCount == 0 {
            try tx.save(One("text", id: "x"))
            try tx.save(One(5, id: "y"))
          } else {
            try tx.save(One<String?>("text", id: "x"))
            try tx.save(One<Date?>(Date(), id: "y"))
          }
        }
      }
      #expect(runs < 10)
      #expect(store.engine.catalogue["One"]?.tables.count ?? 0 < 5)
    }
  }

  @Test("what one write erases makes room for another kind in the same write")
  func erasedInside() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<String>.self).save(One("5"))
      try store.write { tx in
        try tx.eraseAllData(of: One<String>.self)
        try tx.save(One(5))
      }
      #expect(try store.repository(of: One<Int>.self).get("a")?.value == 5)
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.eraseAllData(of: One<Int>.self)
          try tx.save(One("6"))
          throw Stop()
        }
      }
      #expect(try store.repository(of: One<Int>.self).get("a")?.value == 5)
    }
  }

  @Test(
    "a save that was encoded before another type was declared loses nothing, and damages nothing")
  func encodedBefore() async throws {
    for isNamed in [false, true] {
      try await withTemporaryStore { store in
        let olds = store.repository(of: One<String?>.self)
        let untyped = store.collection("One")
        try store.declare(One<String?>.self)
        if isNamed {
          try await olds.save([One<String?>(nil, id: "n"), One<String?>(nil, id: "m")])
        }
        var saving: Task<SaveReport, any Error>?
        var savingUntyped: OnThread<SaveReport>?
        var declaring: OnThread<Void>?
        try await LarderTests.together(store) { wait in
          declaring = OnThread { try store.declare(One<Date?>.self) }
          await wait(1)
          saving = Task { try await olds.save(One("text", id: "x")) }
          await wait(2)
          savingUntyped = OnThread { try untyped.save([["id": "y", "value": "text"]]) }
          await wait(3)
        }
        try declaring?.value()
        let results = [await saving?.result, Result { try savingUntyped?.value() ?? SaveReport() }]
        let keys = Set(try untyped.fetch(DynamicQuery()).compactMap { $0["id"] })
        for (result, key) in zip(results, [Value.string("x"), .string("y")]) {
          // Either it is there, or it was refused.
          #expect(((try? result?.get().inserted) == 1) == keys.contains(key))
        }
        #expect(keys.count >= (isNamed ? 2 : 1))
      }
    }
  }

  @Test("a field whose name has a point can be left like every other one")
  func pointed() throws {
    try withTemporaryStore { store in
      let old = store.repository(of: OldDotted.self, collection: "Dotted")
      try old.save(OldDotted(id: 1, value: "a"))
      try old.eraseAllData()
      let new = store.repository(of: NewDotted.self, collection: "Dotted")
      try new.save(NewDotted(id: 1, value: 5))
      #expect(try new.get(1)?.value == 5)
    }
  }

  private struct OldDotted: Codable, Identifiable {
    var id: Int
    var value: String

    enum CodingKeys: String, CodingKey {
      case id
      case value = "a.b"
    }
  }

  private struct NewDotted: Codable, Identifiable {
    var id: Int
    var value: Int

    enum CodingKeys: String, CodingKey {
      case id
      case value = "a.b"
    }
  }

  @Test("a field that is nil in all documents takes what a type declares; the documents stay")
  func allNil() throws {
    try withTemporaryStore { store in
      let olds = store.repository(of: One<String?>.self)
      try olds.save((0..<50).map { One<String?>(nil, id: "\($0)") })
      let dates = store.repository(of: One<Date?>.self)
      #expect(throws: StoreError.self) { try dates.count() }

      try dates.save(One<Date?>(Date(timeIntervalSinceReferenceDate: 1), id: "7"))

      #expect(try dates.count() == 50)
      #expect(try dates.fetch(One<Date?>.where { $0.value != nil }).map(\.id) == ["7"])
      #expect(throws: StoreError.self) { try olds.save(One<String?>("x")) }
    }
  }

  @Test(
    "a field whose values are written the same way takes the other kind; one that differs keeps it")
  func sameBytes() throws {
    try withTemporaryStore { store in
      let olds = store.repository(of: One<[String]>.self)
      try olds.save((0..<5).map { One<[String]>([], id: "\($0)") })
      try store.declare(One<[Int]>.self)
      #expect(try store.repository(of: One<[Int]>.self).get("3")?.value == [])
    }
    try withTemporaryStore { store in
      let olds = store.repository(of: One<Int>.self)
      try olds.save((0..<5).map { One($0, id: "\($0)") })
      try store.declare(One<UInt64>.self)
      #expect(try store.repository(of: One<UInt64>.self).get("3")?.value == 3)
    }
    try withTemporaryStore { store in
      let olds = store.repository(of: One<Int>.self)
      try olds.save((0..<5).map { One(-$0, id: "\($0)") })
      #expect(throws: StoreError.self) { try store.declare(One<UInt64>.self) }
      #expect(try olds.get("3")?.value == -3)
    }
  }

  @Document(as: "Shelf")
  struct Shelf: Identifiable, Equatable {
    var id: Int
    @Indexed var number: Int
    @Indexed var name = ""
  }

  @Document(as: "Shelf")
  struct NamedShelf: Identifiable, Equatable {
    var id: Int
    @Indexed var number: String
    @Indexed var name = ""
    var note: String?
  }

  @Test("indexes follow, in this process and in another opening, and the versions can take turns")
  func indexes() throws {
    var store = try Store(at: folder.store, documents: [Shelf.self])
    try store.collection("Shelf").createIndex(on: "id", "name")
    for _ in 0..<3 {
      let shelves = store.repository(of: Shelf.self)
      try shelves.save((0..<20).map { Shelf(id: $0, number: $0) })
      #expect(try shelves.fetch(Shelf.where { $0.number > 17 }).map(\.id) == [18, 19])
      try shelves.eraseAllData()
      try verifyAndClose(store)

      store = try Store(at: folder.store, documents: [NamedShelf.self])
      let named = store.repository(of: NamedShelf.self)
      try named.save((0..<20).map { NamedShelf(id: $0, number: "\($0)") })
      #expect(try named.fetch(NamedShelf.where { $0.number > "8" }).map(\.id) == [9])
      #expect(
        try NamedShelf.where { $0.number > "8" }.explain(in: store).description.contains("number"))
      try named.delete(NamedShelf.all)
      try verifyAndClose(store)
      store = try Store(at: folder.store, documents: [Shelf.self])
    }
    #expect(try store.collection("Shelf").indexes().count == 3)
    try verifyAndClose(store)
  }

  // MARK: Plain types

  private struct OldPlain: Codable, Identifiable, Equatable {
    var id: Int
    var size: Int
  }

  private struct NewPlain: Codable, Identifiable, Equatable {
    var id: Int
    var size: [String]
  }

  private struct OtherKeyPlain: Codable, Identifiable, Equatable {
    var id: String
    var size: Int
  }

  @Test("a plain type is taken likewise, also with keys of another kind")
  func plain() throws {
    try withTemporaryStore { store in
      let olds = store.repository(of: OldPlain.self, collection: "Plain")
      let news = store.repository(of: NewPlain.self, collection: "Plain")
      let others = store.repository(of: OtherKeyPlain.self, collection: "Plain")
      try olds.save(OldPlain(id: 1, size: 2))
      #expect(throws: StoreError.self) { try news.save(NewPlain(id: 1, size: ["a"])) }
      #expect(throws: StoreError.self) { try others.save(OtherKeyPlain(id: "a", size: 1)) }
      try olds.eraseAllData()

      try news.save(NewPlain(id: 1, size: ["a"]))
      #expect(try news.get(1) == NewPlain(id: 1, size: ["a"]))
      try news.delete(key: 1)
      try others.save(OtherKeyPlain(id: "a", size: 1))

      #expect(try others.get("a") == OtherKeyPlain(id: "a", size: 1))
      // Back and forth, the key field stays what it is.
      for _ in 0..<3 {
        try others.eraseAllData()
        try olds.save(OldPlain(id: 1, size: 2))
        try olds.eraseAllData()
        try news.save(NewPlain(id: 2, size: ["b"]))
        #expect(store.engine.catalogue["Plain"]?.description.keyField == "id")
        try news.eraseAllData()
        try others.save(OtherKeyPlain(id: "b", size: 2))
      }
      #expect(try others.get("b")?.size == 2)
    }
  }

  // MARK: Migrations

  /// Migrates documents with one value to another, and has the new type declared.
  private func migrate<Old: Storable & Sendable, New: Storable & Sendable & Equatable>(
    _ olds: [Old], to value: Value, _ new: New
  ) throws {
    for count in 0...olds.count {
      try withTemporaryStore { store in
        try store.repository(of: One<Old>.self).save(
          olds.prefix(count).enumerated().map { One($1, id: "\($0)") })
        try store.collection("One").migrate(to: 2, batchCount: 1) { one in
          if one["value"] != .null { one["value"] = value }
        }
        try store.declare(One<New>.self)
        let values = try store.repository(of: One<New>.self).fetch(One<New>.all).map(\.value)
        #expect(values.count == count)
        #expect(values.allSatisfy { $0 == new } || New.self is any ExpressibleByNilLiteral.Type)
      }
    }
  }

  @Test(
    "a migration gives a field the kind of what it puts there, also where that could be coerced")
  func chosen() throws {
    try migrate([1.5, 2], to: .decimal(9), Decimal(9))
    try migrate([Decimal(1), 2], to: .double(1.5), 1.5)
    try migrate([Decimal(1), 2], to: .integer(3), 3)
    try migrate([1, 2], to: .decimal(25), Decimal(25))
    try migrate([1, 2], to: .decimal(Decimal(string: "0.25")!), Decimal(string: "0.25"))
    try migrate([1, 2], to: .unsigned(.max), UInt64.max)
    try migrate([UUID(), UUID()], to: .string("a"), "a")
    try migrate([Date(), Date()], to: .string("a"), "a")
    try migrate([URL(string: "a:b")!], to: .string("a"), "a")
    try migrate([Data([1])], to: .string("YQ=="), "YQ==")
    try migrate(["1", "2"], to: .integer(3), 3)
    try migrate([nil, "2", nil], to: .integer(3), Int?.some(3))
    try migrate([String?.none, nil], to: .integer(3), Int?.none)
    try migrate(["true"], to: .bool(true), true)
  }

  @Test(
    "what becomes of a field does not depend on where a batch of a migration ends",
    arguments: [0..<10, 10..<20, 3..<17, 0..<20])
  func batches(nils: Range<Int>) throws {
    try withTemporaryStore { store in
      let dates = store.repository(of: One<Date?>.self)
      let now = Date(timeIntervalSinceReferenceDate: 0)
      try dates.save(
        (0..<20).map { One<Date?>(nils.contains($0) ? nil : now, id: "\($0 + 10)") })
      try store.collection("One").migrate(to: 2, batchCount: 4) { one in
        if one.isNil("value") { one["value"] = "2001-01-01T00:00:00Z" }
      }
      #expect(try dates.fetch(One<Date?>.all).map(\.value) == Array(repeating: now, count: 20))

      // For some of them.
      try store.collection("One").migrate(to: 3, batchCount: 4) { one in
        if one.key == "11" || one.key == "25" { one["value"] = "2001-01-01T00:00:00Z" }
      }
      #expect(try dates.fetch(One<Date?>.all).map(\.value) == Array(repeating: now, count: 20))
      // For all of them, the first half of which has been nil.
      try dates.save((0..<10).map { One<Date?>(nil, id: "\($0 + 10)") })
      try store.collection("One").migrate(to: 4, batchCount: 4) {
        $0["value"] = "2001-01-01T00:00:00Z"
      }
      try store.declare(One<String?>.self)
      #expect(
        try store.repository(of: One<String?>.self).count(One<String?>.where { $0.value != nil })
          == 20)
    }
  }

  @Test("where some values are left as they were, the others are coerced to them")
  func mixed() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Double>.self).save([One(1.5, id: "a"), One(2.5, id: "b")])
      try store.migrate(One<Double>.self, to: 2) { if $0.key == "b" { $0["value"] = .decimal(7) } }

      #expect(
        try store.repository(of: One<Double>.self).fetch(One<Double>.all).map(\.value) == [1.5, 7])
    }
  }
}
