import Foundation
import Larder
import LarderTesting
import Testing

/// Filters that begin with a scalar, which a scan holds records back by.
@Suite struct RecordSieveTests {
  private static let numbers: [Double] = [
    .nan, -.nan, .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
    1, Double(1).nextUp, Double(1).nextDown, -1, 1e300, -1e300, 3, 40,
  ]

  private static let integers: [Int] = [
    .min, .min + 1, -1 << 32, -1 << 31 - 1, -1 << 31, -32_769, -129, -128, -33, -32, -1, 0, 1, 127,
    128, 255, 256, 65_535, 65_536, 1 << 31, 1 << 32, .max - 1, .max,
  ]

  /// Texts that are alike in the bytes that a sieve looks at, up to what may follow these.
  private static let texts = [
    "", "\0", "a", "a\0", "abc", "abc\r", "abc\r\n", "abcdef", "abcdefg", "abcdefg\0",
    "abcdefg\u{301}", "abcdef\u{1F5}", "abcdefgh", "abcdefghi", "abcdefgh\u{301}", "abcdefh", "abd",
    "e\u{301}", "\u{E9}", "K", "\u{212A}", "Z", "z", String(repeating: "z", count: 40), "漢",
  ]

  /// Documents whose records have numbers of one byte in front, and of two, with every value twice.
  private func documents<Value: Storable & Sendable>(_ values: [Value]) -> [One<Value>] {
    values.enumerated().flatMap { place, value in
      [
        One(value, id: "\(place)"),
        One(value, id: "\(place) " + String(repeating: "x", count: 245)),
      ]
    }
  }

  /// Compares each operator with what Swift's own finds.
  private func compare<Value: Storable & Sendable>(
    _ documents: [One<Value>], _ store: Store, with others: [Value],
    _ questions: [(
      name: String, query: (Value) -> Query<One<Value>>, holds: (Value, Value) -> Bool
    )]
  ) throws {
    let repository = store.repository(of: One<Value>.self)
    for other in others {
      for question in questions {
        let expected = documents.filter { question.holds($0.value, other) }.map(\.id).sorted()
        let query = question.query(other)
        #expect(
          try repository.fetch(query).map(\.id) == expected, "\(question.name) \(other)")
        #expect(try repository.count(query) == expected.count, "\(question.name) \(other)")
      }
    }
  }

  @Test("a scan finds the doubles that Swift's comparison finds, and passes over the others")
  func doubles() throws {
    try withTemporaryStore { store in
      let documents = documents(Self.numbers)
      try store.repository(of: One<Double>.self).save(documents)

      try compare(
        documents, store, with: Self.numbers,
        [
          ("<", { x in One<Double>.where { $0.value < x } }, { $0 < $1 }),
          ("<=", { x in One<Double>.where { $0.value <= x } }, { $0 <= $1 }),
          (">", { x in One<Double>.where { $0.value > x } }, { $0 > $1 }),
          (">=", { x in One<Double>.where { $0.value >= x } }, { $0 >= $1 }),
          ("==", { x in One<Double>.where { $0.value == x } }, { $0 == $1 }),
          ("!=", { x in One<Double>.where { $0.value != x } }, { $0 != $1 }),
          (
            "and", { x in One<Double>.where { $0.value < x && $0.value > -2 } },
            { $0 < $1 && $0 > -2 }
          ),
          (
            "or", { x in One<Double>.where { $0.value < x || $0.value > 2 } },
            { $0 < $1 || $0 > 2 }
          ),
          ("not", { x in One<Double>.where { !($0.value < x) } }, { !($0 < $1) }),
        ])
    }
  }

  @Test("a scan finds the dates that Swift's comparison finds, one that is NaN included")
  func dates() throws {
    try withTemporaryStore { store in
      let dates = Self.numbers.map { Date(timeIntervalSinceReferenceDate: $0) }
      let documents = documents(dates)
      try store.repository(of: One<Date>.self).save(documents)

      try compare(
        documents, store, with: dates,
        [
          ("<", { x in One<Date>.where { $0.value < x } }, { $0 < $1 }),
          ("<=", { x in One<Date>.where { $0.value <= x } }, { $0 <= $1 }),
          (">", { x in One<Date>.where { $0.value > x } }, { $0 > $1 }),
          (">=", { x in One<Date>.where { $0.value >= x } }, { $0 >= $1 }),
          ("==", { x in One<Date>.where { $0.value == x } }, { $0 == $1 }),
        ])
    }
  }

  @Test("a scan finds the integers of every width that Swift's comparison finds")
  func integers() throws {
    try withTemporaryStore { store in
      let documents = documents(Self.integers)
      try store.repository(of: One<Int>.self).save(documents)

      try compare(
        documents, store, with: Self.integers,
        [
          ("<", { x in One<Int>.where { $0.value < x } }, { $0 < $1 }),
          ("<=", { x in One<Int>.where { $0.value <= x } }, { $0 <= $1 }),
          (">", { x in One<Int>.where { $0.value > x } }, { $0 > $1 }),
          (">=", { x in One<Int>.where { $0.value >= x } }, { $0 >= $1 }),
          ("==", { x in One<Int>.where { $0.value == x } }, { $0 == $1 }),
        ])
    }
  }

  @Test("a scan finds the texts that Swift's comparison of normal forms finds")
  func texts() throws {
    try withTemporaryStore { store in
      let documents = documents(Self.texts)
      try store.repository(of: One<String>.self).save(documents)
      func normal(_ text: String) -> String { text.precomposedStringWithCanonicalMapping }

      try compare(
        documents, store, with: Self.texts,
        [
          ("<", { x in One<String>.where { $0.value < x } }, { normal($0) < normal($1) }),
          ("<=", { x in One<String>.where { $0.value <= x } }, { normal($0) <= normal($1) }),
          (">", { x in One<String>.where { $0.value > x } }, { normal($0) > normal($1) }),
          (">=", { x in One<String>.where { $0.value >= x } }, { normal($0) >= normal($1) }),
          ("==", { x in One<String>.where { $0.value == x } }, { $0 == $1 }),
          (
            "in", { x in One<String>.where { $0.value.isIn([x, "abd"]) } },
            { [$1, "abd"].contains($0) }
          ),
          ("hasPrefix", { x in One<String>.where { $0.value.hasPrefix(x) } }, { $0.hasPrefix($1) }),
          ("hasSuffix", { x in One<String>.where { $0.value.hasSuffix(x) } }, { $0.hasSuffix($1) }),
        ])
    }
  }

  @Test("a scan finds the bools that are so")
  func bools() throws {
    try withTemporaryStore { store in
      let documents = documents([false, true])
      try store.repository(of: One<Bool>.self).save(documents)

      try compare(
        documents, store, with: [false, true],
        [("==", { x in One<Bool>.where { $0.value == x } }, { $0 == $1 })])
    }
  }

  @Test("a number that was stored in another width is not passed over")
  func widened() throws {
    try withTemporaryStore { store in
      try store.repository(of: One<Int>.self).save([One(5, id: "int"), One(1 << 40, id: "large")])
      let doubles = store.repository(of: One<Double>.self)
      try doubles.save(One(0.5, id: "double"))

      #expect(try doubles.fetch(One<Double>.where { $0.value > 1 }).map(\.id) == ["int", "large"])
      #expect(try doubles.fetch(One<Double>.where { $0.value < 6 }).map(\.id) == ["double", "int"])
      #expect(try doubles.fetch(One<Double>.where { $0.value == 5 }).map(\.id) == ["int"])
    }
  }
}
