import Larder
import LarderTestKit
import Testing

@testable import LarderImport

@Suite("Numbers and dates as they nearly always are")
struct PlainNumberTests {
  @Test("what is read quickly is what the reader of all numbers says")
  func same() {
    var random = RandomSource()
    var (integers, doubles) = (0, 0)
    for _ in 0..<repetitions(60_000) {
      var text = random.once(in: 3) ? "-" : ""
      for _ in 0..<random.int(0..<random.pick([3, 11, 20])) {
        text += random.once(in: 9) ? "0" : "\(random.int(0..<10))"
      }
      if random.bool() { text += "." + String("\(random.integer())".drop { $0 == "-" }) }
      if random.once(in: 20) { text += random.pick(["e5", "x", "", ".", "-"]) }
      text.withUTF8 { bytes in
        let number = try? NumberText.read(bytes).get()
        if let integer = PlainNumber.integer(bytes) {
          integers += 1
          #expect(number == .integer(integer))
        }
        guard let double = PlainNumber.double(bytes) else { return }
        doubles += 1
        switch number {
        case .integer(let integer)?: #expect(Double(exactly: integer) == double)
        case .double(let same)?: #expect(same.bitPattern == double.bitPattern)
        default: Issue.record("\(String(decoding: bytes, as: UTF8.self)) is no double")
        }
      }
    }
    #expect(integers > 1_000 && doubles > 1_000)
  }

  @Test("the fewest digits of a double are those of its description")
  func fewestDigits() {
    var random = RandomSource()
    var count = 0
    func check(_ number: Double) {
      guard let (digits, places) = number.shortestDigits else { return }
      count += 1
      let text = String(repeating: "0", count: max(0, places + 1 - "\(digits)".count)) + "\(digits)"
      let written = "\(text.dropLast(places)).\(text.suffix(places))"
      #expect(written == number.description, "\(random.hint)")
    }
    for _ in 0..<repetitions(20_000) {
      // Of all that it takes, of few bits behind the point, and next to a power of two.
      let exponent = UInt64(random.int(1013..<1076))
      let bits = UInt64(bitPattern: random.integer()) & (1 << 52 - 1)
      check(Double(bitPattern: exponent << 52 | bits))
      check(Double(bitPattern: exponent << 52 | bits & ~0 << UInt64(random.int(0..<52))))
      check(Double(bitPattern: exponent << 52 | UInt64(random.int(0..<4))))
      check(Double(bitPattern: exponent << 52 | (1 << 52 - 1 - UInt64(random.int(0..<4)))))
      check(Double(bits) / powersOfTen[random.int(1..<20)])
    }
    #expect(count > 10_000)
  }

  @Test("a number is a double where, written with as many digits, the double is the same")
  func digits() {
    var random = RandomSource()
    var (kept, lost) = (0, 0)
    for _ in 0..<repetitions(20_000) {
      let double = Double(bitPattern: UInt64(bitPattern: random.integer()))
      let near = Double(random.integer()) / powersOfTen[random.int(1..<23)]
      var text = random.pick([
        "\(near)", double.isFinite ? "\(double)" : "1.5",
        "\(random.int(1..<100)).\(random.integer().magnitude % 1_000_000_000_000_000)",
        "\(random.integer().magnitude % 10_000_000_000_000_000)e\(random.int(-30..<30))",
        "0.\(random.integer().magnitude % 100_000_000_000_000_000)",
      ])
      let digits = SignificantDigits.of(text)
      guard digits.count <= SignificantDigits.most, text.contains(where: { ".e".contains($0) }),
        let expected = Double(text), expected.isFinite, expected != 0
      else { continue }
      text.withUTF8 { bytes in
        guard expected.keepsDigits(digits) else {
          lost += 1
          #expect(PlainNumber.double(bytes) == nil, "\(random.hint)")
          guard case .success(.number) = NumberText.read(bytes) else {
            Issue.record("\(String(decoding: bytes, as: UTF8.self)) \(random.hint)")
            return
          }
          return
        }
        kept += 1
        guard case .success(.double(let number)) = NumberText.read(bytes) else {
          Issue.record("\(String(decoding: bytes, as: UTF8.self)) \(random.hint)")
          return
        }
        #expect(number.bitPattern == expected.bitPattern, "\(random.hint)")
      }
    }
    #expect(kept > 1_000 && lost > 100, "\(kept) \(lost)")
  }

