import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct QueryDamageTests {
  let contact = Contact(
    id: "key", name: "Astrid", city: "Oslo", tags: ["vip"], geo: Geo(lat: 59.9, lon: 10.7),
    note: "note")

  /// A store with one contact whose record was changed by `damage`.
  private func damaged(_ damage: (inout [UInt8]) throws -> Void) throws -> Store {
    let store = try Store.temporary()
    try store.repository(of: Contact.self).save(contact)
    try store.write { tx in
      let collection = try #require(tx.catalogue["Contact"])
      try contact.id.withEncodedKey { key in
        var record = try #require(
          try tx.transaction.withValue(for: key, in: collection.documents) { [UInt8]($0) })
        try damage(&record)
        try record.withUnsafeBytes {
          try tx.transaction.put($0, for: key, in: collection.documents)
        }
        tx.changeCount += 1
      }
    }
    return store
  }

  /// Replaces the only place where `old` stands.
  private func replace(_ old: [UInt8], by new: [UInt8], in bytes: inout [UInt8]) throws {
    let places = (0...bytes.count - old.count).filter { bytes[$0...].starts(with: old) }
    let place = try #require(places.count == 1 ? places.first : nil)
    bytes.replaceSubrange(place..<place + old.count, with: new)
  }

  private func error(_ reason: RecordError) -> StoreError {
    .damagedRecord(collection: "Contact", key: "\"key\"", reason: reason)
  }

  @Test("a filter that meets bytes of no kind throws, and the error names key and field")
  func unknownByte() throws {
    let store = try damaged { try replace([0xA4] + "Oslo".utf8, by: [0xC9] + "Oslo".utf8, in: &$0) }
    let contacts = store.repository(of: Contact.self)

    let truncated = error(.field("city", .truncated))
    #expect(throws: truncated) { try contacts.count(Contact.where { $0.city == "Oslo" }) }
    #expect(throws: truncated) { try contacts.fetch(Contact.where { $0.city.isIn(["Oslo"]) }) }
    #expect(throws: truncated) { try contacts.delete(Contact.where { $0.city < "P" }) }
    #expect(throws: truncated) {
      try contacts.save([], clearBeforeSaving: Contact.where { $0.city.hasPrefix("O") })
    }
    #expect("\(truncated)".contains("\"key\""))
    #expect("\(truncated)".contains("city"))
    try store.close()
  }

  @Test("a filter that meets text that is not UTF-8 throws where it must compare characters")
  func notUTF8() throws {
    let store = try damaged {
      try replace([0xA4] + "Oslo".utf8, by: [0xA4] + "Os".utf8 + [0xFF, 0xFE], in: &$0)
    }
    let contacts = store.repository(of: Contact.self)

    let invalid = error(.field("city", .invalidUTF8))
    #expect(throws: invalid) { try contacts.count(Contact.where { $0.city == "\u{E9}" }) }
    #expect(throws: invalid) { try contacts.count(Contact.where { $0.city.contains("O") }) }
    #expect(throws: invalid) { try contacts.count(Contact.where { $0.city > "A" }) }
    #expect(throws: invalid) { try contacts.count(Contact.where { $0.city.hasPrefix("Os") }) }
    try store.close()
  }

  @Test("damage inside an embedded document names the way down to the field")
  func nested() throws {
    let lat = withUnsafeBytes(of: 59.9.bitPattern.bigEndian) { [UInt8]($0) }
    let store = try damaged { try replace([0xCB] + lat, by: [0xC1] + lat, in: &$0) }
    let contacts = store.repository(of: Contact.self)

    do {
      _ = try contacts.count(Contact.where { $0.geo.lat > 50 })
      Issue.record("nothing was thrown")
    } catch let error as StoreError {
      guard case .damagedRecord("Contact", "\"key\"", let reason) = error else {
        Issue.record("\(error)")
        return
      }
      #expect(reason.path == ["geo", "lat"])
    }
    try store.close()
  }

  @Test("a record that is cut off, or empty, is an error with its key and not a crash")
  func cutOff() throws {
    for count in 1..<60 {
      let store = try damaged { $0.removeLast($0.count - count) }
      let contacts = store.repository(of: Contact.self)

      #expect(throws: StoreError.self) {
        try contacts.fetch(
          Contact.where { $0.note == "note" && $0.geo.lat > 50 && $0.tags.contains("vip") })
      }
      #expect(throws: StoreError.self) { try contacts.fetch(Contact.all.sorted(by: \.city)) }
      try store.close()
    }
  }

  @Test("whatever byte is wrong, a filter answers or throws, and no wrong document is returned")
  func anyByte() throws {
    var random = RandomSource()
    let query = Contact.where {
      $0.city == "Oslo" && ($0.geo.lat > 50 || $0.tags.contains("vip") || $0.order < 3)
        || $0.note.contains("o") || $0.updatedAt < .now || $0.isActive
    }
    for _ in 0..<repetitions(200) {
      let store = try damaged { bytes in
        let place = random.int(0..<bytes.count)
        bytes[place] = bytes[place] &+ UInt8(random.int(1..<256))
      }
      let contacts = store.repository(of: Contact.self)

      for query in [query, query.sorted(by: \.city).sorted(by: \.balance)] {
        do {
          let found = try contacts.fetch(query)
          #expect(found.isEmpty, "a damaged record was returned, \(random.hint)")
        } catch StoreError.damagedRecord(let collection, let key, _) {
          #expect(collection == "Contact" && key == "\"key\"")
        }
      }
      try store.close()
    }
  }
}
