import LarderImport
import Testing

@Suite("JSON that is refused")
struct JSONRefusalTests {
  /// A text and the error that it gives.
  struct Case: CustomTestStringConvertible {
    var text: String
    var line: Int
    var column: Int
    var found: String
    var expected: String
    var kind = ImportError.Kind.syntax

    init(
      _ text: String, _ line: Int, _ column: Int, _ found: String, _ expected: String,
      _ kind: ImportError.Kind = .syntax
    ) {
      (self.text, self.line, self.column) = (text, line, column)
      (self.found, self.expected, self.kind) = (found, expected, kind)
    }

    var testDescription: String { text.debugDescription }
  }

  static let endOfFile = "the end of the file"
  static let escapes = "one of `\"\\/bfnrtu` behind `\\`"
  static let control = "`\"` or an escape: control characters are written as `\\u00XX`"

  static let grammar = [
    Case("", 1, 1, endOfFile, "a value"),
    Case(" \n\n ", 3, 2, endOfFile, "a value"),
    Case("[1,]", 1, 4, "`]`", "a value"),
    Case("[,1]", 1, 2, "`,`", "a value"),
    Case("[1,,2]", 1, 4, "`,`", "a value"),
    Case("[1 2]", 1, 4, "`2`", "`,` or `]`"),
    Case("[1}", 1, 3, "`}`", "`,` or `]`"),
    Case("[1", 1, 3, endOfFile, "`,` or `]`"),
    Case("[", 1, 2, endOfFile, "a value"),
    Case("]", 1, 1, "`]`", "a value"),
    Case("{", 1, 2, endOfFile, "a member's name in `\"`"),
    Case("{\"a\":1,}", 1, 8, "`}`", "a member's name in `\"`"),
    Case("{,}", 1, 2, "`,`", "a member's name in `\"`"),
    Case("{a:1}", 1, 2, "`a`", "a member's name in `\"`"),
    Case("{1:1}", 1, 2, "`1`", "a member's name in `\"`"),
    Case("{'a':1}", 1, 2, "`'`", "a member's name in `\"`"),
    Case("{\"a\" 1}", 1, 6, "`1`", "`:`"),
    Case("{\"a\":}", 1, 6, "`}`", "a value"),
    Case("{\"a\":1", 1, 7, endOfFile, "`,` or `}`"),
    Case("{\"a\":1]", 1, 7, "`]`", "`,` or `}`"),
    Case("{\"a\":1 \"b\":2}", 1, 8, "`\"`", "`,` or `}`"),
    Case("{\n  \"a\": 1,\n  \"b\": ?\n}", 3, 8, "`?`", "a value"),
    Case("{\r\n\t\"é\": ]", 2, 7, "`]`", "a value"),
    Case("[] []", 1, 4, "`[`", "the end of the file after its one value"),
    Case("1\nx", 2, 1, "`x`", "the end of the file after its one value"),
    Case("// no\n1", 1, 1, "`/`", "a value"),
    Case("[1, /* no */ 2]", 1, 5, "`/`", "a value"),
    Case("[1] # no", 1, 5, "`#`", "the end of the file after its one value"),
    Case("NaN", 1, 1, "`NaN`", "a value"),
    Case("[Infinity]", 1, 2, "`Infinity`", "a value"),
    Case("[-Infinity]", 1, 3, "`Infinity`", "a digit"),
    Case("tru", 1, 1, "`tru`", "a value"),
    Case("[nul]", 1, 2, "`nul`", "a value"),
    Case("[TRUE]", 1, 2, "`TRUE`", "a value"),
    Case("[truer]", 1, 6, "`r`", "`,` or `]`"),
    Case("[\u{A0}1]", 1, 2, "U+00A0", "a value"),
    Case("[1\u{B}]", 1, 3, "U+000B", "`,` or `]`"),
    Case("['é']", 1, 2, "`'`", "a value"),
    Case("[\"é\", é]", 1, 7, "`é` (U+00E9)", "a value"),
    Case("[\u{202E}]", 1, 2, "U+202E", "a value"),
  ]

