import Foundation
import LarderTestKit
import Testing

@testable import Larder

struct CodedBytesTests {
  @Test("equal dictionaries and sets have equal bytes however they were built")
  func builtDifferently() throws {
    var random = RandomSource()
    for _ in 0..<100 {
      let value = random.richValue()
      var other = value
      other.byName = rebuilt(value.byName, &random)
      other.byNumber = rebuilt(value.byNumber, &random)
      other.byID = rebuilt(value.byID, &random)
      other.numbers = rebuilt(value.numbers, &random)
      other.places = rebuilt(value.places, &random)

      #expect(try codedBytes(value) == codedBytes(other), "\(random.hint)")
    }
  }

  @Test("dictionaries and sets have these bytes, in this process as in any other")
  func fixedBytes() throws {
    let value = Sorted(
      named: ["b": .init(a: 1), "aa": .init(a: 2), "a": .init(a: 3)],
      numbered: [10: .init(a: 1), 9: .init(a: 2)],
      members: [.init(a: 3), .init(a: 1), .init(a: 2)],
      keyed: [.init(a: 2): 7, .init(a: 1): 8])

    #expect(
      try codedBytes(value) == [
        0x84,
        0xA5, 0x6B, 0x65, 0x79, 0x65, 0x64,  // keyed
        0x82, 0x81, 0xA1, 0x61, 1, 8, 0x81, 0xA1, 0x61, 2, 7,
        0xA5, 0x6E, 0x61, 0x6D, 0x65, 0x64,  // named
        0x83, 0xA1, 0x61, 0x81, 0xA1, 0x61, 3, 0xA1, 0x62, 0x81, 0xA1, 0x61, 1,
        0xA2, 0x61, 0x61, 0x81, 0xA1, 0x61, 2,
        0xA7, 0x6D, 0x65, 0x6D, 0x62, 0x65, 0x72, 0x73,  // members
        0x93, 0x81, 0xA1, 0x61, 1, 0x81, 0xA1, 0x61, 2, 0x81, 0xA1, 0x61, 3,
        0xA8, 0x6E, 0x75, 0x6D, 0x62, 0x65, 0x72, 0x65, 0x64,  // numbered
        0x82, 9, 0x81, 0xA1, 0x61, 2, 10, 0x81, 0xA1, 0x61, 1,
      ])
  }

  @Test("a reader without the type sees names, and values of their own kinds")
  func dynamic() throws {
    var random = RandomSource(seed: 7)
    let value = random.richValue()

    guard case .dictionary(let pairs) = try dynamicValue(codedBytes(value)) else {
      Issue.record("no dictionary")
      return
    }

    #expect(pairs["text"] == .string(value.text))
    #expect(pairs["date"] == .date(value.date))
    #expect(pairs["uuid"] == .uuid(value.uuid))
    #expect(pairs["data"] == .data(value.data))
    #expect(pairs["url"] == .url(value.url))
    #expect(pairs["decimal"] == .decimal(value.decimal))
    #expect(pairs["texts"] == .array(value.texts.map { .string($0) }))
    #expect(pairs["number"] == .integer(Int64(value.number)))
  }

  @Test("containers may be filled in any order, several at a time")
  func interleaved() throws {
    let straight = try codedBytes(["a": [1, 2], "b": [3, 4]])

    #expect(try codedBytes(Interleaved()) == straight)
  }

  private func rebuilt<Key: Hashable, Value>(
    _ value: [Key: Value], _ random: inout RandomSource
  ) -> [Key: Value] {
    var other = [Key: Value](minimumCapacity: random.int(1..<2000))
    for (key, value) in value.shuffled(using: &random) { other[key] = value }
    return other
  }

  private func rebuilt<Element: Hashable>(
    _ value: Set<Element>, _ random: inout RandomSource
  ) -> Set<Element> {
    var other = Set<Element>(minimumCapacity: random.int(1..<2000))
    for element in value.shuffled(using: &random) { other.insert(element) }
    return other
  }
}

private struct Sorted: Codable {
  struct Item: Codable, Hashable {
    var a: Int
  }

  var named: [String: Item]
  var numbered: [Int: Item]
  var members: Set<Item>
  var keyed: [Item: Int]
}

private struct Interleaved: Encodable {
  private enum CodingKeys: CodingKey { case a, b }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    var b = container.nestedUnkeyedContainer(forKey: .b)
    try b.encode(3)
    var a = container.nestedUnkeyedContainer(forKey: .a)
    try a.encode(1)
    try b.encode(4)
    var again = container.nestedUnkeyedContainer(forKey: .a)
    try again.encode(2)
  }
}
