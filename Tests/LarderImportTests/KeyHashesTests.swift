import LarderTestKit
import Testing

@testable import Larder

@Suite("Hashes of the keys of an import")
struct KeyHashesTests {
  @Test("those that stand twice are found, wherever they stand, and no others")
  func repeated() {
    var random = RandomSource()
    for _ in 0..<repetitions(100) {
      let count = random.int(0..<random.pick([3, 100, 5_000]))
      // Of few bits, so that they share places; or of all.
      let mask: UInt64 = random.pick([.max, 0xFFF, 0xFFFF_0000_0000_003F, ~0xFFFF])
      var all: [UInt64] = []
      for _ in 0..<count {
        let hash = UInt64.random(in: .min ... .max, using: &random) & mask
        all.append(random.once(in: 10) ? all.randomElement(using: &random) ?? hash : hash)
      }
      var hashes = KeyHashes()
      hashes.append(all)

      let counts = Dictionary(all.map { ($0, 1) }, uniquingKeysWith: +)
      let expected = Set(counts.filter { $0.value > 1 }.keys)
      #expect(hashes.repeated() == expected, "\(random.hint)")
    }
  }
}
