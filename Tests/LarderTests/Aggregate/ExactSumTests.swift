import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

private let least = Double.leastNonzeroMagnitude

@Suite struct ExactSumTests {
  private func sum(_ numbers: [Double]) -> Double {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  @Test("the sum is that of the integers that the numbers are, rounded once")
  func integers() {
    var random = RandomSource()
    for _ in 0..<20_000 {
      // All are multiples of one power of two, so that whole numbers of 128 bits tell their sum.
      let exponent = random.pick([-1074, -1060, -1022, -60, -1, 0, 3, 400, 850])
      let terms = (0..<random.int(1..<30)).map { _ in
        Int128(random.int(-(1 << 53)..<(1 << 53))) << Int128(random.int(0..<60))
      }
      let numbers = terms.map { Double(sign: .plus, exponent: exponent, significand: Double($0)) }
      let exact = terms.reduce(0, +)
      // Below the normal numbers everything is exact; there Double cannot round twice.
      let expected = Double(sign: .plus, exponent: exponent, significand: Double(exact))

      let found = sum(numbers)

      #expect(found == expected, "\(numbers), \(random.hint)")
    }
  }

  @Test("order does not matter, and what is taken away is as if it had never been there")
  func orderAndRemoval() {
    var random = RandomSource()
    for _ in 0..<5_000 {
      let numbers = (0..<random.int(1..<20)).map { _ in
        Double(bitPattern: random.next() & ~(1 << 62))
      }
      let others = (0..<random.int(0..<10)).map { _ in random.pick(Pool.doubles + numbers) }
      var sum = ExactSum()
      for number in (numbers + others).shuffled(using: &random) { sum.add(number) }
      for number in others.shuffled(using: &random) { sum.remove(number) }

      #expect(sum.value.bitPattern == self.sum(numbers).bitPattern, "\(random.hint)")
    }
  }

  @Test(
    "small, large, infinite and undefined numbers",
    arguments: [
      ([], 0), ([-0.0, -0.0], 0), ([1e308, 1e308, -1e308], 1e308),
      ([.greatestFiniteMagnitude, .greatestFiniteMagnitude], .infinity),
      ([-.greatestFiniteMagnitude, -.greatestFiniteMagnitude], -.infinity),
      ([1e16, 1, -1e16], 1), ([least, least], 2 * least), ([0.1, 0.2, -0.3], 0x1p-55),
      ([.infinity, 1], .infinity), ([-.infinity, 1], -.infinity),
      ([0x1p53, 1], 0x1p53), ([0x1p53, 1, least], 0x1p53 + 2), ([0x1p53, 3], 0x1p53 + 4),
      ([-0x1p53, -1, -least], -0x1p53 - 2),
    ] as [([Double], Double)])
  func corners(numbers: [Double], expected: Double) {
    #expect(sum(numbers) == expected)
  }

  @Test("NaN, or infinities of both signs, make the sum NaN until they are taken away")
  func undefined() {
    var sum = ExactSum()
    sum.add(2)
    sum.add(.nan)
    #expect(sum.value.isNaN)
    sum.remove(.nan)
    sum.add(.infinity)
    sum.add(-.infinity)
    #expect(sum.value.isNaN)
    sum.remove(-.infinity)
    #expect(sum.value == .infinity)
    sum.remove(.infinity)
    #expect(sum.value == 2)
  }
}
