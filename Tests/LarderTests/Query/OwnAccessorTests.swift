import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Documents whose key is computed by the type, which also has an `id`.
@Suite struct OwnAccessorTests {
  private static let nicknames = ["Swift", "Zig", "ada", "b", "C", "ada b"].map {
    Nickname(id: $0, length: $0.count)
  }

  private func withNicknames(
    _ body: (Store, StoreRepository<Nickname>, _ inOrder: [Nickname]) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let nicknames = store.repository(of: Nickname.self)
      try nicknames.save(Self.nicknames)
      try body(
        store, nicknames, Self.nicknames.sorted { $0.entityAccessorKey < $1.entityAccessorKey })
    }
  }

  @Test("conditions on `id` are not answered by a key that is computed from it")
  func conditions() throws {
    try withNicknames { _, nicknames, all in
      let found = try nicknames.fetch(Nickname.all)
      #expect(found == all)
      for other in Self.nicknames.map(\.id) + ["a", "Z", "zig"] {
        let questions: [(Query<Nickname>, (Nickname) -> Bool)] = [
          (Nickname.where { $0.id == other }, { $0.id == other }),
          (Nickname.where { $0.id.isIn([other, "ada"]) }, { [other, "ada"].contains($0.id) }),
          (Nickname.where { $0.id < other }, { $0.id < other }),
          (Nickname.where { $0.id <= other }, { $0.id <= other }),
          (Nickname.where { $0.id > other }, { $0.id > other }),
          (Nickname.where { $0.id >= other && $0.length > 1 }, { $0.id >= other && $0.length > 1 }),
        ]
        for (query, holds) in questions {
          let found = try nicknames.fetch(query)

          #expect(found == all.filter(holds), "\(query)")
        }
      }
    }
  }

  @Test("an order by `id` is not that of a key that is computed from it")
  func orders() throws {
    try withNicknames { _, nicknames, all in
      let ascending = try nicknames.fetch(Nickname.all.sorted(by: \.id))
      let descending = try nicknames.fetch(Nickname.all.sorted(by: \.id, .reverse).limit(3))

      #expect(ascending == all.sorted { $0.id < $1.id })
      #expect(descending == Array(all.sorted { $0.id > $1.id }.prefix(3)))
    }
  }

  @Test("without its type nothing is saved under a key that only the type can compute")
  func untyped() throws {
    try withNicknames { store, nicknames, all in
      let untyped = store.collection("Nickname")
      let zig: DynamicDocument = ["id": "Zig", "length": 3]
      let noted: DynamicDocument = ["id": "Noted", "length": 1, "note": "a field that is new"]
      func refused(_ given: String) -> StoreError {
        .keyField(collection: "Nickname", stored: nil, given: given)
      }

      #expect(throws: refused("")) { try untyped.save([zig]) }
      #expect(throws: refused("")) { try store.write { try $0.save([zig], in: untyped) } }
      for document in [zig, noted] {
        #expect(throws: refused("id")) { try untyped.save([document], keyField: "id") }
        #expect(throws: refused("id")) {
          try store.write { try $0.save([document], in: untyped, keyField: "id") }
        }
      }
      #expect(throws: refused("id")) {
        try untyped.declare(InferredShape(), keyField: "id", keyKind: .string)
      }
      let keyField = try untyped.keyField()
      #expect(keyField == nil)
      #expect(try nicknames.fetch(Nickname.all) == all)
      #expect(try nicknames.get("zig") == Nickname(id: "Zig", length: 3))
    }
  }

  @Test("a property that is marked is the key field, also where the accessor is written")
  func marked() throws {
    #expect(Nickname.schema.keyField == nil)
    #expect(Surname.schema.keyField == "id")
    try withTemporaryStore { store in
      let surnames = store.repository(of: Surname.self)
      try surnames.save([Surname(id: "b"), Surname(id: "a")])

      let plan = try Surname.where { $0.id == "a" }.explain(in: store)

      #expect(plan.examinedCount == 1)
      #expect(try surnames.fetch(Surname.where { $0.id == "a" }).map(\.id) == ["a"])
    }
  }
}

@Document
struct Nickname: Equatable {
  var id: String
  var length = 0

  var entityAccessorKey: String { id.lowercased() }
}

@Document
struct Surname {
  @Key var id: String

  var entityAccessorKey: String { id }
}