  static let numbers = [
    Case("01", 1, 2, "`1`", "no digit behind a leading zero"),
    Case("[-00]", 1, 4, "`0`", "no digit behind a leading zero"),
    Case("-", 1, 2, endOfFile, "a digit"),
    Case("[-]", 1, 3, "`]`", "a digit"),
    Case("+1", 1, 1, "`+`", "a value"),
    Case(".5", 1, 1, "`.`", "a value"),
    Case("[1.]", 1, 4, "`]`", "a digit behind `.`"),
    Case("1.e5", 1, 3, "`e`", "a digit behind `.`"),
    Case("[1e]", 1, 4, "`]`", "a digit of the exponent"),
    Case("1e+", 1, 4, endOfFile, "a digit of the exponent"),
    Case("1e-x", 1, 4, "`x`", "a digit of the exponent"),
    Case("1e.5", 1, 3, "`.`", "a digit of the exponent"),
    Case("1.2.3", 1, 4, "`.`", "the end of the number"),
    Case("1-2", 1, 2, "`-`", "the end of the number"),
    Case("0x10", 1, 2, "`x`", "the end of the file after its one value"),
    Case("1_000", 1, 2, "`_`", "the end of the file after its one value"),
  ]

  static let strings = [
    Case("\"abc", 1, 5, endOfFile, "`\"` to end the string that begins at 1:1"),
    Case("[\n \"é", 2, 4, endOfFile, "`\"` to end the string that begins at 2:2"),
    Case("\"a\u{1}\"", 1, 3, "U+0001", control),
    Case("\"a\tb\"", 1, 3, "U+0009", control),
    Case("\"a\nb\"", 1, 3, "the end of the line", control),
    Case("\"a\u{0}\"", 1, 3, "U+0000", control),
    Case("\"\\x41\"", 1, 3, "`x`", escapes),
    Case("\"é\\'\"", 1, 4, "`'`", escapes),
    Case("\"\\", 1, 3, endOfFile, "an escape behind `\\`"),
    Case("\"\\u12G4\"", 1, 6, "`G`", "four hexadecimal digits behind `\\u`"),
    Case("\"\\u12", 1, 6, endOfFile, "four hexadecimal digits behind `\\u`"),
    Case("\"\\u-123\"", 1, 4, "`-`", "four hexadecimal digits behind `\\u`"),
  ]

  static let pair = "both halves, or the character itself"

  static let surrogates = [
    Case("\"\\ud800\"", 1, 2, "`\\ud800`, half of a pair of surrogates", pair, .encoding),
    Case("\"é\\uDC00\"", 1, 3, "`\\udc00`, half of a pair of surrogates", pair, .encoding),
    Case("\"\\ud83d\\u0041\"", 1, 2, "`\\ud83d`, half of a pair of surrogates", pair, .encoding),
    Case("\"\\ud83d\\ud83d\"", 1, 2, "`\\ud83d`, half of a pair of surrogates", pair, .encoding),
    Case("\"\\ud83dx\"", 1, 2, "`\\ud83d`, half of a pair of surrogates", pair, .encoding),
    Case("\"\\ude00\\ud83d\"", 1, 2, "`\\ude00`, half of a pair of surrogates", pair, .encoding),
  ]

  static let duplicates = [
    Case("{\"a\":1,\"a\":2}", 1, 8, "a second `a` in one object", "each name once", .duplicateKey),
    Case(
      "[{\n\"\":1,\n\"\":2}]", 3, 1, "a second `` in one object", "each name once", .duplicateKey),
    Case(
      "{\"a\":1,\"\\u0061\":2}", 1, 8, "a second `a` in one object", "each name once", .duplicateKey
    ),
    Case(
      "{\"é\":{\"é\":1,\"x\":[],\"\\u00e9\":2}}", 1, 20, "a second `é` in one object",
      "each name once", .duplicateKey),
  ]

