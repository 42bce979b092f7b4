import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct EvolutionTests {
  // MARK: Fields come and go

  @Test("a field that a new version adds reads as its default, or as nil")
  func added() throws {
    try withTemporaryStore { store in
      try store.repository(of: OnlyKey.self).save(OnlyKey())

      #expect(try store.repository(of: One<Int?>.self).get("a")?.value == .some(nil))
      #expect(try store.repository(of: OneWithDefault.self).get("a")?.value == 7)
      #expect(
        try store.repository(of: OneWithDefault.self).fetch(OneWithDefault.all).map(\.value) == [7])
    }
  }

  @Test("a field that is added without a default is an error that names field, key and collection")
  func addedWithoutDefault() throws {
    try withTemporaryStore { store in
      try store.repository(of: OnlyKey.self).save(OnlyKey())
      let missing = StoreError.damagedRecord(
        collection: "One", key: "\"a\"", reason: .field("value", .missing))

      // Once before the catalogue knows the field, and once after.
      #expect(throws: missing) { try store.repository(of: One<Int>.self).get("a") }
      try store.repository(of: One<Int>.self).save(One(1, id: "b"))
      #expect(throws: missing) { try store.repository(of: One<Int>.self).get("a") }

      #expect(try store.repository(of: OnlyKey.self).get("a") == OnlyKey())
      #expect(try store.repository(of: One<Int>.self).get("b") == One(1, id: "b"))
    }
  }

  @Test("a field that a new version removes is left out when reading and kept when saving")
  func removed() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<String>.self).save([One("x"), One("y", id: "b")])
      let keys = store.repository(of: OnlyKey.self)

      #expect(try keys.fetch(OnlyKey.all) == [OnlyKey(), OnlyKey(id: "b")])
      let report = try keys.save([OnlyKey(), OnlyKey(id: "c")])

      #expect((report.unchanged, report.inserted) == (1, 1))
      #expect(try store.repository(of: One<String>.self).get("a") == One("x"))
      #expect(try store.repository(of: One<String?>.self).get("c")?.value == .some(nil))
    }
  }

  @Test("a field that is renamed in Swift keeps its values by its stored name")
  func renamed() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int>.self).save(One(5))

      let renamed = store.repository(of: Renamed.self)

      #expect(try renamed.get("a") == Renamed(id: "a", amount: 5))
      #expect(try renamed.save(Renamed(id: "a", amount: 5)).unchanged == 1)
      #expect(store.fieldNames(of: "One") == ["id", "value"])
    }
  }

  // MARK: Kinds

  @Test("a number field is widened: Int32 to Int to Double, and old records read as the new kind")
  func widened() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int32>.self).save(One(-5, id: "32"))
      #expect(store.kind(of: "value", in: "One") == "int32")

      try store.repository(of: One<Int>.self).save(One(1 << 40, id: "64"))
      #expect(store.kind(of: "value", in: "One") == "int64")
      #expect(try store.repository(of: One<Int>.self).get("32")?.value == -5)

      try store.repository(of: One<Double>.self).save(One(0.5, id: "d"))
      #expect(store.kind(of: "value", in: "One") == "double")
      #expect(try store.repository(of: One<Double>.self).get("64")?.value == 0x1p40)

      // The older versions read what fits them, and say what does not.
      #expect(try store.repository(of: One<Int>.self).get("64")?.value == 1 << 40)
      #expect(
        throws: StoreError.damagedRecord(
          collection: "One", key: "\"d\"",
          reason: .field("value", .outOfRange(expected: "an integer")))
      ) { try store.repository(of: One<Int>.self).get("d") }
      #expect(
        throws: StoreError.damagedRecord(
          collection: "One", key: "\"64\"", reason: .field("value", .outOfRange(expected: "Int32")))
      ) { try store.repository(of: One<Int32>.self).get("64") }
    }
  }

  @Test("a whole number is an integer again, whichever kind of number wrote it")
  func narrowedAgain() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Double>.self).save(One(0x1p63, id: "large"))
      try store.repository(of: One<Double>.self).save(One(-3, id: "double"))

      #expect(try store.repository(of: One<UInt64>.self).get("large")?.value == 1 << 63)
      #expect(try store.repository(of: One<Int8>.self).get("double")?.value == -3)
    }
    try withTemporaryStore { store in
      try store.repository(of: One<Int16>.self).save(One(1))
      try store.repository(of: One<Float>.self).save(One(-3))
      #expect(store.kind(of: "value", in: "One") == "float")
      #expect(try store.repository(of: One<Int16>.self).get("a")?.value == -3)
    }
  }

  @Test("a field is made optional, and the version that needs it says which document has none")
  func madeOptional() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int>.self).save(One(5))
      let optional = store.repository(of: One<Int?>.self)

      #expect(try optional.get("a")?.value == 5)
      try optional.save(One(nil, id: "b"))

      #expect(store.kind(of: "value", in: "One") == "int64?")
      #expect(try store.repository(of: One<Int>.self).get("a")?.value == 5)
      #expect(
        throws: StoreError.damagedRecord(
          collection: "One", key: "\"b\"",
          reason: .field("value", .unexpected(byte: 0xC0, expected: "an integer")))
      ) { try store.repository(of: One<Int>.self).get("b") }
    }
  }

  @Test("a kind that the stored one cannot become is refused, and nothing is changed")
  func mismatch() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<String>.self).save(One("5"))
      let version = store.catalogueVersion
      let bytes = try store.recordBytes(of: "a", in: "One")
      func check<Value: Storable & Sendable>(_ value: Value, _ declared: String) throws {
        let error = StoreError.kindMismatch(
          collection: "One", field: "value", stored: "string", declared: declared)
        let repository = store.repository(of: One<Value>.self)

        #expect(throws: error) { try repository.save(One(value)) }
        #expect(throws: error) { try repository.get("a") }
        #expect(throws: error) { try repository.count() }
        #expect(throws: error) { try store.declare(One<Value>.self) }
      }
      try check(5, "int64")
      try check(true, "bool")
      try check(["5"], "[string]")
      try check(Date(), "date")
      try check(Geo(lat: 1, lon: 2), "document")
      try check(Set(["5"]), "set of string")
      try check(Int?.none, "int64?")

      #expect(store.catalogueVersion == version)
      #expect(try store.recordBytes(of: "a", in: "One") == bytes)
      #expect(store.kind(of: "value", in: "One") == "string")
    }
  }

  @Test("the kinds that are told are those of the whole field, and not of its elements")
  func mismatchedElements() throws {
    func check<Old: Storable & Sendable, New: Storable & Sendable>(
      _ old: Old, _ new: New, _ stored: String, _ declared: String
    ) throws {
      try withTemporaryStore { store in
        try store.repository(of: One<Old>.self).save(One(old))
        #expect(
          throws: StoreError.kindMismatch(
            collection: "One", field: "value", stored: stored, declared: declared)
        ) { try store.repository(of: One<New>.self).save(One(new)) }
      }
    }
    try check([5], ["5"], "[int64]", "[string]")
    try check([[5]], [["5"]], "[[int64]]", "[[string]]")
    try check(["a": 5], [1: 5], "[string: int64]", "[int64: int64]")
    try check(["a": 5], ["a": "5"], "[string: int64]", "[string: string]")
    try check([Geo(lat: 1, lon: 2)], [5], "[document]", "[int64]")
    try check([5], Int?.none, "[int64]", "int64?")
  }

  @Test("an optional that becomes a nested one is refused: its records could not be read")
  func nestedOptional() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int?>.self).save(One(5))

      #expect(
        throws: StoreError.kindMismatch(
          collection: "One", field: "value", stored: "int64?", declared: "int64??")
      ) { try store.repository(of: One<Int??>.self).save(One(.some(nil))) }
      #expect(try store.repository(of: One<Int?>.self).get("a")?.value == 5)
    }
  }

  @Test("of several fields of another kind the one is told that has values of the old one")
  func mismatchedFields() throws {
    try withTemporaryStore { store in
      try store.repository(of: TwoNumbers.self).save(TwoNumbers(id: "a", second: 5))

      #expect(
        throws: StoreError.kindMismatch(
          collection: "Two", field: "second", stored: "int64?", declared: "string?")
      ) { try store.repository(of: TwoTexts.self).save(TwoTexts(id: "b")) }
    }
  }

  @Test("a kind that does not fit inside an embedded document is refused by the way down to it")
  func nestedMismatch() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<[Geo]>.self).save(One([Geo(lat: 1, lon: 2)]))

      #expect(
        throws: StoreError.kindMismatch(
          collection: "One", field: "value.lat", stored: "double", declared: "string")
      ) { try store.repository(of: One<[WrongGeo]>.self).save(One([WrongGeo()])) }
    }
  }

  // MARK: Versions side by side

  @Test("two versions that take turns lose none of each other's fields, and the catalogue rests")
  func turns() throws {
    try withTemporaryStore { store in
      let old = store.repository(of: Early.self)
      let new = store.repository(of: Late.self)
      try old.save(Early(id: "a", name: "A", dropped: 1, geo: EarlierGeo(lat: 1)))
      try new.save(
        Late(id: "a", added: ["x"], name: "A2", geo: Geo(lat: 2, lon: 3, label: "home"), score: 1))
      try old.save(Early(id: "a", name: "A3", dropped: 2, geo: EarlierGeo(lat: 4)))
      let version = store.catalogueVersion
      let sequence = try store.statistics().sequence

      #expect(
        try new.get("a")
          == Late(
            id: "a", added: ["x"], name: "A3", geo: Geo(lat: 4, lon: 3, label: "home"), score: 1))
      for _ in 0..<5 {
        let newest = try #require(try new.get("a"))
        #expect(try new.save(newest).unchanged == 1)
        let oldest = try #require(try old.get("a"))
        #expect(try old.save(oldest).unchanged == 1)
      }
      #expect(try old.get("a")?.dropped == 2)
      #expect(store.catalogueVersion == version)
      #expect(try store.statistics().sequence == sequence)

      try new.save(Late(id: "a", added: [], name: "B", geo: nil, score: 2))
      #expect(try old.get("a") == Early(id: "a", name: "B", dropped: 2, geo: nil))
      #expect(store.catalogueVersion == version)
    }
  }

  @Test("a save by a type that knows little keeps all that it does not know, to the byte")
  func unknownFields() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let full = store.repository(of: Everything.self)
      let early = store.repository(of: EarlierEverything.self)
      let documents = (0..<60).map { Everything(id: $0, &random) }
      try full.save(documents)
      let bytes = try documents.map { try store.recordBytes(of: $0.id, in: "Everything") }
      let geoBits = documents.map { $0.geo?.lon.bitPattern }

      #expect(try early.save(early.fetch(EarlierEverything.all)).unchanged == 60, "\(random.hint)")
      let changed = try early.fetch(EarlierEverything.all).map { document in
        var document = document
        document.text += "!"
        document.geo?.lat = 42
        return document
      }
      #expect(try early.save(changed).updated == 60, "\(random.hint)")

      for (document, geoBits) in zip(try full.fetch(Everything.all), geoBits) {
        #expect(document.text.hasSuffix("!"), "\(random.hint)")
        #expect(document.geo?.lat == (geoBits == nil ? nil : 42), "\(random.hint)")
        #expect(document.geo?.lon.bitPattern == geoBits, "\(random.hint)")
      }
      let back = zip(try early.fetch(EarlierEverything.all), documents).map { document, original in
        var document = document
        document.text = original.text
        document.geo = original.geo.map { EarlierGeo(lat: $0.lat) }
        return document
      }
      try early.save(back)
      let again = try documents.map { try store.recordBytes(of: $0.id, in: "Everything") }
      #expect(again == bytes, "\(random.hint)")
    }
  }

  @Test("unknown fields of documents in dictionaries are kept by key, at any depth")
  func unknownInDictionaries() throws {
    typealias New = [String: [Int: Geo]]
    typealias Old = [String: [Int: EarlierGeo]]
    try withTemporaryStore { store in
      let new = store.repository(of: One<New>.self)
      let old = store.repository(of: One<Old>.self)
      let home = Geo(lat: 1, lon: 2, label: "home")
      try new.save(One(["x": [1: home, 2: Geo(lat: 3, lon: 4, label: "gone")], "y": [5: home]]))

      let known = try #require(try old.get("a"))
      #expect(try old.save(known).unchanged == 1)
      var value = known.value
      value["x"] = [1: EarlierGeo(lat: 9)]
      try old.save(One(value))

      #expect(
        try new.get("a")?.value
          == ["x": [1: Geo(lat: 9, lon: 2, label: "home")], "y": [5: home]])
      value["x"]?[7] = EarlierGeo(lat: 7)
      try old.save(One(value))
      #expect(try old.get("a")?.value == value)
      #expect(throws: StoreError.self) { try new.get("a") }
      #expect(
        try store.collection("One").get("a")?["value"]
          == .dictionary([
            "x": .dictionary([
              1: .document(["lat": 9.0, "lon": 2.0, "label": "home"]), 7: .document(["lat": 7.0]),
            ]),
            "y": .dictionary([5: .document(["lat": 1.0, "lon": 2.0, "label": "home"])]),
          ]))
    }
  }

  @Test("unknown fields of documents in arrays are not kept: elements have no identity")
  func unknownInArrays() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<[Geo]>.self).save(One([Geo(lat: 1, lon: 2, label: "x")]))

      try store.repository(of: One<[EarlierGeo]>.self).save(One([EarlierGeo(lat: 1)]))

      #expect(throws: StoreError.self) { try store.repository(of: One<[Geo]>.self).get("a") }
      #expect(try store.repository(of: One<[EarlierGeo]>.self).get("a")?.value.count == 1)
    }
  }

  @Test("a field table only grows: a field keeps its slot whatever is declared afterwards")
  func appendOnly() throws {
    try withTemporaryStore { store in
      try store.declare(Early.self)
      #expect(store.fieldNames(of: "Turn") == ["id", "name", "dropped", "geo"])

      try store.declare(Late.self)

      let names = ["id", "name", "dropped", "geo", "added", "score"]
      #expect(store.fieldNames(of: "Turn") == names)
      try store.collection("Turn").save([["id": "x", "zip": 1, "name": "n"]])
      #expect(store.fieldNames(of: "Turn") == names + ["zip"])
      try store.declare(Early.self)
      #expect(store.fieldNames(of: "Turn") == names + ["zip"])
    }
  }

  // MARK: Embedded types

  @Test("an embedded type in two fields has one table, and each field its own values")
  func sharedType() throws {
    try withTemporaryStore { store in
      let document = Places(
        id: "a", home: Geo(lat: 1, lon: 2), work: Geo(lat: 3, lon: 4, label: "w"), others: [])

      try store.repository(of: Places.self).save(document)

      #expect(try store.repository(of: Places.self).get("a") == document)
      #expect(store.engine.catalogue["Places"]?.tables.count == 2)
    }
  }

  @Test("an embedded type that grows, and comes into a second field, keeps every value")
  func sharedTypeGrows() throws {
    try withTemporaryStore { store in
      try store.repository(of: EarlyPlaces.self)
        .save(EarlyPlaces(id: "a", work: EarlierGeo(lat: 9)))
      let document = Places(
        id: "b", home: Geo(lat: 1, lon: 2), work: Geo(lat: 3, lon: 4, label: "w"),
        others: [Geo(lat: 5, lon: 6)])

      let places = store.repository(of: Places.self)
      try places.save(document)

      #expect(try places.get("b") == document)
      #expect(try places.save(document).unchanged == 1)
      #expect(try store.repository(of: EarlyPlaces.self).get("b")?.work == EarlierGeo(lat: 3))
      #expect(store.engine.catalogue["Places"]?.tables.count == 2)
    }
  }

  @Test("fields that were inferred apart become one embedded type, and keep every value")
  func inferredApart() throws {
    try withTemporaryStore { store in
      let dynamic = store.collection("Places")
      try dynamic.save(
        [
          [
            "id": "a", "others": [.document(["lat": 7, "lon": 8, "note": "n"])],
            "home": .document(["lat": 1, "lon": 2]),
            "work": .document(["lon": 4, "lat": 3, "since": 2020]),
          ]
        ], keyField: "id")
      let places = store.repository(of: Places.self)
      let first = Places(
        id: "a", home: Geo(lat: 1, lon: 2), work: Geo(lat: 3, lon: 4), others: [Geo(lat: 7, lon: 8)]
      )
      #expect(try places.get("a") == first)
      let second = Places(
        id: "b", home: Geo(lat: 1, lon: 2), work: Geo(lat: 3, lon: 4, label: "w"),
        others: [Geo(lat: 5, lon: 6)])

      try places.save(second)

      #expect(try places.get("a") == first)
      #expect(try places.get("b") == second)
      #expect(try places.save(second).unchanged == 1)
      #expect(try dynamic.get("b")?["work"] == .document(["lat": 3.0, "lon": 4.0, "label": "w"]))
      var moved = first
      moved.work.lat = 33
      try places.save(moved)
      #expect(try places.get("a") == moved)
      #expect(
        try dynamic.get("a")?["work"]
          == .document(["lat": 33.0, "lon": 4.0, "label": .null, "since": 2020]))
    }
  }

  @Test("a type that contains itself has one table, whatever was inferred before")
  func recursion() throws {
    try withTemporaryStore { store in
      try store.repository(of: Node.self).save(Node(depth: 5))
      #expect(store.engine.catalogue["Node"]?.tables.count == 1)
      #expect(try store.repository(of: Node.self).get("5") == Node(depth: 5))
    }
    try withTemporaryStore { store in
      let inner: DynamicDocument = [
        "id": "2", "children": [.document(["id": "1", "children": []])],
      ]
      try store.collection("Node").save(
        [["id": "3", "children": [.document(inner)]]], keyField: "id")
      let nodes = store.repository(of: Node.self)
      #expect(try nodes.get("3") == Node(depth: 3))

      try nodes.save([Node(depth: 6), Node(depth: 3)])

      #expect(try nodes.get("3") == Node(depth: 3))
      #expect(try nodes.get("6") == Node(depth: 6))
      #expect(try store.collection("Node").get("6")?["label"] == "")
    }
  }
}

