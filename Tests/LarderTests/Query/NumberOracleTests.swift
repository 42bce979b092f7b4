import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Fields of numbers that were written as one type, widened by another, and are read by a third.
@Suite struct NumberOracleTests {
  @Test(
    "conditions and orders on a widened number mean what Swift makes of the numbers, by any plan")
  func widened() throws {
    var random = RandomSource()
    var tally = Tally()
    for _ in rounds(repetitions(3), until: { tally.hasMetAll }) {
      try compare(Int.self, Double.self, Double.self, &tally, using: &random)
      try compare(UInt64.self, Double.self, Double.self, &tally, using: &random)
      try compare(Float.self, Double.self, Double.self, &tally, using: &random)
      try compare(Int32.self, Double.self, Float.self, &tally, using: &random)
      try compare(Float.self, Double.self, Float.self, &tally, using: &random)
      try compare(Int16.self, Float.self, Float.self, &tally, using: &random)
      try compare(Float.self, Float.self, Float.self, &tally, using: &random)
      try compare(Int8.self, Int.self, Int.self, &tally, using: &random)
      try compare(UInt32.self, Int.self, Int.self, &tally, using: &random)
      try compare(UInt64.self, UInt64.self, UInt64.self, &tally, using: &random)
      try compare(Decimal.self, Decimal.self, Decimal.self, &tally, using: &random)
    }
    print("numbers: \(tally)")
    #expect(tally.hasMetAll, "\(random.hint)")
  }

  private struct Tally {
    var asked = 0
    var found = 0
    var byIndex = 0
    var unreadable = 0

    /// Questions that nothing answers, and numbers that all can read, would prove nothing.
    var hasMetAll: Bool { found > asked / 5 && unreadable > 0 && byIndex > asked }
  }

  private typealias Row = (id: String, stored: ExactNumber)

  /// - Parameters:
  ///   - first: What the field is at first.
  ///   - wide: What it becomes.
  ///   - reader: What asks.
  private func compare<First: OracleNumber, Wide: OracleNumber, Reader: OracleNumber>(
    _ first: First.Type, _ wide: Wide.Type, _ reader: Reader.Type, _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    try withTemporaryStore { store in
      let early = (10..<60).map { One<First>(random.number(first), id: "\($0)") }
      try store.repository(of: One<First>.self).save(early)
      let isEarly = random.bool()
      if isEarly { try index(store) }
      let late = (50..<99).map { One<Wide>(random.number(wide), id: "\($0)") }
      try store.repository(of: One<Wide>.self).save(late)
      if !isEarly { try index(store) }
      try store.collection("One").buildIndexes()

      var rows = [String: ExactNumber]()
      for one in early { rows[one.id] = one.value.exact }
      for one in late { rows[one.id] = one.value.exact }
      let sorted = rows.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
      for _ in 0..<25 {
        try askTyped(reader, sorted, store, &tally, using: &random)
        try askUntyped(wide, sorted, store, &tally, using: &random)
      }
      try readBack(first, sorted, store)
      try readBack(reader, sorted, store)
    }
  }

  private func index(_ store: Store) throws {
    let collection = store.collection("One")
    try collection.createIndex(on: "value")
    try collection.createIndex(on: .descending(FieldPath(field: "value")), name: "reversed")
    try collection.createIndex(on: "value", "id", name: "with another")
    try collection.createIndex(on: "value", name: "part of them") { $0.value > 0 }
  }

  // MARK: With a type

  private struct Condition<Number: OracleNumber> {
    let filter: Filter<One<Number>>
    let holds: (Number) -> Bool

