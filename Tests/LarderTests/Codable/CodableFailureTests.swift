import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

/// What goes wrong with plain types, and what is said of it.
struct CodableFailureTests {
  private struct Order: Codable, Identifiable, Sendable {
    struct Line: Codable, Sendable {
      var count: Int8
      var name: String
      var when: Date?
    }

    enum Kind: Codable {
      case gift(from: String)
      case plain
    }

    var id: String
    var lines: [Line]
    var notes: [String: Line]
    var kind: Kind
    var total: Int8
  }

  private static let good: DynamicDocument = [
    "id": "1", "lines": .array([line()]), "notes": .dictionary(["n": line()]),
    "kind": .document(["plain": .document([:])]), "total": 1,
  ]

  private static func line(_ changes: (inout DynamicDocument) -> Void = { _ in }) -> Value {
    var line: DynamicDocument = ["count": 1, "name": "a"]
    changes(&line)
    return .document(line)
  }

  /// Ways to be wrong, and the path and the reason that are told.
  static let wrongs: [(DynamicDocument.Field, String)] = [
    (.init("total", 300), "total: the number does not fit Int8"),
    (.init("total", "x"), "total: expected an integer, found a string"),
    (.init("total", .null), "total: expected an integer, found nil"),
    (.init("lines", 5), "lines: expected an array, found an integer"),
    (
      .init("lines", .array([line(), line { $0["count"] = 1000 }])),
      "lines.1.count: the number does not fit Int8"
    ),
    (
      .init("lines", .array([line { $0["name"] = nil }])),
      "lines.0.name: the field is missing and has no default"
    ),
    (
      .init("lines", .array([line { $0["when"] = "noon" }])),
      "lines.0.when: expected a date, found a string"
    ),
    (
      .init("notes", .dictionary(["n": line { $0["name"] = 7 }])),
      "notes.n.name: expected a string, found an integer"
    ),
    (.init("kind", .document(["gift": .document([:])])), "kind.gift.from"),
    (.init("kind", .document([:])), "kind: Invalid number of keys found, expected one."),
  ]

  @Test("every way to be wrong is told with the coding path", arguments: wrongs)
  func decoding(_ wrong: DynamicDocument.Field, _ text: String) throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Order.self)
      // As values of any kind, which nothing coerces.
      var shape = InferredShape()
      try shape.add(["id": "1"])
      try store.collection("Order").declare(shape, keyField: "id", keyKind: .string)
      try store.declareAny(["lines", "notes", "kind", "total"], in: "Order")
      var document = Self.good
      document[wrong.name] = wrong.value
      try store.collection("Order").save([document])

      #expect {
        _ = try repository.get("1")
      } throws: { error in
        guard case StoreError.damagedRecord("Order", "\"1\"", let reason) = error else {
          return false
        }
        return "\(reason)".hasPrefix(text)
      }
    }
  }

  @Test("a field that is missing is told by its name")
  func missing() throws {
    try withTemporaryStore { store in
      try store.collection("PlainNote").save([["id": "1", "order": 4]], keyField: "id")
      #expect(
        throws: StoreError.damagedRecord(
          collection: "PlainNote", key: "\"1\"", reason: .field("title", .missing))
      ) { try store.repository(of: PlainNote.self).get("1") }
    }
  }

  @Test("a value that cannot be encoded is refused with its path, and nothing is kept")
  func encoding() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Picky.self)
      try repository.save(Picky(id: 1, inner: ["a": [.init(value: 1)]]))

      #expect {
        try repository.save([
          Picky(id: 2, inner: [:]),
          Picky(id: 3, inner: ["b": [.init(value: 1), .init(value: -1)]]),
        ])
      } throws: { error in
        guard case StoreError.unwritable("Picky", "3", let reason) = error else { return false }
        return "\(reason)" == "inner.b.1: no negative numbers"
      }
      #expect(try repository.count() == 1)
    }
  }

  @Test("a value that encodes itself as an array or a single value is no document")
  func notKeyed() throws {
    try withTemporaryStore { store in
      for (isArray, word) in [(true, "an array"), (false, "a single value")] {
        let repository = store.repository(of: Unkeyed.self)
        #expect {
          try repository.save(Unkeyed(id: "1", isArray: isArray))
        } throws: {
          "\($0)".contains("needs a keyed container, and Unkeyed encodes itself as \(word)")
        }
      }
      try store.repository(of: PlainNote.self, collection: "Unkeyed").save(
        PlainNote(id: "1", title: "a"))
      for isArray in [true, false] {
        Unkeyed.readsArray.withLock { $0 = isArray }
        #expect {
          try store.repository(of: Unkeyed.self).get("1")
        } throws: {
          "\($0)".contains("a document is read by way of a keyed container")
        }
      }
    }
  }

  @Test("an empty key, a long key and a key of another kind are refused")
  func keys() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: PlainNote.self)
      for id in ["", String(repeating: "k", count: 256)] {
        #expect(
          throws: StoreError.keyLength(
            collection: "PlainNote", key: "\"\(id)\"", byteCount: id.utf8.count, limit: 255)
        ) { try repository.save(PlainNote(id: id, title: "")) }
      }
      try repository.save(PlainNote(id: "1", title: ""))
      let other = store.repository(of: Picky.self, collection: "PlainNote")
      let error = StoreError.keyKind(collection: "PlainNote", stored: .string, found: .integer)
      #expect(throws: error) { try other.save(Picky(id: 1, inner: [:])) }
      #expect(throws: error) { try other.get(1) }
      #expect(throws: StoreError.self) {
        try store.repository(of: PlainNote.self, collection: "").save(PlainNote(id: "1", title: ""))
      }
    }
  }

  @Test("a key that holds one kind in one value and another in the next is refused")
  func twoKinds() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: TwoKinds.self)
      let error = StoreError.kindMismatch(
        collection: "TwoKinds", field: "value", stored: "int64", declared: "string")
      #expect(throws: error) {
        try repository.save([TwoKinds(id: 1, number: 5), TwoKinds(id: 2, number: nil)])
      }
      try repository.save(TwoKinds(id: 1, number: 5))
      #expect(throws: error) { try repository.save(TwoKinds(id: 2, number: nil)) }
      #expect(try repository.count() == 1)
    }
  }

  @Test("a container that a type keeps reads and writes nothing afterwards")
  func kept() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: KeepsContainers.self)
      let values = (0..<3).map { KeepsContainers(id: $0) }
      try repository.save(values)
      for value in values {
        var container = try #require(value.box.encoding)
        try container.encode(99, forKey: .id)
      }
      // Held for longer than what it writes to.
      for value in values {
        var container = try #require(value.box.encoder).container(
          keyedBy: KeepsContainers.CodingKeys.self)
        value.box.encoder = nil
        try container.encode(98, forKey: .id)
        try container.encode(["x": 1], forKey: .id)
      }
      let read = try repository.fetch(repository.all)

      #expect(read.map(\.id) == [0, 1, 2])
      for value in read {
        let container = try #require(value.box.decoding)
        #expect(throws: DecodingError.self) { try container.decode(Int.self, forKey: .id) }
        #expect(!container.contains(.id))
        #expect(container.allKeys.isEmpty)
      }
      #expect(try repository.fetch(repository.all).map(\.id) == [0, 1, 2])
      #expect(try repository.save(values).unchanged == 3)
    }
  }
}

