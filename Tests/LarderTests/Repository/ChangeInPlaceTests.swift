import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct ChangeInPlaceTests {
  private let astrid = Contact(id: "a", name: "Astrid", city: "Oslo", order: 1)

  @Test("an update reads, changes and writes a document, and says what it is now")
  func update() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(astrid)

      let updated = try store.write { tx in
        try tx.update(Contact.self, "a") { $0.order += 1 }
        return try tx.update(Contact.self, "a") { $0.order += 1 }
      }

      #expect(updated?.order == 3)
      #expect(try contacts.get("a") == updated)
    }
  }

  @Test("an update of what is not there is nil, runs nothing and makes no collection")
  func absent() throws {
    try withTemporaryStore { store in
      let missing = try store.write { tx in
        try tx.update(Contact.self, "a") { _ in Issue.record("it ran") }
      }

      #expect(missing == nil)
      #expect(try store.collectionNames() == [])
      #expect(try store.write { try $0.update(Contact.self, "") { _ in } } == nil)
    }
  }

  @Test("an update that changes nothing takes no sequence number")
  func nothing() throws {
    try withTemporaryStore { store in
      try store.repository(of: Contact.self).save(astrid)
      let sequence = try store.statistics().sequence

      try store.write { tx in try tx.update(Contact.self, "a") { $0.order += 0 } }

      #expect(try store.statistics().sequence == sequence)
    }
  }

  @Test("an update that changes the key is refused, and the transaction can go on")
  func keyChanged() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(astrid)

      try store.write { tx in
        #expect(
          throws: StoreError.keyChanged(collection: "Contact", key: "\"a\"", found: "\"b\"")
        ) { try tx.update(Contact.self, "a") { $0.id = "b" } }
        try tx.save(Contact(id: "c", city: "Bergen"))
      }

      #expect(try contacts.fetch(Contact.all).map(\.id) == ["a", "c"])
    }
  }

  @Test("an update whose closure throws leaves the document as it was")
  func throwing() throws {
    struct Stop: Error {}
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(astrid)

      try store.write { tx in
        #expect(throws: Stop.self) {
          try tx.update(Contact.self, "a") {
            $0.order = 9
            throw Stop()
          }
        }
      }

      #expect(try contacts.get("a") == astrid)
    }
  }

  @Test("an upsert returns what it replaces, and nil where there was nothing")
  func upsert() throws {
    try withTemporaryStore { store in
      var changed = astrid
      changed.name = "Åse"
      let (first, second) = try store.write { [changed] tx in
        (try tx.upsert(astrid), try tx.upsert(changed))
      }

      #expect(first == nil)
      #expect(second == astrid)
      #expect(try store.repository(of: Contact.self).get("a") == changed)
    }
  }

  @Test("an update keeps fields that a newer version of the type has stored")
  func unknownFields() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int>.self).save(One(7))

      try store.write { tx in try tx.update(OnlyKey.self, "a") { _ in } }
      try store.repository(of: OnlyKey.self).save([OnlyKey()], onConflict: .merge { $1 })
      try store.repository(of: OnlyKey.self).save([OnlyKey()], onConflict: .keepExisting)

      #expect(try store.repository(of: One<Int>.self).get("a")?.value == 7)
    }
  }
}
