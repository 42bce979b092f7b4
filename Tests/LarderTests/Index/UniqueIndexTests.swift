import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct UniqueIndexTests {
  @Test("a second document with the value of another is refused, and both keys are named")
  func refused() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save([Parcel(id: 1, code: "a"), Parcel(id: 2, code: "b")])

      #expect(
        throws: StoreError.uniqueViolation(
          collection: "Parcel", index: "code", value: "code \"a\"", key: "3", otherKey: "1")
      ) {
        try parcels.save([Parcel(id: 4, code: "d"), Parcel(id: 3, code: "a")])
      }
      #expect(try parcels.fetch(Parcel.all).map(\.id) == [1, 2])
    }
  }

  @Test("a refused save is undone alone: what the same transaction did before and does after stays")
  func undoneAlone() throws {
    try withTemporaryStore { store in
      try store.write { tx in
        try tx.save([Parcel(id: 1, code: "a")])
        #expect(throws: StoreError.self) {
          try tx.save([Parcel(id: 9, code: "z"), Parcel(id: 2, code: "a")])
        }
        try tx.save([Parcel(id: 3, code: "c")])
        #expect(try tx.fetch(Parcel.all).map(\.id) == [1, 3])
      }

      let parcels = store.repository(of: Parcel.self)
      #expect(try parcels.fetch(Parcel.all).map(\.id) == [1, 3])
      #expect(try store.read { $0.sequence } == 2)
    }
  }

  @Test("two documents may swap their values in one save")
  func swapped() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save([Parcel(id: 1, code: "a"), Parcel(id: 2, code: "b")])

      try parcels.save([Parcel(id: 1, code: "b"), Parcel(id: 2, code: "a")])

      #expect(try parcels.fetch(Parcel.where { $0.code == "a" }).map(\.id) == [2])
    }
  }

  @Test("a value is free once its document is deleted, changed or cleared in the same save")
  func freed() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save([Parcel(id: 1, code: "a"), Parcel(id: 2, code: "b")])
      try parcels.delete(keys: [1])
      try parcels.save([Parcel(id: 3, code: "a")])
      try parcels.save([Parcel(id: 4, code: "b")], clearBeforeSaving: Parcel.where { $0.id == 2 })

      #expect(try parcels.fetch(Parcel.all).map(\.id) == [3, 4])
    }
  }

  @Test("nil equals nothing")
  func nilValues() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save([Parcel(id: 1), Parcel(id: 2)])

      #expect(try parcels.count() == 2)
    }
  }

  @Test("values that canonical equivalence makes equal are equal")
  func canonical() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save(Parcel(id: 1, code: "caf\u{E9}"))

      #expect(throws: StoreError.self) { try parcels.save(Parcel(id: 2, code: "cafe\u{301}")) }
    }
  }

  @Test("long values that differ behind the cut are different, and equal ones are refused")
  func long() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      let long = String(repeating: "x", count: 400)
      try parcels.save([Parcel(id: 1, code: long + "a"), Parcel(id: 2, code: long + "b")])

      #expect(throws: StoreError.self) { try parcels.save(Parcel(id: 3, code: long + "b")) }
      #expect(try parcels.fetch(Parcel.where { $0.code == long + "b" }).map(\.id) == [2])
      #expect(try parcels.count(Parcel.where { $0.code == long }) == 0)
    }
  }

  @Test("a repository in memory refuses the same, and changes nothing then")
  func inMemory() throws {
    let parcels = InMemoryRepository(of: Parcel.self)
    try parcels.save([Parcel(id: 1, code: "a"), Parcel(id: 2, code: "b"), Parcel(id: 4)])

    #expect(throws: StoreError.self) {
      try parcels.save([Parcel(id: 5, code: "e"), Parcel(id: 3, code: "a")])
    }
    try parcels.save([Parcel(id: 1, code: "b"), Parcel(id: 2, code: "a"), Parcel(id: 6)])
    #expect(try parcels.fetch(Parcel.all).map(\.id) == [1, 2, 4, 6])
  }

  @Test("of several violations a repository in memory names the one that a store names")
  func inMemoryOrder() throws {
    try withTemporaryStore { store in
      let stored = store.repository(of: Parcel.self)
      let inMemory = InMemoryRepository(of: Parcel.self)
      let parcels = (0..<20).map { Parcel(id: $0, code: "\($0)") }
      try stored.save(parcels)
      try inMemory.save(parcels)
      let refused: [[Parcel]] = [
        // Each of them has the value of another stored one.
        (20..<40).map { Parcel(id: $0, code: "\(39 - $0)") },
        // None of a stored one, but two of each.
        (0..<20).map { Parcel(id: 40 - $0, code: "new \($0 / 2)") },
        // Of two with one value the stored one is saved as it was, or with the same value.
        [parcels[7], Parcel(id: -1, code: "7")],
        [Parcel(id: 7, code: "7", shelf: 3), Parcel(id: -1, code: "7")],
        // Of stored ones that change their values two get the same.
        [Parcel(id: 3, code: "5"), Parcel(id: 5, code: "4"), Parcel(id: 4, code: "5")],
      ]

      for parcels in refused {
        let error = try #require(throws: StoreError.self) { try stored.save(parcels) }
        #expect(throws: error) { try inMemory.save(parcels) }
      }

      let error = try #require(throws: StoreError.self) { try stored.update(3) { $0.code = "9" } }
      #expect(throws: error) { try inMemory.update(3) { $0.code = "9" } }
      #expect(try inMemory.fetch(Parcel.all) == parcels)
    }
  }

  @Test("a type that does not declare the index is held to it")
  func otherType() throws {
    try withTemporaryStore { store in
      try store.repository(of: Parcel.self).save([Parcel(id: 1, code: "a")])
      let plain = store.repository(of: PlainParcel.self)

      #expect(throws: StoreError.self) { try plain.save(PlainParcel(id: 2, code: "a")) }
      #expect(throws: StoreError.self) {
        try store.collection("Parcel").save([["id": 2, "code": "a", "shelf": 0]])
      }
      try plain.save(PlainParcel(id: 2, code: "b", shelf: 7))

      let found = try store.repository(of: Parcel.self).fetch(Parcel.where { $0.shelf == 7 })
      #expect(found.map(\.id) == [2])
    }
  }

  @Test("an index that stored documents contradict fails, and works once they are changed")
  func contradicted() throws {
    try withTemporaryStore { store in
      let plain = store.repository(of: PlainParcel.self)
      let count = 5_000
      try plain.save((0..<count).map { PlainParcel(id: $0, code: "\($0 % (count - 1))") })

      let parcels = store.repository(of: Parcel.self)
      try parcels.save(Parcel(id: count, code: "new"))
      let collection = store.collection("Parcel")

      #expect(throws: StoreError.self) { try collection.buildIndexes() }
      let failed = try #require(try collection.indexes().first { $0.name == "code" })
      guard case .failed(let reason) = failed.state else {
        Issue.record("\(failed.state)")
        return
      }
      #expect(reason.contains("4999"))
      #expect(try parcels.count(Parcel.where { $0.code == "0" }) == 2)

      try parcels.delete(keys: [count - 1])
      try collection.rebuildIndexes()
      #expect(try collection.indexes().allSatisfy { $0.state == .complete })
      #expect(throws: StoreError.self) { try parcels.save(Parcel(id: -1, code: "0")) }
    }
  }

  @Test(
    "a store and memory name the same documents, also where values are longer than an index keeps")
  func sameViolation() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let kept = store.repository(of: Parcel.self)
      for round in 0..<40 {
        let memory = InMemoryRepository(of: Parcel.self)
        let texts = (0..<3).map { _ in
          String(repeating: random.pick(["x", "é"]), count: random.int(120..<260))
            + "\(random.int(0..<9))"
        }
        let parcels = (0..<6).map { Parcel(id: $0, code: random.pick(texts), shelf: 0, labels: []) }

        let inStore = Result { try kept.save(parcels) }
        let inMemory = Result { try memory.save(parcels) }

        let hint = Comment(rawValue: "round \(round), \(random.hint)")
        #expect("\(inStore)" == "\(inMemory)", hint)
        try kept.delete(Parcel.all)
      }
    }
  }
}
