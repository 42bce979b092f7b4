import LarderTestKit
import Testing

@testable import Larder

@Suite struct KeySortTests {
  @Test("keys come in the order of their bytes, equal ones as they came")
  func agreesWithComparing() {
    var random = RandomSource()
    for round in 0..<600 {
      let keys = keys(random.int(0..<(round % 10 == 0 ? 2000 : 200)), &random)

      let expected = keys.indices.sorted { left, right in
        keys[left] == keys[right] ? left < right : keys[left].lexicographicallyPrecedes(keys[right])
      }
      #expect(sorted(keys) == expected, "round \(round) \(random.hint)")
    }
  }

  @Test("keys that are in order stay as they are")
  func inOrder() {
    let keys = (0..<1000).map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }

    #expect(sorted(keys) == Array(keys.indices))
    #expect(sorted(keys.reversed()) == keys.indices.reversed())
    #expect(sorted([]) == [])
  }

  @Test("a key comes before those that it begins, zeros behind it too")
  func prefixes() {
    let longest = [UInt8](repeating: 0, count: 40)
    let keys = (1...40).map { Array(longest[..<$0]) }

    #expect(sorted(keys.reversed()) == keys.indices.reversed())
    #expect(sorted(keys + keys) == keys.indices.flatMap { [$0, $0 + 40] })
  }

  private func sorted(_ keys: [[UInt8]]) -> [Int] {
    // One buffer, as those who sort have it; where a key begins is never aligned.
    let bytes = keys.flatMap { $0 }
    var starts = [0]
    for key in keys { starts.append(starts[starts.count - 1] + key.count) }
    return bytes.withUnsafeBytes { bytes in
      KeySort.sorted(count: keys.count) { place in
        UnsafeRawBufferPointer(rebasing: bytes[starts[place]..<starts[place + 1]])
      }.map { Int($0.place) }
    }
  }

  /// Keys of 1 to 40 bytes, of few different bytes, many with a beginning in common, some twice.
  private func keys(_ count: Int, _ random: inout RandomSource) -> [[UInt8]] {
    let alphabet: [UInt8] = random.bool() ? [0, 1, 0xFF] : Array(0...255)
    let common = random.array(0..<20) { $0.bool() ? UInt8(0) : UInt8(7) }
    var keys: [[UInt8]] = []
    for _ in 0..<count {
      if let key = keys.randomElement(using: &random), random.once(in: 8) {
        keys.append(random.bool() ? key : Array((key + [0]).prefix(40)))
        continue
      }
      let own = random.array(1..<20) { alphabet[$0.int(0..<alphabet.count)] }
      keys.append((random.once(in: 3) ? [] : common) + own)
    }
    return keys
  }
}
