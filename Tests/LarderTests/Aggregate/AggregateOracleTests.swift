import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Aggregates against what Swift makes of the decoded documents, with any indexes and without.
@Suite struct AggregateOracleTests {
  @Test("aggregates are what Swift makes of the documents that are fetched, index or not")
  func oracle() throws {
    var random = RandomSource()
    var tally = Tally()
    for round in 0..<repetitions(8) {
      // What is drawn may hold no question that an index answers: the first store begins with some.
      let (indexes, queries) = round == 0 ? Self.answeredByIndex : ([], [])
      try withTemporaryStore { store in
        let conditions = (0..<4).map { _ in Condition.random(depth: 1, using: &random) }
        try declare(
          indexes
            + RandomIndexes.declarations(count: 12, conditions: conditions, using: &random),
          in: store)
        let repository = store.repository(of: Specimen.self)
        let memory = InMemoryRepository(of: Specimen.self)
        try repository.save(
          Pool.texts.filter { !$0.isEmpty && random.once(in: 2) }.map {
            Specimen(id: $0, using: &random)
          })
        try memory.save(try repository.fetch(Specimen.all))
        for query in queries + (0..<12).map({ _ in Self.query(conditions, using: &random) }) {
          for repository in [repository, memory] as [any Repository<Specimen, Specimen>] {
            let case1 = Case(query, try repository.fetch(query), repository, random.hint)
            try case1.sums()
            try case1.extremes()
            try case1.groups()
          }
          try store.read { try tally.add(query, $0) }
        }
      }
    }
    print("aggregates by index: \(tally)")
    #expect(tally.extremes > 0)
    #expect(tally.groups > 0)
    #expect(tally.keys > 0)
  }

  /// Indexes, and queries whose smallest value, groups and keys they know alone.
  private static var answeredByIndex: ([IndexDeclaration], [Query<Specimen>]) {
    let parts = [RandomIndexes.Part.ascending(\.count), .ascending(\.color)]
    return (
      parts.enumerated().map {
        IndexDeclaration(name: "certain \($0)", parts: [$1.part], isUnique: false, filter: nil)
      }, [Specimen.all, Specimen.where { $0.count >= .min }]
    )
  }

  private static func query(
    _ conditions: [Condition], using random: inout RandomSource
  ) -> Query<Specimen> {
    var query = Specimen.all
    if random.bool() { query = query.where(random.pick(conditions).filter) }
    if random.once(in: 4) {
      query = Ordering.random(using: &random).sort(query).offset(1).limit(random.int(0..<9))
    }
    return query
  }

  /// How often an index alone told.
  private struct Tally {
    var extremes = 0
    var groups = 0
    var keys = 0

    mutating func add(_ query: Query<Specimen>, _ snapshot: borrowing Snapshot) throws {
      let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
      let selection = query.selection.withoutIdleOrder
      func told<Result>(_ aggregate: Aggregate<Specimen, Result>) throws -> Int {
        try aggregate.fromIndex(snapshot.moment, selection, binding) == nil ? 0 : 1
      }
      extremes += try told(.min(\.count)) + told(.max(\.name)) + told(.max(\.weight))
      extremes += try told(.min(\.made)) + told(.max(\.token)) + told(.min(\.site.lat))
      groups += try told(.counts(by: \.color)) + told(.distinct(\.note)) + told(.distinct(\.ratio))
      keys += try snapshot.moment.keysByIndex(selection.filter, binding) == nil ? 0 : 1
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
}

/// One query, and what it selects.
private struct Case {
  let query: Query<Specimen>
  let specimens: [Specimen]
  let repository: any Repository<Specimen, Specimen>
  let hint: Comment

  init(
    _ query: Query<Specimen>, _ specimens: [Specimen],
    _ repository: any Repository<Specimen, Specimen>, _ hint: String
  ) {
    self.query = query
    // Without a limit, aggregates are made in the order of the keys.
    self.specimens =
      query.selection.maximum == nil
      ? specimens.sorted { TextOracle.normal($0.id) < TextOracle.normal($1.id) } : specimens
    self.repository = repository
    self.hint = Comment(rawValue: "\(query), \(hint)")
  }

  // MARK: Sums

