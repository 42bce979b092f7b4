/// Places of conditions in a conjunction. Those from 64 on are never in it: a condition that is not
/// known to be settled is asked once more.
struct ConditionPlaces: Sendable, Equatable {
  private var bits: UInt64 = 0

  init() {}

  init(_ place: Int) { insert(place) }

  var count: Int { bits.nonzeroBitCount }
  var isEmpty: Bool { bits == 0 }

  func contains(_ place: Int) -> Bool { place < 64 && bits & (1 << UInt64(place)) != 0 }

  mutating func insert(_ place: Int) {
    if place < 64 { bits |= 1 << UInt64(place) }
  }

  mutating func formUnion(_ other: Self) { bits |= other.bits }

  func union(_ other: Self) -> Self {
    var result = self
    result.formUnion(other)
    return result
  }

  func isSubset(of other: Self) -> Bool { bits & ~other.bits == 0 }
}
