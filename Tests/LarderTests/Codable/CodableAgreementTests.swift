import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Readers with the type and without it agree.
struct CodableAgreementTests {
  @Test("a reader without the type sees fields by name, with values of their own kinds")
  func dynamic() throws {
    try withTemporaryStore { store in
      let note = PlainNote(
        id: "1", title: "Pan", order: 3, tags: ["x"], isDone: true,
        place: .init(lat: 1, lon: 2), stops: [.init(lat: 3, lon: 4, label: "l")])
      try store.repository(of: PlainNote.self).save(note)

      #expect(
        try store.collection("PlainNote").get("1") == [
          "id": "1", "title": "Pan", "order": 3, "tags": ["x"], "isDone": true,
          "createdAt": .date(note.createdAt),
          "place": .document(["lat": 1.0, "lon": 2.0]),
          "stops": .array([.document(["lat": 3.0, "lon": 4.0, "label": "l"])]),
        ])
    }
  }

  @Test("what is written without the type is coerced to the kinds of the type, and read by it")
  func written() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: PlainNote.self)
      try repository.save(
        PlainNote(
          id: "1", title: "a", place: .init(lat: 1, lon: 2), stops: [.init(lat: 1, lon: 2)]))

      try store.collection("PlainNote").save([
        [
          "id": "2", "title": "b", "order": 5.0, "tags": [], "isDone": false,
          "createdAt": "2001-01-01T00:00:05Z", "place": .document(["lat": 7, "lon": 8]),
          "stops": [], "city": "Oslo",
        ]
      ])

      let expected = PlainNote(
        id: "2", title: "b", city: "Oslo", order: 5,
        createdAt: Date(timeIntervalSinceReferenceDate: 5), place: .init(lat: 7, lon: 8))
      #expect(try repository.get("2") == expected)
      #expect(throws: StoreError.self) {
        try store.collection("PlainNote").save([["id": "3", "title": 5]])
      }
    }
  }

  @Test("what the type cannot do without is required of others, and what it can is not")
  func required() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Lenient.self)
      try repository.save(Lenient(id: "1", name: "a", rank: 4))
      let collection = store.collection("Lenient")

      #expect {
        try collection.save([["id": "2", "rank": 1]])
      } throws: {
        guard case StoreError.valueRefused(_, _, "name", _, _) = $0 else { return false }
        return true
      }
      try collection.save([["id": "3", "name": "c"]])
      #expect(try repository.get("3") == Lenient(id: "3", name: "c", rank: 9))
    }
  }

  @Test("the key's field is found by what it does, whatever its name")
  func keyField() throws {
    try withTemporaryStore { store in
      try store.repository(of: Renamed.self).save(Renamed(id: "same", twin: "same"))
      #expect(try store.collection("Renamed").keyField() == "key")

      try store.repository(of: Mailbox.self).save(Mailbox(mail: "ada@example.org"))
      #expect(try store.collection("Mailbox").keyField() == nil)
    }
  }

  @Test("a key that is computed is taken for no field, also where it equals one by chance")
  func computedKey() throws {
    try withTemporaryStore { store in
      let towns = store.repository(of: PlainTown.self)
      try towns.save(PlainTown(name: "Oslo"))
      try towns.save(PlainTown(name: "New York"))
      #expect(try store.collection("PlainTown").keyField() == nil)
      let query = CodableDocument<PlainTown>.where { $0.name == "New York" }
      #expect(try towns.fetch(query).map(\.id) == ["New-York"])
      #expect(try store.check().problems.isEmpty)

      try store.repository(of: PlainTag.self).save(PlainTag(text: "short"))
      #expect(try store.collection("PlainTag").keyField() == nil)
    }
  }

  @Test("a key that is stored is found whatever the first one is")
  func oddKeys() throws {
    try withTemporaryStore { store in
      try store.repository(of: PlainCity.self).save(PlainCity(id: "東京"))
      #expect(try store.collection("PlainCity").keyField() == "id")
      try store.repository(of: PlainShirt.self).save(PlainShirt(id: .small))
      #expect(try store.collection("PlainShirt").keyField() == "id")
      try store.repository(of: PlainTrimmed.self).save(PlainTrimmed(id: "abc"))
      #expect(try store.collection("PlainTrimmed").keyField() == "id")
    }
  }

  @Test("stores of random values are sound, and say the same to every reader")
  func sound() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: RichPlain.self)
      let values = (0..<30).map { _ in random.richPlain() }
      try repository.save(values)
      let collection = store.collection("RichPlain")
      var documents: [DynamicDocument] = []
      try collection.forEach {
        documents.append($0)
        return true
      }
      #expect(documents.count == values.count)

      let report = try collection.save(documents)

      #expect(try store.check().problems == [], "\(random.hint)")
      #expect(report.unchanged + report.updated == values.count)
      for value in values { #expect(try repository.get(value.id) == value, "\(random.hint)") }
    }
  }

  @Test("a Codable field reads dictionaries as they were written before, and as text keys")
  func earlierDictionaries() throws {
    // Numbers as text, and pairs one behind the other.
    #expect(
      try decoded([Int: String].self, from: [0x81, 0xA2, 0x2D, 0x37, 0xA1, 0x61]) == [-7: "a"])
    #expect(
      try decoded([RichPlain.Genre: Int].self, from: [0x81, 0xA5, 0x63, 0x72, 0x69, 0x6D, 0x65, 4])
        == [.crime: 4])
    #expect(
      try decoded([RichValue.Point: Int].self, from: [0x92, 0x82, 0xA1, 0x78, 1, 0xA1, 0x79, 2, 7])
        == [.init(x: 1, y: 2): 7])
  }
}

private struct Lenient: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var name: String
  var rank: Int

  init(id: String, name: String, rank: Int) {
    self.id = id
    self.name = name
    self.rank = rank
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    name = try container.decode(String.self, forKey: .name)
    rank = try container.decodeIfPresent(Int.self, forKey: .rank) ?? 9
  }
}

private struct Renamed: Codable, Identifiable, Sendable {
  private enum CodingKeys: String, CodingKey {
    case twin
    case id = "key"
  }

  var id: String
  var twin: String
}

private struct Mailbox: Codable, Identifiable, Sendable {
  var mail: String
  var id: String { mail.lowercased() }
}