  func sums() throws {
    try integers(\.count, \.count)
    try integers(\.small, { Int($0.small) })
    try integers(\.step, { $0.step.map { Int($0) } })
    try integers(\.site.visits, { $0.site?.visits })
    try integers(\.tags.count, \.tags.count)
    try naturals()
    let doubles = specimens.map(\.ratio)
    try #require(same(try repository.sum(\.ratio, of: query), exactSum(doubles)), hint)
    let weights = specimens.compactMap(\.weight)
    try #require(same(try repository.sum(\.weight, of: query), exactSum(weights)), hint)
    try #require(same(try repository.average(\.weight, of: query), average(weights)), hint)
    let levels = specimens.compactMap(\.level).map(Double.init)
    try #require(same(try repository.sum(\.level, of: query), exactSum(levels)), hint)
    let costs = specimens.compactMap(\.cost)
    try #require(try repository.sum(\.cost, of: query) == costs.reduce(0, +), hint)
    let cost = costs.isEmpty ? nil : costs.reduce(0, +) / Decimal(costs.count)
    try #require(try repository.average(\.cost, of: query) == cost, hint)
  }

  /// Finite where all numbers are, also where their sum is larger than any double.
  private func average(_ numbers: [Double]) -> Double? {
    if numbers.isEmpty { return nil }
    let sum = exactSum(numbers)
    guard sum.isInfinite, numbers.allSatisfy(\.isFinite) else { return sum / Double(numbers.count) }
    return exactSum(numbers.map { $0 / 0x1p64 }) / Double(numbers.count) * 0x1p64
  }

  /// Held to arithmetic of its own by its own tests.
  private func exactSum(_ numbers: [Double]) -> Double {
    var sum = ExactSum()
    for number in numbers { sum.add(number) }
    return sum.value
  }

  private func integers<Value: Summable>(
    _ field: KeyPath<Fields<Specimen>, QueryField<Specimen, Value>>,
    _ value: (Specimen) -> Int
  ) throws where Value.Sum == Int, Value.Average == Double {
    try integers(specimens.map(value)) {
      try repository.sum(field, of: query)
    } average: {
      try repository.average(field, of: query)
    }
  }

  private func integers<Value: Summable>(
    _ field: KeyPath<Fields<Specimen>, QueryField<Specimen, Value?>>,
    _ value: (Specimen) -> Int?
  ) throws where Value.Sum == Int, Value.Average == Double {
    try integers(specimens.compactMap(value)) {
      try repository.sum(field, of: query)
    } average: {
      try repository.average(field, of: query)
    }
  }

