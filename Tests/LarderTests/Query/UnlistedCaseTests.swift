import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Enums whose `allCases` is written by hand, and need not have every value that is stored.
@Suite struct UnlistedCaseTests {
  /// Leaves out the case that comes first.
  enum Priority: Int, Storable, Comparable, CaseIterable {
    case unknown = 9
    case low = 1
    case high = 2

    static var allCases: [Priority] { [.low, .high] }
    static let values: [Priority] = [.unknown, .low, .high]

    static func < (left: Self, right: Self) -> Bool { left.height < right.height }
    private var height: Int { self == .unknown ? 0 : rawValue }
  }

  /// Leaves out the last case, and has the order of its raw values.
  enum Stage: String, Storable, Comparable, CaseIterable {
    case draft = "a"
    case sent = "b"
    case lost = "c"

    static var allCases: [Stage] { [.draft, .sent] }
    static let values: [Stage] = [.draft, .sent, .lost]

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// Has more values than cases. One at most is before, between and behind those of the list.
  enum Size: RawRepresentable, Storable, Comparable, CaseIterable {
    case small, large
    case other(Int)

    static var allCases: [Size] { [.small, .large] }
    static let values: [Size] = [.other(0), .small, .other(50), .large, .other(500)]

    init?(rawValue: Int) {
      switch rawValue {
      case 10: self = .small
      case 100: self = .large
      default: self = .other(rawValue)
      }
    }

    var rawValue: Int {
      switch self {
      case .small: 10
      case .large: 100
      case .other(let value): value
      }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue > right.rawValue }
  }

  /// Lists all of its cases, in an order of their own.
  enum Grade: Int, Storable, Comparable, CaseIterable {
    case third = 30
    case second = 20
    case first = 10

    static var allCases: [Grade] { [.first, .third, .second] }

    static func < (left: Self, right: Self) -> Bool { left.rawValue > right.rawValue }
  }

  enum Only: String, Storable, Comparable, CaseIterable {
    case one

    static func < (left: Self, right: Self) -> Bool { false }
  }

  @Document
  struct Errand: Identifiable, Equatable {
    var id: Int
    @Indexed var priority = Priority.low
    var maybe: Priority?
    @Indexed var stage = Stage.draft
    var size = Size.small
    @Indexed var grade = Grade.first
    var only = Only.one
  }

  private static let errands: [Errand] = (0..<60).map { id in
    Errand(
      id: id, priority: Priority.values[id % 3],
      maybe: id % 4 == 3 ? nil : Priority.values[id % 4], stage: Stage.values[id / 2 % 3],
      size: Size.values[id % 5], grade: Grade.allCases[id / 3 % 3])
  }

  private func withRepositories(
    _ body: (any Repository<Errand, Errand>) throws -> Void
  ) throws {
    let memory = InMemoryRepository(of: Errand.self)
    try memory.save(Self.errands)
    try body(memory)
    try withTemporaryStore { store in
      let errands = store.repository(of: Errand.self)
      try errands.save(Self.errands)
      try body(errands)
    }
  }

  private func check<Value: RawRepresentable & Comparable & Sendable>(
    _ field: (Fields<Errand>) -> QueryField<Errand, Value>, _ value: (Errand) -> Value,
    by values: [Value]
  ) throws where Value.RawValue: Comparand {
    try withRepositories { errands in
      for other in values {
        let questions: [(Query<Errand>, (Value) -> Bool)] = [
          (Errand.where { field($0) < other }, { $0 < other }),
          (Errand.where { field($0) <= other }, { $0 <= other }),
          (Errand.where { field($0) > other }, { $0 > other }),
          (Errand.where { field($0) >= other }, { $0 >= other }),
          (Errand.where { field($0).isIn(..<other) }, { $0 < other }),
          (Errand.where { field($0).isIn(other...) }, { $0 >= other }),
          (Errand.where { !(field($0) < other) }, { !($0 < other) }),
        ]
        for (query, holds) in questions {
          let found = try errands.fetch(query)

          #expect(found == Self.errands.filter { holds(value($0)) }, "\(query), \(other)")
        }
      }
    }
  }

  @Test("a case that `allCases` leaves out is compared as Swift compares it")
  func comparisons() throws {
    try check({ $0.priority }, \.priority, by: Priority.values)
    try check({ $0.stage }, \.stage, by: Stage.values)
    try check({ $0.size }, \.size, by: Size.values)
    try check({ $0.grade }, \.grade, by: Grade.allCases)
    try check({ $0.only }, \.only, by: Only.allCases)
  }

  @Test("such a case in a field that may be nil is compared likewise, and nil never is")
  func optional() throws {
    try withRepositories { errands in
      for other in Priority.values {
        let below = try errands.fetch(Errand.where { $0.maybe < other })
        let notBelow = try errands.fetch(Errand.where { $0.maybe >= other })

        #expect(below == Self.errands.filter { $0.maybe.map { $0 < other } ?? false })
        #expect(notBelow == Self.errands.filter { $0.maybe.map { $0 >= other } ?? false })
      }
    }
  }

  /// As `sorted` has it, nil first, and ties by the key.
  private func ids<Value: Comparable>(
    sortedBy value: (Errand) -> Value?, isReversed: Bool = false
  ) -> [Int] {
    func precedes(_ left: Value?, _ right: Value?) -> Bool {
      guard let right else { return false }
      return left.map { $0 < right } ?? true
    }
    return Self.errands.sorted { left, right in
      let (first, second) = isReversed ? (right, left) : (left, right)
      if precedes(value(first), value(second)) { return true }
      if precedes(value(second), value(first)) { return false }
      return left.id < right.id
    }.map(\.id)
  }

  @Test("a case that `allCases` leaves out has its own place in an order")
  func orders() throws {
    try withRepositories { errands in
      for isReversed in [false, true] {
        func check(_ query: Query<Errand>, _ expected: [Int]) throws {
          #expect(try errands.fetch(query).map(\.id) == expected, "\(query)")
        }
        let order: SortOrder = isReversed ? .reverse : .forward
        try check(
          Errand.all.sorted(by: \.priority, order),
          ids(sortedBy: { $0.priority }, isReversed: isReversed))
        try check(
          Errand.all.sorted(by: \.maybe, order),
          ids(sortedBy: { $0.maybe }, isReversed: isReversed))
        try check(
          Errand.all.sorted(by: \.stage, order),
          ids(sortedBy: { $0.stage }, isReversed: isReversed))
        try check(
          Errand.all.sorted(by: \.size, order),
          ids(sortedBy: { $0.size }, isReversed: isReversed))
        try check(
          Errand.all.sorted(by: \.grade, order),
          ids(sortedBy: { $0.grade }, isReversed: isReversed))
      }
    }
  }

  @Test("only an enum that lists all of its cases is compared by what is stored")
  func lowered() {
    let stored = [Errand.where { $0.grade < .second }, Errand.where { $0.only >= .one }]
    let computed = [
      Errand.where { $0.priority < .high }, Errand.where { $0.maybe < .high },
      Errand.where { $0.stage < .sent }, Errand.where { $0.size < .large },
    ]

    for query in stored { #expect(!"\(query)".contains("<computed>"), "\(query)") }
    for query in computed { #expect("\(query)".contains("<computed>"), "\(query)") }
  }
}
