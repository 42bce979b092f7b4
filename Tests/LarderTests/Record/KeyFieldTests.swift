import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Types of one collection that name another key, or compute theirs.
@Suite(.timeLimit(.minutes(20))) struct KeyFieldTests {
  @Document(as: "Reader")
  struct ByEmail: Equatable {
    @Key var email: String
    var id = ""
  }

  @Document(as: "Reader")
  struct ByID: Identifiable, Equatable {
    var id: String
    var email = ""
  }

  @Document(as: "Reader")
  struct Computed: Identifiable, Equatable {
    var id: String
    var email = ""

    var entityAccessorKey: String { id.lowercased() }
  }

  @Document(as: "Reader")
  struct ByNumber: Identifiable, Equatable {
    var id: Int
    var email = ""
  }

  @Test("another key field than the collection's is refused, and nothing is changed")
  func otherField() throws {
    try withTemporaryStore { store in
      let old = store.repository(of: ByEmail.self)
      try old.save([ByEmail(email: "m@x", id: "a"), ByEmail(email: "z@x", id: "b")])
      let new = store.repository(of: ByID.self)
      let error = StoreError.keyField(collection: "Reader", stored: "email", given: "id")

      #expect(throws: error) { try store.declare(ByID.self) }
      #expect(throws: error) { try new.save(ByID(id: "m@x")) }
      #expect(throws: error) { try new.fetch(ByID.where { $0.email < "c" }) }
      #expect(throws: error) { try new.delete(ByID.where { $0.email < "c" }) }
      #expect(try old.fetch(ByEmail.all).map(\.id) == ["a", "b"])
      try old.eraseAllData()
      try new.save(ByID(id: "m@x", email: "a"))

      #expect(try new.fetch(ByID.where { $0.email == "a" && $0.id == "m@x" }).count == 1)
      #expect(throws: StoreError.keyField(collection: "Reader", stored: "id", given: "email")) {
        try old.count()
      }
    }
  }

  @Test(
    "where versions of a type compute the key and take a field for it, conditions on it find every document",
    arguments: [false, true])
  func computed(isComputedFirst: Bool) throws {
    try withTemporaryStore { store in
      let computed = store.repository(of: Computed.self)
      let named = store.repository(of: ByID.self)
      func saveComputed() throws { try computed.save(Computed(id: "Astrid", email: "1")) }
      func saveNamed() throws { try named.save(ByID(id: "Astrid", email: "2")) }
      if isComputedFirst {
        try saveComputed()
        try saveNamed()
      } else {
        try saveNamed()
        try saveComputed()
      }

      for _ in 0..<2 {
        #expect(
          try named.fetch(ByID.where { $0.id == "Astrid" }.sorted(by: \.email)).map(\.email) == [
            "1", "2",
          ])
        #expect(
          try computed.fetch(Computed.where { $0.id.isIn(["Astrid"]) }.sorted(by: \.email)).map(
            \.email)
            == ["1", "2"])
        #expect(try named.count(ByID.where { $0.id > "B" }) == 0)
        // Both declare what they have once more.
        try store.declare(ByID.self)
        try store.declare(Computed.self)
      }
      #expect(throws: StoreError.self) {
        try store.collection("Reader").save([["id": "c"]], keyField: "id")
      }
      #expect(try named.delete(ByID.where { $0.id == "Astrid" }) == 2)
    }
  }

  @Test("a collection without documents takes a key of another kind, unless it is synced")
  func otherKind() throws {
    try withTemporaryStore { store in
      let texts = store.repository(of: ByID.self)
      let numbers = store.repository(of: ByNumber.self)
      try texts.save([ByID(id: "a"), ByID(id: "b")])
      let error = StoreError.keyKind(collection: "Reader", stored: .string, found: .integer)
      #expect(throws: error) { try numbers.save(ByNumber(id: 1)) }
      #expect(throws: error) { try numbers.count() }
      try texts.delete(ByID.all)

      try numbers.save((1...3).map { ByNumber(id: $0) })
      #expect(try numbers.fetch(ByNumber.where { $0.id >= 2 }).map(\.id) == [2, 3])
      #expect(throws: StoreError.self) { try texts.get("a") }
      // The log would read the keys that it had as numbers.
      #expect(try store.history().isReset)
    }
    try withTemporaryStore { store in
      try store.declare(ByID.self)
      try store.write { try $0.setSynced("Reader", true) }
      try store.repository(of: ByID.self).save(ByID(id: "a"))
      try store.repository(of: ByID.self).eraseAllData()
      #expect(throws: StoreError.keyKind(collection: "Reader", stored: .string, found: .integer)) {
        try store.declare(ByNumber.self)
      }
    }
  }
}
