import LarderImport
import LarderTestKit
import Testing

@Suite("JSON documents in a member, and one behind the other")
struct JSONMemberTests {
  private func outcome(
    _ text: String, at path: [String] = [], _ shape: JSONShape = .automatic,
    pieces: [Int] = [65_536], limits: JSONLimits = JSONLimits()
  ) -> JSONProbe.Outcome {
    var outcome = JSONProbe.Outcome()
    let source = ByteSource(bytes: Array(text.utf8), name: "t.json", pieceByteCounts: pieces)
    var documents = JSONDocuments(source, shape: shape, at: path, limits: limits)
    do throws(ImportError) {
      while let document = try documents.next() { outcome.documents.append(document) }
    } catch {
      outcome.error = error
    }
    return outcome
  }

  @Test(
    "documents are found in an array and under keys, beside anything",
    arguments: [
      (#"{"features": [{"a": 1}, {"a": 2}]}"#, ["features"]),
      (
        #"{"type": "x", "n": [1, {"features": 1}], "features": [{"a": 1}, {"a": 2}], "z": {}}"#,
        ["features"]
      ),
      (
        #" {"r": {"count": 2, "items": {"k": {"a": 1}, "l": {"a": 2}}, "b": []}, "s": 1} "#,
        ["r", "items"]
      ),
      (#"{"a.b": [{"a": 1}, {"a": 2}]}"#, ["a.b"]), (#"{"": [{"a": 1}, {"a": 2}]}"#, [""]),
    ] as [(String, [String])])
  func found(_ text: String, _ path: [String]) {
    let outcome = outcome(text, at: path)

    #expect(outcome.error == nil)
    #expect(outcome.documents.map { $0.members.map(\.value) } == [[.integer(1)], [.integer(2)]])
    let hasKeys = path == ["r", "items"]
    #expect(outcome.documents.map(\.key) == (hasKeys ? ["k", "l"] : [nil, nil]))
  }

  @Test(
    "what is wrong around the documents is refused where it stands",
    arguments: [
      ("{\"a\": 1}", ["b"], 1, 8, .shape, "the end of an object without `b`"),
      ("{}", ["b"], 1, 2, .shape, "the end of an object without `b`"),
      ("[{}]", ["b"], 1, 1, .shape, "an array"),
      ("{\"b\": 1}", ["b"], 1, 7, .shape, "an integer"),
      ("{\"b\": 1}", ["b", "c"], 1, 7, .shape, "an integer"),
      ("{\"b\": [{}, 1]}", ["b"], 1, 12, .shape, "an integer"),
      ("{\"b\": [{}], \"b\": 1}", ["b"], 1, 13, .duplicateKey, "a second `b` in one object"),
      (
        "{\"a\": 1, \"a\": 2, \"b\": [{}]}", ["b"], 1, 10, .duplicateKey,
        "a second `a` in one object"
      ),
      ("{\"b\": [{}]", ["b"], 1, 11, .syntax, "the end of the file"),
      ("{\"b\": [{}],}", ["b"], 1, 12, .syntax, "`}`"),
      ("{\"b\": [{}]} x", ["b"], 1, 13, .syntax, "`x`"),
      ("{\"a\": tru, \"b\": [{}]}", ["b"], 1, 7, .syntax, "`tru`"),
      ("{\"a\": 1 \"b\": [{}]}", ["b"], 1, 9, .syntax, "`\"`"),
    ] as [(String, [String], Int, Int, ImportError.Kind, String)])
  func refused(
    _ text: String, _ path: [String], _ line: Int, _ column: Int, _ kind: ImportError.Kind,
    _ found: String
  ) {
    for pieces in [[65_536], [1], [3, 2]] {
      let error = outcome(text, at: path, pieces: pieces).error

      #expect(error?.position == TextPosition(line: line, column: column), "\(text)")
      #expect(error?.kind == kind && error?.found == found, "\(text)")
    }
  }

  @Test("a shape without a place for a member is refused", arguments: [JSONShape.lines, .sequence])
  func otherShapes(_ shape: JSONShape) {
    #expect(outcome("{\"b\": [{}]}", at: ["b"], shape).error?.kind == .shape)
  }

  @Test("what stands beside the documents is bounded as a document is")
  func limits() {
    var limits = JSONLimits()
    limits.documentByteCount = 20
    let text = "{\"a\": [1, 2, 3, 4, 5, 6, 7, 8, 9], \"b\": [{}]}"

    #expect(outcome(text, at: ["b"], limits: limits).error?.kind == .limit(.documentByteCount))
    #expect(outcome(text, at: ["b"]).documents.count == 1)
  }

  @Test("documents in a member are those of the member's value as a file")
  func random() {
    var writer = JSONWriter(random: RandomSource())
    for _ in 0..<repetitions(300) {
      let layout = writer.random.pick([JSONWriter.Layout.array, .keyed])
      let inner = writer.file(layout, upTo: 5)
      let before = writer.random.bool() ? "\"x\": \(writer.value(depth: 1)), " : ""
      let after = writer.random.bool() ? ", \"y\": \(writer.value(depth: 1))" : ""
      let text = "{\"o\": {\(before)\"m\": \(inner)\(after)}}"
      let sizes = (0..<5).map { _ in 1 + writer.random.below(7) }
      let hint = Comment(rawValue: "\(writer.random.hint) \(text)")

      let expected = outcome(inner, layout == .array ? .array : .keyed)
      let whole = outcome(text, at: ["o", "m"])
      let inPieces = outcome(text, at: ["o", "m"], pieces: sizes)

      #expect(whole.error == nil && expected.error == nil, hint)
      // Positions are left out, as they are another.
      #expect(whole.documents.map(\.members) == expected.documents.map(\.members), hint)
      #expect(whole.documents.map(\.key) == expected.documents.map(\.key), hint)
      #expect(whole.exact == inPieces.exact, hint)
    }
  }

  @Test("a sequence is one document over many lines, or several one behind the other")
  func sequence() {
    let one = outcome("{\n  \"a\": 1,\n  \"b\": {}\n}\n", .sequence)
    let three = outcome("{\"a\":\n1}{\"a\": 2} \n {\"a\": {\"b\": 1}}", .sequence)

    #expect(one.error == nil && one.documents.count == 1)
    #expect(three.error == nil && three.documents.count == 3)
    #expect(three.documents[2].position == TextPosition(line: 3, column: 2))
    #expect(outcome("", .sequence).exact == JSONProbe.Outcome().exact)
    #expect(outcome("{} 1", .sequence).error?.kind == .shape)
    #expect(outcome("{},{}", .sequence).error?.kind == .syntax)
    #expect(outcome("{} {", .sequence).error?.kind == .syntax)
  }
}
