import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

struct CodedFieldTests {
  @Test("a Codable field of a document comes back from a store")
  func inStore() throws {
    var random = RandomSource()
    for _ in 0..<20 {
      let letter = Letter(
        id: "1", channel: .phone(random.text(), extension: nil), rich: random.richValue(),
        draft: .some(.none))

      #expect(try stored(letter) == letter, "\(random.hint)")
    }
  }

  @Test("a record without the field gives the default, nil, or an error with its name")
  func missing() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldLetter.self).save(OldLetter(id: "1"))

      let letter = try store.repository(of: Letter.self).get("1")
      #expect(letter == Letter(id: "1"))
      #expect {
        _ = try store.repository(of: StrictLetter.self).get("1")
      } throws: { error in
        guard case StoreError.damagedRecord(_, _, .field("channel", .missing)) = error else {
          return false
        }
        return true
      }
    }
  }

  @Test("keys that a value gained are nil in old records, and keys that it lost are passed over")
  func evolved() throws {
    struct Before: Codable {
      var name: String
      var gone: [String: RichValue.Point]
    }
    struct After: Codable, Equatable {
      var name: String
      var new: RichValue.Channel?
    }

    let bytes = try codedBytes([Before(name: "a", gone: ["p": .init(x: 1, y: 2)])])

    #expect(try decoded([After].self, from: bytes) == [After(name: "a", new: nil)])
  }

  @Test("a value that cannot be encoded is refused with its path, and nothing is kept")
  func unwritable() throws {
    try withTemporaryStore { store in
      let letters = store.repository(of: StrictLetter.self)
      let bad = StrictLetter(id: "2", channel: Picky(numbers: ["a": [1, -1]]))

      #expect {
        try letters.save([StrictLetter(id: "1", channel: Picky(numbers: [:])), bad])
      } throws: { error in
        guard case StoreError.unwritable("Letter", _, let reason) = error else { return false }
        return "\(reason)" == "channel.numbers.a.1: no negative numbers"
      }
      #expect(try letters.count() == 0)

      try letters.save(StrictLetter(id: "3", channel: Picky(numbers: ["a": [1]])))
      #expect(try letters.get("3")?.channel == Picky(numbers: ["a": [1]]))
    }
  }

  @Test("a document without its type shows the value, and what it writes is read")
  func dynamic() throws {
    try withTemporaryStore { store in
      let letters = store.repository(of: Letter.self)
      try letters.save(Letter(id: "1", channel: .mail(address: "a@b")))
      let collection = store.collection("Letter")
      let document = try #require(try collection.get("1"))
      let channel = Value.dictionary(["mail": .dictionary(["address": "a@b"])])
      #expect(document["channel"] == channel)

      try collection.save([["id": "2", "channel": channel]])

      #expect(try letters.get("2")?.channel == .mail(address: "a@b"))
    }
  }

  @Test("a document that was embedded without a type is read by way of Codable")
  func embedded() throws {
    try withTemporaryStore { store in
      let collection = store.collection("Letter")
      let inner: DynamicDocument = ["mail": .document(["address": "a@b"])]
      try collection.save([["id": "1", "channel": .document(inner)]], keyField: "id")

      #expect(
        try store.repository(of: Letter.self).get("1")?.channel == .mail(address: "a@b"))
    }
  }

  @Test("conditions on a Codable field mean what Swift means")
  func conditions() throws {
    try withTemporaryStore { store in
      let letters = store.repository(of: Letter.self)
      try letters.save([
        Letter(id: "1", genre: .crime), Letter(id: "2", genre: .poetry, size: .large),
        Letter(id: "3"),
      ])

      #expect(try letters.fetch(Letter.where { $0.genre == .poetry }).map(\.id) == ["2"])
      #expect(try letters.fetch(Letter.where { $0.genre == nil }).map(\.id) == ["3"])
      #expect(try letters.fetch(Letter.where { $0.size == .large }).map(\.id) == ["2"])
    }
  }

  @Test("user info reaches the encoder and the decoder of a field")
  func userInfo() throws {
    let letter = try stored(InformedLetter(id: "1", word: Informed()))
    #expect(letter.word.text == "written, read")
  }
}

private struct Letter: Document, Equatable {
  var id: String
  var channel = RichValue.Channel.unknown
  var rich: RichValue?
  var draft: RichValue.Channel??
  var genre: RichValue.Genre?
  var size = Size.small

  var entityAccessorKey: String { id }

  static let schema = Schema<Letter>(
    "Letter", key: \.id,
    fields: [
      Field("id", \.id), Field("channel", coding: \.channel, default: .unknown),
      Field("rich", coding: \.rich), Field("draft", coding: \.draft),
      Field("genre", coding: \.genre), Field("size", coding: \.size, default: .small),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(coding: channel, at: 1)
    record.put(coding: rich, at: 2)
    record.put(coding: draft, at: 3)
    record.put(coding: genre, at: 4)
    record.put(coding: size, at: 5)
  }
}

extension Letter {
  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    channel = try record.get(coding: 1)
    rich = try record.get(coding: 2)
    draft = try record.get(coding: 3)
    genre = try record.get(coding: 4)
    size = try record.get(coding: 5)
  }
}

/// Encodes itself as something else than its raw value.
private enum Size: String, Codable {
  case small, large

  init(from decoder: any Decoder) throws {
    self = try decoder.singleValueContainer().decode(Bool.self) ? .large : .small
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(self == .large)
  }
}

extension RichValue: @unchecked Sendable {}  // The tests change no tree.

private struct OldLetter: Document {
  var id: String

  var entityAccessorKey: String { id }

  static let schema = Schema<OldLetter>("Letter", key: \.id, fields: [Field("id", \.id)])

  func encode(into record: inout RecordWriter) { record.put(id, at: 0) }
}

extension OldLetter {
  init(from record: borrowing RecordReader) throws(RecordError) { id = try record.get(0) }
}

private struct StrictLetter: Document {
  var id: String
  var channel: Picky

  var entityAccessorKey: String { id }

  static let schema = Schema<StrictLetter>(
    "Letter", key: \.id, fields: [Field("id", \.id), Field("channel", coding: \.channel)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(coding: channel, at: 1)
  }
}

extension StrictLetter {
  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    channel = try record.get(coding: 1)
  }
}

/// Refuses negative numbers.
private struct Picky: Codable, Equatable {
  var numbers: [String: [Number]]

  init(numbers: [String: [Int]]) {
    self.numbers = numbers.mapValues { $0.map { Number(value: $0) } }
  }

  struct Number: Codable, Equatable {
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
}

private struct InformedLetter: Document {
  var id: String
  var word: Informed

  var entityAccessorKey: String { id }

  static let schema = Schema<InformedLetter>(
    "InformedLetter", key: \.id, fields: [Field("id", \.id), Field("word", coding: \.word)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(coding: word, at: 1, userInfo: [Informed.key: "written"])
  }
}

extension InformedLetter {
  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    word = try record.get(coding: 1, userInfo: [Informed.key: "read"])
  }
}

private struct Informed: Codable {
  static let key = CodingUserInfoKey(rawValue: "word")!

  var text = ""

  init() {}

  init(from decoder: any Decoder) throws {
    let stored = try decoder.singleValueContainer().decode(String.self)
    text = stored + ", " + (decoder.userInfo[Self.key] as? String ?? "nothing")
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(encoder.userInfo[Self.key] as? String ?? "nothing")
  }
}
