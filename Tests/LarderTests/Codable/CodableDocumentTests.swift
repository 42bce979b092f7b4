import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

struct CodableDocumentTests {
  @Test("values with all that Codable can do come back from a store")
  func rich() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let values = (0..<60).map { _ in random.richPlain() }
      let repository = store.repository(of: RichPlain.self)

      try repository.save(values)

      for value in values { #expect(try repository.get(value.id) == value, "\(random.hint)") }
      #expect(try repository.count() == values.count)
    }
  }

  @Test("fields are found in values one by one as they come")
  func oneByOne() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let values = (0..<25).map { _ in random.richPlain() }
      let repository = store.repository(of: RichPlain.self)
      for value in values { try repository.save(value) }
      for value in values { #expect(try repository.get(value.id) == value, "\(random.hint)") }
    }
  }

  @Test("equal values have equal bytes, so that saving them again changes nothing")
  func unchanged() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let values = (0..<20).map { _ in random.richPlain() }
      let repository = store.repository(of: RichPlain.self)
      try repository.save(values)
      let version = store.catalogueVersion

      let report = try repository.save(values)

      #expect(report.unchanged == values.count, "\(random.hint)")
      #expect(store.catalogueVersion == version)
    }
  }

  @Test("fields have the kinds of the types that are encoded, whether values are nil or not")
  func kinds() throws {
    try withTemporaryStore { store in
      try store.repository(of: PlainNote.self).save(PlainNote(id: "1", title: "a"))

      #expect(
        store.fieldNames(of: "PlainNote") == [
          "id", "title", "city", "order", "tags", "isDone", "createdAt", "place", "stops",
        ])
      #expect(store.kind(of: "city", in: "PlainNote") == "string?")
      #expect(store.kind(of: "order", in: "PlainNote") == "int64")
      #expect(store.kind(of: "tags", in: "PlainNote") == "[string]")
      #expect(store.kind(of: "createdAt", in: "PlainNote") == "date")
      #expect(store.kind(of: "place", in: "PlainNote") == "null?")
      #expect(store.kind(of: "stops", in: "PlainNote") == "[null]")

      let place = PlainNote.Place(lat: 1, lon: 2)
      try store.repository(of: PlainNote.self).save(
        PlainNote(id: "2", title: "b", place: place, stops: [place]))

      #expect(store.kind(of: "place", in: "PlainNote") == "document?")
      #expect(store.kind(of: "stops", in: "PlainNote") == "[document]")
      #expect(store.fieldNames(of: "PlainNote", table: 1) == ["lat", "lon", "label"])
      #expect(store.engine.catalogue["PlainNote"]?.tables.count == 2)
      #expect(try store.collection("PlainNote").keyField() == "id")
    }
  }

  @Test("enums with payloads, hierarchies of classes and containers inside are documents")
  func nested() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Zoo.self)
      let zoo = Zoo(id: 1, keeper: Keeper("Ada", level: 3), gate: .open(since: 5, by: ["x"]))
      try repository.save([zoo, Zoo(id: 2, keeper: Keeper("Bo", level: 1), gate: .shut)])

      #expect(try repository.get(1) == zoo)
      #expect(try repository.get(2)?.gate == .shut)
      let document = try #require(try store.collection("Zoo").get(.integer(1)))
      #expect(
        document["keeper"] == .document(["level": 3, "super": .document(["name": "Ada"])]))
      #expect(
        document["gate"]
          == .document(["open": .document(["since": 5, "by": .array([.string("x")])])]))
      #expect(document["inside"] == .document(["depth": 7, "list": .array([1, 2])]))
    }
  }

  @Test("dictionaries are dictionaries with their own keys, for readers without the type too")
  func dictionaries() throws {
    var random = RandomSource(seed: 3)
    try withTemporaryStore { store in
      var value = random.richPlain()
      value.byNumber = [-5: .init(x: 1, y: 2)]
      value.byGenre = [.crime: .init(x: 3, y: 4)]
      try store.repository(of: RichPlain.self).save(value)

      let document = try #require(try store.collection("RichPlain").get(.uuid(value.id)))
      #expect(document["byNumber"] == .dictionary([-5: .document(["x": 1.0, "y": 2.0])]))
      #expect(document["byGenre"] == .dictionary(["crime": .document(["x": 3.0, "y": 4.0])]))
      #expect(store.kind(of: "byNumber", in: "RichPlain") == "[int64: document]")
      #expect(store.kind(of: "byID", in: "RichPlain") == "[uuid: [string]]")
      #expect(store.kind(of: "levels", in: "RichPlain") == "int64??")
      #expect(store.kind(of: "genre", in: "RichPlain") == "any")
    }
  }

  @Test("a type that contains itself has one field table")
  func recursive() throws {
    try withTemporaryStore { store in
      let leaf = Branch(id: "c", twigs: [])
      let tree = Branch(id: "a", twigs: [Branch(id: "b", twigs: [leaf, leaf]), leaf])
      let repository = store.repository(of: Branch.self)
      try repository.save(tree)

      #expect(try repository.get("a") == tree)
      #expect(store.engine.catalogue["Branch"]?.tables.count == 1)
    }
  }

  @Test("128 levels of documents come back; more are refused")
  func depth() throws {
    func chain(_ levels: Int) -> Branch {
      (1..<levels).reduce(Branch(id: "0", twigs: [])) { inner, level in
        Branch(id: "\(level)", twigs: [inner])
      }
    }
    try withTemporaryStore { store in
      let repository = store.repository(of: Branch.self)
      // An array and the document in it are a level each.
      try repository.save(chain(64))
      #expect(try repository.get("63") == chain(64))
      #expect(throws: StoreError.self) { try repository.save(chain(65)) }
    }
  }

  @Test("keys may be strings, integers, UUIDs and types over them; others do not compile")
  func keys() throws {
    try withTemporaryStore { store in
      for key in [Int8.min, 0, 7] {
        try store.repository(of: WithKey<Int8>.self, collection: "a").save(WithKey(id: key))
      }
      #expect(
        try store.repository(of: WithKey<Int8>.self, collection: "a").fetch(Query()).map(\.id)
          == [Int8.min, 0, 7])
      let wrapped = store.repository(of: WithKey<Numeral>.self, collection: "b")
      try wrapped.save(WithKey(id: Numeral(rawValue: 9)))
      #expect(try wrapped.get(Numeral(rawValue: 9))?.id.rawValue == 9)
      #expect(try store.collection("b").keyField() == "id")
      let id = UUID()
      try store.repository(of: WithKey<UUID>.self, collection: "c").save(WithKey(id: id))
      #expect(try store.collection("c").get(.uuid(id)) != nil)
    }
  }

  @Test("a final class that is Sendable is a value like any")
  func classes() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Station.self)
      try repository.save([Station("Oslo S", 19), Station("Voss", 3)])
      #expect(try repository.get("Voss")?.platforms == 3)
    }
  }

  @Test("a field may be encoded after others, twice, or by containers that are filled in turn")
  func disorder() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Disorderly.self)
      try repository.save([Disorderly(id: "1", swaps: false), Disorderly(id: "2", swaps: true)])

      #expect(try repository.get("1") == Disorderly(id: "1", swaps: false))
      #expect(try repository.get("2") == Disorderly(id: "2", swaps: true))
      let document = try #require(try store.collection("Disorderly").get("2"))
      #expect(document["twice"] == 2)
      #expect(document["first"] == .document(["a": 1, "b": 2]))
      #expect(document["second"] == .array([3, 4]))
    }
  }

  @Test("an explicit nil is a field that is nil, a nil that is not encoded is none")
  func explicitNil() throws {
    try withTemporaryStore { store in
      try store.repository(of: PlainNote.self).save(PlainNote(id: "1", title: "a"))
      try store.repository(of: Nils.self).save(Nils(id: "1"))

      #expect(try store.collection("PlainNote").get("1")?["city"] == nil)
      #expect(try store.collection("Nils").get("1")?["city"] == .null)
      #expect(try store.repository(of: Nils.self).get("1")?.saw == "nil, there")
    }
  }

  @Test("a type whose keys are any names has a field for each")
  func anyNames() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Bag.self)
      try repository.save(Bag(id: "1", contents: ["a": 1, "b": 2]))
      try repository.save(Bag(id: "2", contents: ["c": 3]))
      #expect(try repository.get("1")?.contents == ["a": 1, "b": 2])
      #expect(store.fieldNames(of: "Bag").sorted() == ["a", "b", "c", "id"])

      try repository.save(Bag(id: "1", contents: ["c": 9]))
      #expect(try repository.get("1")?.contents == ["c": 9])
    }
  }
}

