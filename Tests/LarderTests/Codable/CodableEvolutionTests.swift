import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Versions of one plain type, all in the collection "Item".
struct CodableEvolutionTests {
  private struct First: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var count: Int32
    var size: Float
    var label: String?
    var inner: Inner

    struct Inner: Codable, Sendable, Equatable {
      var a: Int
    }
  }

  private struct Second: Codable, Identifiable, Sendable, Equatable {
    private enum CodingKeys: String, CodingKey {
      case id, size, extra, inner, list
      case amount = "count"
    }

    var id: String
    var amount: Int  // Renamed, and wider.
    var size: Double
    var extra: String?
    var inner: Inner
    var list: [Inner]?

    struct Inner: Codable, Sendable, Equatable {
      var a: Int
      var b: String?
    }
  }

  private func items<Item: Codable & Identifiable & Sendable>(
    _ type: Item.Type, _ store: Store
  ) -> CodableRepository<Item> where Item.ID: DocumentKey {
    store.repository(of: type, collection: "Item")
  }

  @Test("a newer type reads what an older one wrote: fields added, removed, renamed and widened")
  func newer() throws {
    try withTemporaryStore { store in
      try items(First.self, store).save(
        First(id: "1", count: 7, size: 0.5, label: "x", inner: .init(a: 1)))
      let second = Second(
        id: "1", amount: 7, size: 0.5, extra: nil, inner: .init(a: 1, b: nil), list: nil)

      #expect(try items(Second.self, store).get("1") == second)
      var changed = second
      changed.amount = 1 << 40
      changed.size = 0.1
      try items(Second.self, store).save(changed)
      #expect(try items(Second.self, store).get("1") == changed)
      #expect(store.kind(of: "count", in: "Item") == "int64")
      #expect(store.kind(of: "size", in: "Item") == "double")
    }
  }

  @Test("what a newer type stored stays when an older one saves, at the top and inside")
  func unknownFields() throws {
    try withTemporaryStore { store in
      let second = Second(
        id: "1", amount: 7, size: 0.5, extra: "new", inner: .init(a: 1, b: "new"),
        list: [.init(a: 2, b: "y")])
      try items(First.self, store).save(
        First(id: "0", count: 1, size: 1, label: "l", inner: .init(a: 1)))
      try items(Second.self, store).save(second)

      let report = try items(First.self, store).save(
        First(id: "1", count: 8, size: 0.5, label: nil, inner: .init(a: 5)))

      #expect(report.updated == 1)
      let expected = Second(
        id: "1", amount: 8, size: 0.5, extra: "new", inner: .init(a: 5, b: "new"),
        list: [.init(a: 2, b: "y")])
      #expect(try items(Second.self, store).get("1") == expected)
    }
  }

  @Test("what a newer type stored in a dictionary's values stays when an older one saves")
  func unknownInDictionaries() throws {
    struct New: Codable, Identifiable, Sendable, Equatable {
      struct Inner: Codable, Sendable, Equatable { var a: Int, b: String? }
      var id: String
      var inner: [String: Inner]
    }
    struct Old: Codable, Identifiable, Sendable, Equatable {
      struct Inner: Codable, Sendable, Equatable { var a: Int }
      var id: String
      var inner: [String: Inner]
    }
    try withTemporaryStore { store in
      try items(New.self, store).save(
        New(id: "1", inner: ["x": .init(a: 1, b: "x"), "gone": .init(a: 2, b: "y")]))

      try items(Old.self, store).save(Old(id: "1", inner: ["x": .init(a: 5), "new": .init(a: 6)]))

      #expect(
        try items(New.self, store).get("1")
          == New(id: "1", inner: ["x": .init(a: 5, b: "x"), "new": .init(a: 6, b: nil)]))
    }
  }

  @Test(
    "a field that an older type does not know stays, also where it was the only one with a value")
  func onlyUnknownField() throws {
    struct New: Codable, Identifiable, Sendable, Equatable {
      struct Preferences: Codable, Sendable, Equatable {
        var theme: String?
        var size: Int?
        var language: String?
      }
      var id: String
      var preferences: Preferences
    }
    struct Old: Codable, Identifiable, Sendable, Equatable {
      struct Preferences: Codable, Sendable, Equatable {
        var theme: String?
        var size: Int?
      }
      var id: String
      var preferences: Preferences
    }
    try withTemporaryStore { store in
      try items(New.self, store).save(New(id: "1", preferences: .init(language: "nb")))
      var old = try #require(try items(Old.self, store).get("1"))
      #expect(old.preferences == Old.Preferences())

      old.preferences.theme = "dark"
      try items(Old.self, store).save(old)

      #expect(try items(Old.self, store).get("1") == old)
      #expect(
        try items(New.self, store).get("1")
          == New(id: "1", preferences: .init(theme: "dark", language: "nb")))
    }
  }

  @Test("a field that the type knows and no longer encodes is gone")
  func knownFields() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: PlainNote.self)
      var note = PlainNote(
        id: "1", title: "a", city: "Oslo", place: .init(lat: 1, lon: 2, label: "home"))
      try repository.save(note)
      note.city = nil
      note.place?.label = nil

      try repository.save(note)

      #expect(try repository.get("1") == note)
      let document = try #require(try store.collection("PlainNote").get("1"))
      #expect(document["city"] == nil)
      #expect(document["place"] == .document(["lat": 1.0, "lon": 2.0]))
      note.place = nil
      try repository.save(note)
      #expect(try repository.get("1") == note)
    }
  }

  @Test("several stores of one moment know the same fields, whoever declared them")
  func declaredMeanwhile() throws {
    try withTemporaryStore { store in
      let repository = items(Second.self, store)
      let second = Second(
        id: "1", amount: 7, size: 0.5, extra: nil, inner: .init(a: 1, b: nil), list: nil)
      try repository.save(second)
      try store.write { tx in
        // The batch was encoded before another type's field came into being.
        _ = try tx.count(CodableDocument<PlainNote>.all)
      }
      var changed = second
      changed.list = [.init(a: 1, b: "b")]
      try repository.save([changed, second])
      #expect(try repository.get("1") == second)
    }
  }

  @Test("a field of another kind is refused with both kinds, and nothing is kept")
  func otherKind() throws {
    struct Other: Codable, Identifiable, Sendable {
      var id: String
      var count: String
    }
    try withTemporaryStore { store in
      let first = First(id: "1", count: 7, size: 0.5, label: "x", inner: .init(a: 1))
      try items(First.self, store).save(first)

      let error = StoreError.kindMismatch(
        collection: "Item", field: "count", stored: "int32", declared: "string")
      #expect(throws: error) { try items(Other.self, store).save(Other(id: "2", count: "x")) }
      #expect(try items(First.self, store).fetch(Query()) == [first])
    }
  }

  @Test("a value that is now a container and now not is a field that takes anything")
  func changeful() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Changeful.self)
      let values: [Changeful.Value] = [
        .text("a"), .pair(1, 2), .list([3]), .text("b"), .nothing, .pair(5, 6),
      ]
      for (index, value) in values.enumerated() {
        try repository.save(Changeful(id: index, value: value, values: [value]))
        #expect(try repository.get(index)?.value == value)
      }
      for (index, value) in values.enumerated() {
        #expect(try repository.get(index)?.value == value)
        #expect(try repository.get(index)?.values == [value])
      }
      #expect(store.kind(of: "value", in: "Changeful") == "any")
      // And in the other order, where a document comes first.
      let other = store.repository(of: Changeful.self, collection: "other")
      for (index, value) in values.reversed().enumerated() {
        try other.save(Changeful(id: index, value: value, values: [value]))
      }
      for (index, value) in values.reversed().enumerated() {
        #expect(try other.get(index)?.value == value)
        #expect(try other.get(index)?.values == [value])
      }
    }
  }

  @Test("a plain type, a document and a reader without a type share a collection")
  func shared() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let plain = store.repository(of: PlainNote.self)
      let documents = store.repository(of: PlainNoteDocument.self)
      let notes = (0..<40).map { random.note("\($0)") }

      try plain.save(Array(notes[..<20]))
      #expect(try documents.fetch(PlainNoteDocument.all).count == 20, "\(random.hint)")
      let report = try documents.save(notes.map { PlainNoteDocument($0) })
      #expect(report.inserted == 20)

      for note in notes {
        #expect(try plain.get(note.id) == note, "\(random.hint)")
        #expect(try documents.get(note.id) == PlainNoteDocument(note), "\(random.hint)")
      }
    }
  }

  @Test("a document that comes first declares fields that a plain type then writes")
  func documentFirst() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let documents = store.repository(of: PlainNoteDocument.self)
      let notes = (0..<20).map { random.note("\($0)") }
      try documents.save(PlainNoteDocument(notes[0]))
      let version = store.catalogueVersion

      try store.repository(of: PlainNote.self).save(notes)

      for note in notes {
        #expect(try documents.get(note.id) == PlainNoteDocument(note), "\(random.hint)")
      }
      // What may be absent in plain values is not required any more.
      #expect(store.catalogueVersion <= version + 1)
    }
  }
}

private struct Changeful: Codable, Identifiable, Sendable {
  enum Value: Codable, Equatable {
    case text(String)
    case pair(Int, Int)
    case list([Int])
    case nothing

    private enum CodingKeys: CodingKey { case a, b }

    init(from decoder: any Decoder) throws {
      let single = try decoder.singleValueContainer()
      if single.decodeNil() {
        self = .nothing
      } else if let text = try? single.decode(String.self) {
        self = .text(text)
      } else if let list = try? single.decode([Int].self) {
        self = .list(list)
      } else {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self = .pair(
          try container.decode(Int.self, forKey: .a), try container.decode(Int.self, forKey: .b))
      }
    }

    func encode(to encoder: any Encoder) throws {
      switch self {
      case .text(let text):
        var container = encoder.singleValueContainer()
        try container.encode(text)
      case .list(let list):
        var container = encoder.singleValueContainer()
        try container.encode(list)
      case .nothing:
        var container = encoder.singleValueContainer()
        try container.encodeNil()
      case .pair(let a, let b):
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(a, forKey: .a)
        try container.encode(b, forKey: .b)
      }
    }
  }

  var id: Int
  var value: Value
  var values: [Value]
}
