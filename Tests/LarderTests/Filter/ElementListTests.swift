import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document private struct MixedCrate: Equatable {
  var id: Int
  var numbers: [Int] = []
  var doubles: Set<Double> = []
  var texts: [String] = []
  var names: [String]?
}

/// Arrays that are asked for one of many elements.
@Suite struct ElementListTests {
  private static let doubles: [Double] = [
    0, -0.0, 1, 1.5, .nan, .infinity, -.infinity, 7, 8, 9, 10, 11,
  ]
  private static let texts = [
    "", "a", "e\u{301}", "\u{e9}", "E\u{301}", "b", "ab", "\u{212b}", "\u{c5}", "long text", "c",
    "d", "f",
  ]

  @Test("containsAny finds what filter finds, however long the list is, and so does its opposite")
  func oracle() throws {
    var random = RandomSource()
    let crates = (0..<60).map { id in
      MixedCrate(
        id: id, numbers: random.array(0..<4) { $0.int(0..<60) },
        doubles: Set(random.array(0..<4) { Self.doubles.randomElement(using: &$0) ?? 0 }),
        texts: random.array(0..<4) { Self.texts.randomElement(using: &$0) ?? "" },
        names: random.once(in: 3)
          ? nil : random.array(0..<4) { Self.texts.randomElement(using: &$0) ?? "" })
    }
    try withTemporaryStore { store in
      let all = store.repository(of: MixedCrate.self)
      try all.save(crates)
      for _ in 0..<repetitions(60) {
        let numbers = random.array(0..<40) { $0.int(0..<80) }
        let doubles = random.array(0..<14) { Self.doubles.randomElement(using: &$0) ?? 0 }
        let texts = random.array(0..<14) { Self.texts.randomElement(using: &$0) ?? "" }
        func check(
          _ query: Query<MixedCrate>, _ condition: (MixedCrate) -> Bool, line: Int = #line
        ) throws {
          let expected = crates.filter(condition).map(\.id)
          #expect(try all.fetch(query).map(\.id) == expected, "line \(line)")
          #expect(try all.count(query) == expected.count)
        }
        try check(MixedCrate.where { $0.numbers.containsAny(of: numbers) }) {
          $0.numbers.contains { numbers.contains($0) }
        }
        try check(MixedCrate.where { !$0.numbers.containsAny(of: numbers) }) {
          !$0.numbers.contains { numbers.contains($0) }
        }
        try check(MixedCrate.where { $0.doubles.containsAny(of: doubles) }) {
          $0.doubles.contains { doubles.contains($0) }
        }
        try check(MixedCrate.where { $0.texts.containsAny(of: texts) && $0.id > 5 }) {
          $0.texts.contains { texts.contains($0) } && $0.id > 5
        }
        try check(MixedCrate.where { $0.names.containsAny(of: texts) }) {
          $0.names?.contains { texts.contains($0) } ?? false
        }
        // One by one.
        guard let first = numbers.first else { continue }
        try check(
          MixedCrate.where { crate in
            numbers.dropFirst().reduce(crate.numbers.contains(first)) {
              $0 || crate.numbers.contains($1)
            }
          }
        ) { $0.numbers.contains { numbers.contains($0) } }
      }
    }
  }
}
