import Foundation
import Larder
import LarderTesting
import Testing

/// The call sites that the design promises, as they are written there.
@Suite struct QueryCallSiteTests {
  let contacts = [
    Contact(id: "a", name: "Astrid", city: "Oslo", order: 3, tags: ["vip"]),
    Contact(id: "b", name: "Bj\u{F8}rn", city: "Oslo", order: 1, geo: Geo(lat: 59.9, lon: 10.7)),
    Contact(id: "c", name: "Cecilie", city: "Bergen", order: 7, isActive: false, note: "calls"),
  ]

  private func keys(of query: Query<Contact>) throws -> [String] {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts)
      return try repository.fetch(query).map(\.id)
    }
  }

  @Test("the queries of the design page compile and select what they say")
  func design() throws {
    #expect(
      try keys(
        of: Contact.where { $0.city == "Oslo" && $0.order < 5 }.sorted(by: \.name).limit(20))
        == ["a", "b"])
    #expect(
      try keys(of: Contact.where { $0.tags.contains("vip") || $0.name.hasPrefix("Bj") })
        == ["a", "b"])
  }

  @Test("Bool fields stand alone, negated, and between other conditions")
  func booleans() throws {
    #expect(try keys(of: Contact.where { $0.isActive }) == ["a", "b"])
    #expect(try keys(of: Contact.where { !$0.isActive }) == ["c"])
    #expect(try keys(of: Contact.where(\.isActive)) == ["a", "b"])
    #expect(try keys(of: Contact.all.where { $0.isActive }.where { $0.order > 1 }) == ["a"])
    #expect(try keys(of: Contact.where { $0.isActive && $0.order > 1 }) == ["a"])
    #expect(
      try keys(of: Contact.where { $0.order > 1 && $0.isActive || !$0.isActive }) == ["a", "c"])
    #expect(try keys(of: Contact.where { !($0.isActive || $0.order == 1) }) == ["c"])
    #expect(try keys(of: Contact.where { $0.isActive == false }) == ["c"])
  }

  @Test("literals and nil stand against optional fields")
  func optionals() throws {
    #expect(try keys(of: Contact.where { $0.note == "calls" }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note == nil }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.note != nil }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note != "calls" }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.note.isIn(["calls", "x"]) }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note.hasPrefix("ca") }) == ["c"])
    #expect(try keys(of: Contact.where { $0.geo.isNil() }) == ["a", "c"])
    #expect(try keys(of: Contact.where { $0.geo.lat > 50 && $0.geo.lon < 11 }) == ["b"])
    #expect(try keys(of: Contact.where { $0.geo.lat.isIn(59...60) }) == ["b"])
  }

  @Test("ranges are conditions, however many values they have")
  func ranges() throws {
    #expect(try keys(of: Contact.where { $0.order.isIn(1...3) }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.order.isIn(1..<3) }) == ["b"])
    #expect(try keys(of: Contact.where { $0.order.isIn(3...) }) == ["a", "c"])
    #expect(try keys(of: Contact.where { $0.order.isIn(.min ... .max) }) == ["a", "b", "c"])
    #expect(try keys(of: Contact.where { $0.balance.isIn(-0.5...0.5) }) == ["a", "b", "c"])
    let optional = Specimen.where { $0.bigger.isIn(0 ... .max) && $0.step.isIn(0...) }
    #expect(
      "\(optional)"
        == "Specimen where bigger >= 0 && bigger <= 18446744073709551615 && step >= 0")
  }

  @Test("conditions can be made in steps and from values of the program")
  func steps() throws {
    let cities = ["Oslo", "Bergen"]
    let start = "C"
    #expect(
      try keys(
        of: Contact.where { contact in
          let isHere = contact.city.isIn(cities)
          let isNamed = contact.name.hasPrefix(start)
          return isHere && isNamed
        }) == ["c"])
    #expect(
      try keys(
        of: Contact.where { contact in
          ["vip", "new"].map { contact.tags.contains($0) }.reduce(contact.order == 1) { $0 || $1 }
        }) == ["a", "b"])
  }

  @Test("ten conditions are one expression")
  func tenConditions() throws {
    let query = Contact.where {
      $0.city == "Oslo" && $0.order < 5 && $0.order >= 0 && $0.balance <= 1.5 && $0.isActive
        && $0.name.hasPrefix("A") && $0.tags.contains("vip") && $0.note == nil
        && $0.updatedAt < .now && $0.phone != "1"
    }
    #expect(try keys(of: query) == ["a"])
  }
}
