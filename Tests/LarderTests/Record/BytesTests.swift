import Testing

@testable import Larder

@Suite struct BytesTests {
  @Test("one byte above 127 is found at every place of every length")
  func areASCII() {
    for count in 0...40 {
      let plain = [UInt8](repeating: 0x7F, count: count)
      #expect(plain.withUnsafeBytes { Bytes.areASCII($0) }, "\(count) bytes")
      for place in 0..<count {
        var bytes = plain
        bytes[place] = 0x80
        #expect(!bytes.withUnsafeBytes { Bytes.areASCII($0) }, "\(place) of \(count)")
      }
    }
  }
}
