import Foundation
import Larder
import LarderTesting
import Testing

/// Filters that begin with a number of 8 bytes, which a scan holds records back by.
@Suite struct RecordSieveTests {
  private static let numbers: [Double] = [
    .nan, -.nan, .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
    1, Double(1).nextUp, Double(1).nextDown, -1, 1e300, -1e300, 3, 40,
  ]

  /// Documents whose records have numbers of one byte in front, and of two, with every number twice.
  private func documents<Value: Storable & Sendable>(
    _ value: (Double) -> Value
  ) -> [One<Value>] {
    Self.numbers.enumerated().flatMap { place, number in
      [
        One(value(number), id: "\(place)"),
        One(value(number), id: "\(place) " + String(repeating: "x", count: 245)),
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
      let documents = documents { $0 }
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
      let documents = documents { Date(timeIntervalSinceReferenceDate: $0) }
      try store.repository(of: One<Date>.self).save(documents)

      try compare(
        documents, store,
        with: Self.numbers.map { Date(timeIntervalSinceReferenceDate: $0) },
        [
          ("<", { x in One<Date>.where { $0.value < x } }, { $0 < $1 }),
          ("<=", { x in One<Date>.where { $0.value <= x } }, { $0 <= $1 }),
          (">", { x in One<Date>.where { $0.value > x } }, { $0 > $1 }),
          (">=", { x in One<Date>.where { $0.value >= x } }, { $0 >= $1 }),
          ("==", { x in One<Date>.where { $0.value == x } }, { $0 == $1 }),
        ])
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
