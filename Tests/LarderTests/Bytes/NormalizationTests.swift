import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct NormalizationTests {
  /// What the short way must give.
  private func normalizedByFoundation(_ text: String) -> [UInt8] {
    Array(text.decomposedStringWithCanonicalMapping.precomposedStringWithCanonicalMapping.utf8)
  }

  private static let latin = (0..<0x300).compactMap { Unicode.Scalar($0) }

  @Test("every character below U+0300 is its own normal form")
  func eachLatin() {
    for scalar in Self.latin {
      let text = String(scalar)

      #expect(Array(text.normalized().utf8) == normalizedByFoundation(text), "\(scalar.value)")
      #expect(normalizedByFoundation(text) == Array(text.utf8), "\(scalar.value)")
      #expect(isComposedLatin(Array(text.utf8)), "\(scalar.value)")
    }
  }

  @Test("no other character takes the short way")
  func eachOther() {
    for value in 0x300..<0x11_0000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      if isComposedLatin(Array(String(scalar).utf8)) { Issue.record("U+\(value)") }
    }
  }

  @Test("text is normalised as Foundation does it, whichever way it takes")
  func randomText() {
    var random = RandomSource()
    // Marks that compose with what stands before them, and letters that they compose with.
    let others = [0x300, 0x301, 0x308, 0x30A, 0x323, 0x327, 0x340, 0x345, 0x37E, 0x212B, 0x1100]
      .compactMap { Unicode.Scalar($0) }
    for _ in 0..<20_000 {
      let isLatin = random.bool()
      var text = String.UnicodeScalarView()
      for _ in 0..<random.int(0..<12) {
        let scalars = !isLatin && random.once(in: 3) ? others : Self.latin
        text.append(scalars[random.int(0..<scalars.count)])
      }
      let string = String(text)

      #expect(
        Array(string.normalized().utf8) == normalizedByFoundation(string),
        "\(text.map(\.value)) \(random.hint)")
    }
  }

  @Test("texts have one normal form if and only if they are equal, whatever marks they have")
  func equality() throws {
    let marks = (0x300..<0x20000).compactMap { Unicode.Scalar($0) }
      .filter { $0.properties.canonicalCombiningClass != .notReordered }
    #expect(marks.count > 900)
    for mark in sample(of: marks) + ["\u{897}", "\u{1ACF}"] {
      for base in ["a", "\u{628}", "\u{1100}"] {
        for second in ["\u{301}", "\u{323}"] {
          let text = base + String(mark) + second
          let other = base + second + String(mark)

          #expect(
            (text == other) == text.normalized().utf8.elementsEqual(other.normalized().utf8),
            "U+\(String(mark.value, radix: 16))")
        }
      }
    }
  }

  @Test("two documents cannot be stored under keys that are equal by the newest marks")
  func keys() throws {
    try withTemporaryStore { store in
      let keys = store.repository(of: OnlyKey.self)
      let (first, second) = ("a\u{897}\u{323}", "a\u{323}\u{897}")
      #expect(first == second)

      try keys.save([OnlyKey(id: first)])
      try keys.save([OnlyKey(id: second)])

      #expect(try keys.count() == 1)
      #expect(try keys.get(second) != nil)
    }
  }

  @Test("bytes that take the short way are valid text in its normal form")
  func randomBytes() {
    var random = RandomSource()
    let edges: [UInt8] = [0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xCB, 0xCC, 0xE0, 0xFF]
    var count = 0
    for _ in 0..<50_000 {
      let bytes = random.array(0..<6) { random in
        random.once(in: 3) ? UInt8(random.int(0..<256)) : edges[random.int(0..<edges.count)]
      }
      guard isComposedLatin(bytes) else { continue }
      count += 1

      let text = String(validating: bytes, as: UTF8.self)
      #expect(text.map(normalizedByFoundation) == bytes, "\(bytes) \(random.hint)")
    }
    #expect(count > 1000)
  }

  @Test("a composed scalar is its own normal form, a character, and joins no neighbour")
  func eachComposed() {
    var count = 0
    for value in 0..<0x11_0000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      guard isComposed(text), value != 0x0D, value != 0x0A else { continue }
      count += 1
      let properties = scalar.properties
      if properties.canonicalCombiningClass != .notReordered || text.normalized() != text
        || !text.normalized().utf8.elementsEqual(text.utf8)
      {
        Issue.record("U+\(String(value, radix: 16)) has another form")
      }
      // Beside a letter, a sign, a syllable, and itself.
      for other in ["a", "\u{E9}", "\u{A9}", "\u{AC00}", "\u{4E2D}", text] {
        for both in [text + other, other + text] {
          if both.count != 2 || !both.normalized().utf8.elementsEqual(both.utf8) {
            Issue.record("U+\(String(value, radix: 16)) joins \(other)")
          }
        }
      }
    }
    #expect(count > 30_000)
  }

  @Test("only texts that say so have another spelling of a character below U+0300")
  func eachSpelling() {
    for value in 0x300..<0x11_0000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      guard spellsLatinOneWay(text) else { continue }
      if text.normalized().unicodeScalars.contains(where: { $0.value < 0x300 }) {
        Issue.record("U+\(String(value, radix: 16)) is another spelling")
      }
    }
    let marks = (0x300..<0x11_0000).compactMap { Unicode.Scalar($0) }
      .filter { $0.properties.canonicalCombiningClass != .notReordered }
    let bases = Self.latin.filter { $0.value < 0x80 || $0.properties.isAlphabetic }
    for mark in sample(of: marks) where spellsLatinOneWay(String(mark)) {
      for base in bases {
        let text = (String(base) + String(mark)).normalized()
        if text.unicodeScalars.count == 1 { Issue.record("U+\(mark.value) joins \(base)") }
      }
    }
  }

  @Test("bytes that are composed, or spell Latin one way, are valid text")
  func randomBytesOfAllKinds() {
    var random = RandomSource()
    let edges: [UInt8] = [
      0x41, 0x7F, 0x80, 0x87, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xCE, 0xD1, 0xE0, 0xE2, 0xE3,
      0xE4, 0xEA, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
    ]
    var count = 0
    for _ in 0..<50_000 {
      let bytes = random.array(0..<6) { random in
        random.once(in: 3) ? UInt8(random.int(0..<256)) : edges[random.int(0..<edges.count)]
      }
      let isKnown = bytes.withUnsafeBytes { $0.isComposed || $0.spellsLatinOneWay }
      guard isKnown else { continue }
      count += 1

      #expect(String(validating: bytes, as: UTF8.self) != nil, "\(bytes) \(random.hint)")
    }
    #expect(count > 1_000)
  }

  private func isComposed(_ text: String) -> Bool { Array(text.utf8).withUnsafeBytes(\.isComposed) }

  private func spellsLatinOneWay(_ text: String) -> Bool {
    Array(text.utf8).withUnsafeBytes(\.spellsLatinOneWay)
  }

  private func isComposedLatin(_ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes(\.isComposedLatin)
  }
}
