import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// What the macros write, beside what a person wrote.
@Suite struct GeneratedModelTests {
  @Test("a macro's conformance and one by hand write the same bytes, and read each other's")
  func everything() throws {
    var random = RandomSource()
    for id in 0..<50 {
      let byHand = Everything(id: id, &random)
      // Bytes and not values are compared, because NaN is not equal to itself.
      try withTemporaryStore { store in
        let hand = store.repository(of: Everything.self)
        let macro = store.repository(of: EverythingByMacro.self)
        try hand.save(byHand)
        let bytes = try store.recordBytes(of: id, in: "Everything")

        let read = try #require(try macro.get(id))
        #expect(try macro.save(read).unchanged == 1, "\(random.hint)")
        #expect(try hand.save(try #require(try hand.get(id))).unchanged == 1)

        try withTemporaryStore { store in
          try store.repository(of: EverythingByMacro.self).save(EverythingByMacro(byHand))
          #expect(try store.recordBytes(of: id, in: "Everything") == bytes, "\(random.hint)")
        }
      }
    }
  }

  @Test("renamed fields, defaults and embedded documents are as by hand")
  func contact() throws {
    let contact = Contact(
      id: "a", name: "Åse", phone: "1", city: "Oslo", order: 3, balance: -1, tags: ["x"],
      isActive: false, geo: Geo(lat: 1, lon: 2, label: "b"), note: "n")

    try withTemporaryStore { store in
      try store.repository(of: ContactByMacro.self).save(ContactByMacro(contact))
      #expect(try store.repository(of: Contact.self).get("a") == contact)
    }
    let byHand = Contact.schema
    let byMacro = ContactByMacro.schema
    #expect(byMacro.name == byHand.name && byMacro.keyField == byHand.keyField)
    #expect(byMacro.fields.map(\.name) == byHand.fields.map(\.name))
    #expect(byMacro.fields.map(\.kind.description) == byHand.fields.map(\.kind.description))
    #expect(byMacro.fields.map(\.isRequired) == byHand.fields.map(\.isRequired))
  }

  @Test("properties of every sort come back; what is not stored has its initial value")
  func sorts() throws {
    var document = Sorts(code: "a", secret: 42)
    document.watched = 9
    document.mood = .calm
    document.moods = [.calm, .unknown]
    document.payload = .none
    document.forced = "f"
    document.default = 3
    document.cache = [1]
    document.slow = 8
    #expect(document.changes == 1)

    let found = try stored(document)

    #expect(found.secretValue == 42 && found.watched == 9 && found.forced == "f")
    #expect(found.mood == .calm && found.moods == [.calm, .unknown] && found.payload == .none)
    #expect(found.changes == 0 && found.cache == nil)
    var copy = found
    #expect(copy.slow == 7)
    document.changes = 0
    document.cache = nil
    document.slow = copy.slow
    #expect(copy == document)
    #expect(
      Sorts.schema.fields.map(\.name) == [
        "code", "secret", "open", "watched", "mood", "moods", "payload", "text", "nested",
        "forced", "default", "other",
      ])
  }

  @Test("an initial value serves records that lack the field, however it is written")
  func defaults() throws {
    try withTemporaryStore { store in
      try store.repository(of: OnlyCode.self).save(OnlyCode(code: "a"))

      let found = try #require(try store.repository(of: Sorts.self).get("a"))

      #expect(found == Sorts(code: "a", secret: 5))
      #expect(found.text == "two \"lines\"\n  of { text")
      #expect(found.nested == ["a": [1, -2], "b": [3, 4]])
      #expect(found.payload == .pair(1, name: "a") && found.default == -1.5)
    }
  }

  @Test("a type that was changed reads its old records, and keeps what it no longer knows")
  func evolution() throws {
    try withTemporaryStore { store in
      let old = store.repository(of: Versions.First.self)
      let new = store.repository(of: Versions.Second.self)
      try old.save(Versions.First(id: 1, name: "Åse", tel: "5", gone: 6))

      var found = try #require(try new.get(1))
      #expect(
        found
          == Versions.Second(
            id: 1, fullName: "Åse", phone: "5", added: ["x": 1], mood: .calm, maybe: nil))
      found.fullName = "Siri"
      try new.save(found)

      #expect(try old.get(1) == Versions.First(id: 1, name: "Siri", tel: "5", gone: 6))
    }
  }

  @Test("documents inside other types find the names that are next to them")
  func nested() throws {
    #expect(try ShopOrders.roundTrip())
    #expect(ShopOrders.fields == ["number", "price", "prices"])
    #expect(ShopOrders.keyField == nil)
  }

  @Test("attributes declare indexes as `indexed` does")
  func indexes() {
    let declared = Indexes.declaredIndexes

    #expect(declared.map(\.name) == ["city", "email", "-order", "-labels", "city,order"])
    #expect(declared.map(\.isUnique) == [false, true, false, true, false])
  }

  @Test("conditions on fields of any road mean what Swift means")
  func queries() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: Sorts.self)
      var calm = Sorts(code: "calm", secret: 1)
      calm.mood = .calm
      try documents.save([calm, Sorts(code: "other", secret: 2)])

      #expect(try documents.fetch(Sorts.where { $0.mood == .calm }).map(\.code) == ["calm"])
      #expect(try documents.fetch(Sorts.where { $0.sum > 3 }).map(\.code) == ["other"])
      #expect(try documents.count(Sorts.where { $0.default < 0 }) == 2)
    }
  }
}