  @Test(
    "is told with its line, its column, what was found and what was expected",
    arguments: [grammar, numbers, strings, surrogates, duplicates].joined())
  func refusal(of example: Case) {
    let error = JSONProbe.refusal(example.text)

    #expect(
      error
        == ImportError(
          example.kind, file: "test.json",
          position: TextPosition(line: example.line, column: example.column),
          found: example.found, expected: example.expected))
  }

  @Test(
    "invalid UTF-8 is told with the bytes",
    arguments: [
      ([0x22, 0x61, 0x80, 0x22], 3, "byte 80"),
      ([0x22, 0xC0, 0xAF, 0x22], 2, "byte C0 AF"),
      ([0x22, 0xC3], 2, "byte C3"),
      ([0x22, 0xC3, 0xA9, 0xC3, 0x22], 3, "byte C3"),
      ([0x22, 0xE0, 0x80, 0x80, 0x22], 2, "byte E0 80 80"),
      ([0x22, 0xED, 0xA0, 0x80, 0x22], 2, "byte ED A0 80"),
      ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 2, "byte F4 90 80 80"),
      ([0x22, 0xF0, 0x9F, 0x98, 0x22], 2, "byte F0 9F 98"),
      ([0x22, 0xF8, 0x88, 0x80, 0x80, 0x22], 2, "byte F8 88 80 80"),
      ([0x5B, 0xFF, 0x5D], 2, "byte FF"),
    ] as [([UInt8], Int, String)])
  func invalidUTF8(_ bytes: [UInt8], _ column: Int, _ found: String) {
    let error = JSONProbe.refusal(bytes)

    #expect(
      error
        == ImportError(
          .encoding, file: "test.json", position: TextPosition(line: 1, column: column),
          found: "\(found), which is not UTF-8", expected: "UTF-8"))
  }

  @Test(
    "a second byte order mark and UTF-16 are refused at the first column",
    arguments: [
      [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF, 0x31], [0xFE, 0xFF, 0x00, 0x31],
      [0xFF, 0xFE, 0x31, 0x00],
      [0x00, 0x31], [0x31, 0x00], [0x00, 0x00, 0xFE, 0xFF], [0xFF, 0xFE, 0x00, 0x00],
    ] as [[UInt8]])
  func otherEncodings(_ bytes: [UInt8]) {
    let error = JSONProbe.refusal(bytes)
    let inDocuments = JSONShape.allCases.map { JSONProbe.outcome(bytes, $0).error }

    #expect(error?.kind == .encoding)
    #expect(error?.position == .start)
    #expect(inDocuments.allSatisfy { $0 == error })
  }

  @Test("an error reads as file, line, column, found and expected")
  func description() {
    let error = ImportError(
      .syntax, file: "contacts.json", position: TextPosition(line: 12, column: 7),
      found: "`}`", expected: "a value")
    let unopened = ImportError(
      .io(code: 2), file: "a\u{1B}[2J", position: nil, found: "nothing", expected: "a file")

    #expect("\(error)" == "contacts.json:12:7: found `}`, expected a value")
    #expect("\(unopened)" == "a\\u{1b}[2J: found nothing, expected a file")
    let phrases = ImportError(
      .shape, file: "a", position: nil, found: "\u{1B}[31m", expected: "one of \u{202E}b, c\nd")
    #expect("\(phrases)" == "a: found \\u{1b}[31m, expected one of \\u{202e}b, c\\u{a}d")
  }

  @Test("a reader that has refused goes on to throw the same error")
  func staysRefused() throws {
    var reader = JSONReader(ByteSource(bytes: Array("[{},]".utf8), name: "test.json"))
    var errors: [ImportError] = []

    for _ in 0..<10 {
      do { _ = try reader.next() } catch { errors.append(error) }
    }

    #expect(errors.count == 9)
    #expect(errors.allSatisfy { $0 == errors[0] })
  }
}
