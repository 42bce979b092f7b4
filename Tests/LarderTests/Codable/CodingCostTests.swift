import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// What keyed containers cost that are larger than any type, and that they say the same as small
/// ones.
struct CodingCostTests {
  enum LookUp: CaseIterable {
    case numbers, numbersReversed, reversed, missing
  }

  @Test(
    "looking a key up costs the same in a large container, in whatever order",
    arguments: LookUp.allCases)
  func lookUp(_ lookUp: LookUp) throws {
    #expect(try isLinear(2_000) { try seconds(lookUp, $0) })
  }

  @Test("a nested container costs the same in a large container as in a small one")
  func nested() throws {
    let isLinear = try isLinear(2_000) { count in
      try leastSeconds { _ = try codedBytes(Nesting(count: count)) }
    }
    #expect(isLinear)
  }

  @Test("nested containers come back, and each key has one", arguments: [1, 15, 16, 17, 20_000])
  func nestedAgain(count: Int) throws {
    let numbers = try decoded(
      [String: [String: Int]].self, from: codedBytes(Nesting(count: count, isTwice: true)))

    #expect(numbers.count == count)
    #expect(
      (0..<count).allSatisfy { numbers["k\($0)"] == ["number": $0, "again": $0 + 1] })
  }

  /// Whether four times as many take less than eight times as long, where a square would take sixteen
  /// times; asked again, as something else on the machine may have slowed one of the two.
  private func isLinear(_ count: Int, _ seconds: (Int) throws -> Double) rethrows -> Bool {
    for _ in 0..<10 where try seconds(4 * count) < 8 * seconds(count) { return true }
    return false
  }

  private func seconds(_ lookUp: LookUp, _ count: Int) throws -> Double {
    let bytes: [UInt8]
    let asked: [AnyKey]
    switch lookUp {
    case .numbers:
      bytes = try codedBytes(numbered(count))
      return try leastSeconds {
        let numbers = try decoded([Int: Int].self, from: bytes)
        #expect(numbers.count == count)
      }
    case .numbersReversed:
      bytes = try codedBytes(numbered(count))
      asked = (0..<count).reversed().map { AnyKey(intValue: $0) }
    case .reversed, .missing:
      let names = (100_000..<100_000 + count).map { "k\($0)" }
      bytes = try codedBytes(Dictionary(uniqueKeysWithValues: names.map { ($0, 1) }))
      asked = names.reversed().map { AnyKey(lookUp == .missing ? "no \($0)" : $0) }
    }
    return try leastSeconds {
      let found = try decoded(Asking.self, from: bytes, [Asking.asked: asked]).found
      #expect(found.count { $0 != nil } == (lookUp == .missing ? 0 : count))
    }
  }

  private func numbered(_ count: Int) -> [Int: Int] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, $0) })
  }

  private func leastSeconds(_ body: () throws -> Void) throws -> Double {
    var least = Double.infinity
    for _ in 0..<3 { least = min(least, try processorSeconds(body)) }
    return least
  }

  @Test("of equal keys the next from the last look-up on answers, in a container of any size")
  func equalKeys() throws {
    var random = RandomSource(seed: 7)
    for count in [1, 5, 16, 17, 40, 200] {
      for kinds in [1...1, 2...2, 1...2, 0...2] {
        let range = max(1, count / 2)
        let keys = (0..<count).map { _ -> AskedKey in
          let number = Int.random(in: 0..<range, using: &random) - range / 2
          switch Int.random(in: kinds, using: &random) {
          case 0: return .other
          case 1: return .number(number)
          default: return .text("\(number)")
          }
        }
        var writer = RecordWriter(binding: .none)
        writer.putMap(count: count)
        for (place, key) in keys.enumerated() {
          switch key {
          case .other: writer.put(true)
          case .number(let number): writer.put(Int64(number))
          case .text(let text): writer.put(text)
          }
          writer.put(Int64(place))
        }
        let asked = (0..<4 * count).map { _ in
          AnyKey(intValue: Int.random(in: 0...range, using: &random) - range / 2)
        }

        let found = try writer.withBytes {
          try decoded(Asking.self, from: $0, [Asking.asked: asked]).found
        }

        #expect(found == Self.expected(keys, asked))
      }
    }
  }

  /// Looks through all keys, each time from behind the last that was found.
  private static func expected(_ keys: [AskedKey], _ asked: [AnyKey]) -> [Int?] {
    var next = 0
    return asked.map { key in
      let places = Array(next..<keys.count) + Array(0..<next)
      let found =
        places.first { keys[$0] == .text(key.stringValue) }
        ?? places.first { keys[$0] == .number(key.intValue ?? 0) }
      if let found { next = found + 1 }
      return found
    }
  }

  @Test("writing a field costs the same in a large record, in whatever order")
  func fields() throws {
    func seconds(_ count: Int) throws -> Double {
      try withTemporaryStore { store in
        let documents = store.repository(of: ToldFields.self)
        try documents.save(ToldFields(id: "a", fields: Array(0..<count)))
        let document = ToldFields(id: "b", fields: (0..<count).reversed())
        return try leastSeconds { try documents.save(document) }
      }
    }

    #expect(try isLinear(1_000, seconds))
  }

  @Test("of a field that is encoded twice the last value stays, in whatever order fields come")
  func fieldsTwice() throws {
    try withTemporaryStore { store in
      let documents = store.repository(of: ToldFields.self)
      try documents.save(ToldFields(id: "a", fields: Array(0..<9)))
      let orders = [[4, 4], [4, 2, 4], [2, 4, 2, 4, 2], [8, 0, 1, 8, 0, 3, 0], [7, 3, 8, 8]]
      for fields in orders {
        try documents.save(ToldFields(id: "b", fields: fields))

        let document = try store.collection("ToldFields").get("b")

        for field in 0..<9 {
          let last = fields.lastIndex(of: field)
          #expect(document?["f\(field)"] == last.map { .integer(Int64($0)) })
        }
      }
    }
  }
}