extension Store {
  /// Makes fields known that take any value.
  fileprivate func declareAny(_ names: [String], in collection: String) throws {
    let declaration = try Declaration(
      name: collection, keyKind: .string, keyField: nil, shape: AnyFields(names: names))
    try engine.writer.run { try engine.declare(declaration) }
  }
}

private struct AnyFields: DocumentShape {
  let names: [String]

  var fields: [ShapeField<AnyFields>] {
    names.map { ShapeField(name: $0, kind: .any, isRequired: false) }
  }
  var identity: ObjectIdentifier? { nil }
  static var isDeclared: Bool { true }
}

private struct Picky: Codable, Identifiable, Sendable {
  struct Number: Codable, Sendable {
    var value: Int

    func encode(to encoder: any Encoder) throws {
      guard value >= 0 else {
        throw EncodingError.invalidValue(
          value,
          EncodingError.Context(
            codingPath: encoder.codingPath, debugDescription: "no negative numbers"))
      }
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(value, forKey: .value)
    }
  }

  var id: Int
  var inner: [String: [Number]]
}

private struct Unkeyed: Codable, Identifiable, Sendable {
  static let readsArray = Locked(false)

  var id: String
  var isArray: Bool

  init(id: String, isArray: Bool) {
    self.id = id
    self.isArray = isArray
  }

  init(from decoder: any Decoder) throws {
    if Self.readsArray.withLock({ $0 }) {
      var container = try decoder.unkeyedContainer()
      id = try container.decode(String.self)
    } else {
      id = try decoder.singleValueContainer().decode(String.self)
    }
    isArray = false
  }

  func encode(to encoder: any Encoder) throws {
    if isArray {
      var container = encoder.unkeyedContainer()
      try container.encode(id)
    } else {
      var container = encoder.singleValueContainer()
      try container.encode(id)
    }
  }
}

private struct TwoKinds: Codable, Identifiable, Sendable {
  var id: Int
  var number: Int?

  private enum CodingKeys: CodingKey { case id, value }

  init(id: Int, number: Int?) {
    self.id = id
    self.number = number
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    number = try? container.decode(Int.self, forKey: .value)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    if let number {
      try container.encode(number, forKey: .value)
    } else {
      try container.encode("none", forKey: .value)
    }
  }
}

private struct KeepsContainers: Codable, Identifiable, Sendable {
  enum CodingKeys: CodingKey { case id }

  final class Box: @unchecked Sendable {  // One thread uses it.
    var encoder: (any Encoder)?
    var encoding: KeyedEncodingContainer<CodingKeys>?
    var decoding: KeyedDecodingContainer<CodingKeys>?
  }

  var id: Int
  let box = Box()

  init(id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    id = try container.decode(Int.self, forKey: .id)
    box.decoding = container
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(id, forKey: .id)
    box.encoder = encoder
    box.encoding = container
  }
}
