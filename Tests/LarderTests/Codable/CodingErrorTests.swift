import Foundation
import Testing

@testable import Larder

struct CodingErrorTests {
  private struct Order: Codable {
    struct Line: Codable {
      var count: Int8
      var name: String
    }

    var lines: [Line]
    var extra: [String: [Int8]]?
    var when: Date?
  }

  /// The kind of error and its path.
  private func failure<Value: Decodable>(
    _ type: Value.Type, _ value: some Encodable
  ) throws -> String {
    do {
      _ = try decoded(type, from: try codedBytes(value))
      return "nothing"
    } catch {
      func text(_ name: String, _ context: DecodingError.Context) -> String {
        name + " " + context.codingPath.map(\.stringValue).joined(separator: "/")
      }
      switch try #require(error as? DecodingError) {
      case .dataCorrupted(let context): return text("dataCorrupted", context)
      case .keyNotFound(let key, let context): return text("no \(key.stringValue) in", context)
      case .typeMismatch(_, let context): return text("typeMismatch", context)
      case .valueNotFound(_, let context): return text("valueNotFound", context)
      @unknown default: return "unknown"
      }
    }
  }

  private struct Loose: Encodable {
    var lines: [[String: Value]]

    enum Value: Encodable {
      case int(Int)
      case text(String)
      case null

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .int(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
      }
    }
  }

  @Test("decoding errors are of the right kind and say the path")
  func decodingErrors() throws {
    let good: [String: Loose.Value] = ["count": .int(1), "name": .text("a")]
    func lines(_ bad: [String: Loose.Value]) -> Loose { Loose(lines: [good, bad]) }

    #expect(
      try failure(Order.self, lines(["count": .int(1)])) == "no name in lines/Index 1")
    #expect(
      try failure(Order.self, lines(["count": .text("x"), "name": .text("a")]))
        == "typeMismatch lines/Index 1/count")
    #expect(
      try failure(Order.self, lines(["count": .int(1000), "name": .text("a")]))
        == "dataCorrupted lines/Index 1/count")
    #expect(
      try failure(Order.self, lines(["count": .null, "name": .text("a")]))
        == "valueNotFound lines/Index 1/count")
    #expect(try failure(Order.self, ["lines": 5]) == "typeMismatch lines")
    #expect(try failure(Order.self, 5) == "typeMismatch ")
    #expect(try failure([Order].self, ["lines": 5]) == "typeMismatch ")
    #expect(try failure([Order].self, [5]) == "typeMismatch Index 0")
    #expect(try failure(Range<Int>.self, [1]) == "valueNotFound Index 1")
    #expect(
      try failure(RichValue.Genre.self, "unheard of") == "dataCorrupted ")
    #expect(
      try failure(Holder<RichValue.Genre>.self, ["value": "unheard of"]) == "dataCorrupted value")
  }

  @Test("an error of a Codable field in a document says its whole path")
  func inDocuments() throws {
    let bytes = try codedBytes(Loose(lines: [["count": .int(1000), "name": .text("a")]]))

    #expect {
      try bytes.withUnsafeBytes { bytes in
        let reader = ValueReader(
          bytes.baseAddress!, bytes.baseAddress! + bytes.count, binding: .none, depth: 0)
        _ = try reader.coded(Order.self)
      }
    } throws: { error in
      "\(error)" == "lines.0.count: the number does not fit Int8"
    }
  }

  @Test("encoding errors say the path")
  func encodingErrors() throws {
    struct Two: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        try container.encode(2)
      }
    }
    struct Both: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        var list = encoder.unkeyedContainer()
        try list.encode(2)
      }
    }

    #expect(try path(of: ["a": [Two()]]) == "a/Index 0")
    #expect(try path(of: [["b": Both()]]) == "Index 0/b")
    #expect(try path(of: Two()) == "")
    #expect(try path(of: Both()) == "")
  }

  @Test("128 levels come back; more are refused, and a value that contains itself too")
  func depth() throws {
    final class Link: Codable {
      var next: Link?
    }
    func chain(_ count: Int) -> Link {
      let first = Link()
      var last = first
      for _ in 1..<count {
        let link = Link()
        last.next = link
        last = link
      }
      return first
    }
    var link: Link? = try recoded(chain(128))
    var count = 0
    while let next = link {
      count += 1
      link = next.next
    }
    #expect(count == 128)
    #expect(try path(of: chain(129)).hasPrefix("next/next"))
    let endless = Link()
    endless.next = endless
    #expect(try path(of: endless).hasPrefix("next/next"))
    endless.next = nil

    // As many levels as a hostile file likes.
    let levels: [[UInt8]] = [[0x81, 0xA4, 0x6E, 0x65, 0x78, 0x74], [0x91]]
    for level in levels {
      let bytes: [UInt8] = Array(repeatElement(level, count: 100_000).joined()) + [0xC0]
      #expect(throws: DecodingError.self) { try decoded(Link.self, from: bytes) }
      #expect(throws: DecodingError.self) { try decoded(Nest.self, from: bytes) }
    }
  }

  private final class Nest: Decodable {
    let inner: [Nest]

    init(from decoder: any Decoder) throws {
      inner = try decoder.singleValueContainer().decode([Nest].self)
    }
  }

  private func path(of value: some Encodable) throws -> String {
    do {
      _ = try codedBytes(value)
      return "nothing"
    } catch EncodingError.invalidValue(_, let context) {
      return context.codingPath.map(\.stringValue).joined(separator: "/")
    }
  }
}
