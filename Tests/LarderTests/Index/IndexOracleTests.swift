import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct IndexOracleTests {
  @Test("every plan of a query gives what Swift's filter and sort give, with any indexes")
  func everyPlan() throws {
    var random = RandomSource()
    let total = repetitions(15_000)
    let tally = try compare(total, using: &random)
    print("plans: \(tally)")
    #expect(tally.hasMetAll(total), "\(random.hint)")
  }

  /// Seed 7 told of bounds of long values that were not cut, and of descending ranges that lacked
  /// what begins with their bound.
  @Test("seeds that once failed", arguments: [7])
  func oldSeeds(seed: UInt64) throws {
    var random = RandomSource(seed: seed)
    _ = try compare(5_000, using: &random)
  }

  private func compare(_ total: Int, using random: inout RandomSource) throws -> Tally {
    var tally = Tally()
    while !tally.isEnough(total) {
      try withTemporaryStore { store in
        let conditions = (0..<12).map { _ in Condition.random(depth: 1, using: &random) }
        let isLate = random.bool()
        let declarations = RandomIndexes.declarations(
          count: 12, conditions: conditions, using: &random)
        if !isLate { try declare(declarations, in: store) }
        try change(store, using: &random)
        if isLate { try declare(declarations, in: store) }
        try change(store, using: &random)
        let specimens = try store.repository(of: Specimen.self).fetch(Specimen.all)
        for _ in 0..<100 {
          try ask(store, specimens, conditions, &tally, using: &random)
          try askAsIndexed(store, specimens, &tally, using: &random)
        }
      }
    }
    return tally
  }

  private struct Tally {
    var compared = 0
    var byIndex = 0
    var inOrder = 0
    var unions = 0
    var intersections = 0
    var found = 0

    /// Plans that are never made prove nothing.
    func hasMetAll(_ total: Int) -> Bool {
      byIndex > compared / 4 && found > compared / 8 && inOrder > total / 500
        && unions > total / 2_000 && intersections > total / 2_000
    }

    func isEnough(_ total: Int) -> Bool {
      compared >= (hasMetAll(total) ? total : 20 * total)
    }

    mutating func add(_ plan: Plan) {
      compared += 1
      switch plan.source {
      case .index: byIndex += 1
      case .union: unions += 1
      case .intersection: intersections += 1
      default: break
      }
      if case .index = plan.order { inOrder += 1 }
    }
  }

  private func declare(_ declarations: [IndexDeclaration], in store: Store) throws {
    var declaration = try Declaration(Specimen.self)
    declaration.indexes = declarations
    let engine = store.engine
    try engine.writer.run { [declaration] in
      try engine.declare(declaration)
      while try engine.workOnIndex() {}
    }
  }

  /// Saves, replaces and deletes at random.
  private func change(_ store: Store, using random: inout RandomSource) throws {
    let repository = store.repository(of: Specimen.self)
    for _ in 0..<4 {
      let specimens = Pool.texts.filter { !$0.isEmpty && random.once(in: 2) }.map {
        Specimen(id: $0, using: &random)
      }
      switch random.int(0..<4) {
      case 0:
        let condition = Condition.random(depth: 1, using: &random)
        try repository.save(specimens, clearBeforeSaving: Specimen.where(condition.filter))
      case 1:
        let condition = Condition.random(depth: 2, using: &random)
        try repository.delete(Specimen.where(condition.filter))
        try repository.save(specimens)
      case 2:
        try repository.delete(keys: specimens.map(\.id))
      default:
        try repository.save(specimens)
      }
    }
  }

  private func ask(
    _ store: Store, _ specimens: [Specimen], _ conditions: [Condition], _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    var query = Specimen.all
    var answer = Array(specimens.enumerated())
    for _ in 0..<random.int(0..<4) {
      let condition =
        random.bool() ? random.pick(conditions) : Condition.random(depth: 1, using: &random)
      query = query.where(condition.filter)
      answer.removeAll { !condition.holds($0.element) }
    }
    if random.once(in: 4) {
      let condition = Condition.random(depth: 3, using: &random)
      query = query.where(condition.filter)
      answer.removeAll { !condition.holds($0.element) }
    }
    var orderings: [Ordering] = []
    for _ in 0..<random.int(0..<3) { orderings.append(Ordering.random(using: &random)) }
    for ordering in orderings { query = ordering.sort(query) }
    answer.sort { first, second in
      for ordering in orderings {
        let comparison = ordering.compare(first.element, second.element)
        if comparison != 0 { return comparison < 0 }
      }
      return first.offset < second.offset
    }
    let whole = answer.map(\.element.id)
    let limit = random.once(in: 3) ? random.int(0..<5) : Int.max
    let hint = random.hint
    try store.read { snapshot in
      try compare(query.selection, whole, snapshot, limit: limit, &tally, hint)
      let count = try snapshot.count(query)
      try #require(count == whole.count, "\(query), \(hint)")
      let chosen = try snapshot.fetch(query).map(\.id)
      try #require(chosen == whole, "\(query), \(hint)")
    }
  }

  /// Has every plan answer.
  private func compare(
    _ selection: Selection, _ expected: [String], _ snapshot: borrowing Snapshot, limit: Int,
    _ tally: inout Tally, _ hint: String
  ) throws {
    let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
    let expected = expected.prefix(limit).map { $0.normalized() }
    for plan in try snapshot.transaction.everyPlan(of: selection, in: binding.collection) {
      var found: [String] = []
      try Execution(plan, selection, binding).forEach(
        in: snapshot.transaction, wanted: limit
      ) { key, _ in
        if found.count == limit { return false }
        found.append(String(decoding: key, as: UTF8.self))
        return true
      }
      try #require(found == expected, "\(selection), \(plan), \(hint)")
      tally.add(plan)
      if !found.isEmpty { tally.found += 1 }
    }
  }

  /// A query that one of the indexes is made for: equality with what a document has in its first
  /// parts, and the order of the others. Compared with sorting the values themselves.
  private func askAsIndexed(
    _ store: Store, _ specimens: [Specimen], _ tally: inout Tally, using random: inout RandomSource
  ) throws {
    try store.read { snapshot in
      let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
      let indexes = try #require(snapshot.catalogue["Specimen"]).indexes
      let parts = random.pick(indexes).definition.parts
      let steps = parts.map { part in Self.steps(part.path) }
      var selection = Selection()
      let fixed = random.int(0..<parts.count + 1)
      let model = specimens.isEmpty ? nil : random.pick(specimens)
      for place in 0..<fixed {
        guard let model else { continue }
        let value = try value(of: model, steps[place], snapshot)
        if case .array(let elements) = value {
          guard !elements.isEmpty else { continue }
          selection.filter = .all([
            selection.filter,
            .test(.field(steps[place]), .containsElement(random.pick(elements))),
          ])
        } else {
          selection.filter = .all([
            selection.filter, .test(.field(steps[place]), .equal(value)),
          ])
        }
      }
      let isReversed = random.bool()
      for place in fixed..<parts.count where !parts[place].isMultiple {
        selection.order.append(
          SortKey(
            operand: .field(steps[place]),
            isReversed: parts[place].isDescending != (random.once(in: 8) ? !isReversed : isReversed)
          ))
        if random.once(in: 4) { break }
      }
      let evaluation = Evaluation(selection.filter, order: selection.order, in: binding.collection)
      var rows: [(String, [Value])] = []
      for specimen in specimens {
        _ = try snapshot.transaction.withRecord(of: specimen, binding) { record in
          if try evaluation.matches(record) {
            rows.append((specimen.id, try evaluation.sortValues(record)))
          }
        }
      }
      let expected = rows.enumerated().sorted { first, second in
        evaluation.precedes(first.element.1, second.element.1) ?? (first.offset < second.offset)
      }.map(\.element.0)
      let limit = random.bool() ? random.int(0..<6) : Int.max
      try compare(selection, expected, snapshot, limit: limit, &tally, random.hint)
    }
  }

  private static func steps(_ path: [String]) -> [FieldStep] {
    var fields = Specimen.schema.fields
    return path.compactMap { name in
      guard let field = fields.first(where: { $0.name == name }) else { return nil }
      if case .document(let reference) = field.kind.unwrapped { fields = reference.schema.fields }
      return FieldStep(field)
    }
  }

  private func value(
    of specimen: Specimen, _ path: [FieldStep], _ snapshot: borrowing Snapshot
  ) throws -> Value {
    let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
    var selection = Selection()
    selection.order = [SortKey(operand: .field(path), isReversed: false)]
    let evaluation = Evaluation(.constant(true), order: selection.order, in: binding.collection)
    return try #require(
      try snapshot.transaction.withRecord(of: specimen, binding) {
        try evaluation.sortValues($0)[0]
      })
  }
}

extension Transaction where Self: ~Copyable {
  fileprivate borrowing func withRecord<Result>(
    of specimen: Specimen, _ binding: CollectionBinding,
    _ body: (borrowing RecordReader) throws -> Result
  ) throws -> Result? {
    try specimen.id.withEncodedKey { key in try withRecord(for: key, binding, body) }
  }
}
