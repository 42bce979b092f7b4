import Foundation
import Testing

@testable import Larder

/// Every call of the containers, against what `JSONEncoder` and `JSONDecoder` answer.
struct CodingContainerTests {
  @Test("every call of every container answers as JSON's do")
  func everyCall() throws {
    let key = CodingUserInfoKey(rawValue: "word")!
    let json = JSONEncoder()
    json.userInfo = [key: "hello"]
    let jsonDecoder = JSONDecoder()
    jsonDecoder.userInfo = [key: "hello"]

    let bytes = try codedBytes(EveryCall(), [key: "hello"])
    let result = try decoded(EveryCall.self, from: bytes, [key: "hello"])

    let expected = try jsonDecoder.decode(EveryCall.self, from: try json.encode(EveryCall()))
    #expect(result.log == expected.log)
    #expect(result.log.count > 60)
  }

  @Test("of a key that is encoded twice the last value stays")
  func twice() throws {
    struct Twice: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for number in 0..<40 { try container.encode(number, forKey: AnyKey("k\(number % 30)")) }
      }
    }

    let bytes = try codedBytes(Twice())
    let result = try decoded([String: Int].self, from: bytes)

    #expect(bytes.prefix(3) == [0xDE, 0, 30])
    #expect(result.count == 30)
    #expect(result["k3"] == 33)
    #expect(result["k20"] == 20)
  }

  @Test("a decoder that is kept refuses to read when its value has been decoded")
  func keptDecoder() throws {
    let kept = try decoded(Keeper.self, from: try codedBytes(["a": [1]]))

    #expect(throws: DecodingError.self) { try kept.decoder.container(keyedBy: AnyKey.self) }
    #expect(throws: DecodingError.self) { try kept.decoder.unkeyedContainer() }
    #expect(throws: DecodingError.self) {
      try kept.decoder.singleValueContainer().decode(Int.self)
    }
    #expect(throws: DecodingError.self) {
      try kept.container.decode([Int].self, forKey: AnyKey("a"))
    }
    #expect(throws: DecodingError.self) { try kept.container.decodeNil(forKey: AnyKey("a")) }
    #expect(try kept.container.decodeIfPresent(Int.self, forKey: AnyKey("a")) == nil)
    #expect(kept.container.allKeys.isEmpty)
    #expect(!kept.container.contains(AnyKey("a")))
    var elements = kept.elements
    #expect(throws: DecodingError.self) { try elements.decode(Int.self) }
    #expect(throws: DecodingError.self) { try elements.superDecoder() }
    #expect(try !elements.decodeNil())
  }
}

private struct Keeper: Decodable {
  let decoder: any Decoder
  let container: KeyedDecodingContainer<AnyKey>
  let elements: any UnkeyedDecodingContainer

  init(from decoder: any Decoder) throws {
    self.decoder = decoder
    container = try decoder.container(keyedBy: AnyKey.self)
    elements = try container.nestedUnkeyedContainer(forKey: AnyKey("a"))
  }
}

struct AnyKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ text: String) { self.init(stringValue: text) }

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = Int(stringValue)
  }

  init(intValue: Int) { self.init(stringValue: "\(intValue)") }
}

/// Writes with every call there is, and notes what every call reads.
private struct EveryCall: Codable {
  var log: [String] = []

  private struct Inner: Codable {
    var x = 1
  }

  private static let word = CodingUserInfoKey(rawValue: "word")!

  init() {}

