import Foundation
import Larder
import LarderImport
import LarderTestKit
import LarderTesting
import Testing

@testable import LarderCLI

@Suite("Expressions of larder query")
struct FilterParserTests {
  /// Documents with a field of every kind that an expression can compare.
  private func withDocuments(_ body: (DynamicCollection, [DynamicDocument]) throws -> Void) throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      let texts = [
        "", "a", "ab", "Oslo", "e\u{301}", "\"q\" \\ 'x'", "line\nend", "\u{0}\u{7F}", "😀",
      ]
      let documents: [DynamicDocument] = (0..<60).map { index in
        var document: DynamicDocument = [
          "id": .integer(Int64(index)), "text": .string(texts[index % texts.count]),
          "n": .integer([-5, 0, 1, .max][index % 4]),
          "d": .double([-1.5, -0.0, 0.1, 1e300][index % 4]),
          "on": .bool(index.isMultiple(of: 2)),
          "at": .date(Date(timeIntervalSinceReferenceDate: Double(index % 5) * 0.25)),
          "price": .decimal(
            Decimal(string: ["12.90", "0.1", "12345678901234567890.5"][index % 3])!),
          "tags": .array(texts.prefix(index % 4).map(Value.string)),
          "in": .document(["x y": .integer(Int64(index % 3)), "deep": .document(["`": "z"])]),
        ]
        if index.isMultiple(of: 7) { document["text"] = nil }
        if index.isMultiple(of: 11) { document["d"] = .null }
        return document
      }
      try collection.save(documents, keyField: "id")
      try body(collection, documents)
    }
  }

  private func ids(_ expression: String, _ collection: DynamicCollection) throws -> [Value?] {
    let filter = try FilterParser.filter(expression, in: collection)
    return try collection.fetch(DynamicQuery(where: filter)).map { $0["id"] }
  }

  private typealias Meaning = @Sendable (DynamicDocument) -> Bool

  private static let meanings: [(String, Meaning)] = [
    ("n == 1", { $0["n"] == 1 }), ("n != 1", { $0["n"] != 1 }),
    ("n<1&&n>=-5", { [-5, 0].contains($0["n"]) }),
    ("on", { $0["on"] == true }), ("!on", { $0["on"] == false }), ("true", { _ in true }),
    ("false || !true", { _ in false }),
    (
      "text == 'a' || text == \"ab\" && on",
      { $0["text"] == "a" || $0["text"] == "ab" && $0["on"] == true }
    ),
    (
      "(text == 'a' || text == \"ab\") && on",
      { ($0["text"] == "a" || $0["text"] == "ab") && $0["on"] == true }
    ),
    ("!text == 'a'", { $0["text"] != "a" }),
    ("!(n == 1 || n == 0)", { ![1, 0].contains($0["n"]) }),
    ("text == nil", { $0["text"] == nil }), ("d != nil", { $0["d"] != .null }),
    ("n in [1, -5,0]", { [1, -5, 0].contains($0["n"]) }), ("n in []", { _ in false }),
    ("tags contains 'ab'", { $0["tags"] == ["", "a", "ab"] }),
    ("text contains 'sl'", { $0["text"] == "Oslo" }),
    ("text hasPrefix 'Os'", { $0["text"] == "Oslo" }),
    ("text hasSuffix \"lo\"", { $0["text"] == "Oslo" }),
    ("text == '\u{E9}'", { $0["text"] == "\u{E9}" }),
    ("text == '\\\"q\\\" \\\\ \\'x\\''", { $0["text"] == "\"q\" \\ 'x'" }),
    ("text == \"line\\nend\"", { $0["text"] == "line\nend" }),
    ("text == '\\u0000\\u{7f}'", { $0["text"] == "\u{0}\u{7F}" }),
    ("text == '\\u{1F600}'", { $0["text"] == "😀" }),
    ("at < '2001-01-01T00:00:00.500Z'", { "\($0["at"]!)" < "\"2001-01-01T00:00:00.500Z\"" }),
    ("at == \"2001-01-01\"", { $0["at"] == .date(Date(timeIntervalSinceReferenceDate: 0)) }),
    ("price == 12.9", { $0["price"] == .decimal(Decimal(string: "12.9")!) }),
    (
      "price == 12345678901234567890.5",
      { $0["price"] == .decimal(Decimal(string: "12345678901234567890.5")!) }
    ),
    ("price == '0.10'", { $0["price"] == .decimal(Decimal(string: "0.1")!) }),
    ("d == 1e300", { $0["d"] == 1e300 }), ("d == 0", { "\($0["d"]!)" == "-0.0" }),
    ("d < 5", { $0["d"] != .null && $0["d"] != 1e300 }),
    ("in.`x y` == 2", { $0["id"].map { "\($0)" }.flatMap { Int($0) }! % 3 == 2 }),
    ("in . deep . ```` == 'z'", { _ in true }), ("`n` == 0", { $0["n"] == 0 }),
    (" \t\nn\n==\r1 ", { $0["n"] == 1 }), ("!!on", { $0["on"] == true }),
    ("n == 9223372036854775807", { $0["n"] == .integer(.max) }),
    ("n > 18446744073709551616", { _ in false }), ("n < 1e20", { _ in true }),
    ("d == 0.1", { $0["d"] == 0.1 }), ("d == 0.10000000000000001", { $0["d"] == 0.1 }),
    ("d == 1000000000000000000e282", { $0["d"] == 1e300 }),
    ("d == 0e400", { "\($0["d"]!)" == "-0.0" }),
  ]

  @Test("an expression means what it says", arguments: meanings.indices)
  func meaning(index: Int) throws {
    let (expression, holds) = Self.meanings[index]
    try withDocuments { collection, documents in
      let expected = documents.filter { holds($0) }.map { $0["id"] }

      let found = try ids(expression, collection)

      #expect(found == expected)
    }
  }

  // MARK: Random expressions

  private func filter(depth: Int, from documents: [DynamicDocument], _ random: inout RandomSource)
    -> DynamicFilter
  {
    if depth > 0, random.int(0..<4) > 0 {
      let parts = (0..<random.int(0..<4)).map { _ in
        filter(depth: depth - 1, from: documents, &random)
      }
      switch random.int(0..<3) {
      case 0: return .all(parts)
      case 1: return .any(parts)
      default: return .not(filter(depth: depth - 1, from: documents, &random))
      }
    }
    if random.int(0..<12) == 0 { return .constant(random.int(0..<2) == 0) }
    let name = random.pick(["text", "n", "d", "on", "at", "price", "tags", "in.`x y`"])
    let path = FieldPath(name)!
    func value() -> Value {
      var next = 0
      let found = random.pick(documents).value(at: path, from: &next)
      return found == nil || found == .null ? (name == "text" ? "a" : 0.5) : found!
    }
    if name == "tags" { return .test(path, .contains(random.pick(["", "a", "x"]))) }
    switch random.int(0..<(name == "text" ? 9 : name == "on" ? 3 : 6)) {
    case 0: return .test(path, .equal(random.int(0..<4) == 0 ? .null : value()))
    case 1: return .not(.test(path, .equal(value())))
    case 2: return .test(path, .isIn((0..<random.int(0..<4)).map { _ in value() }))
    case 3: return .test(path, .less(value()))
    case 4: return .test(path, .lessOrEqual(value()))
    case 5: return .test(path, .greater(value()))
    case 6: return .test(path, .contains(random.pick(["a", "b", "Osl"])))
    case 7: return .test(path, .hasPrefix("a"))
    default: return .test(path, .hasSuffix("b"))
    }
  }

  /// What Swift says, for the kinds of these documents.
  private func holds(_ filter: DynamicFilter, _ document: DynamicDocument) -> Bool {
    switch filter.form {
    case .constant(let value): return value
    case .all(let parts): return parts.allSatisfy { holds($0, document) }
    case .any(let parts): return parts.contains { holds($0, document) }
    case .not(let part): return !holds(part, document)
    case .tooDeep: return false
    case .test(let path, let comparison):
      var next = 0
      let value = document.value(at: path, from: &next) ?? .null
      func compare(_ other: Value, _ wanted: [Int]) -> Bool {
        order(value, other).map { wanted.contains($0) } ?? false
      }
      switch comparison {
      case .equal(.null): return value == .null
      case .equal(let other): return compare(other, [0])
      case .less(let other): return compare(other, [-1])
      case .lessOrEqual(let other): return compare(other, [-1, 0])
      case .greater(let other): return compare(other, [1])
      case .greaterOrEqual(let other): return compare(other, [0, 1])
      case .isIn(let others): return others.contains { compare($0, [0]) }
      case .contains(.string(let text)):
        if case .array(let elements) = value { return elements.contains(.string(text)) }
        if case .string(let whole) = value { return whole.contains(text) }
        return false
      case .hasPrefix(let text): if case .string(let whole) = value { return whole.hasPrefix(text) }
      case .hasSuffix(let text): if case .string(let whole) = value { return whole.hasSuffix(text) }
      default: break
      }
      return false
    }
  }

  private func order(_ left: Value, _ right: Value) -> Int? {
    func sign<Ordered: Comparable>(_ left: Ordered, _ right: Ordered) -> Int {
      left < right ? -1 : left == right ? 0 : 1
    }
    switch (left, right) {
    case (.string(let left), .string(let right)): return sign(left, right)
    case (.integer(let left), .integer(let right)): return sign(left, right)
    case (.integer(let left), .double(let right)): return sign(Double(left), right)
    case (.double(let left), .double(let right)): return sign(left, right)
    case (.bool(let left), .bool(let right)): return left == right ? 0 : 1
    case (.date(let left), .date(let right)): return sign(left, right)
    case (.decimal(let left), .decimal(let right)): return sign(left, right)
    default: return nil
    }
  }

  @Test("a random filter, printed and read again, means the same, and what Swift says")
  func random() throws {
    var random = RandomSource()
    try withDocuments { collection, documents in
      var hits = 0
      for _ in rounds(1_500, until: { hits > 300 }) {
        let filter = filter(depth: random.int(0..<5), from: documents, &random)
        let expected = documents.filter { holds(filter, $0) }.map { $0["id"] }

        let read = try FilterParser.filter(filter.description, in: collection)

        #expect(
          try collection.fetch(DynamicQuery(where: filter)).map { $0["id"] } == expected,
          "\(filter)")
        #expect(
          try collection.fetch(DynamicQuery(where: read)).map { $0["id"] } == expected, "\(filter)")
        #expect(
          read.description == filter.description || "\(read)".utf8.count < "\(filter)".utf8.count)
        if !expected.isEmpty, expected.count < documents.count { hits += 1 }
      }
      #expect(hits > 300)
    }
  }

  @Test(
    "a number that no double is equal to is refused, and not rounded to one that documents have",
    arguments: [
      ("9007199254740993.0", 9_007_199_254_740_992.0), ("18446744073709551617", 0x1p64),
      ("1e400", Double.infinity), ("1e-400", 0.0), ("-1e400", -Double.infinity),
      ("0.1234567890123456789", 0.1234567890123456789),
    ])
  func rounded(number: String, neighbour: Double) throws {
    try withTemporaryStore { store in
      let collection = store.collection("c")
      try collection.save([["id": 1, "d": .double(neighbour)]], keyField: "id")

      for expression in ["d == \(number)", "d >= \(number)", "d in [\(number)]"] {
        let error = #expect(throws: FilterError.self) {
          try FilterParser.filter(expression, in: collection)
        }
        #expect(error?.found == "`\(number)`" && error?.expected.contains("double") == true)
        #expect(error.map { expression.dropFirst($0.offset).hasPrefix(number) } == true)
      }
    }
  }

  // MARK: Errors

  @Test(
    "an expression that means nothing is refused at its place",
    arguments: [
      ("", 1, "the end, expected a field"), ("n ==", 5, "the end, expected a value"),
      ("n = 1", 3, "`=`, expected `==`"), ("n == 1 & on", 8, "`&`, expected `&&`"),
      ("on | on", 4, "`|`, expected `||`"),
      ("n == 1 on", 8, "`on`, expected `&&`, `||` or the end"),
      ("(on", 4, "the end, expected `&&`, `||` or `)`"),
      ("on)", 3, "`)`, expected `&&`, `||` or the end"),
      ("&& on", 1, "`&&`, expected a field"), ("on &&", 6, "the end, expected a field"),
      ("1 == n", 1, "`1`, expected a field"), ("'a' == text", 1, "`'a'`, expected a field"),
      ("n == 01", 7, "`1` in a number, expected no digit behind a leading zero"),
      ("n == 1.", 8, "the end in a number, expected a digit behind `.`"),
      ("n == -", 7, "the end in a number, expected a digit"), ("n == 1e", 8, "the end in a number"),
      ("text == 'a", 9, "a string that does not end, expected `'` behind it"),
      ("text == \"\\x\"", 10, "an escape that means nothing"),
      ("text == '\\u{110000}'", 10, "an escape"),
      ("text == '\\ud800'", 10, "an escape"), ("`n == 1", 1, "a name whose backquote does not end"),
      ("in. == 1", 5, "`==`, expected the name of a field"),
      ("n ==  == 1", 7, "`==`, expected a value"),
      ("text == Oslo", 9, "`Oslo`, expected a value; text stands between quotes"),
      ("text == null", 9, "`null`, expected a value; did you mean `nil`?"),
      ("n < nil", 5, "`nil`, expected a value"), ("n in 1", 6, "`1`, expected `[`"),
      ("n in [1 2]", 9, "`2`, expected `,` or `]`"), ("n in [1,]", 9, "`]`, expected a value"),
      ("n in [nil]", 7, "`nil`, expected a value"),
      ("text hasPrefx 'a'", 6, "`hasPrefx`, expected a comparison; did you mean `hasPrefix`?"),
      ("text hasPrefix 5", 16, "`5`, expected text"),
      ("n == 1 == 2", 8, "`==`, expected `&&`, `||` or the end"),
      ("#", 1, "`#`, expected a field, a value or a sign"),
      ("n == 1 && ctiy == 2", 11, "`ctiy`, expected a field that c has"),
      ("txet == 'a'", 1, "`txet`, expected a field that c has; did you mean `text`?"),
      ("in.`x  y` == 1", 4, "`x  y`, expected a field that c has; did you mean `x y`?"),
      ("text.length == 1", 6, "a field inside `text`, which is string"),
      ("n == 'x'", 6, "the string \"x\", expected int64"),
      ("n in [1, 'x']", 10, "the string \"x\""),
      ("at < 'soon'", 6, "the string \"soon\", expected a date (ISO 8601"),
      ("on == 1", 7, "1, expected bool"),
      (
        "on < true", 4,
        "a field of kind bool, which has no answer to this, expected `==`, `!=` or `in`"
      ),
      ("tags == 'a'", 6, "a field of kind [string], which"),
      ("in == 1", 4, "a field of kind document"),
      ("n hasPrefix 'a'", 3, "a field of kind int64"),
      ("tags contains 5", 15, "5, expected string"),
      ("n", 2, "a field of kind int64 without a comparison"),
      ("on && text", 11, "a field of kind string without"),
      ("!n", 3, "a field of kind int64 without"), ("text != 5", 9, "5, expected string"),
      ("é == 1", 1, "`é`, expected a field that c has"),
    ])
  func refused(expression: String, column: Int, sentence: String) throws {
    try withDocuments { collection, _ in
      let error = #expect(throws: FilterError.self) {
        try FilterParser.filter(expression, in: collection)
      }

      #expect(error?.position.line == 1 && error?.position.column == column, "\(error!)")
      #expect(
        error?.description.hasPrefix("--where:1:\(column): found \(sentence)") == true, "\(error!)")
      #expect(
        error?.description.hasSuffix("\n  " + String(repeating: " ", count: column - 1) + "^")
          == true)
    }
  }

  @Test("the line is shown that holds the fault, with a caret below it, however wide it is")
  func carets() throws {
    try withDocuments { collection, _ in
      func message(_ expression: String) -> String {
        do {
          return "\(try FilterParser.filter(expression, in: collection))"
        } catch {
          return "\(error)"
        }
      }

      #expect(message("on &&\n  n = 1\n|| on").hasSuffix("\n    n = 1\n      ^"))
      #expect(message("on &&\n  n = 1").hasPrefix("--where:2:5: found"))
      #expect(
        message("text == '日本' = ").hasSuffix(
          "\n  text == '日本' = \n" + String(repeating: " ", count: 17) + "^"))
      #expect(
        message("text == 'e\u{301}' =").hasSuffix("\n" + String(repeating: " ", count: 14) + "^"))
      #expect(
        message("text == '\u{1B}[2J\u{202E}' =").contains("\n  text == '\u{FFFD}[2J\u{FFFD}' =\n"))
      #expect(message("on\n").hasPrefix("all") || message("on\n") == "on == true")
    }
  }

  @Test("64 parentheses or `!` inside one another are read, 65 refused where they are too many")
  func depth() throws {
    try withDocuments { collection, _ in
      for (open, close) in [("(", ")"), ("!", "")] {
        func nested(_ depth: Int) -> String {
          String(repeating: open, count: depth) + "on" + String(repeating: close, count: depth)
        }
        _ = try FilterParser.filter(nested(FilterParser.maximumDepth - 1), in: collection)
        let error = #expect(throws: FilterError.self) {
          try FilterParser.filter(nested(100_000), in: collection)
        }
        #expect(error?.position.column == FilterParser.maximumDepth + 1)
      }
      let escapes = "text == '" + String(repeating: "\\u{41}", count: 100_000) + "'"
      _ = try FilterParser.filter(escapes, in: collection)
      let long = Array(repeating: "n == 1", count: 5_000).joined(separator: " || ")
      #expect(try ids(long, collection).count == 15)
    }
  }

  @Test("a damaged expression is read or refused inside of it, and never traps")
  func mutants() throws {
    var random = RandomSource()
    let pieces = [
      "n", "==", "'", "\"", "\\", "&&", "(", ")", "[", "]", ",", "1", ".", "`", "!", " ", "in",
      "text", "u{", "\u{0}", "😀", "nil", "-", "e",
    ]
    try withDocuments { collection, _ in
      for _ in 0..<3_000 {
        let expression = (0..<random.int(0..<12)).map { _ in random.pick(pieces) }.joined()
        do {
          _ = try FilterParser.filter(expression, in: collection)
        } catch let error as FilterError {
          #expect(
            (0...expression.unicodeScalars.count).contains(error.offset),
            "\(expression) \(random.hint)")
          _ = error.description
        }
      }
    }
  }
}
