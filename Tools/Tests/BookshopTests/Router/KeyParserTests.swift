import Testing

@testable import Bookshop

struct KeyParserTests {
  private static let keys: [(bytes: [UInt8], key: Key)] = [
    (Array("a".utf8), .character("a")), (Array("ø".utf8), .character("ø")),
    (Array("猫".utf8), .character("猫")), (Array("🦊".utf8), .character("🦊")),
    ([0x0D], .enter), ([0x0A], .enter), ([0x7F], .backspace), ([0x09], .tab),
    ([0x03], .control("c")), (Array("\u{1B}[A".utf8), .up), (Array("\u{1B}OB".utf8), .down),
    (Array("\u{1B}[C".utf8), .right), (Array("\u{1B}[1;5D".utf8), .left),
    (Array("\u{1B}[5~".utf8), .pageUp), (Array("\u{1B}[6~".utf8), .pageDown),
    (Array("\u{1B}[H".utf8), .home), (Array("\u{1B}[4~".utf8), .end),
    (Array("\u{1B}[3~".utf8), .delete), (Array("\u{1B}[I".utf8), .focus),
  ]

  @Test("keys are found in pieces of any size")
  func pieces() {
    let bytes = Self.keys.flatMap(\.bytes)
    let expected = Self.keys.map(\.key)
    for size in 1...bytes.count {
      var parser = KeyParser()
      var keys: [Key] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        keys += parser.feed(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(keys == expected, "pieces of \(size)")
      #expect(!parser.isWaiting)
    }
  }

  @Test("an escape alone is a key when nothing follows")
  func escape() {
    var parser = KeyParser()
    #expect(parser.feed([0x1B]) == [])
    #expect(parser.isWaiting)
    #expect(parser.flush() == [.escape])
    #expect(parser.flush() == [])
    #expect(parser.feed([0x1B, 0x1B]) == [.escape])
    #expect(parser.flush() == [.escape])
    #expect(parser.feed(Array("\u{1B}x".utf8)) == [.escape, .character("x")])
  }

  @Test("bytes that mean nothing are no keys, and hold up nothing")
  func rubbish() {
    var parser = KeyParser()
    #expect(
      parser.feed([0xFF, 0xC3, 0x28, 0x00, 0x80, 0x61]) == [.character("("), .character("a")])
    #expect(parser.feed(Array("\u{1B}[999zb".utf8)) == [.character("b")])
    #expect(parser.feed([0xC2, 0x9B, 0x62]) == [.character("b")])
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let bytes = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
      _ = parser.feed(bytes)
    }
    _ = parser.feed([0x1B, 0x5B] + [UInt8](repeating: 0x31, count: 100))
    _ = parser.flush()
    #expect(parser.feed([0x61]) == [.character("a")])
  }
}
