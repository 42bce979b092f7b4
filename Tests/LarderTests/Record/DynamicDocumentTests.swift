import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct DynamicDocumentTests {
  @Test("a document goes from a type to none and back through two stores with the same bytes")
  func sameBytes() throws {
    var random = RandomSource()
    try withTemporaryStore { first in
      try withTemporaryStore { second in
        let documents = (0..<150).map { Everything(id: $0 - 75, &random) }
        try first.repository(of: Everything.self).save(documents)
        try second.declare(Everything.self)
        var untyped: [DynamicDocument] = []

        try first.collection("Everything").forEach { document in
          untyped.append(document)
          return true
        }
        let report = try second.collection("Everything").save(untyped.shuffled(using: &random))

        #expect(report.inserted == 150)
        for document in documents {
          let bytes = try first.recordBytes(of: document.id, in: "Everything")
          #expect(
            try second.recordBytes(of: document.id, in: "Everything") == bytes, "\(random.hint)")
        }
        let back = try second.repository(of: Everything.self).fetch(Everything.all)
        #expect(try first.repository(of: Everything.self).save(back).unchanged == 150)
        #expect(back.map(\.nodes) == documents.map(\.nodes), "\(random.hint)")
      }
    }
  }

  @Test("a type that comes after the documents reads what was saved without it")
  func typeComesLater() throws {
    var random = RandomSource()
    try withTemporaryStore { first in
      try withTemporaryStore { second in
        // A nested optional cannot be inferred, nor what holds both -1 and UInt64.max exactly.
        let documents = (0..<40).map { id in
          var document = Everything(id: id, &random)
          document.twice = nil
          document.large |= 1 << 63
          return document
        }
        try first.repository(of: Everything.self).save(documents)
        try first.collection("Everything").forEach { document in
          try second.collection("Everything").save([document], keyField: "id")
          return true
        }

        let back = try second.repository(of: Everything.self).fetch(Everything.all)

        #expect(try first.repository(of: Everything.self).save(back).unchanged == 40)
        try second.repository(of: Everything.self).save(back)
        let again = try second.repository(of: Everything.self).fetch(Everything.all)
        #expect(try first.repository(of: Everything.self).save(again).unchanged == 40)
      }
    }
  }

  @Test("documents nested to the deepest level are the same without their type")
  func deepest() throws {
    try withTemporaryStore { first in
      try withTemporaryStore { second in
        try first.repository(of: Node.self).save(Node(depth: 128))
        let document = try #require(try first.collection("Node").get("128"))
        try second.declare(Node.self)

        try second.collection("Node").save([document])

        #expect(try second.repository(of: Node.self).get("128") == Node(depth: 128))
        var deeper = document
        deeper["id"] = "129"
        deeper["children"] = [.document(document)]
        #expect(
          throws: StoreError.unwritable(collection: "Node", key: "\"129\"", reason: .tooDeep)
        ) { try second.collection("Node").save([deeper]) }
      }
    }
  }

  @Test("in a field of any kind values are nested as deep as they can be read, and no deeper")
  func deepestValues() throws {
    let wraps: [(Value) -> Value] = [{ .array([$0]) }, { .dictionary(["a": $0]) }]
    for wrap in wraps {
      try withTemporaryStore { store in
        try store.declare(Letterbox.self)
        #expect(store.kind(of: "content", in: "Letterbox") == "any")
        let boxes = store.collection("Letterbox")
        var deepest: Value = 1
        for _ in 1..<RecordFormat.maximumNesting { deepest = wrap(deepest) }

        try boxes.save([["id": "a", "content": deepest]])

        #expect(try boxes.get("a") == ["id": "a", "content": deepest])
        #expect(
          throws: StoreError.unwritable(
            collection: "Letterbox", key: "\"b\"", reason: .tooDeep)
        ) { try boxes.save([["id": "b", "content": wrap(deepest)]]) }
        #expect(try boxes.count() == 1)
      }
    }
  }

  @Test(
    "an optional inside an optional is an array of one without its type, so that nil keeps its level"
  )
  func nestedNil() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int??>.self).save([One(.some(.none)), One(.some(5), id: "b")])
      let dynamic = store.collection("One")

      #expect(try dynamic.get("a") == ["id": "a", "value": [.null]])
      #expect(try dynamic.get("b") == ["id": "b", "value": [5]])
      #expect(try dynamic.save([["id": "b", "value": 5]]).unchanged == 1)
    }
  }

  @Test("two documents are equal when the same names have the same values, in any order")
  func equality() {
    var random = RandomSource()
    for count in [0, 1, 5, 16, 17, 40] {
      let fields = (0..<count).map { DynamicDocument.Field("f\($0)", .integer(Int64($0))) }
      let document = DynamicDocument(fields)
      let shuffled = DynamicDocument(fields.shuffled(using: &random))

      #expect(document == shuffled)
      #expect(document.hashValue == shuffled.hashValue)
      guard count > 0 else { continue }
      var changed = shuffled
      changed["f0"] = .integer(-1)
      #expect(document != changed)
      changed["f0"] = nil
      #expect(document != changed)
      #expect(changed.fields.count == count - 1)
    }
    #expect(DynamicDocument([.init("a", 1), .init("a", 2)]) == ["a": 2])
    let many = (0..<40).map { DynamicDocument.Field("f\($0 % 20)", .integer(Int64($0))) }
    #expect(DynamicDocument(many).fields.map(\.value) == (20..<40).map { .integer($0) })
  }

  @Test("a field that the type requires and the document lacks is refused by name")
  func missing() throws {
    try withTemporaryStore { store in
      try store.declare(Contact.self)
      let contacts = store.collection("Contact")
      var whole: DynamicDocument = [
        "id": "a", "name": "A", "city": "Oslo", "balance": 0, "updatedAt": "2026-03-01",
        "geo": .document(["lat": 1, "lon": 2]),
      ]
      try contacts.save([whole])
      #expect(try store.repository(of: Contact.self).get("a")?.geo == Geo(lat: 1, lon: 2))

      whole["geo"] = .document(["lat": 1])
      #expect(
        throws: StoreError.valueRefused(
          collection: "Contact", key: "\"a\"", field: "geo.lon", found: "nothing",
          expected: "double")
      ) { try contacts.save([whole]) }
      whole["geo"] = nil
      whole["city"] = nil
      #expect(
        throws: StoreError.valueRefused(
          collection: "Contact", key: "\"a\"", field: "city", found: "nothing", expected: "string")
      ) { try contacts.save([whole]) }
      whole["city"] = "Oslo"
      try contacts.save([whole])
    }
  }

  @Test("a field that the type does not know is kept, at any depth, and the type still reads")
  func unknown() throws {
    try withTemporaryStore { store in
      try store.declare(Contact.self)
      let contacts = store.collection("Contact")
      let document: DynamicDocument = [
        "id": "a", "name": "A", "city": "Oslo", "balance": 0.5,
        "updatedAt": .date(Date(timeIntervalSinceReferenceDate: 5)), "zip": "0150",
        "geo": .document(["lat": 1.5, "lon": 2.5, "height": 30, "from": .document(["map": "x"])]),
      ]

      try contacts.save([document])

      #expect(try contacts.get("a") == document)
      let typed = store.repository(of: Contact.self)
      var contact = try #require(try typed.get("a"))
      contact.geo?.label = "home"
      try typed.save(contact)
      let saved = try #require(try contacts.get("a"))
      #expect(saved["zip"] == "0150")
      #expect(
        saved["geo"]
          == .document([
            "lat": 1.5, "lon": 2.5, "height": 30, "from": .document(["map": "x"]), "label": "home",
          ]))
    }
  }

  @Test("new fields of documents inside arrays, sets and dictionaries become known")
  func unknownInside() throws {
    try withTemporaryStore { store in
      try store.declare(One<[String: Geo]>.self)
      let place: Value = .document(["lat": 1.0, "lon": 2.0, "height": 3])
      let asDictionary: DynamicDocument = ["id": "a", "value": .dictionary(["home": place])]
      let asJSON: DynamicDocument = ["id": "b", "value": .document(["home": place])]

      try store.collection("One").save([asDictionary])
      try store.collection("One").save([asJSON])

      #expect(try store.collection("One").get("a") == asDictionary)
      #expect(
        try store.repository(of: One<[String: Geo]>.self).get("b")?.value
          == ["home": Geo(lat: 1, lon: 2)])
    }
  }

  @Test("a value is written as its description shows it: JSON where JSON has the kind")
  func description() {
    let document: DynamicDocument = [
      "a": "x\"\\\n\r\t\u{1}\u{7F}é", "b": [1, .null, true, 0.5],
      "c": .document(["d": .document([:])]),
      "e": .dictionary([2: "y", "k": 1]), "f": Value(UInt64.max), "g": .data(Data([1, 2])),
    ]

    #expect(
      "\(document)"
        == #"{"a": "x\"\\\n\r\t\u0001\u007fé", "b": [1, null, true, 0.5], "c": {"d": {}}, "#
        + #""e": {"2": "y", "k": 1}, "f": 18446744073709551615, "g": "AQI="}"#)
  }
}

/// Has a field that is stored as whatever its type encodes.
@Document
private struct Letterbox {
  struct Content: Codable { var text: String }

  var id: String
  var content: Content
}