  func encode(to encoder: any Encoder) throws {
    var top = encoder.unkeyedContainer()
    try top.encode("\(encoder.userInfo[Self.word] as? String ?? "nothing")")
    var keyed = top.nestedContainer(keyedBy: AnyKey.self)
    try keyed.encode(true, forKey: AnyKey("Bool"))
    try keyed.encode("s", forKey: AnyKey("String"))
    try keyed.encode(1.5, forKey: AnyKey("Double"))
    try keyed.encode(Float(2.5), forKey: AnyKey("Float"))
    try keyed.encode(-1, forKey: AnyKey("Int"))
    try keyed.encode(Int8(-2), forKey: AnyKey("Int8"))
    try keyed.encode(Int16(-300), forKey: AnyKey("Int16"))
    try keyed.encode(Int32(-70_000), forKey: AnyKey("Int32"))
    try keyed.encode(Int64(-5_000_000_000), forKey: AnyKey("Int64"))
    try keyed.encode(UInt(1), forKey: AnyKey("UInt"))
    try keyed.encode(UInt8(200), forKey: AnyKey("UInt8"))
    try keyed.encode(UInt16(60_000), forKey: AnyKey("UInt16"))
    try keyed.encode(UInt32(4_000_000_000), forKey: AnyKey("UInt32"))
    try keyed.encode(UInt64(1 << 62), forKey: AnyKey("UInt64"))
    try keyed.encode(Inner(), forKey: AnyKey("Inner"))
    try keyed.encodeNil(forKey: AnyKey("nil"))
    try keyed.encodeIfPresent(nil as Int?, forKey: AnyKey("absent"))
    try keyed.encodeIfPresent(7 as Int?, forKey: AnyKey("present"))
    try keyed.encodeIfPresent(Inner(x: 2), forKey: AnyKey("presentInner"))
    try keyed.encodeIfPresent("t" as String?, forKey: AnyKey("presentString"))
    try keyed.encodeConditional(Node(), forKey: AnyKey("conditional"))
    var deep = keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("deep"))
    try deep.encode(3, forKey: AnyKey("3"))
    var list = keyed.nestedUnkeyedContainer(forKey: AnyKey("list"))
    try list.encode(contentsOf: [1, 2, 3])
    try Inner(x: 3).encode(to: keyed.superEncoder())
    try Inner(x: 4).encode(to: keyed.superEncoder(forKey: AnyKey("parent")))
    var unkeyed = top.nestedUnkeyedContainer()
    try unkeyed.encode(true)
    try unkeyed.encode("s")
    try unkeyed.encode(1.5)
    try unkeyed.encode(Float(2.5))
    try unkeyed.encode(-1)
    try unkeyed.encode(Int8(-2))
    try unkeyed.encode(Int16(-300))
    try unkeyed.encode(Int32(-70_000))
    try unkeyed.encode(Int64(-5_000_000_000))
    try unkeyed.encode(UInt(1))
    try unkeyed.encode(UInt8(200))
    try unkeyed.encode(UInt16(60_000))
    try unkeyed.encode(UInt32(4_000_000_000))
    try unkeyed.encode(UInt64(1 << 62))
    try unkeyed.encode(Inner(x: 5))
    try unkeyed.encodeNil()
    try unkeyed.encode("c\(unkeyed.count)")
    try Inner(x: 6).encode(to: unkeyed.superEncoder())
    var single = unkeyed.superEncoder().singleValueContainer()
    try single.encode(Int16(9))
    try top.encode("last \(top.count) \(path(keyed.codingPath)) \(path(unkeyed.codingPath))")
  }

  private func path(_ path: [any CodingKey]) -> String {
    path.map(\.stringValue).joined(separator: "/")
  }

  private final class Node: Codable {
    var label = "n"
  }

  init(from decoder: any Decoder) throws {
    log.append("\(decoder.userInfo[Self.word] as? String ?? "nothing")")
    var top = try decoder.unkeyedContainer()
    log.append("\(top.count ?? -1) \(top.currentIndex) \(top.isAtEnd)")
    log.append(try top.decode(String.self))
    let keyed = try top.nestedContainer(keyedBy: AnyKey.self)
    log.append("keys \(keyed.allKeys.map(\.stringValue).sorted())")
    func note<Value: Decodable>(_ type: Value.Type) throws {
      log.append("\(try keyed.decode(type, forKey: AnyKey("\(type)")))")
      log.append("\(String(describing: try keyed.decodeIfPresent(type, forKey: AnyKey("nil"))))")
    }
    log.append("\(try keyed.decode(Bool.self, forKey: AnyKey("Bool")))")
    log.append("\(try keyed.decode(String.self, forKey: AnyKey("String")))")
    log.append("\(try keyed.decode(Double.self, forKey: AnyKey("Double")))")
    log.append("\(try keyed.decode(Float.self, forKey: AnyKey("Float")))")
    log.append("\(try keyed.decode(Int.self, forKey: AnyKey("Int")))")
    log.append("\(try keyed.decode(Int8.self, forKey: AnyKey("Int8")))")
    log.append("\(try keyed.decode(Int16.self, forKey: AnyKey("Int16")))")
    log.append("\(try keyed.decode(Int32.self, forKey: AnyKey("Int32")))")
    log.append("\(try keyed.decode(Int64.self, forKey: AnyKey("Int64")))")
    log.append("\(try keyed.decode(UInt.self, forKey: AnyKey("UInt")))")
    log.append("\(try keyed.decode(UInt8.self, forKey: AnyKey("UInt8")))")
    log.append("\(try keyed.decode(UInt16.self, forKey: AnyKey("UInt16")))")
    log.append("\(try keyed.decode(UInt32.self, forKey: AnyKey("UInt32")))")
    log.append("\(try keyed.decode(UInt64.self, forKey: AnyKey("UInt64")))")
    try note(Bool.self)
    try note(String.self)
    try note(Double.self)
    try note(Float.self)
    try note(Int.self)
    try note(UInt64.self)
    try note(Inner.self)
    log.append("\(try keyed.decodeNil(forKey: AnyKey("nil")))")
    log.append("\(try keyed.decodeNil(forKey: AnyKey("Int")))")
    log.append("\(keyed.contains(AnyKey("nil"))) \(keyed.contains(AnyKey("absent")))")
    log.append("\(try keyed.decodeIfPresent(Int.self, forKey: AnyKey("absent")) as Any)")
    log.append("\(try keyed.decodeIfPresent(Int8.self, forKey: AnyKey("nil")) as Any)")
    log.append("\(try keyed.decodeIfPresent(Int.self, forKey: AnyKey("present")) as Any)")
    log.append("\(try keyed.decodeIfPresent(Inner.self, forKey: AnyKey("presentInner"))?.x as Any)")
    log.append("\(try keyed.decodeIfPresent(String.self, forKey: AnyKey("presentString")) as Any)")
    log.append(try keyed.decode(Node.self, forKey: AnyKey("conditional")).label)
    let deep = try keyed.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey("deep"))
    log.append("\(try deep.decode(Int.self, forKey: AnyKey(intValue: 3))) \(path(deep.codingPath))")
    log.append("\(deep.allKeys.map { $0.intValue ?? 0 })")
    var list = try keyed.nestedUnkeyedContainer(forKey: AnyKey("list"))
    while !list.isAtEnd { log.append("\(try list.decode(Int.self)) \(list.currentIndex)") }
    log.append(path(list.codingPath))
    log.append("\(try Inner(from: keyed.superDecoder()).x)")
    let parent = try keyed.superDecoder(forKey: AnyKey("parent"))
    log.append("\(try Inner(from: parent).x) \(path(parent.codingPath))")
    var unkeyed = try top.nestedUnkeyedContainer()
    log.append("\(try unkeyed.decodeNil())")
    log.append("\(try unkeyed.decode(Bool.self))")
    log.append("\((try? unkeyed.decode(Int.self)) as Any) \(unkeyed.currentIndex)")
    log.append("\(try unkeyed.decode(String.self))")
    log.append("\(try unkeyed.decode(Double.self))")
    log.append("\(try unkeyed.decode(Float.self))")
    log.append("\(try unkeyed.decode(Int.self))")
    log.append("\(try unkeyed.decode(Int8.self))")
    log.append("\(try unkeyed.decode(Int16.self))")
    log.append("\(try unkeyed.decode(Int32.self))")
    log.append("\(try unkeyed.decode(Int64.self))")
    log.append("\(try unkeyed.decode(UInt.self))")
    log.append("\(try unkeyed.decode(UInt8.self))")
    log.append("\(try unkeyed.decode(UInt16.self))")
    log.append("\(try unkeyed.decode(UInt32.self))")
    log.append("\(try unkeyed.decode(UInt64.self))")
    log.append("\(try unkeyed.decode(Inner.self).x)")
    log.append("\(try unkeyed.decodeNil()) \(unkeyed.currentIndex)")
    log.append("\(try unkeyed.decodeIfPresent(String.self) as Any)")
    log.append("\(try Inner(from: unkeyed.superDecoder()).x)")
    let single = try unkeyed.superDecoder().singleValueContainer()
    log.append("\(single.decodeNil()) \(try single.decode(Int16.self)) \(path(single.codingPath))")
    log.append("\(unkeyed.isAtEnd)")
    log.append(try top.decode(String.self))
    log.append("\(top.isAtEnd)")
  }
}
