import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Pages against the whole answer, by every plan and with any indexes.
@Suite struct PagePlanTests {
  @Test("pages one after the other are what fetch gives, whatever plan answers each of them")
  func everyPlan() throws {
    var random = RandomSource()
    let total = repetitions(1_000)
    var asked = 0
    var inOrder = 0
    while asked < total {
      try withTemporaryStore { store in
        let conditions = (0..<6).map { _ in Condition.random(depth: 1, using: &random) }
        try declare(
          RandomIndexes.declarations(count: 10, conditions: conditions, using: &random), in: store)
        try store.repository(of: Specimen.self).save(
          Pool.texts.filter { !$0.isEmpty && random.once(in: 2) }.map {
            Specimen(id: $0, using: &random)
          })
        for _ in 0..<60 {
          let query = try question(conditions, store, using: &random)
          let size = random.int(1..<5)
          try store.read { snapshot in
            inOrder += try compare(query, size, snapshot, random.hint)
          }
          asked += 1
        }
      }
    }
    // Pages that no index gives prove little.
    #expect(inOrder > total / 20)
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

  /// A random query; every second one in the order that an index has, with values that hit.
  private func question(
    _ conditions: [Condition], _ store: Store, using random: inout RandomSource
  ) throws -> Query<Specimen> {
    var query = Specimen.all
    if random.once(in: 3) { query = query.where(random.pick(conditions).filter) }
    guard random.bool() else {
      for _ in 0..<random.int(0..<3) { query = Ordering.random(using: &random).sort(query) }
      return query
    }
    return try store.read { snapshot in
      let indexes = try #require(snapshot.catalogue["Specimen"]).indexes
      let parts = random.pick(indexes).definition.parts
      let isReversed = random.bool()
      let fixed = random.once(in: 3) ? random.int(0..<parts.count) : 0
      for (place, part) in parts.enumerated() where !part.isMultiple {
        let path = try Self.steps(part.path)
        if place < fixed {
          let value = try value(path, snapshot, using: &random)
          query.selection.filter = .all([
            query.selection.filter, .test(.field(path), .equal(value)),
          ])
        } else {
          query.selection.order.append(
            SortKey(operand: .field(path), isReversed: part.isDescending != isReversed))
          if random.once(in: 3) { break }
        }
      }
      return query
    }
  }

  private static func steps(_ path: [String]) throws -> [FieldStep] {
    var fields = Specimen.schema.fields
    return try path.map { name in
      let field = try #require(fields.first { $0.name == name })
      if case .document(let reference) = field.kind.unwrapped { fields = reference.schema.fields }
      return FieldStep(field)
    }
  }

  /// A value that one of the documents has.
  private func value(
    _ path: [FieldStep], _ snapshot: borrowing Snapshot, using random: inout RandomSource
  ) throws -> Value {
    let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
    let values = Evaluation(reading: [.field(path)], in: binding.collection)
    var found: [Value] = []
    try snapshot.transaction.select(Selection(), binding) { found.append(try values.value(0, $0)) }
    return found.isEmpty ? .null : random.pick(found)
  }

  /// - Returns: How many pages an index gave in its order.
  private func compare(
    _ query: Query<Specimen>, _ size: Int, _ snapshot: borrowing Snapshot, _ hint: String
  ) throws -> Int {
    let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
    let whole = try snapshot.fetch(query).map { $0.id.normalized() }
    var rest = whole[...]
    var cursor: PageCursor?
    var inOrder = 0
    repeat {
      let page = try snapshot.page(query.limit(size), after: cursor)
      let expected = Array(rest.prefix(size))
      let message = Comment(rawValue: "\(query), after \(whole.count - rest.count), \(hint)")
      try #require(page.models.map { $0.id.normalized() } == expected, message)
      rest = rest.dropFirst(size)
      cursor = page.next
      try #require((cursor == nil) == rest.isEmpty, message)
      guard let cursor else { break }

      let selection = try query.after(cursor).selection
      for plan in try snapshot.transaction.everyPlan(of: selection, in: binding.collection) {
        var found: [String] = []
        try Execution(plan, selection, binding).forEach(in: snapshot.transaction) { key, _ in
          found.append(String(decoding: key, as: UTF8.self))
          return true
        }
        try #require(found == Array(rest), "\(selection), \(plan), \(hint)")
        if case .index = plan.order { inOrder += 1 }
      }
      let count = try snapshot.count(query.after(cursor))
      try #require(count == rest.count, message)
    } while true
    return inOrder
  }
}
