import Foundation
import LarderImport
import LarderTestKit
import Testing

@testable import LarderRemote

/// Answers to batches of any form, of whose records some cannot be read.
@Suite struct KintoEnvelopeTests {
  private var random = RandomSource()

  private mutating func space() -> String { random.pick(["", "", " ", "\n ", "\t"]) }

  private mutating func text() -> String {
    let parts = ["a", #"\""#, #"\\"#, "{", "}", "[", "]", "data", ",", ":", #"\u0041"#, "é"]
    return "\"" + (0..<random.int(0..<6)).map { _ in random.pick(parts) }.joined() + "\""
  }

  private mutating func list(_ elements: [String], _ ends: (String, String)) -> String {
    let separators = (space(), space())
    return ends.0 + space() + elements.joined(separator: separators.0 + "," + separators.1)
      + space() + ends.1
  }

  private mutating func value(depth: Int = 0) -> String {
    switch random.int(0..<(depth > 3 ? 2 : 4)) {
    case 0: return text()
    case 1: return random.pick(["1", "-2.5e3", "true", "null", "{}", "[]"])
    case 2:
      return list((0..<random.int(0..<4)).map { _ in value(depth: depth + 1) }, ("[", "]"))
    default:
      let names = [#""data""#, #""existing""#, #""body""#, #""x""#, #""id""#].shuffled(
        using: &random)
      return list(
        names.prefix(random.int(0..<4)).map {
          "\($0)\(space()):\(space())\(value(depth: depth + 1))"
        },
        ("{", "}"))
    }
  }

  private mutating func record(_ number: Int, isSpoiled: Bool) -> String {
    var members = [
      #""id"\#(space()):\#(space())"r\#(number)""#, #""last_modified":\#(space())\#(number + 1)"#,
      #""a":\#(value())"#, #""b" : \#(value())"#,
    ]
    if isSpoiled {
      let deep = String(repeating: "[", count: 140) + String(repeating: "]", count: 140)
      members.append(
        #""c":"# + random.pick(["NaN", deep, #""\ud800""#, #"{"data":[{"id":"q"}], "z":tru}"#]))
    }
    return list(members.shuffled(using: &random), ("{", "}"))
  }

  @Test("every record is found, and each is what it is alone")
  mutating func records() throws {
    for _ in 0..<repetitions(200) {
      let spoiled = (0..<random.int(1..<4)).map { _ in
        (0..<random.int(0..<5)).map { _ in random.once(in: 3) }
      }
      let lists = spoiled.map { $0.enumerated().map { record($0, isSpoiled: $1) } }
      if lists.allSatisfy(\.isEmpty) { continue }
      let responses = lists.map { records in
        let more = random.bool() ? #","more":{"data":[1]}"# : ""
        let members = [
          #""status":200"#, #""headers":{"ETag":"\"5\"","data":"[{"}"#,
          #""body"\#(space()):\#(space()){"data"\#(space()):\#(list(records, ("[", "]")))\#(more)}"#,
        ]
        return list(members.shuffled(using: &random), ("{", "}"))
      }
      let answer = #"{"responses" : \#(list(responses, ("[", "]")))}"#

      let envelope = try #require(KintoEnvelope(Array(answer.utf8)), "\(random.hint)")
      let root = try JSONMessage(envelope.bytes, name: "the answer").root

      let nodes = try #require(root["responses"]?.elements)
      for (place, node) in nodes.enumerated() {
        let found = try #require(node["body"]?["data"]?.elements).map { try envelope.record($0) }
        #expect(found.map { $0?.id } == lists[place].indices.map { "r\($0)" }, "\(random.hint)")
        for (number, text) in lists[place].enumerated() {
          let document =
            spoiled[place][number]
            ? RemoteDocument(text)
            : try KintoRecord(JSONMessage(Array(text.utf8), name: "a record").root).document
          #expect(found[number]?.document == document, "\(random.hint)")
          #expect(found[number]?.revision == "\(number + 1)", "\(random.hint)")
        }
      }
    }
  }
}