// MARK: Models

/// ``One`` with a default.
private struct OneWithDefault: Document, Identifiable {
  var id: String
  var value = 0

  static let schema = Schema<OneWithDefault>(
    "One", key: \.id, fields: [Field("id", \.id), Field("value", \.value, default: 7)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(value, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    value = try record.get(1)
  }
}

/// ``One`` with another name in Swift.
private struct Renamed: Document, Identifiable, Equatable {
  var id: String
  var amount: Int

  init(id: String, amount: Int) { (self.id, self.amount) = (id, amount) }

  static let schema = Schema<Renamed>(
    "One", key: \.id, fields: [Field("value", \.amount), Field("id", \.id)])

  func encode(into record: inout RecordWriter) {
    record.put(amount, at: 0)
    record.put(id, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    amount = try record.get(0)
    id = try record.get(1)
  }
}

private struct WrongGeo: EmbeddedDocument {
  var lat = "x"

  init() {}
  static let schema = Schema<WrongGeo>("Geo", fields: [Field("lat", \.lat)])
  func encode(into record: inout RecordWriter) { record.put(lat, at: 0) }
  init(from record: borrowing RecordReader) throws(RecordError) { lat = try record.get(0) }
}

private struct Early: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var dropped: Int?
  var geo: EarlierGeo?

  init(id: String, name: String, dropped: Int?, geo: EarlierGeo?) {
    (self.id, self.name, self.dropped, self.geo) = (id, name, dropped, geo)
  }

  static let schema = Schema<Early>(
    "Turn", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("dropped", \.dropped), Field("geo", \.geo),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(dropped, at: 2)
    record.put(geo, at: 3)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    name = try record.get(1)
    dropped = try record.get(2)
    geo = try record.get(3)
  }
}

private struct Late: Document, Identifiable, Equatable {
  var id: String
  var added: [String]
  var name: String
  var geo: Geo?
  var score: Double

  init(id: String, added: [String], name: String, geo: Geo?, score: Double) {
    (self.id, self.added, self.name, self.geo, self.score) = (id, added, name, geo, score)
  }

  static let schema = Schema<Late>(
    "Turn", key: \.id,
    fields: [
      Field("added", \.added, default: []), Field("score", \.score, default: 0),
      Field("geo", \.geo),
      Field("name", \.name), Field("id", \.id),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(added, at: 0)
    record.put(score, at: 1)
    record.put(geo, at: 2)
    record.put(name, at: 3)
    record.put(id, at: 4)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    added = try record.get(0)
    score = try record.get(1)
    geo = try record.get(2)
    name = try record.get(3)
    id = try record.get(4)
  }
}

private struct EarlyPlaces: Document, Identifiable {
  var id: String
  var work: EarlierGeo

  init(id: String, work: EarlierGeo) { (self.id, self.work) = (id, work) }

  static let schema = Schema<EarlyPlaces>(
    "Places", key: \.id, fields: [Field("id", \.id), Field("work", \.work)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(work, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    work = try record.get(1)
  }
}

private struct Places: Document, Identifiable, Equatable {
  var id: String
  var home: Geo?
  var work: Geo
  var others: [Geo]

  init(id: String, home: Geo?, work: Geo, others: [Geo]) {
    (self.id, self.home, self.work, self.others) = (id, home, work, others)
  }

  static let schema = Schema<Places>(
    "Places", key: \.id,
    fields: [
      Field("home", \.home), Field("id", \.id), Field("work", \.work),
      Field("others", \.others, default: []),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(home, at: 0)
    record.put(id, at: 1)
    record.put(work, at: 2)
    record.put(others, at: 3)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    home = try record.get(0)
    id = try record.get(1)
    work = try record.get(2)
    others = try record.get(3)
  }
}

@Document(as: "Two") private struct TwoNumbers {
  var id: String
  var first: Int?
  var second: Int?
}

@Document(as: "Two") private struct TwoTexts {
  var id: String
  var first: String?
  var second: String?
}
