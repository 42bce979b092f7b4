package import Foundation

/// Random numbers that come again with the same seed.
///
/// SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct RandomSource: RandomNumberGenerator {
  package let seed: UInt64
  private var state: UInt64

  /// Seeded by `LARDER_SEED` in the environment, which repeats a run, or else anew; prints the seed
  /// with the name of the test.
  package init(test: String = #function) {
    let given = ProcessInfo.processInfo.environment["LARDER_SEED"].flatMap { UInt64($0) }
    self.init(seed: given ?? UInt64.random(in: .min ... .max))
    print("\(test): \(hint)")
  }

  package init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// What a failed expectation says, so that the run can be repeated.
  package var hint: String { "LARDER_SEED=\(seed)" }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  package mutating func int(_ range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

  package mutating func bool() -> Bool { next() & 1 == 0 }

  /// True once in `count` times.
  package mutating func once(in count: Int) -> Bool { int(0..<count) == 0 }

  package mutating func array<Element>(
    _ counts: Range<Int>, _ make: (inout RandomSource) -> Element
  ) -> [Element] {
    (0..<int(counts)).map { _ in make(&self) }
  }
}

extension RandomSource {
  /// Any width of integer is as likely as any other.
  package mutating func integer() -> Int64 { Int64(bitPattern: next()) >> int(0..<64) }

  /// Any bits: NaN with a payload, infinities, subnormals and -0.0 come too.
  package mutating func double() -> Double {
    switch int(0..<4) {
    case 0: Double(integer())
    case 1:
      [0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude].randomElement(using: &self)!
    default: Double(bitPattern: next())
    }
  }

  /// Text up to `count` characters: ASCII, composed and decomposed letters, line breaks, emoji.
  package mutating func text(upTo count: Int = 20) -> String {
    let alphabet =
      once(in: 3)
      ? ["a", "e\u{301}", "é", "ß", "Å", "\u{212B}", "日", "👩‍👩‍👧", "\r\n", "\n", "\u{0}", "🇳🇴", "z"]
      : ["a", "b", "c", " ", "Z", "9"]
    return (0..<int(0..<count + 1)).map { _ in alphabet.randomElement(using: &self)! }.joined()
  }

  package mutating func data(upTo count: Int = 40) -> Data {
    Data(array(0..<count + 1) { UInt8(truncatingIfNeeded: $0.next()) })
  }

  package mutating func uuid() -> UUID {
    let high = next()
    let low = next()
    return withUnsafeBytes(of: (high, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  package mutating func pick<Element>(_ pool: [Element]) -> Element { pool[int(0..<pool.count)] }

  /// Up to 38 digits, any exponent that fits, now and then not a number.
  package mutating func decimal() -> Decimal {
    if once(in: 20) { return .nan }
    let digits = (0..<int(1..<39)).map { _ in String(int(0..<10)) }.joined()
    guard let significand = Decimal(string: digits) else { return 0 }
    return Decimal(
      sign: bool() ? .plus : .minus, exponent: int(-120..<121), significand: significand)
  }

  package mutating func url() -> URL {
    let paths = ["", "/", "/a/b.txt", "/%C3%A9?q=1&r=%20#top", "/?x=é"]
    return URL(string: "https://example.org" + paths.randomElement(using: &self)!)!
  }
}
