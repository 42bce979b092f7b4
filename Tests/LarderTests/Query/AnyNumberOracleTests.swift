import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Numbers of all kinds in one field, as a type's own `Codable` stores them.
@Suite struct AnyNumberOracleTests {
  @Test("conditions and orders on a field of any kind go by the number, whatever its kind")
  func anyKind() throws {
    var random = RandomSource()
    var tally = (asked: 0, found: 0, byIndex: 0)
    func hasMetAll() -> Bool {
      tally.found > tally.asked / 4 && tally.byIndex > tally.asked / 2
    }
    for _ in rounds(repetitions(4), until: hasMetAll) {
      try withTemporaryStore { store in
        let samples = (0..<70).map { NumberSample(id: $0, using: &random) }
        try store.repository(of: NumberSample.self).save(samples)
        let memory = InMemoryRepository(of: NumberSample.self)
        try memory.save(samples)
        for _ in 0..<50 {
          try askTyped(samples, store, memory, &tally, using: &random)
          try askUntyped(samples, store, &tally, using: &random)
        }
        #expect(try store.repository(of: NumberSample.self).fetch(NumberSample.all) == samples)
      }
    }
    print("numbers of any kind: \(tally)")
    #expect(hasMetAll(), "\(random.hint)")
  }

  // MARK: With a type

  /// The type reads its number as it likes, and conditions ask for what it makes of it.
  private func askTyped(
    _ samples: [NumberSample], _ store: Store,
    _ memory: InMemoryRepository<NumberSample, NumberSample>,
    _ tally: inout (asked: Int, found: Int, byIndex: Int), using random: inout RandomSource
  ) throws {
    let bound = random.pick([-1, 0, 0.5, 0x1p53, 0x1p63, 0x1p64])
    let group = random.int(0..<4)
    let isReversed = random.bool()
    let query = NumberSample.where { $0.group == group && $0.nearest >= bound }
      .sorted(by: \.nearest, isReversed ? .reverse : .forward)
    let answer = samples.enumerated()
      .filter { $0.element.group == group && $0.element.nearest >= bound }
      .sorted { left, right in
        let (first, second) = (left.element.nearest, right.element.nearest)
        return first == second ? left.offset < right.offset : (first < second) != isReversed
      }.map(\.element)
    tally.asked += 1
    if !answer.isEmpty { tally.found += 1 }
    let hint = "\(query) \(bound), \(random.hint)"
    #expect(try store.repository(of: NumberSample.self).fetch(query) == answer, "\(hint)")
    #expect(try memory.fetch(query) == answer, "\(hint)")
    try store.eachPlan(of: query) { keys, plan in
      #expect(keys == answer.map(\.id), "\(plan), \(hint)")
      if !plan.isScan { tally.byIndex += 1 }
    }
  }

  // MARK: Without one

