import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Integers in fields that have become fields of doubles or floats since.
@Suite struct WidenedNumberTests {
  /// 2^53 + 1, to which no double is equal.
  private let odd = 9_007_199_254_740_993
  private let even = 9_007_199_254_740_992

  private func repository<Value: Storable & Sendable>(
    _ store: Store, _ type: Value.Type
  ) -> StoreRepository<One<Value>> { store.repository() }

  @Test("an integer that no double is equal to is an error for a type that widened the field")
  func widened() throws {
    try withTemporaryStore { store in
      try repository(store, Int.self).save([One(odd), One(even, id: "b")])
      try repository(store, Double.self).save(One(0.5, id: "c"))
      let refused = StoreError.damagedRecord(
        collection: "One", key: "\"a\"",
        reason: .field("value", .outOfRange(expected: "a Double")))

      #expect(throws: refused) { try repository(store, Double.self).get("a") }
      #expect(try repository(store, Double.self).get("b")?.value == Double(even))
      #expect(try repository(store, Int.self).get("a")?.value == odd)
      #expect(try store.collection("One").get("a")?["value"] == .integer(Int64(odd)))
      #expect(throws: StoreError.self) {
        try store.collection("One").save([["id": "d", "value": .integer(Int64(odd))]])
      }
    }
  }

  @Test("an integer that no float is equal to is an error for a type with a float")
  func float() throws {
    try withTemporaryStore { store in
      try repository(store, Int32.self).save([One(16_777_217), One(16_777_216, id: "b")])
      try repository(store, Double.self).save([One(1e39, id: "c"), One(0.1, id: "d")])
      let floats = repository(store, Float.self)

      #expect(
        throws: StoreError.damagedRecord(
          collection: "One", key: "\"a\"",
          reason: .field("value", .outOfRange(expected: "a Float")))
      ) { try floats.get("a") }
      #expect(try floats.get("b")?.value == 16_777_216)
      #expect(throws: StoreError.self) { try floats.get("c") }
      #expect(try floats.get("d")?.value == 0.1)
    }
  }

  @Test("such an integer equals nothing and is neither less nor greater, with an index and without")
  func conditions() throws {
    try withTemporaryStore { store in
      try repository(store, Int.self).save([One(odd), One(even, id: "b"), One(even + 2, id: "c")])
      try repository(store, Double.self).save(One(0.5, id: "d"))
      let collection = store.collection("One")
      func keys(_ condition: (DynamicFields) -> DynamicFilter) throws -> [Value?] {
        try collection.fetch(.where(condition)).map { $0["id"] }
      }
      for isIndexed in [false, true] {
        if isIndexed { try collection.createIndex(on: "value") }
        let (odd, even) = (Value.integer(Int64(odd)), Value.integer(Int64(even)))

        #expect(try keys { $0.value == odd } == [])
        #expect(try keys { $0.value == even } == ["b"])
        #expect(try keys { $0.value > even } == ["c"])
        #expect(try keys { $0.value <= odd }.count == 2)
        #expect(try keys { $0.value > odd } == ["c"])
      }
    }
  }

  @Test("an integer that no double equals selects the same doubles with an index and without")
  func operands() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      // Of 2^53 on, neighbouring doubles are two apart and more.
      let anchors = [1 << 24, 1 << 53, 1 << 54, 1 << 62, -(1 << 53), -(1 << 60)]
      func near() -> Int { random.pick(anchors) + random.int(-9..<10) }
      let numbers = (0..<400).map { _ in Double(near()) }
      let doubles = numbers.enumerated().map { One($0.element, id: "\($0.offset)") }
      try repository(store, Double.self).save(doubles)
      try store.repository(of: FloatOne.self).save(
        numbers.enumerated().map { FloatOne(id: "\($0.offset)", value: Float($0.element)) })

      for isIndexed in [false, true] {
        for name in ["One", "FloatOne"] {
          let collection = store.collection(name)
          if isIndexed { try collection.createIndex(on: "value") }
          let stored = numbers.map { name == "One" ? $0 : Double(Float($0)) }
          for _ in 0..<repetitions(200) {
            let (low, high) = (near(), near())
            func expect(_ condition: (DynamicFields) -> DynamicFilter, _ holds: (Int128) -> Bool)
              throws
            {
              let found = try collection.count(.where(condition))
              let expected = stored.count { holds(Int128($0)) }
              #expect(found == expected, "\(name) \(low) \(high) \(isIndexed) \(random.hint)")
            }
            let (from, to) = (Value.integer(Int64(low)), Value.integer(Int64(high)))
            try expect {
              $0.value == from
            } _: {
              $0 == Int128(low)
            }
            try expect {
              $0.value < from
            } _: {
              $0 < Int128(low)
            }
            try expect {
              $0.value >= from
            } _: {
              $0 >= Int128(low)
            }
            try expect {
              $0.value > from && $0.value <= to
            } _: {
              $0 > low && $0 <= high
            }
            try expect {
              $0.value.isIn([from, to])
            } _: {
              $0 == Int128(low) || $0 == Int128(high)
            }
          }
        }
      }
    }
  }

  private struct FloatOne: Document, Identifiable {
    var id: String
    var value: Float

    static let schema = Schema<FloatOne>(
      "FloatOne", key: \.id, fields: [Field("id", \.id), Field("value", \.value)])

    init(id: String, value: Float) { (self.id, self.value) = (id, value) }

    func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(value, at: 1)
    }

    init(from record: borrowing RecordReader) throws(RecordError) {
      id = try record.get(0)
      value = try record.get(1)
    }
  }

  @Test("numbers of all kinds in a field of any kind are sorted by value")
  func anyOrder() throws {
    try withTemporaryStore { store in
      let values: [Value] = [
        100, 2.5, -2, 1.5, 3, .unsigned(.max), .double(0x1p63), .integer(.max), -0.5,
        .integer(Int64(odd)), .double(Double(even)),
      ]
      try repository(store, Coded<Int>.self).save(One(Coded(0), id: "zero"))
      let collection = store.collection("One")
      try collection.save(
        values.enumerated().map { ["id": .string("\($0.offset)"), "value": $0.element] })

      let sorted = try collection.fetch(DynamicQuery().sorted(by: "value")).map { $0["value"] }

      #expect(
        sorted == [
          -2, -0.5, 0, 1.5, 2.5, 3, 100, .double(Double(even)), .integer(Int64(odd)),
          .integer(.max), .double(0x1p63), .unsigned(.max),
        ])
    }
  }

  @Test("a double of 2^63 or more is an integer to a type that still reads the field as UInt64")
  func unsigned() throws {
    try withTemporaryStore { store in
      let large: UInt64 = 10_000_000_000_000_000_000
      let unsigned = repository(store, UInt64.self)
      try unsigned.save([One(7, id: "b"), One(large + 1, id: "e"), One(5, id: "a")])
      try repository(store, Double.self).save([
        One(1e19, id: "d"), One(2, id: "c"), One(1.2e19, id: "f"),
      ])
      func pages(_ query: Query<One<UInt64>>) throws -> [String] {
        var page = try unsigned.page(query.limit(1))
        var ids = page.models.map(\.id)
        while let next = page.next {
          page = try unsigned.page(query.limit(1), after: next)
          ids += page.models.map(\.id)
        }
        return ids
      }

      #expect(try unsigned.get("d")?.value == large)
      #expect(
        try unsigned.sum(\.value, of: One<UInt64>.where { $0.value <= large }) == UInt(large) + 14)
      #expect(try unsigned.max(\.value) == 12_000_000_000_000_000_000)
      #expect(try pages(One<UInt64>.all.sorted(by: \.value)) == ["c", "a", "b", "d", "e", "f"])
      #expect(
        try pages(One<UInt64>.all.sorted(by: \.value, .reverse)) == ["f", "e", "d", "b", "a", "c"])
    }
  }

  @Test(
    "small numbers do not widen a field of unsigned ones: what is stored is found and saved again")
  func smallUnsigned() throws {
    try withTemporaryStore { store in
      let large: Value = .unsigned(.max)
      let collection = store.collection("c")
      try collection.save([["id": large, "n": large, "list": [large]]], keyField: "id")

      try collection.save([["id": 5, "n": 5, "list": [5, large]]])
      try store.write {
        _ = try $0.save([["id": 6, "n": 6, "list": [6]]], in: collection, keyField: nil)
      }

      #expect(try collection.count(.where { $0.n == large }) == 1)
      #expect(try collection.count(.where { $0.list.contains(large) }) == 2)
      #expect(try collection.get(5)?["n"] == 5)
      let found = try #require(try collection.get(large))
      #expect(try collection.save([found]).unchanged == 1)
      for number: Value in [-1, -5] {
        #expect(throws: StoreError.self) { try collection.save([["id": 7, "n": number]]) }
      }
      #expect(try collection.count(.where { $0.n == large }) == 1)
    }
  }

  @Test(
    "no number above Int64.max changes a field with a stored integer that no double is equal to")
  func largeSigned() throws {
    try withTemporaryStore { store in
      let odd = Value.integer(Int64(odd))
      let collection = store.collection("c")
      try collection.save([["id": 1, "n": odd]], keyField: "id")

      #expect(throws: StoreError.self) { try collection.save([["id": 3, "n": .unsigned(.max)]]) }
      #expect(throws: StoreError.self) {
        try collection.save([["id": 3, "n": .unsigned(1 << 63)]])
      }

      #expect(try collection.count(.where { $0.n == odd }) == 1)
      #expect(try collection.count() == 1)
    }
  }

  @Test(
    "values make no doubles of integers where a stored one has no equal double, however deep it stands",
    arguments: [
      { $0 }, { [$0] }, { [[1], [$0, .null]] }, { .document(["x": $0]) },
      { [.document(["x": [$0]])] }, { .dictionary(["k": $0]) },
    ] as [@Sendable (Value) -> Value])
  func kept(_ inside: @Sendable (Value) -> Value) throws {
    try withTemporaryStore { store in
      let (odd, even) = (Value.integer(Int64(odd)), Value.integer(Int64(even)))
      let collection = store.collection("c")
      try collection.save([["id": 1, "n": inside(even), "m": 1]], keyField: "id")
      try collection.save([["id": 2, "n": inside(odd), "m": 1]])
      let stored = try collection.fetch(DynamicQuery())
      let wider: DynamicDocument = ["id": 3, "n": inside(0.5)]

      let saves: [() throws -> SaveReport] = [
        { try collection.save([wider]) },
        { try store.write { try $0.save([wider], in: collection, keyField: nil) } },
      ]
      for save in saves {
        let error = #expect(throws: StoreError.self) { try save() }
        guard case .valueRefused("c", "2", let field, "9007199254740993", _)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(field.hasPrefix("n"))
      }

      #expect(try collection.fetch(DynamicQuery()) == stored)
      #expect(try collection.save(stored).unchanged == 2)
      try collection.delete(key: 2)
      #expect(try collection.save([wider]).inserted == 1)
      #expect(try collection.save([["id": 4, "m": 0.5]]).inserted == 1)
    }
  }

  @Test("an optional inside an optional keeps its level through untyped saves and migrations")
  func nestedOptionals() throws {
    try withTemporaryStore { store in
      let documents: [One<Int??>] = [
        One(.none, id: "none"), One(.some(.none), id: "some"), One(5, id: "five"),
      ]
      let typed = repository(store, Int??.self)
      try typed.save(documents)
      let collection = store.collection("One")

      #expect(try collection.get("none")?["value"] == .null)
      #expect(try collection.get("some")?["value"] == [.null])
      #expect(try collection.get("five")?["value"] == [5])
      for id in ["none", "some", "five"] {
        let document = try #require(try collection.get(.string(id)))
        #expect(try collection.save([document]).unchanged == 1)
      }
      try collection.migrate(to: 2) { $0["other"] = "new" }
      #expect(try Set(typed.fetch(One<Int??>.all).map(\.value)) == Set(documents.map(\.value)))
      #expect(try typed.get("some")?.value == .some(.some(.none)))

      try collection.save([["id": "plain", "value": 7, "other": "x"]])
      #expect(try typed.get("plain")?.value == 7)
    }
  }
}
