import LarderImport
import Testing

@Suite("Reading CSV")
struct CSVReaderTests {
  @Test(
    "rows are what RFC 4180 says",
    arguments: [
      ("", []), ("a", [["a"]]), ("a\n", [["a"]]), ("a,b\r\nc,d\r\n", [["a", "b"], ["c", "d"]]),
      ("a,b\nc,d", [["a", "b"], ["c", "d"]]), ("a,\n,b", [["a", ""], ["", "b"]]),
      (",", [["", ""]]), ("\"a\",\"b\"", [["a", "b"]]), ("\"a,b\",c", [["a,b", "c"]]),
      ("\"a\nb\",c\nd,e", [["a\nb", "c"], ["d", "e"]]), ("\"a\r\nb\"\r\n", [["a\r\nb"]]),
      ("\"a\rb\"", [["a\rb"]]), ("\"a\"\"b\"", [["a\"b"]]), ("\"\"\"\"", [["\""]]),
      ("\"\"", [[""]]), ("\"\",\"\"\n", [["", ""]]), (" a , b ", [[" a ", " b "]]),
      ("\" a \"", [[" a "]]), ("a\n\nb\n\n\n", [["a"], ["b"]]), ("\r\n\r\na\r\n", [["a"]]),
      ("\n", []), ("é,漢,😀", [["é", "漢", "😀"]]), ("'a','b'", [["'a'", "'b'"]]),
      ("ab\u{0},\u{7F}", [["ab\u{0}", "\u{7F}"]]), ("\"\n\n\"", [["\n\n"]]), ("a;b", [["a;b"]]),
      ("\u{FEFF}a,b", [["a", "b"]]), ("\"a\"\"\",b", [["a\"", "b"]]),
      ("\u{2028},\u{85}", [["\u{2028}", "\u{85}"]]),
    ])
  func rows(text: String, rows: [[String]]) {
    let outcome = CSVProbe.outcome(text)

    #expect(outcome.error == nil)
    #expect(
      outcome.texts.map { $0.map { Array($0.utf8) } } == rows.map { $0.map { Array($0.utf8) } })
  }

  @Test(
    "any delimiter stands between fields, and the others are text",
    arguments: [";", "\t", "|", ":", "^", "~", "#", "\u{1F}"] as [Character])
  func delimiters(character: Character) throws {
    let delimiter = try #require(CSVDelimiter(character))

    let outcome = CSVProbe.outcome("a,b\(character)\"c\(character)\"\n", delimiter: delimiter)

    #expect(outcome.texts == [["a,b", "c\(character)"]])
  }

  @Test(
    "what would make a table ambiguous is no delimiter",
    arguments: ["a", "7", "\"", "\n", "\r", "\r\n", " ", ".", "-", "+", "_", "\\", "`", "é", "\0"]
      as [Character])
  func noDelimiter(character: Character) {
    #expect(CSVDelimiter(character) == nil)
  }

  @Test("fields know where they begin, by scalars, behind line ends in quotes and a mark")
  func positions() {
    let outcome = CSVProbe.outcome("\u{FEFF}é,\"x\ny\",z\r\n😀,b,\"\"\n")

    #expect(
      outcome.rows.map { $0.map { "\($0.position)" } } == [
        ["1:1", "1:3", "2:4"], ["3:1", "3:3", "3:5"],
      ])
    #expect(outcome.rows[1].map(\.isQuoted) == [false, false, true])
  }

  @Test(
    "what is no CSV is refused where it goes wrong",
    arguments: [
      ("a,b\nc", "2:2: found the end of a row of 1 fields, expected 2 fields"),
      ("a,b\nc\nd,e", "2:2: found the end of a row of 1 fields"),
      ("a,b\nc,d,e", "2:4: found a field more than the 2 of the header, expected the end of the"),
      ("a,b\nc,d,", "2:4: found a field more"), ("a,b\n ", "2:2: found the end of a row of 1"),
      ("a,b\n\"\"\n", "2:3: found the end of a row of 1 fields"),
      ("a\nb\"c", "2:2: found `\"`, expected quotes around the whole field"),
      ("a\n \"c\"", "2:2: found `\"`, expected quotes"), ("a\"", "1:2: found `\"`"),
      (
        "\"a\"b",
        "1:4: found `b`, expected the next field or the end of the row, for the field that begins at 1:1 ends"
      ),
      ("\"a\" ,b", "1:4: found ` `"), ("\"a\"é", "1:4: found `é` (U+00E9)"),
      ("\"a\"\"\"b\"", "1:6: found `b`"),
      (
        "x,\"a\nb",
        "2:2: found the end of the file, expected `\"` to end the field that begins at 1:3"
      ),
      ("\"", "1:2: found the end of the file"), ("\"a\"\"", "1:5: found the end of the file"),
      ("a\rb", "1:2: found a carriage return alone, expected LF or CR LF"),
      ("a\r", "1:2: found a carriage return alone"), ("\r", "1:1: found a carriage return alone"),
      ("\"a\"\rb", "1:4: found U+000D"), ("a\r\r\n", "1:2: found a carriage return alone"),
      ("\u{FEFF}\u{FEFF}a", "1:1: found a byte order mark"),
    ])
  func refusals(text: String, sentence: String) {
    let outcome = CSVProbe.outcome(text)

    #expect(
      outcome.error?.description.hasPrefix("test.csv:" + sentence) == true,
      "\(String(describing: outcome.error))")
  }

  @Test("the reason of a refusal tells of carriage returns that may end rows, quotes or not")
  func carriageReturns() {
    for text in ["a,b\r1,2\r", "\"a\"\r1", "a\r"] {
      #expect(CSVProbe.outcome(text).error?.reason == .carriageReturn, "\(text.debugDescription)")
    }
    for text in ["\"a\" \rb", "a\n\"b\"c", "a\u{0}\"\r"] {
      let error = CSVProbe.outcome(text).error
      #expect(error != nil && error?.reason != .carriageReturn, "\(text.debugDescription)")
    }
  }

  @Test(
    "bytes that are not UTF-8 are refused at their place, in quotes and without",
    arguments: [
      ([0x61, 0xE9, 0x2C], "1:2", "byte E9, which"), ([0x22, 0xC3, 0x22], "1:2", "byte C3, which"),
      ([0x61, 0x0A, 0x22, 0x0A, 0xED, 0xA0, 0x80, 0x22], "3:1", "byte ED A0 80"),
      ([0xFF, 0xFE, 0x61, 0x00], "1:1", "UTF-16"), ([0x61, 0x00, 0x62, 0x00], "1:1", "UTF-16"),
      ([0xF0, 0x9F, 0x98], "1:1", "byte F0 9F 98"), ([0xC0, 0x80], "1:1", "byte C0 80"),
    ] as [([UInt8], String, String)])
  func encoding(bytes: [UInt8], place: String, found: String) {
    let error = CSVProbe.outcome(bytes).error

    #expect(error?.kind == .encoding)
    #expect(error?.position.map { "\($0)" } == place)
    #expect(error?.found.contains(found) == true, "\(String(describing: error))")
  }

  @Test("a field, a row and a header of the limit are accepted, a byte or a column more is not")
  func limits() {
    var limits = CSVLimits()
    limits.fieldByteCount = 5
    limits.rowByteCount = 8
    limits.columnCount = 3

    #expect(CSVProbe.outcome("12345,123\n\"1\"\"345\",x\n", limits: limits).error == nil)
    let field = CSVProbe.outcome("a,b\nx,123456\n", limits: limits).error
    #expect(field?.kind == .limit(.fieldByteCount) && "\(field!.position!)" == "2:3")
    let quoted = CSVProbe.outcome("a,b\nx,\"12345é\"\n", limits: limits).error
    #expect(quoted?.kind == .limit(.fieldByteCount) && "\(quoted!.position!)" == "2:3")
    let lines = CSVProbe.outcome("a,b\nx,\"1\n3\n5\n7\"\n", limits: limits).error
    #expect(lines?.kind == .limit(.fieldByteCount) && "\(lines!.position!)" == "2:3")
    let row = CSVProbe.outcome("a,b\n12345,1234\n", limits: limits).error
    #expect(row?.kind == .limit(.rowByteCount) && "\(row!.position!)" == "2:1")
    let columns = CSVProbe.outcome("a,b,c,d\n", limits: limits).error
    #expect(columns?.kind == .limit(.columnCount) && "\(columns!.position!)" == "1:6")
  }
}
