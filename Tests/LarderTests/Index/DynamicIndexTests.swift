import LarderTesting
import Testing

@testable import Larder

@Suite struct DynamicIndexTests {
  private func withShelves(_ body: (DynamicCollection) throws -> Void) throws {
    try withTemporaryStore { store in
      let things = store.collection("things")
      try things.save((0..<400).map(thing), keyField: "id")
      try body(things)
    }
  }

  private func thing(_ number: Int) -> DynamicDocument {
    let code: Value = number % 5 == 0 ? .null : .string("c\(number)")
    let tag = Value.string("t\(number % 80)")
    let row = Value.integer(Int64(number % 10))
    return [
      "id": .integer(Int64(number)), "shelf": .integer(Int64(number % 40)), "code": code,
      "tags": [tag], "place": .document(["row": row]),
    ]
  }

  private let onShelf = DynamicQuery.where { $0.shelf == 7 }

  @Test("an index that no type declares answers queries, and follows saves and deletions")
  func used() throws {
    try withShelves { things in
      let before = try things.fetch(onShelf)

      try things.createIndex(on: "shelf", .descending(FieldPath(field: "id")))

      let plan = try things.explain(onShelf)
      #expect(
        plan.source == .index(.init(name: "shelf,-id", fields: ["shelf", "-id"], rangeCount: 1)))
      #expect(try things.fetch(onShelf) == before && before.count == 10)
      try things.save([["id": 1_000, "shelf": 7]])
      try things.delete(keys: [7])
      let after = try things.fetch(onShelf)
      #expect(after.dropLast() == before.dropFirst() && after.last?["id"] == 1_000)
      #expect(try things.store.check().isSound)
    }
  }

  @Test("it has elements of arrays, fields of embedded documents, and a condition")
  func parts() throws {
    try withShelves { things in
      try things.createIndex(on: "tags")
      try things.createIndex(on: "place.row", name: "rows") { $0.shelf < 20 }

      let tagged = try things.explain(.where { $0.tags.contains("t3") })
      let placed = try things.explain(.where { $0.place.row == 3 && $0.shelf < 20 })
      let elsewhere = try things.explain(.where { $0.place.row == 3 })
      #expect(tagged.examinedCount == 5 && tagged.matchedCount == 5)
      #expect(placed.examinedCount == 20 && placed.matchedCount == 20)
      #expect(elsewhere.source == .scan && elsewhere.matchedCount == 40)
    }
  }

  @Test("a unique one refuses a second document with a value, and nil is equal to nothing")
  func unique() throws {
    try withShelves { things in
      try things.createIndex(on: "code", unique: true)

      #expect(
        throws: StoreError.uniqueViolation(
          collection: "things", index: "code", value: "code \"c1\"", key: "500", otherKey: "1")
      ) {
        try things.save([["id": 500, "code": "c1"]])
      }
      #expect(try things.count() == 400)

      try things.createIndex(on: "shelf", unique: true)
      #expect(throws: StoreError.self) { try things.buildIndexes() }
      #expect(try things.explain(onShelf).source == .scan)
    }
  }

  @Test("the same declaration again changes nothing; another under its name takes its place")
  func again() throws {
    try withShelves { things in
      try things.createIndex(on: "shelf", name: "a")
      let first = try things.indexes()
      try things.createIndex(on: "shelf", name: "a")
      #expect(try things.indexes() == first && first.map(\.fields) == [["shelf"]])

      try things.createIndex(on: "code", name: "a")

      try things.buildIndexes()
      #expect(try things.indexes().map(\.fields) == [["code"]])
      #expect(try things.dropIndex("a"))
      #expect(try things.indexes().isEmpty)
    }
  }

  @Test("a declaration returns the name that the index has, which was given or made up")
  func names() throws {
    try withShelves { things in
      let made = try things.createIndex(on: "place.row") { $0.shelf < 20 }
      let given = try things.createIndex(on: "shelf", name: "z")

      #expect(try things.indexes().map(\.name) == [made, given] && given == "z")
    }
  }

  @Test("what the collection does not have is refused by name")
  func refused() throws {
    try withShelves { things in
      func refusal(_ path: DynamicIndexPart) throws -> String {
        let error = #expect(throws: StoreError.self) { try things.createIndex(on: path) }
        return try "\(#require(error))"
      }

      let unknown = try refusal("shelff")
      #expect(
        unknown
          == "things cannot have the index `shelff`: there is no field `shelff`; there are id, "
          + "shelf, code, tags, place.")
      let inside = try refusal("shelf.x")
      #expect(inside.contains("only embedded documents have some"))
      let embedded = try refusal("place")
      #expect(embedded.contains("is neither text, a number"))
      #expect(embedded.contains("such as `place."))
      #expect(throws: StoreError.noCollection("nothing")) {
        try things.store.collection("nothing").createIndex(on: "a")
      }
      #expect(try things.indexes().isEmpty)
    }
  }

  @Test("an index without a name takes the place of none over other fields")
  func ambiguousName() throws {
    try withTemporaryStore { store in
      let items = store.collection("items")
      try items.save(
        [
          [
            "id": 1, "a.b": "x", "a": .document(["b": 5]), "-n": 1, "n": 1, "p,q": 1, "p": 1,
            "q": 2,
          ]
        ],
        keyField: "id")
      let parts: [([DynamicIndexPart], [DynamicIndexPart])] = [
        ([DynamicIndexPart(FieldPath(field: "a.b"))], ["a.b"]),
        ([DynamicIndexPart(FieldPath(field: "-n"))], [.descending(FieldPath(field: "n"))]),
        ([DynamicIndexPart(FieldPath(field: "p,q"))], ["p", "q"]),
      ]
      for (odd, plain) in parts {
        let name = try items.createIndex(on: odd, unique: true)

        #expect(throws: StoreError.self) { try items.createIndex(on: plain) }

        #expect(try items.indexes().first { $0.name == name }?.isUnique == true)
        try items.createIndex(on: plain, name: "other \(name)")
        // The same fields are the same index. It stays unique until it is dropped.
        #expect(throws: StoreError.self) { try items.createIndex(on: odd) }
        #expect(try items.indexes().first { $0.name == name }?.isUnique == true)
        try items.dropIndex(name)
        try items.createIndex(on: odd)
        #expect(try items.indexes().first { $0.name == name }?.isUnique == false)
      }
      #expect(try items.indexes().count == 6)
    }
  }
}
