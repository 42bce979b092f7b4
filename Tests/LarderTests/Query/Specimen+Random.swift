import Foundation
import Larder
import LarderTestKit

/// Small pools, so that documents tie and conditions hit.
enum Pool {
  static let texts = [
    "", "a", "A", "ab", "abc", "b", "e", "z", "K", "\u{212A}",
    "\u{E9}", "e\u{301}", "\u{E9}a", "caf\u{E9}", "cafe\u{301}",
    "\u{212B}", "\u{C5}", "A\u{30A}", "\r\n", "\r", "\n", "a\r\nb", "a\n", "a\r\n", "\u{0}a",
    "\u{1F468}\u{200D}\u{1F469}", "\u{1F468}", "\u{1F600}", "\u{DF}", "\u{1100}\u{1161}",
    "\u{AC00}", "\u{AC01}", "\u{AC00}\u{11A8}", "\u{FFFD}",
    "an ASCII text that is longer than thirty-one bytes",
  ]
  /// With some that are alike for longer than indexes look at them, which cannot be keys.
  static let allTexts =
    texts
    + ["a", "b", "\u{E9}", ""].map { String(repeating: "long ", count: 60) + $0 }
    + [String(repeating: "lone ", count: 60), String(repeating: "\u{E9}", count: 200)]
  static let integers = [
    .min, .min + 1, -129, -1, 0, 1, 2, 5, 1 << 53, 1 << 53 + 1, .max - 1, .max,
  ]
  static let bytes: [Int8] = [.min, -33, -32, -1, 0, 1, 5, .max]
  static let words: [Int32] = [.min, -40_000, -1, 0, 1, 200, 70_000, .max]
  static let naturals: [UInt64] = [
    0, 1, 5, 1 << 53, UInt64(Int64.max), UInt64(Int64.max) + 1, .max - 1, .max,
  ]
  static let doubles = [
    -.infinity, -.greatestFiniteMagnitude, -1.5, -0.0, 0.0, .leastNonzeroMagnitude, 0.1, 1, 1.5, 5,
    0x1p53, .infinity, .nan, -.nan, .signalingNaN,
  ]
  static let floats: [Float] = [
    -.infinity, -1.5, -0.0, 0.0, 0.1, 1, 16_777_216, .greatestFiniteMagnitude, .infinity, .nan,
  ]
  static let decimals: [Decimal] = [
    .nan, -1, 0, 1, Decimal(string: "0.1") ?? 0, Decimal(string: "1.10") ?? 0,
    Decimal(string: "1.1") ?? 0, Decimal(string: "12345678901234567890.123456789") ?? 0,
    .greatestFiniteMagnitude, .leastNonzeroMagnitude, -.greatestFiniteMagnitude,
  ]
  static let dates = ([-1e9, -0.0, 0.0, 0.1, 1, 7e8, .infinity, .nan] as [Double]).map {
    Date(timeIntervalSinceReferenceDate: $0)
  }
  static let ids = [
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)),
    UUID(uuid: (0x7F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
    UUID(uuid: (0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
  ]
  static let links = [
    "https://a.example/", "https://a.example", "HTTPS://a.example/", "https://a.example/%C3%A9",
    "mailto:a@b.example", "a/relative",
  ].compactMap { URL(string: $0) }
  static let codes = [0, 1, 2, 3].map { Specimen.Code(rawValue: $0) }
  static let blobs = [Data(), Data([0]), Data([0, 0]), Data([255]), Data([0, 255])]
}

extension Specimen {
  init(id: String, using random: inout RandomSource) {
    self.id = id
    name = random.pick(Pool.allTexts)
    note = random.maybe(Pool.allTexts)
    count = random.pick(Pool.integers)
    small = random.pick(Pool.bytes)
    step = random.maybe(Pool.words)
    big = random.pick(Pool.naturals)
    bigger = random.maybe(Pool.naturals)
    ratio = random.pick(Pool.doubles)
    weight = random.maybe(Pool.doubles)
    gauge = random.pick(Pool.floats)
    level = random.maybe(Pool.floats)
    price = random.pick(Pool.decimals)
    cost = random.maybe(Pool.decimals)
    isOpen = random.bool()
    isNew = random.bool()
    mark = random.maybe([true, false])
    made = random.pick(Pool.dates)
    sold = random.maybe(Pool.dates)
    token = random.pick(Pool.ids)
    parent = random.maybe(Pool.ids)
    link = random.pick(Pool.links)
    source = random.maybe(Pool.links)
    blob = random.pick(Pool.blobs)
    digest = random.maybe(Pool.blobs)
    tags = random.several(Pool.allTexts)
    numbers = Set(random.several(Pool.integers))
    ratios = random.several(Pool.doubles)
    remarks = random.several([nil, "a", "", nil])
    color = random.pick(Color.allCases)
    rank = random.pick(Rank.allCases)
    shade = random.maybe(Color.allCases)
    base = Site(using: &random)
    site = random.bool() ? nil : Site(using: &random)
    labels = random.once(in: 3) ? nil : random.several(Pool.allTexts)
    marks = random.once(in: 3) ? nil : Set(random.several(Pool.integers))
    scores = Dictionary(
      random.several(Pool.texts).map { ($0, $0.count) }, uniquingKeysWith: { first, _ in first })
    places = random.array(0..<4) { Place(using: &$0) }
    colors = random.several(Color.allCases)
    grade = random.pick(Grade.allCases)
    lastGrade = random.maybe(Grade.allCases)
    code = random.pick(Pool.codes)
    lastCode = random.maybe(Pool.codes)
  }
}

extension Site {
  init(using random: inout RandomSource) {
    self.init(
      lat: random.pick(Pool.doubles), label: random.pick(Pool.texts),
      visits: random.pick(Pool.integers), alias: random.maybe(Pool.texts),
      place: Place(using: &random))
  }
}

extension Place {
  init(using random: inout RandomSource) {
    self.init(code: random.pick(Pool.integers), word: random.pick(Pool.texts))
  }
}

extension RandomSource {
  mutating func maybe<Element>(_ pool: [Element]) -> Element? {
    once(in: 4) ? nil : pick(pool)
  }

  /// None to four elements of a pool.
  mutating func several<Element>(_ pool: [Element]) -> [Element] {
    array(0..<5) { $0.pick(pool) }
  }
}

extension TextOracle {
  /// Form C by way of form D: Foundation alone leaves a Hangul syllable with a final behind it.
  static func composed(_ text: String) -> String {
    text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping
  }
}