  private func integers(
    _ values: [Int], sum: () throws -> Int, average: () throws -> Double?
  ) throws {
    let exact = values.reduce(Int128(0)) { $0 + Int128($1) }
    if let expected = Int(exactly: exact) {
      try #require(try sum() == expected, hint)
    } else {
      let error = #expect(throws: StoreError.self, hint) { try sum() }
      guard case .sumOverflow("Specimen", _, "\(exact)")? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    let expected = values.isEmpty ? nil : Double(exact) / Double(values.count)
    try #require(try average() == expected, hint)
  }

  private func naturals() throws {
    let exact = specimens.reduce(Int128(0)) { $0 + Int128($1.big) }
    if let expected = UInt(exactly: exact) {
      try #require(try repository.sum(\.big, of: query) == expected, hint)
    } else {
      #expect(throws: StoreError.self, hint) { try repository.sum(\.big, of: query) }
    }
  }

  private func same(_ left: Double?, _ right: Double?) -> Bool {
    left == right || left?.isNaN == true && right?.isNaN == true
  }

  // MARK: Extremes

  func extremes() throws {
    try extreme(\.count) { $0.count }
    try extreme(\.step) { $0.step }
    try extreme(\.bigger) { $0.bigger }
    try extreme(\.token) { $0.token }
    try extreme(\.parent) { $0.parent }
    try extreme(\.ratio) { $0.ratio.isNaN ? nil : $0.ratio }
    try extreme(\.weight) { $0.weight.flatMap { $0.isNaN ? nil : $0 } }
    try extreme(\.gauge) { $0.gauge.isNaN ? nil : $0.gauge }
    try extreme(\.site.lat) { $0.site.flatMap { $0.lat.isNaN ? nil : $0.lat } }
    try extreme(\.made) { $0.made.timeIntervalSinceReferenceDate.isNaN ? nil : $0.made }
    try extreme(\.price) { $0.price.isNaN ? nil : $0.price }
    try extreme(\.name) { TextOracle.normal($0.name) }
    try extreme(\.note) { $0.note.map(TextOracle.normal) }
    try extreme(\.title) { TextOracle.normal($0.title) }
    try extreme(ofEnum: \.rank, \.rank)
    try extreme(ofEnum: \.grade, \.grade)
    try extreme(ofEnum: \.code, \.code)
  }

  private func extreme<Value: RawRepresentable & Comparable & Storable & Sendable>(
    ofEnum field: KeyPath<Fields<Specimen>, QueryField<Specimen, Value>>,
    _ value: (Specimen) -> Value
  ) throws where Value.RawValue: Comparand {
    let values = specimens.map(value)
    try #require(try repository.min(field, of: query) == values.min(), hint)
    try #require(try repository.max(field, of: query) == values.max(), hint)
  }

  private func extreme<Value: Comparand & Comparable>(
    _ field: KeyPath<Fields<Specimen>, QueryField<Specimen, Value>>, _ value: (Specimen) -> Value?
  ) throws {
    let values = specimens.compactMap(value)
    try #require(try repository.min(field, of: query) == values.min(), hint)
    try #require(try repository.max(field, of: query) == values.max(), hint)
  }

  private func extreme<Value: Comparand & Comparable>(
    _ field: KeyPath<Fields<Specimen>, QueryField<Specimen, Value?>>, _ value: (Specimen) -> Value?
  ) throws {
    let values = specimens.compactMap(value)
    try #require(try repository.min(field, of: query) == values.min(), hint)
    try #require(try repository.max(field, of: query) == values.max(), hint)
  }

  // MARK: Groups and keys

  func groups() throws {
    try group(\.name, \.name)
    try group(\.note, \.note)
    try group(\.count, \.count)
    try group(\.ratio, \.ratio)
    try group(\.weight, \.weight)
    try group(\.isOpen, \.isOpen)
    try group(\.mark, \.mark)
    try group(\.made, \.made)
    try group(\.base.place.word, \.base.place.word)
    try group(\.site.alias) { $0.site?.alias }
    try group(\.isHeavy, \.isHeavy)
    let colors = try repository.counts(by: \.color, of: query)
    try compare(
      colors.map { (.string($0.key.rawValue), $0.value) }, { .string($0.color.rawValue) })
    let shades = try repository.counts(by: \.shade, of: query)
    try compare(
      shades.map { ($0.key.map { .string($0.rawValue) } ?? .null, $0.value) },
      { $0.shade.map { .string($0.rawValue) } ?? .null })
    try #require(try repository.distinct(\.color, of: query) == colors.map(\.key), hint)
    try #require(try repository.distinct(\.shade, of: query) == shades.map(\.key), hint)
    for (key, sum) in try repository.sums(of: \.small, by: \.color, in: query).map({
      ($0.key, $0.value)
    }) {
      let expected = specimens.filter { $0.color == key }.reduce(0) { $0 + Int($1.small) }
      try #require(sum == expected, hint)
    }
    let shadeSums = try repository.sums(of: \.small, by: \.shade, in: query)
    try #require(shadeSums.map(\.key) == shades.map(\.key), hint)
    for sum in shadeSums {
      let expected = specimens.filter { $0.shade == sum.key }.reduce(0) { $0 + Int($1.small) }
      try #require(sum.value == expected, hint)
    }

    let sums = try repository.sums(of: \.small, by: \.isOpen, in: query)
    for sum in sums {
      let expected = specimens.filter { $0.isOpen == sum.key }.reduce(0) { $0 + Int($1.small) }
      try #require(sum.value == expected, hint)
    }
    try #require(Set(sums.map(\.key)) == Set(specimens.map(\.isOpen)), hint)

    let keys = try repository.keys(of: query)
    try #require(keys == (try repository.fetch(query).map(\.id)), hint)
    try #require(try repository.exists(query) == !specimens.isEmpty, hint)
  }

  private func group<Key: FieldValue & Storable & Sendable>(
    _ field: KeyPath<Fields<Specimen>, QueryField<Specimen, Key>>, _ value: (Specimen) -> Key
  ) throws {
    let counts = try repository.counts(by: field, of: query)
    try compare(counts.map { ($0.key.stored, $0.value) }, { value($0).stored })
    let distinct = try repository.distinct(field, of: query)
    try #require(
      zip(distinct, counts).allSatisfy {
        $0.stored.sortable.totalOrder($1.key.stored.sortable) == 0
      } && distinct.count == counts.count, hint)
  }

  /// With each value of the oracle looked for among all of them.
  private func compare(_ found: [(Value, Int)], _ value: (Specimen) -> Value) throws {
    var expected: [(value: Value, count: Int)] = []
    for specimen in specimens {
      let value = value(specimen).sortable
      if let place = expected.firstIndex(where: { $0.value.totalOrder(value) == 0 }) {
        expected[place].count += 1
      } else {
        expected.append((value, 1))
      }
    }
    expected.sort { $0.value.totalOrder($1.value) < 0 }
    try #require(found.count == expected.count, hint)
    for (found, expected) in zip(found, expected) {
      try #require(found.0.sortable.totalOrder(expected.value) == 0, hint)
      try #require(found.1 == expected.count, hint)
    }
  }
}