  @Test("eight digits at once are those of the number, and nothing else is taken for digits")
  func eights() {
    var random = RandomSource()
    for _ in 0..<repetitions(20_000) {
      let number = UInt64(random.int(0..<100_000_000) / random.pick([1, 1, 100, 100_000]))
      let word = eightDigits(number)
      let text = "\(number + 100_000_000)".utf8.dropFirst()
      #expect(text.reversed().reduce(0) { $0 << 8 | UInt64($1) } == word)
      #expect(hasOnlyDigits(word) && numberOfEightDigits(word) == number)
      let (place, byte) = (UInt64(random.int(0..<8) * 8), UInt64(random.int(0..<256)))
      let other = word & ~(0xFF << place) | byte << place
      #expect(hasOnlyDigits(other) == (0x30...0x39).contains(byte), "\(random.hint)")
    }
  }

  @Test("the double nearest to a number is that of the system's library, to the last bit")
  func nearest() throws {
    var random = RandomSource()
    func check(_ digits: UInt64, _ places: Int) {
      let text = "\(digits)e-\(places)"
      guard let double = Double.nearest(digits, places: places) else { return }
      #expect(double.bitPattern == Double(text)?.bitPattern, "\(text) \(random.hint)")
    }
    for _ in 0..<repetitions(40_000) {
      let digits =
        UInt64(random.integer().magnitude) % (random.bool() ? 100_000_000_000_000_000 : 1 << 58)
      check(digits, random.int(0..<24))
    }
    // Halfway between two doubles, and next to it, where one more bit decides.
    for _ in 0..<repetitions(5_000) {
      let whole = UInt64(1) << 52 + UInt64(random.int(0..<Int(1) << 52))
      for digits in [whole * 10 + 5, whole * 10 + 4, whole * 10 + 6] { check(digits, 1) }
      let quarter = whole >> 1
      for digits in [quarter * 10 + 3, quarter * 10 + 2, quarter * 10 + 7] { check(digits, 1) }
    }
    for digits: UInt64 in [1, 9, 1 << 53, 1 << 53 + 1, 99_999_999_999_999_999] {
      for places in 1...17 { check(digits, places) }
    }
    #expect(Double.nearest(45_035_996_273_704_975, places: 1) == 4_503_599_627_370_498)
    #expect(Double.nearest(100_000_000_000_000_001, places: 3) == nil)
    #expect(Double.nearest(90_071_992_547_409_930, places: 1) == nil)
    #expect(Double.nearest(5, places: 0) == nil)
  }

  @Test("a date in the usual form is written again as it stands")
  func dates() {
    var random = RandomSource()
    var usual = 0
    for _ in 0..<repetitions(20_000) {
      func padded(_ number: Int, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: count - text.count) + text
      }
      var text =
        "\(padded(random.int(0..<10_000), 4))-\(padded(random.int(0..<14), 2))"
        + "-\(padded(random.int(0..<33), 2))T\(padded(random.int(0..<25), 2))"
        + ":\(padded(random.int(0..<61), 2)):\(padded(random.int(0..<62), 2))"
        + ".\(padded(random.int(0..<1_000), 3))Z"
      if random.once(in: 10) {
        var bytes = Array(text.utf8)
        bytes[random.int(0..<bytes.count)] = random.pick(Array("0123456789T:-.Z+ tz,".utf8))
        text = String(decoding: bytes, as: UTF8.self)
      }
      guard text.withUTF8({ DateText.isUsual($0) }) else { continue }
      usual += 1
      #expect(DateText.date(from: text).map { DateText.text(of: $0) } == text)
    }
    #expect(usual > 1_000)
  }
}