  private func askUntyped(
    _ samples: [NumberSample], _ store: Store,
    _ tally: inout (asked: Int, found: Int, byIndex: Int),
    using random: inout RandomSource
  ) throws {
    let (number, other) = (NumberSample.number(using: &random), NumberSample.number(using: &random))
    let path = FieldPath(field: "number")
    func holds(_ sample: NumberSample, _ body: (Int) -> Bool) -> Bool {
      sample.number.exact.compareAsAny(number).map(body) ?? false
    }
    let tests: [(DynamicFilter, (NumberSample) -> Bool)] = [
      (.test(path, .equal(number.value)), { holds($0) { $0 == 0 } }),
      (.not(.test(path, .equal(number.value))), { !holds($0) { $0 == 0 } }),
      (.test(path, .less(number.value)), { holds($0) { $0 < 0 } }),
      (.test(path, .lessOrEqual(number.value)), { holds($0) { $0 <= 0 } }),
      (.test(path, .greater(number.value)), { holds($0) { $0 > 0 } }),
      (.test(path, .greaterOrEqual(number.value)), { holds($0) { $0 >= 0 } }),
      (
        .test(path, .isIn([number.value, other.value])),
        { sample in
          [number, other].contains { sample.number.exact.compareAsAny($0) == 0 }
        }
      ),
    ]
    let group = random.int(0..<4)
    let (test, second) = (random.pick(tests), random.pick(tests))
    let inGroup = DynamicFilter.test(FieldPath(field: "group"), .equal(.integer(Int64(group))))
    let (filter, isMatch): (DynamicFilter, (NumberSample) -> Bool) =
      switch random.int(0..<3) {
      case 0: (inGroup && test.0, { $0.group == group && test.1($0) })
      case 1: (test.0 || second.0, { test.1($0) || second.1($0) })
      default: test
      }
    let isReversed = random.bool()
    let query = DynamicQuery(where: filter).sorted(by: "number", isReversed: isReversed)
    let answer = samples.enumerated().filter { isMatch($0.element) }
      .sorted { left, right in
        let order = left.element.number.exact.orderAsAny(right.element.number.exact)
        return order == 0 ? left.offset < right.offset : (order < 0) != isReversed
      }.map(\.element)
    tally.asked += 1
    if !answer.isEmpty { tally.found += 1 }
    let hint = "\(filter) \(isReversed), \(random.hint)"
    let collection = store.collection("NumberSample")
    let found = try collection.fetch(query)
    #expect(found.map { $0["id"] } == answer.map { .integer(Int64($0.id)) }, "\(hint)")
    #expect(try collection.count(query) == answer.count, "\(hint)")
    let keys = answer.map { $0.id.withEncodedKey { [UInt8]($0) } }
    try store.read { snapshot in
      let binding = try #require(snapshot.catalogue.binding(ofCollection: "NumberSample"))
      let selection = try query.lowered(in: binding.collection)
      for answer in try snapshot.everyAnswer(to: selection, binding) {
        #expect(answer.keys == keys, "\(answer.plan), \(hint)")
        if !answer.plan.isScan { tally.byIndex += 1 }
      }
    }
  }
}

extension ExactNumber {
  /// Decimals are a kind of their own in such a field, neither below nor above other numbers.
  fileprivate func compareAsAny(_ other: ExactNumber) -> Int? {
    switch (self, other) {
    case (.decimal, .decimal): compare(other)
    case (.decimal, _), (_, .decimal): nil
    default: compare(other)
    }
  }

  /// Integers and doubles, then NaN, then decimals, and a decimal that is none.
  fileprivate func orderAsAny(_ other: ExactNumber) -> Int {
    let (rank, otherRank) = (rankAsAny, other.rankAsAny)
    if rank != otherRank { return rank < otherRank ? -1 : 1 }
    return isNumber ? compare(other) ?? 0 : 0
  }

  private var rankAsAny: Int {
    if case .decimal = self { return isNumber ? 2 : 3 }
    return isNumber ? 0 : 1
  }
}

@Document
private struct NumberSample: Equatable {
  var id: Int
  @Indexed var group: Int
  var number: AnyNumber

  /// Computed: conditions on it have the document decoded.
  var nearest: Double {
    switch number.exact {
    case .integer(let number): Double(number)
    case .double(let number): number.isNaN ? 0 : number
    case .decimal(let number): number.isNaN ? 0 : Double("\(number)") ?? 0
    }
  }

  init(id: Int, using random: inout RandomSource) {
    self.id = id
    group = random.int(0..<4)
    number = AnyNumber(exact: Self.number(using: &random))
  }

  static func number(using random: inout RandomSource) -> ExactNumber {
    random.once(in: 3) ? .decimal(Decimal.random(using: &random)) : random.exactNumber()
  }
}

/// A number that is stored as the kind that it has.
private struct AnyNumber: Codable, Equatable {
  var exact: ExactNumber

  init(exact: ExactNumber) { self.exact = exact }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch exact {
    case .integer(let number):
      if let small = Int64(exactly: number) {
        try container.encode(small)
      } else {
        try container.encode(UInt64(number))
      }
    case .double(let number): try container.encode(number)
    case .decimal(let number): try container.encode(number)
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int64.self) {
      exact = .integer(Int128(number))
    } else if let number = try? container.decode(UInt64.self) {
      exact = .integer(Int128(number))
    } else if let number = try? container.decode(Double.self) {
      exact = .double(number)
    } else {
      exact = .decimal(try container.decode(Decimal.self))
    }
  }

  /// A number is the same as an integer and as a double, and one that is none is itself.
  static func == (left: Self, right: Self) -> Bool { left.exact.orderAsAny(right.exact) == 0 }
}
