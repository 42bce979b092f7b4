import Foundation
import LarderTestKit
import Testing

@testable import Larder

@Suite("words of texts")
struct WordsTests {
  static let words: [(text: String, words: [String])] = [
    ("", []), (" \n…!?", []),
    ("Don't stop, l'homme", ["don", "t", "stop", "l", "homme"]),
    ("Ångström ﬁne STRASSE straße", ["angstrom", "fine", "strasse", "strasse"]),
    ("smørrebrød Æsop đàn Łódź ıİIi", ["smorrebrod", "aesop", "dan", "lodz", "iiii"]),
    (
      "ann@example.org v1.2 snake_case e-mail",
      [
        "ann", "example", "org", "v1", "2", "snake", "case", "e", "mail",
      ]
    ),
    ("so\u{AD}ft a\u{200B}b non\u{200D}joined", ["soft", "a", "b", "nonjoined"]),
    ("col·lecció · x·", ["colleccio", "x"]),
    ("ΣΊΣΥΦΟΣ σίσυφος", ["σισυφοσ", "σισυφοσ"]), ("Ёлка ЁЛКА", ["елка", "елка"]),
    ("ᾠδή ΩΙΔΗ", ["ωδη", "ωιδη"]),
    ("שָׁלוֹם", ["שלום"]), ("مُحَمَّد أحمد ـــ", ["محمد", "احمد"]),
    ("٣٤ ४२ Ⅳ m² ½ ①", ["34", "42", "iv", "m2", "1", "2", "1"]),
    ("क़िताब क\u{93C}िताब", ["क\u{93C}िताब", "क\u{93C}िताब"]),
    ("東京都 tower関東", ["東京", "京都", "都", "tower", "関東", "東"]), ("東", ["東"]),
    ("ガ か\u{3099} ｶﾞ", ["カ\u{3099}", "か\u{3099}", "カ\u{3099}"]),
    ("コーヒー", ["コー", "ーヒ", "ヒー", "ー"]),
    ("서울에서 \u{1109}\u{1165}\u{11AF}", ["서울", "울에", "에서", "서", "설"]),
    ("สวัสดี", ["สวั", "วัส", "สดี", "ดี"]), ("មួយ", ["មួយ", "យ"]),
    ("👩‍👩‍👧 hi🎉 👍🏽", ["👩", "👩", "👧", "hi", "🎉", "👍"]),
    ("🇳🇴", ["🇳🇴"]), ("🇫🇷🇺🇸🇷", ["🇫🇷", "🇺🇸", "🇷"]),
    ("a🇳b🇳 🇴東🇴1🇳\u{200D}🇴🇴é", ["a", "🇳", "b", "🇳", "🇴", "東", "🇴", "1", "🇳🇴", "🇴", "e"]),
    ("\u{1D15E}x \u{1D157}\u{1D165}x ↮ ↔\u{338}", ["\u{1D165}x", "\u{1D165}x", "↔", "↔"]),
    (String(repeating: "x", count: 100), [String(repeating: "x", count: 64)]),
  ]

  @Test("of many scripts", arguments: words)
  func found(text: String, words: [String]) {
    #expect(Self.words(of: text) == words.map { Array($0.utf8) })
    #expect(
      Self.words(of: text.decomposedStringWithCanonicalMapping) == words.map { Array($0.utf8) })
  }

  @Test("canonically equivalent texts have the same words, and a word is its own")
  func equivalence() {
    var random = RandomSource()
    // Without U+1113 and U+1176, the first letters of Hangul behind those that compose: Swift 6.3 composes them
    // all the same, and Unicode does not.
    let scalars: [ClosedRange<UInt32>] = [
      0x20...0x7E, 0xA0...0x24F, 0x300...0x345, 0x370...0x52F, 0x590...0x6FF, 0x900...0xDFF,
      0xE00...0x0EFF, 0x1000...0x1113, 0x1114...0x1175, 0x11A8...0x11C2, 0x1780...0x17FF,
      0x1E00...0x1FFF,
      0x3041...0x30FF,
      0xAC00...0xAE00, 0xF900...0xFB4F, 0xFE00...0xFE0F, 0xFF00...0xFFEF, 0x1F1E6...0x1F64F,
    ]
    for _ in 0..<repetitions(3000) {
      let range = random.pick(scalars)
      let text = String(
        String.UnicodeScalarView(
          random.array(1..<30) { random in
            let chosen = random.once(in: 4) ? random.pick(scalars) : range
            return Unicode.Scalar(
              UInt32(random.int(Int(chosen.lowerBound)..<Int(chosen.upperBound))))
              ?? " "
          }))
      let words = Self.words(of: text.precomposedStringWithCanonicalMapping)
      #expect(words == Self.words(of: text.decomposedStringWithCanonicalMapping), "\(random.hint)")
      for word in words where word.count < 32 {
        let again = Self.words(of: String(decoding: word, as: UTF8.self))
        #expect(again.first == word, "\(String(decoding: word, as: UTF8.self)) \(random.hint)")
      }
    }
  }

  @Test("whatever bytes there are, words are UTF-8 of 1 to 64 bytes, and come from where they say")
  func anyBytes() {
    var random = RandomSource()
    var words = Words()
    for round in 0..<repetitions(4000) {
      var bytes =
        round % 2 == 0
        ? random.array(0..<40) { UInt8(truncatingIfNeeded: $0.next()) }
        : Array(random.pick(Self.words).text.utf8)
      if !bytes.isEmpty {
        bytes[random.int(0..<bytes.count)] = UInt8(truncatingIfNeeded: random.next())
      }
      var last = 0
      bytes.withUnsafeBytes { text in
        words.forEach(in: text) { word, place, _ in
          #expect(1...64 ~= word.count && !word.contains(0), "\(random.hint)")
          #expect(String(validating: word, as: UTF8.self) != nil, "\(random.hint)")
          #expect(place.lowerBound >= last && place.upperBound <= bytes.count, "\(random.hint)")
          #expect(!place.isEmpty, "\(random.hint)")
          last = place.lowerBound
        }
      }
    }
  }

  private static func words(of text: String) -> [[UInt8]] {
    var words = Words()
    var found: [[UInt8]] = []
    Array(text.utf8).withUnsafeBytes { text in
      words.forEach(in: text) { word, _, _ in found.append([UInt8](word)) }
    }
    return found
  }
}
