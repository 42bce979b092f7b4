import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct ScalarRoundTripTests {
  @Test("integers of every width come back, extremes and the edges of each encoding included")
  func integers() throws {
    func check<Integer: FixedWidthInteger & Storable & Sendable>(_: Integer.Type) throws {
      let small: [Int] = [0, 1, 31, 32, 33, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536]
      let shifted: [Int] = small + small.map { $0 << 16 } + small.map { $0 << 31 }
      let edges: [Int] = shifted + shifted.map { -$0 }
      let ends: [Integer] = [.min, .min + 1, .max, .max - 1]
      let values: [Integer] = ends + edges.compactMap { Integer(exactly: $0) }

      let back = try stored(One(values)).value

      #expect(back == values)
      #expect(try stored(One(Integer.min)).value == .min)
      #expect(try stored(One(Integer.max)).value == .max)
    }
    try check(Int.self)
    try check(Int64.self)
    try check(Int32.self)
    try check(Int16.self)
    try check(Int8.self)
    try check(UInt.self)
    try check(UInt64.self)
    try check(UInt32.self)
    try check(UInt16.self)
    try check(UInt8.self)
  }

  static let doubles: [UInt64] = [
    Double.nan.bitPattern, Double.signalingNaN.bitPattern,
    Double(nan: 0x1234, signaling: false)
      .bitPattern, (-Double.nan).bitPattern, (-0.0).bitPattern, (0.0).bitPattern,
    Double.infinity.bitPattern, (-Double.infinity).bitPattern,
    Double.leastNonzeroMagnitude.bitPattern, Double.leastNormalMagnitude.nextDown.bitPattern,
    Double.greatestFiniteMagnitude.bitPattern, (0.1).bitPattern, UInt64.max,
  ]

  @Test("a double comes back to the last bit", arguments: doubles)
  func double(bits: UInt64) throws {
    #expect(try stored(One(Double(bitPattern: bits))).value.bitPattern == bits)
  }

  static let floats: [UInt32] = [
    Float.nan.bitPattern, Float.signalingNaN.bitPattern,
    Float(nan: 0x123, signaling: false).bitPattern, (-Float.nan).bitPattern,
    (-0.0 as Float).bitPattern,
    Float.infinity.bitPattern, Float.leastNonzeroMagnitude.bitPattern,
    Float.greatestFiniteMagnitude.bitPattern, (0.1 as Float).bitPattern, UInt32.max,
  ]

  @Test("a float comes back to the last bit", arguments: floats)
  func float(bits: UInt32) throws {
    #expect(try stored(One(Float(bitPattern: bits))).value.bitPattern == bits)
  }

  @Test("a date comes back to the last bit", arguments: doubles)
  func date(bits: UInt64) throws {
    let date = Date(timeIntervalSinceReferenceDate: Double(bitPattern: bits))

    let back = try stored(One(date)).value

    #expect(back.timeIntervalSinceReferenceDate.bitPattern == bits)
  }

  @Test(
    "a string of any length comes back",
    arguments: [0, 1, 15, 16, 31, 32, 33, 255, 256, 257, 20_000, 65_535, 65_536, 65_537])
  func string(count: Int) throws {
    let text = String(repeating: "x", count: count)
    let wide = String(repeating: "é", count: count / 2)

    #expect(try stored(One([text, wide])).value == [text, wide])
  }

  @Test("a string that is no key keeps its bytes: NFC stays NFC and NFD stays NFD")
  func normalisation() throws {
    let texts = ["\u{E9}", "e\u{301}", "\u{212B}", "👩‍👩‍👧‍👦", "\r\n\0", "\u{FEFF}", "\u{10FFFF}"]

    let back = try stored(One(texts)).value

    #expect(back.map { Array($0.utf8) } == texts.map { Array($0.utf8) })
  }

  @Test(
    "data of any length comes back", arguments: [0, 1, 31, 32, 255, 256, 65_535, 65_536, 200_000])
  func data(count: Int) throws {
    let data = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    #expect(try stored(One(data)).value == data)
    #expect(try stored(One(data.dropFirst(3))).value == data.dropFirst(3))
  }

  @Test("a Bool, a UUID and a URL come back")
  func others() throws {
    let id = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
    let urls = ["https://example.org/a%20b?q=%C3%A9#x", "mailto:a@b.c", "file:///tmp/x", "a/b"]
      .compactMap { URL(string: $0) }

    #expect(try stored(One([true, false])).value == [true, false])
    #expect(try stored(One(id)).value == id)
    #expect(try stored(One(urls)).value == urls)
  }

  @Test("a URL that is relative to another comes back as the absolute one")
  func relativeURL() throws {
    let base = try #require(URL(string: "https://example.org/a/"))
    let url = try #require(URL(string: "b", relativeTo: base))

    #expect(try stored(One(url)).value == url.absoluteURL)
  }

  @Test("a decimal of any digits and exponent comes back, not a number too")
  func decimals() throws {
    var random = RandomSource()
    var values = random.array(500..<501) { $0.decimal() }
    values += [
      0, .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .nan,
    ]
    let most = try #require(Decimal(string: "340282366920938463463374607431768211455"))
    for exponent in [127, 90, 1, 0, -1, -90, -128] {
      values.append(Decimal(sign: .minus, exponent: exponent, significand: most))
    }

    let back = try stored(One(values)).value

    #expect(back.count == values.count)
    for (back, value) in zip(back, values) {
      #expect(back == value || back.isNaN && value.isNaN, "\(random.hint)")
    }
  }

  @Test("an enum comes back by its raw value, and one without a case names it")
  func enums() throws {
    #expect(try stored(One(Channel.allCases)).value == Channel.allCases)
    #expect(try stored(One(Rank.low)).value == .low)
    try withTemporaryStore { store in
      try store.repository(of: One<String>.self).save(One("fax"))

      let error = #expect(throws: StoreError.self) {
        try store.repository(of: One<Channel>.self).get("a")
      }

      #expect(
        error
          == .unknownCase(
            collection: "One", key: "\"a\"",
            reason: .field("value", .unknownCase("fax", type: "Channel"))))
    }
  }
}
