import LarderImport
import Testing

@Suite("JSON limits")
struct JSONLimitTests {
  private func limits(_ change: (inout JSONLimits) -> Void) -> JSONLimits {
    var limits = JSONLimits()
    change(&limits)
    return limits
  }

  @Test("128 arrays inside one another are accepted, 129 are not", arguments: [128, 129])
  func depth(_ depth: Int) {
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)

    let error = JSONProbe.refusal(text)

    #expect(error?.kind == (depth == 128 ? nil : .limit(.depth)))
    #expect(error?.position == (depth == 128 ? nil : TextPosition(line: 1, column: 129)))
  }

  @Test("a document may be 128 deep in every shape, whatever is around it", arguments: [127, 128])
  func depthOfDocuments(_ arrays: Int) {
    let value = String(repeating: "[", count: arrays) + String(repeating: "]", count: arrays)
    let document = "{\"a\":\(value)}"
    let kind: ImportError.Kind? = arrays == 127 ? nil : .limit(.depth)

    #expect(JSONProbe.outcome(Array("[\(document)]".utf8), .array).error?.kind == kind)
    #expect(JSONProbe.outcome(Array("{\"k\":\(document)}".utf8), .keyed).error?.kind == kind)
    #expect(JSONProbe.outcome(Array(document.utf8), .lines).error?.kind == kind)
    #expect(JSONProbe.outcome(Array(document.utf8), .automatic).error?.kind == kind)
  }

  @Test("a limit above 128 does not let anything deeper in")
  func depthIsCapped() {
    let text = String(repeating: "[", count: 1_000_000)

    let error = JSONProbe.refusal(text, limits: limits { $0.depth = .max })

    #expect(error?.position == TextPosition(line: 1, column: 129))
  }

  @Test("limits at either end of Int neither trap nor refuse more than they say")
  func extremes() {
    let least = limits {
      ($0.depth, $0.stringByteCount, $0.memberCount) = (.min, .min, .min)
      ($0.numberByteCount, $0.lineByteCount, $0.documentByteCount) = (.min, .min, .min)
    }
    let most = limits {
      ($0.depth, $0.stringByteCount, $0.memberCount) = (.max, .max, .max)
      ($0.numberByteCount, $0.lineByteCount, $0.documentByteCount) = (.max, .max, .max)
    }

    for text in ["{\"a\":1}", "[{\"a\":\"b\"}]", "1", "\"\"", "{}\n{}"] {
      let bytes = Array(text.utf8)
      for shape in JSONShape.allCases {
        _ = JSONProbe.outcome(bytes, shape, limits: least)
        #expect(
          JSONProbe.outcome(bytes, shape, limits: most).exact
            == JSONProbe.outcome(bytes, shape).exact)
      }
    }
    #expect(JSONProbe.refusal("1", limits: least)?.kind == .limit(.numberByteCount))
    #expect(JSONProbe.refusal("{}", limits: least)?.kind == .limit(.depth))
  }

  @Test(
    "a string of the limit is accepted, one byte more is refused where it begins",
    arguments: [
      ("abcd", true), ("abcde", false), ("éé", true), ("ééx", false), ("ab\\n\\n", true),
      ("ab\\n\\nc", false), ("\\ud83d\\ude00", true), ("a\\ud83d\\ude00", false),
      ("abc\\u00e9", false),
    ])
  func string(_ text: String, _ isAccepted: Bool) {
    let error = JSONProbe.refusal("[\n \"\(text)\"]", limits: limits { $0.stringByteCount = 4 })
    let asName = JSONProbe.refusal("{\"\(text)\":1}", limits: limits { $0.stringByteCount = 4 })

    #expect(error?.kind == (isAccepted ? nil : .limit(.stringByteCount)))
    #expect(error?.position == (isAccepted ? nil : TextPosition(line: 2, column: 2)))
    #expect(asName?.position == (isAccepted ? nil : TextPosition(line: 1, column: 2)))
  }

  @Test("a string without an end is given up at the limit")
  func endlessString() {
    let bytes = [UInt8(ascii: "\"")] + [UInt8](repeating: UInt8(ascii: "a"), count: 17 << 20)

    let error = JSONProbe.refusal(bytes, limits: limits { $0.stringByteCount = 16 << 20 })

    #expect(error?.kind == .limit(.stringByteCount))
    #expect(error?.position == .start)
  }

  @Test("a number of the limit is accepted, one byte more is refused where it begins")
  func number() {
    let digits = String(repeating: "1", count: 1_024)

    let accepted = JSONProbe.refusal("[\(digits)]")
    let refused = JSONProbe.refusal("[\(digits)1]")
    let endless = JSONProbe.refusal("-" + String(repeating: "0", count: 1 << 20))

    #expect(accepted == nil)
    #expect(refused?.kind == .limit(.numberByteCount))
    #expect(refused?.position == TextPosition(line: 1, column: 2))
    #expect(endless?.kind == .limit(.numberByteCount))
  }

  @Test("as many members as the limit says are accepted, one more is refused at its name")
  func members() {
    let limits = limits { $0.memberCount = 65_536 }
    let members = (1...65_536).map { "\"\($0)\":0" }.joined(separator: ",\n")

    let accepted = JSONProbe.refusal("{\(members)}", limits: limits)
    let refused = JSONProbe.refusal("{\(members),\n\"more\":0}", limits: limits)

    #expect(accepted == nil)
    #expect(refused?.kind == .limit(.memberCount))
    #expect(refused?.position == TextPosition(line: 65_537, column: 1))
  }

  @Test("a keyed file may have more documents than an object has members")
  func keyedDocuments() throws {
    let text = "{" + (0..<200).map { "\"\($0)\":{\"a\":1}" }.joined(separator: ",") + "}"

    let documents = try JSONProbe.documents(text, .keyed, limits: limits { $0.memberCount = 1 })

    #expect(documents.count == 200)
  }

  @Test(
    "a name that stands twice is found in an object of any size",
    arguments: [
      2, 16, 17, 18, 1_000,
    ])
  func duplicates(_ count: Int) {
    let names = (1..<count).map { "n\($0)" }
    for repeated in [0, names.count / 2, names.count - 1] {
      let all = names + [names[repeated]]
      let text = "{" + all.map { "\"\($0)\":0" }.joined(separator: ",\n") + "}"

      let error = JSONProbe.refusal(text)

      #expect(error?.kind == .duplicateKey)
      #expect(error?.line == count)
    }
  }

  @Test("a line of the limit is accepted, with or without an end, and one byte more is not")
  func line() {
    let ten = #"{"a":1234}"#
    let limit = limits { $0.lineByteCount = 10 }
    let eleven = limits { $0.lineByteCount = 11 }

    #expect(JSONProbe.outcome(Array("\(ten)\n\(ten)\n".utf8), .lines, limits: limit).error == nil)
    #expect(JSONProbe.outcome(Array("\(ten)\n\(ten)".utf8), .lines, limits: limit).error == nil)
    #expect(JSONProbe.outcome(Array("\(ten)\r\n".utf8), .lines, limits: eleven).error == nil)
    for tooLong in ["\(ten) ", "\(ten)\r\n", " \(ten)\n", "           \n", #"{"a":"bcdefghijkl"}"#]
    {
      let outcome = JSONProbe.outcome(Array("{}\n\(tooLong)".utf8), .lines, limits: limit)

      #expect(outcome.error?.kind == .limit(.lineByteCount))
      #expect(outcome.error?.position == TextPosition(line: 2, column: 1))
    }
  }

  @Test("a document of the limit is accepted, one byte more is refused where it begins")
  func document() {
    let limit = limits { $0.documentByteCount = 10 }

    for (shape, before, after) in [(JSONShape.array, "[", "]"), (.keyed, "{\"a long key\":", "}")] {
      let accepted = JSONProbe.outcome(
        Array("\(before){\"a\":1234}          \(after)".utf8), shape, limits: limit)
      let refused = JSONProbe.outcome(
        Array("\(before){\"a\":12345}\(after)".utf8), shape, limits: limit)

      #expect(accepted.error == nil)
      #expect(refused.error?.kind == .limit(.documentByteCount))
      #expect(refused.error?.position == TextPosition(line: 1, column: before.utf8.count + 1))
    }
  }
}
