import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct StoreRepositoryTests {
  let oslo = [
    Contact(id: "a", name: "Astrid", city: "Oslo", order: 3, tags: ["vip", "new"]),
    Contact(id: "b", name: "Bjørn", city: "Oslo", order: 1, geo: Geo(lat: 59.9, lon: 10.7)),
  ]
  let bergen = [Contact(id: "c", name: "Cecilie", city: "Bergen", order: 2, note: "calls back")]

  @Test("what is saved is what is read")
  func roundTrip() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)

      let report = try contacts.save(oslo + bergen)

      #expect(report.inserted == 3)
      #expect(try contacts.get("b") == oslo[1])
      #expect(try contacts.get("x") == nil)
      #expect(try contacts.fetch(Contact.all) == oslo + bergen)
      #expect(try contacts.get(keys: ["c", "x", "a"]) == [bergen[0], oslo[0]])
    }
  }

  @Test("saving the same again writes nothing")
  func unchanged() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(oslo)
      let before = try store.statistics().sequence

      let report = try contacts.save(oslo)

      #expect(report.unchanged == 2)
      #expect(report.changed == 0)
      #expect(try store.statistics().sequence == before)
    }
  }

  @Test("clear-before-save replaces what the query matches and nothing else")
  func clearBeforeSave() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(oslo + bergen)
      var astrid = oslo[0]
      astrid.order = 9
      let new = Contact(id: "d", name: "Dag", city: "Oslo")

      let report = try contacts.save(
        [new, astrid], clearBeforeSaving: Contact.where { $0.city == "Oslo" })

      #expect(report.inserted == 1)
      #expect(report.updated == 1)
      #expect(report.deleted == 1)
      #expect(try contacts.fetch(Contact.all) == [astrid, bergen[0], new])
    }
  }

  @Test("a query filters, sorts and limits as Swift does")
  func query() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(oslo + bergen)

      let query = Contact.where { $0.city == "Oslo" && $0.order < 5 }.sorted(by: \.order).limit(1)
      #expect(try contacts.fetch(query) == [oslo[1]])
      #expect(
        try contacts.count(Contact.where { $0.tags.contains("vip") || $0.name.hasPrefix("Ce") })
          == 2)
      #expect(try contacts.fetch(Contact.where { $0.geo.lat > 50 }) == [oslo[1]])
      #expect(try contacts.fetch(Contact.where { $0.geo.isNil() && $0.isActive }).count == 2)
      #expect(try contacts.fetch(Contact.where { $0.note == "calls back" }) == bergen)
      #expect(try contacts.fetch(Contact.where { $0.note == nil }) == oslo)
      #expect(
        "\(query)" == #"Contact where city == "Oslo" && order < 5 sorted by order limit 1"#)
    }
  }

  @Test("a write that throws is not kept")
  func rollback() throws {
    try withTemporaryStore { store in
      struct Stop: Error {}
      let contacts = store.repository(of: Contact.self)
      try contacts.save(bergen)

      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.save(oslo)
          try tx.delete(Contact.self, "c")
          #expect(try tx.fetch(Contact.all) == oslo)
          throw Stop()
        }
      }
      #expect(try contacts.fetch(Contact.all) == bergen)
    }
  }

  @Test("the asynchronous calls do what the synchronous ones do")
  func asynchronous() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(oslo + bergen)
      let deleted = try await contacts.delete(Contact.where { $0.city == "Oslo" })
      #expect(deleted == 2)
      #expect(try await contacts.async.fetch(Contact.all) == bergen)
      #expect(try await contacts.eraseAllData() == 1)
      #expect(try contacts.count() == 0)
    }
  }
}
