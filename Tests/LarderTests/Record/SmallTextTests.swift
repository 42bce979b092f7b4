import Testing

@testable import Larder

@Suite struct SmallTextTests {
  private func built(_ bytes: [UInt8]) -> String? {
    bytes.withUnsafeBytes { SmallText.string($0) }
  }

  @Test("a small text is the string that Swift makes of the bytes, to the last bit")
  func same() throws {
    #if _pointerBitWidth(_64)
      #expect(SmallText.mark != 0)
    #endif
    try #require(SmallText.mark != 0)
    for count in 0...SmallText.maximumByteCount {
      for first in 0..<128 {
        let bytes = (0..<count).map { UInt8((first + 37 * $0) % 128) }
        let expected = String(decoding: bytes, as: UTF8.self)

        let text = try #require(built(bytes), "\(bytes)")

        #expect(text == expected)
        #expect(text.hashValue == expected.hashValue)
        #expect(Array(text.utf8) == bytes)
        #expect(text.count == expected.count)
        let isSame = withUnsafeBytes(of: text) { ours in
          withUnsafeBytes(of: expected) { ours.elementsEqual($0) }
        }
        #expect(isSame, "\(bytes)")
      }
    }
  }

  @Test("a small text can be changed, and grow, as any string")
  func changes() throws {
    var text = try #require(built(Array("seller-00000042".utf8)))
    text.removeFirst(7)
    text.append("! And then some more, so that it needs memory of its own: Zoë.")
    #expect(text == "00000042! And then some more, so that it needs memory of its own: Zoë.")
    text.removeAll()
    #expect(text.isEmpty)
  }

  @Test("bytes that are not ASCII are left to Swift, wherever they stand")
  func notASCII() {
    for count in 1...SmallText.maximumByteCount {
      for place in 0..<count {
        var bytes = [UInt8](repeating: 0x7F, count: count)
        bytes[place] = 0x80
        #expect(built(bytes) == nil, "\(place) of \(count)")
      }
    }
  }
}