    static func random(depth: Int, using random: inout RandomSource) -> Condition {
      if depth > 0, random.bool() {
        let (left, right) = (
          Self.random(depth: depth - 1, using: &random),
          Self.random(depth: depth - 1, using: &random)
        )
        switch random.int(0..<3) {
        case 0:
          return Condition(filter: left.filter && right.filter) {
            left.holds($0) && right.holds($0)
          }
        case 1:
          return Condition(filter: left.filter || right.filter) {
            left.holds($0) || right.holds($0)
          }
        default: return Condition(filter: !left.filter) { !left.holds($0) }
        }
      }
      let field = QueryField<One<Number>, Number>(\.value)
      let (number, other) = (random.number(Number.self), random.number(Number.self))
      switch random.int(0..<7) {
      case 0: return Condition(filter: field == number) { $0 == number }
      case 1: return Condition(filter: field != number) { $0 != number }
      case 2: return Condition(filter: field < number) { $0 < number }
      case 3: return Condition(filter: field <= number) { $0 <= number }
      case 4: return Condition(filter: field > number) { $0 > number }
      case 5: return Condition(filter: field >= number) { $0 >= number }
      default:
        return Condition(filter: field.isIn([number, other])) { $0 == number || $0 == other }
      }
    }
  }

  private func askTyped<Number: OracleNumber>(
    _ type: Number.Type, _ rows: [Row], _ store: Store, _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    let condition = Condition<Number>.random(depth: 2, using: &random)
    var query = One<Number>.all.where { _ in condition.filter }
    var selected = rows.map { row in
      (row.id, read: Number.read(row.stored), compared: Number.read(row.stored) ?? .unreadable)
    }
    selected.removeAll { !($0.compared.map(condition.holds) ?? false) }
    let sorting = random.int(0..<3)
    if sorting > 0 {
      query = query.sorted(by: \.value, sorting == 1 ? .forward : .reverse)
      selected = sort(selected, isReversed: sorting == 2) { $0.compared?.exact }
    }
    let hint = "\(query), \(random.hint)"
    let expected = selected.map(\.0)
    try store.read { snapshot in
      let binding = try #require(try snapshot.catalogue.binding(of: One<Number>.self))
      try expectEveryPlan(query.selection, binding, snapshot, expected, &tally, hint)
    }
    let repository = store.repository(of: One<Number>.self)
    #expect(try repository.count(query) == expected.count, "\(hint)")
    let readable = selected.filter { $0.read != nil }.map(\.0)
    tally.unreadable += expected.count - readable.count
    if readable.count < expected.count {
      #expect(throws: StoreError.self, "\(hint)") { try repository.fetch(query) }
    } else {
      #expect(try repository.fetch(query).map(\.id) == expected, "\(hint)")
    }
    let limit = random.int(0..<9)
    let skipping = query.skippingUnreadable { _ in }
    #expect(try repository.fetch(skipping).map(\.id) == readable, "\(hint)")
    #expect(
      try repository.fetch(skipping.limit(limit)).map(\.id) == Array(readable.prefix(limit)),
      "\(hint)")
    let memory = InMemoryRepository(of: One<Number>.self)
    try memory.save(
      rows.compactMap { row in Number.read(row.stored).map { One($0, id: row.id) } })
    #expect(try memory.fetch(query).map(\.id) == readable, "\(hint)")
  }

  // MARK: Without one

  private func askUntyped<Wide: OracleNumber>(
    _ wide: Wide.Type, _ rows: [Row], _ store: Store, _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    // What no value of the field equals is compared by value.
    let operands = [wide.randomOperand(using: &random), wide.randomOperand(using: &random)]
    let path = FieldPath(field: "value")
    let values = operands.map(\.value)
    func holds(_ number: ExactNumber?, _ body: (Int) -> Bool) -> Bool {
      number?.compare(operands[0]).map(body) ?? false
    }
    let tests: [(DynamicFilter, (ExactNumber?) -> Bool)] = [
      (.test(path, .equal(values[0])), { holds($0) { $0 == 0 } }),
      (.not(.test(path, .equal(values[0]))), { !holds($0) { $0 == 0 } }),
      (.test(path, .less(values[0])), { holds($0) { $0 < 0 } }),
      (.test(path, .lessOrEqual(values[0])), { holds($0) { $0 <= 0 } }),
      (.test(path, .greater(values[0])), { holds($0) { $0 > 0 } }),
      (.test(path, .greaterOrEqual(values[0])), { holds($0) { $0 >= 0 } }),
      (
        .test(path, .isIn(values)),
        { number in operands.contains { number?.compare($0) == 0 } }
      ),
    ]
    let chosen = [random.pick(tests), random.pick(tests), random.pick(tests)]
    let (filter, holdsAll): (DynamicFilter, (ExactNumber?) -> Bool) =
      switch random.int(0..<4) {
      case 0: (chosen[0].0 && chosen[1].0, { chosen[0].1($0) && chosen[1].1($0) })
      case 1: (chosen[0].0 || chosen[1].0, { chosen[0].1($0) || chosen[1].1($0) })
      case 2:
        (
          .all([.test(path, .greater(0)), chosen[0].0]),
          { ($0?.compare(.integer(0)) ?? 0) > 0 && chosen[0].1($0) }
        )
      default: chosen[0]
      }
    var query = DynamicQuery(where: filter)
    var selected = rows.map { ($0.id, compared: wide.read($0.stored)?.exact) }
    selected.removeAll { !holdsAll($0.compared) }
    let sorting = random.int(0..<3)
    if sorting > 0 {
      query = query.sorted(by: "value", isReversed: sorting == 2)
      selected = sort(selected, isReversed: sorting == 2, by: \.compared)
    }
    let hint = "\(filter) \(sorting), \(random.hint)"
    let expected = selected.map(\.0)
    let collection = store.collection("One")
    let found = try collection.fetch(query)
    #expect(found.map { $0["id"] } == expected.map { .string($0) }, "\(hint)")
    let stored = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0.stored) })
    for document in found {
      guard case .string(let id)? = document["id"], let number = stored[id] else { continue }
      // As it was stored, whatever a type makes of it.
      if !number.isNumber { continue }
      #expect(document["value"] == number.value, "\(hint)")
    }
    #expect(try collection.count(query) == expected.count, "\(hint)")
    try store.read { snapshot in
      let binding = try #require(snapshot.catalogue.binding(ofCollection: "One"))
      try expectEveryPlan(
        query.lowered(in: binding.collection), binding, snapshot, expected, &tally, hint)
    }
  }

  // MARK: Both

  /// By number, those that are none behind all others, equals in the order that they have.
  private func sort<Row>(
    _ rows: [Row], isReversed: Bool, by number: (Row) -> ExactNumber?
  ) -> [Row] {
    rows.enumerated().sorted { first, second in
      let (left, right) = (number(first.element), number(second.element))
      var order = 0
      switch (left?.isNumber ?? false, right?.isNumber ?? false) {
      case (true, true): if let left, let right { order = left.compare(right) ?? 0 }
      case (true, false): order = -1
      case (false, true): order = 1
      case (false, false): order = 0
      }
      if isReversed { order = -order }
      return order != 0 ? order < 0 : first.offset < second.offset
    }.map(\.element)
  }

  private func expectEveryPlan(
    _ selection: Selection, _ binding: CollectionBinding, _ snapshot: borrowing Snapshot,
    _ expected: [String], _ tally: inout Tally, _ hint: String
  ) throws {
    tally.asked += 1
    if !expected.isEmpty { tally.found += 1 }
    let keys = expected.map { Array($0.utf8) }
    for answer in try snapshot.everyAnswer(to: selection, binding) {
      #expect(answer.keys == keys, "\(answer.plan), \(hint)")
      if answer.plan.isScan { continue }
      tally.byIndex += 1
    }
  }

  /// Each type reads what it can hold, by key, and throws for the others.
  private func readBack<Number: OracleNumber>(
    _ type: Number.Type, _ rows: [Row], _ store: Store
  ) throws {
    let repository = store.repository(of: One<Number>.self)
    for row in rows {
      guard let expected = Number.read(row.stored) else {
        #expect(throws: StoreError.self) { try repository.get(row.id) }
        continue
      }
      let found = try repository.get(row.id)?.value
      #expect(found == expected || expected != expected && found != found)
    }
  }
}