private struct Zoo: Codable, Identifiable, Sendable, Equatable {
  enum Gate: Codable, Equatable {
    case shut
    case open(since: Int, by: [String])
  }

  private enum CodingKeys: CodingKey { case id, keeper, gate, inside }
  private enum InsideKeys: CodingKey { case depth, list }

  var id: Int
  var keeper: Keeper
  var gate: Gate
  var depth = 7

  init(id: Int, keeper: Keeper, gate: Gate) {
    self.id = id
    self.keeper = keeper
    self.gate = gate
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    keeper = try container.decode(Keeper.self, forKey: .keeper)
    gate = try container.decode(Gate.self, forKey: .gate)
    let inside = try container.nestedContainer(keyedBy: InsideKeys.self, forKey: .inside)
    depth = try inside.decode(Int.self, forKey: .depth)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encode(keeper, forKey: .keeper)
    try container.encode(gate, forKey: .gate)
    var inside = container.nestedContainer(keyedBy: InsideKeys.self, forKey: .inside)
    try inside.encode(depth, forKey: .depth)
    var list = inside.nestedUnkeyedContainer(forKey: .list)
    try list.encode(1)
    try list.encode(2)
  }
}

private class Person: Codable {
  let name: String

  init(_ name: String) { self.name = name }
}

