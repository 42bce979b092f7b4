import Testing

@testable import Larder

@Suite struct KindTests {
  @Test("two integer kinds join to the narrowest that holds both")
  func joined() {
    func bounds(_ kind: IntegerKind) -> (low: Double, high: Double) {
      switch kind {
      case .int8: (-0x1p7, 0x1p7)
      case .int16: (-0x1p15, 0x1p15)
      case .int32: (-0x1p31, 0x1p31)
      case .int64: (-0x1p63, 0x1p63)
      case .uint8: (0, 0x1p8)
      case .uint16: (0, 0x1p16)
      case .uint32: (0, 0x1p32)
      case .uint64: (0, 0x1p64)
      }
    }
    for first in IntegerKind.allCases {
      for second in IntegerKind.allCases {
        let low = min(bounds(first).low, bounds(second).low)
        let high = max(bounds(first).high, bounds(second).high)
        let holders = IntegerKind.allCases.filter {
          bounds($0).low <= low && bounds($0).high >= high
        }
        let narrowest = holders.min {
          bounds($0).high - bounds($0).low < bounds($1).high - bounds($1).low
        }

        #expect(first.joined(with: second) == narrowest, "\(first) \(second)")
      }
    }
  }

  @Test("an integer kind holds exactly what its Swift type holds")
  func holds() {
    func check<Integer: FixedWidthInteger>(_: Integer.Type) {
      let kind = IntegerKind(Integer.self)
      var edges: [Int64] = [0, -1, 1, .min, .max]
      for bits in [7, 8, 15, 16, 31, 32, 62] {
        let power = Int64(1) << bits
        edges += [power, power - 1, power + 1, -power, -power - 1, -power + 1]
      }
      for value in edges {
        #expect(kind.holds(value) == (Integer(exactly: value) != nil), "\(kind) \(value)")
      }
    }
    check(Int8.self)
    check(Int16.self)
    check(Int32.self)
    check(Int64.self)
    check(UInt8.self)
    check(UInt16.self)
    check(UInt32.self)
    check(UInt64.self)
  }

  @Test("a kind reads as Swift would write it")
  func descriptions() {
    let kinds: [(Kind<Int>, String)] = [
      (.optional(.array(.integer(.int32))), "[int32]?"), (.set(.uuid), "set of uuid"),
      (.dictionary(.string, .document(1)), "[string: document]"),
      (.optional(.optional(.bool)), "bool??"),
    ]
    for (kind, text) in kinds { #expect(kind.description == text) }
  }
}
