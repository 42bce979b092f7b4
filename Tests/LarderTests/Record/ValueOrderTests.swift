import Foundation
import LarderTestKit
import Testing

@testable import Larder

@Suite struct ValueOrderTests {
  /// Values that are near one another in every way that an order could get wrong.
  private func value(_ random: inout RandomSource) -> Value {
    switch random.int(0..<16) {
    case 0: .null
    case 1: .bool(random.bool())
    case 2: .integer(Int64(random.int(-2..<3)))
    case 3: .integer([.max, .max - 1, 1 << 53, 1 << 53 + 1, .min][random.int(0..<5)])
    case 4: Value([UInt64.max, 1 << 63, 1 << 63 + 1][random.int(0..<3)])
    case 5: .double(random.double())
    case 6: .double([0x1p53, 0x1p53 + 2, 0x1p63, 0x1p64, -0x1p63, 0, 1][random.int(0..<7)])
    case 7: .string(random.text(upTo: 3))
    case 8:
      .string(["\u{212B}", "\u{C5}", "\u{C5}z", "\u{C5}\u{0}", "A\u{30A}z"][random.int(0..<5)])
    case 9: .data(random.data(upTo: 2))
    case 10: .date(Date(timeIntervalSinceReferenceDate: random.double()))
    case 11: .uuid(random.uuid())
    case 12: .url(random.url())
    case 13: .decimal(random.once(in: 3) ? 1 : random.decimal())
    case 14: .array([.integer(Int64(random.int(0..<2)))])
    default: .document(["a": 1])
    }
  }

  @Test("the order of values is total: what is before is not behind, and before is transitive")
  func total() {
    var random = RandomSource()
    for _ in 0..<200_000 {
      let (a, b, c) = (
        value(&random).sortable, value(&random).sortable, value(&random).sortable
      )
      let (ab, ba, bc, ac) = (a.totalOrder(b), b.totalOrder(a), b.totalOrder(c), a.totalOrder(c))
      guard ab.signum() == -ba.signum() else {
        Issue.record("\(random.hint): \(a) and \(b) are both before, or behind, each other")
        return
      }
      if ab <= 0 && bc <= 0 && ac > 0 || ab == 0 && bc == 0 && ac != 0 {
        Issue.record("\(random.hint): \(a), \(b) and \(c) go in a circle")
        return
      }
    }
  }

  @Test("nil comes first and NaN after all numbers; -0.0 equals 0.0; kinds follow each other")
  func places() {
    let ascending: [Value] = [
      .null, false, true, .double(-.infinity), -1, 0, 0.5, 1, .integer(.max), Value(UInt64.max),
      .double(.infinity), .double(.nan), .decimal(5), .decimal(.nan),
      .date(Date(timeIntervalSinceReferenceDate: 0)),
      .date(Date(timeIntervalSinceReferenceDate: .nan)), "", "a", "é", .uuid(UUID()),
      .url(URL(filePath: "/a")), .url(URL(filePath: "/b")), .data(Data()), .data(Data([1])), [1],
    ]
    for (index, value) in ascending.enumerated() {
      for other in ascending[(index + 1)...] {
        #expect(value.totalOrder(other) < 0, "\(value) \(other)")
        #expect(other.totalOrder(value) > 0, "\(value) \(other)")
      }
      #expect(value.totalOrder(value) == 0, "\(value)")
    }
    #expect(Value.double(-0.0).totalOrder(0) == 0)
    #expect(Value.integer(1).totalOrder(1.0) == 0)
    #expect(Value.string("\u{212B}").sortable.totalOrder(.string("\u{C5}")) == 0)
  }
}