private final class Keeper: Person, Equatable, @unchecked Sendable {  // Never changed.
  let level: Int

  private enum CodingKeys: CodingKey { case level }

  init(_ name: String, level: Int) {
    self.level = level
    super.init(name)
  }

  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    level = try container.decode(Int.self, forKey: .level)
    try super.init(from: container.superDecoder())
  }

  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(level, forKey: .level)
    try super.encode(to: container.superEncoder())
  }

  static func == (left: Keeper, right: Keeper) -> Bool {
    left.name == right.name && left.level == right.level
  }
}

private struct Branch: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var twigs: [Branch]
}

private struct WithKey<Key: DocumentKey & Codable>: Codable, Identifiable, Sendable {
  var id: Key
}

private struct Numeral: RawRepresentable, DocumentKey, Codable {
  var rawValue: UInt16
}

private final class Station: Codable, Identifiable, Sendable {
  let id: String
  let platforms: Int

  init(_ id: String, _ platforms: Int) {
    self.id = id
    self.platforms = platforms
  }
}

private struct Disorderly: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var swaps: Bool

  private enum CodingKeys: CodingKey { case id, swaps, twice, first, second }

  init(id: String, swaps: Bool) {
    self.id = id
    self.swaps = swaps
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    swaps = try container.decode(Bool.self, forKey: .swaps)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(1, forKey: .twice)
    if swaps { try container.encode(swaps, forKey: .swaps) }
    var second = container.nestedUnkeyedContainer(forKey: .second)
    var first = container.nestedContainer(keyedBy: AnyPair.self, forKey: .first)
    try second.encode(3)
    try first.encode(1, forKey: .a)
    try second.encode(4)
    try container.encode(2, forKey: .twice)
    try first.encode(2, forKey: .b)
    try container.encode(id, forKey: .id)
    if !swaps { try container.encode(swaps, forKey: .swaps) }
  }

  private enum AnyPair: CodingKey { case a, b }
}

private struct Nils: Codable, Identifiable, Sendable {
  var id: String
  var saw = ""

  private enum CodingKeys: CodingKey { case id, city }

  init(id: String) { self.id = id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(String.self, forKey: .id)
    saw = try container.decodeNil(forKey: .city) ? "nil" : "value"
    saw += container.contains(.city) ? ", there" : ", absent"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    try container.encodeNil(forKey: .city)
  }
}

private struct Bag: Codable, Identifiable, Sendable {
  var id: String
  var contents: [String: Int]

  init(id: String, contents: [String: Int]) {
    self.id = id
    self.contents = contents
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: AnyKey.self)
    id = try container.decode(String.self, forKey: AnyKey("id"))
    contents = [:]
    for key in container.allKeys where key.stringValue != "id" {
      contents[key.stringValue] = try container.decode(Int.self, forKey: key)
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    try container.encode(id, forKey: AnyKey("id"))
    for (name, value) in contents { try container.encode(value, forKey: AnyKey(name)) }
  }
}