private enum AskedKey: Equatable {
  case text(String)
  case number(Int)
  case other
}

/// Asks for keys that it is told of.
private struct Asking: Decodable {
  static let asked = CodingUserInfoKey(rawValue: "asked")!

  let found: [Int?]

  init(from decoder: any Decoder) throws {
    let keys = decoder.userInfo[Self.asked] as? [AnyKey] ?? []
    let container = try decoder.container(keyedBy: AnyKey.self)
    found = keys.map { try? container.decode(Int.self, forKey: $0) }  // One look-up each.
  }
}

/// Writes the fields that it is told of, in their order; the value of each is its place.
private struct ToldFields: Codable, Identifiable, Sendable {
  let id: String
  let fields: [Int]

  private enum Key: CodingKey {
    case id
    case field(Int)

    var intValue: Int? { nil }

    var stringValue: String {
      switch self {
      case .id: "id"
      case .field(let number): "f\(number)"
      }
    }

    init?(intValue: Int) { nil }

    init?(stringValue: String) {
      if stringValue == "id" {
        self = .id
      } else if stringValue.first == "f", let number = Int(stringValue.dropFirst()) {
        self = .field(number)
      } else {
        return nil
      }
    }
  }

  init(id: String, fields: [Int]) {
    self.id = id
    self.fields = fields
  }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: Key.self).decode(String.self, forKey: .id)
    fields = []
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(id, forKey: .id)
    for (place, field) in fields.enumerated() {
      try container.encode(place, forKey: .field(field))
    }
  }
}

/// Encodes a nested container under each of many keys, and asks for it a second time.
private struct Nesting: Encodable {
  let count: Int
  var isTwice = false

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: AnyKey.self)
    for number in 0..<count {
      var inner = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("k\(number)"))
      try inner.encode(number, forKey: AnyKey("number"))
    }
    guard isTwice else { return }
    for number in 0..<count {
      var inner = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("k\(number)"))
      try inner.encode(number + 1, forKey: AnyKey("again"))
    }
  }
}
