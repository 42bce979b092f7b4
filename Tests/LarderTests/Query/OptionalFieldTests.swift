import Foundation
import Larder
import LarderTesting
import Testing

@Suite struct OptionalFieldTests {
  private let home = Contact(id: "a", geo: Geo(lat: 1, lon: 2, label: "home"))
  private let unlabelled = Contact(id: "b", geo: Geo(lat: 3, lon: 4))
  private let nowhere = Contact(id: "c")

  private func keys(of query: Query<Contact>) throws -> [String] {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save([home, unlabelled, nowhere])
      return try contacts.fetch(query).map(\.id)
    }
  }

  @Test("an embedded document that may be nil is compared with nil")
  func embeddedNil() throws {
    #expect(try keys(of: Contact.where { $0.geo == nil }) == ["c"])
    #expect(try keys(of: Contact.where { $0.geo != nil }) == ["a", "b"])
  }

  @Test("an optional field of an optional document is one optional, as with ?.")
  func flattened() throws {
    #expect(try keys(of: Contact.where { $0.geo.label == "home" }) == ["a"])
    #expect(try keys(of: Contact.where { $0.geo.label == nil }) == ["b", "c"])
    #expect(try keys(of: Contact.where { $0.geo.label != nil && $0.geo.lat < 2 }) == ["a"])
  }
}
