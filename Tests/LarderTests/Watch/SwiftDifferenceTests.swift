import LarderTestKit
import Testing

@testable import Larder

/// Differences of watched results as Swift's own type.
@Suite(.timeLimit(.minutes(20))) struct SwiftDifferenceTests {
  @Test("each update is a removal and an insertion at the offsets that counting all others gives")
  func random() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(500) {
      let old = Array(0..<random.int(0..<40))
      let difference = Self.difference(from: old, using: &random)
      var new = old
      new.apply(difference)

      let found = difference.collectionDifference(from: old)

      try #require(found == Self.counted(difference, from: old), "\(random.hint)")
      try #require(old.applying(found) == new, "\(random.hint)")
    }
  }

  /// Some rows gone, some come, some moved, and some of the others changed.
  private static func difference(
    from old: [Int], using random: inout RandomSource
  ) -> ResultDifference<Int> {
    func pick(_ count: Int, of offsets: some Sequence<Int>) -> [Int] {
      Array(offsets.shuffled(using: &random).prefix(count))
    }
    let removed = pick(random.int(0..<old.count + 1), of: old.indices)
    let insertedCount = random.int(0..<20)
    let new = 0..<old.count - removed.count + insertedCount
    let inserted = pick(insertedCount, of: new)
    let kept = Set(new).subtracting(inserted)
    let updated = pick(random.int(0..<kept.count + 1), of: kept.sorted())
    let movedCount = random.int(0..<min(removed.count, inserted.count) + 1)
    return ResultDifference(
      removals: removed.indices.map { (removed[$0], $0 < movedCount ? inserted[$0] : nil) },
      insertions: inserted.indices.map {
        (inserted[$0], -1 - $0, $0 < movedCount ? removed[$0] : nil)
      },
      updates: updated.map { ($0, 1000 + $0) }, sequence: 1)
  }

  /// The same by counting for each update what stands before it.
  private static func counted(
    _ difference: ResultDifference<Int>, from old: [Int]
  ) -> CollectionDifference<Int>? {
    var changes: [CollectionDifference<Int>.Change] = []
    for removal in difference.removals {
      changes.append(
        .remove(
          offset: removal.offset, element: old[removal.offset], associatedWith: removal.destination)
      )
    }
    for insertion in difference.insertions {
      changes.append(
        .insert(
          offset: insertion.offset, element: insertion.model, associatedWith: insertion.origin))
    }
    for update in difference.updates {
      var origin = update.offset - difference.insertions.count { $0.offset < update.offset }
      for removal in difference.removals.reversed() where removal.offset <= origin { origin += 1 }
      changes.append(
        .remove(offset: origin, element: old[origin], associatedWith: update.offset))
      changes.append(
        .insert(offset: update.offset, element: update.model, associatedWith: origin))
    }
    return CollectionDifference(changes)
  }

  // Where each update counted the others it would not end within the suite's time.
  @Test("a difference of 200,000 rows costs no more for each of them than a small one")
  func large() {
    let old = Array(0..<200_000)
    let fourths = stride(from: 0, to: old.count, by: 4)
    let difference = ResultDifference<Int>(
      removals: fourths.map { ($0, nil) }, insertions: fourths.map { ($0 + 3, -1, nil) },
      updates: old.filter { $0 % 4 != 3 }.map { ($0, -2) }, sequence: 1)
    var new = old
    new.apply(difference)

    let found = difference.collectionDifference(from: old)

    #expect(found.count == 400_000)
    #expect(old.applying(found) == new)
  }
}
