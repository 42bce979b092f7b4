import LarderImport
import Testing

@Suite("JSON that is accepted")
struct JSONValueTests {
  @Test(
    "numbers keep what they say",
    arguments: [
      ("0", .integer(0)),
      ("-1", .integer(-1)),
      ("9223372036854775807", .integer(.max)),
      ("-9223372036854775808", .integer(.min)),
      ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)),
      ("18446744073709551615", .unsigned(.max)),
      ("18446744073709551616", .number("18446744073709551616")),
      ("-9223372036854775809", .number("-9223372036854775809")),
      ("100000000000000000000", .number("100000000000000000000")),
      ("1.0", .double(1)),
      ("1e0", .double(1)),
      ("1E+2", .double(100)),
      ("-1.5e-3", .double(-0.0015)),
      ("0.1", .double(0.1)),
      // Whoever takes it for a decimal needs all digits.
      ("0.30000000000000004", .number("0.30000000000000004")),
      ("9007199254740993.0", .number("9007199254740993.0")),
      ("1e22", .double(1e22)),
      ("1e23", .double(1e23)),
      ("8.5e-320", .double(17204 * .leastNonzeroMagnitude)),
      ("1.7976931348623157e308", .number("1.7976931348623157e308")),
      ("5e-324", .double(.leastNonzeroMagnitude)),
      ("0.12345678901234567", .number("0.12345678901234567")),
      ("0.123456789012345678", .number("0.123456789012345678")),
      ("1.0000000000000000000000", .double(1)),
      ("0.00000000000000000000001", .double(1e-23)),
      ("1.7976931348623159e308", .number("1.7976931348623159e308")),
      ("1e400", .number("1e400")),
      ("-1e99999999999999999999", .number("-1e99999999999999999999")),
      ("1e-400", .number("1e-400")),
      ("0e99999999999999999999", .double(0)),
      ("0.0", .double(0)),
      // An integer for some, and a double for others.
      ("-0", .number("-0")),
    ] as [(String, JSONValue)])
  func number(_ text: String, _ expected: JSONValue) throws {
    let value = try JSONProbe.value(text)

    #expect(value == expected)
  }

  @Test("minus zero is a double below zero", arguments: ["-0.0", "-0e5", "-0.00E-7"])
  func minusZero(_ text: String) throws {
    let value = try JSONProbe.value(text)

    guard case .double(let double) = value else {
      Issue.record("\(value) is no double")
      return
    }
    #expect(double == 0 && double.sign == .minus)
  }

  @Test(
    "escapes stand for their characters",
    arguments: [
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
      (#""\u0041\u00e9\u20AC""#, "Aé€"),
      (#""x\uD83D\uDE00y""#, "x😀y"),
      (#""\u0000""#, "\u{0}"),
      (#""\ud834\udd1e""#, "𝄞"),
      (#""\uFFFF\uFFFE""#, "\u{FFFF}\u{FFFE}"),
      (#""é\u0301ß漢😀""#, "é\u{301}ß漢😀"),
      ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
    ])
  func escapes(_ text: String, _ expected: String) throws {
    let value = try JSONProbe.value(text)

    #expect(areExactlyEqual(value, .string(expected)))
  }

  @Test("names in NFC and NFD are two names")
  func normalisation() throws {
    let value = try JSONProbe.value("{\"caf\u{E9}\":1,\"cafe\u{301}\":2}")

    #expect(
      areExactlyEqual(
        value,
        .object([
          JSONMember(name: "caf\u{E9}", value: .integer(1), position: .init(line: 1, column: 9)),
          JSONMember(
            name: "cafe\u{301}", value: .integer(2), position: .init(line: 1, column: 19)),
        ])))
  }

  @Test(
    "equivalent names of the same length are two names, in objects of any size",
    arguments: [
      0, 14, 15, 30,
    ])
  func equivalentNames(_ others: Int) throws {
    let names = ["e\u{301}\u{323}", "e\u{323}\u{301}"] + (0..<others).map { "n\($0)" }
    try #require(names[0] == names[1])
    for names in [names, names.reversed()] {
      let text = "{" + names.map { "\"\($0)\":0" }.joined(separator: ",") + "}"

      #expect(throws: Never.self) { try JSONProbe.value(text) }
    }
  }

  @Test("the same name may stand in several objects")
  func namesAreScoped() throws {
    let text = #"{"a":{"a":{"a":1},"b":2},"b":[{"a":1},{"a":2}],"c":3}"#

    #expect(throws: Never.self) { try JSONProbe.value(text) }
  }

  @Test("members keep their order and know where their values begin")
  func members() throws {
    let value = try JSONProbe.value("{\n \"z\" : 1,\n \"ø\": [\n true], \"a\":null}")

    guard case .object(let members) = value else {
      Issue.record("\(value) is no object")
      return
    }
    #expect(members.map(\.name) == ["z", "ø", "a"])
    #expect(members.map(\.value) == [.integer(1), .array([.bool(true)]), .null])
    #expect(members.map { "\($0.position)" } == ["2:8", "3:7", "4:13"])
  }

  @Test("any value may stand alone", arguments: ["1", " null ", "\"\"", "[]", "{}", "\r\n true\t"])
  func anyValue(_ text: String) {
    #expect(throws: Never.self) { try JSONProbe.value(text) }
  }
}
