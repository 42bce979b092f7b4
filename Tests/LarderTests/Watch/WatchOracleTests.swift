import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Random writes and random queries: after every step the list that the differences have made is
/// what a fetch gives.
@Suite struct WatchOracleTests {
  /// A watched query without its task: asked for its next step by the test.
  private struct Watched {
    private let ungrown: Query<Specimen>
    /// What the query is limited to, and grows; nil for a query that does not.
    let limit: GrowingLimit?
    var watch: ResultWatch<Specimen, Specimen>
    var list: [Specimen] = []

    /// What the watch shows.
    var query: Query<Specimen> { limit.map { ungrown.limit($0.count) } ?? ungrown }

    init(
      _ query: Query<Specimen>, upTo limit: GrowingLimit?, in store: Store, marginCount: Int?
    ) {
      ungrown = query
      self.limit = limit
      var selection = query.selection
      selection.growth = limit.map { Growth(limit: $0, ceiling: selection.maximum ?? .max) }
      watch = ResultWatch(store, selection, RowReader(selection), marginCount: marginCount)
    }
  }

  private struct Tally {
    var compared = 0
    var updates = 0
    var resets = 0
    var moves = 0
    var rereads = 0
    var refills = 0
    var grown = 0
    var found = 0

    /// What was never seen proves nothing.
    func hasMetAll(_ total: Int) -> Bool {
      updates > compared / 10 && found > compared / 4 && moves > compared / 100
        && refills > total / 2_000 && grown > total / 2_000
    }

    func isEnough(_ total: Int) -> Bool {
      compared >= (hasMetAll(total) ? total : 20 * total)
    }
  }

  @Test("after every step of a watched query the list is what a fetch gives")
  func everyStep() throws {
    var random = RandomSource()
    let total = repetitions(15_000)
    var tally = Tally()
    while !tally.isEnough(total) {
      try withTemporaryStore { store in
        let pool = (0..<40).map {
          Specimen(id: random.pick(Pool.keys) + "\($0 % 20)", using: &random)
        }
        if random.bool() { try change(store, pool, using: &random) }
        if random.bool() { try declareIndexes(in: store, using: &random) }
        var watches = (0..<60).map { _ in
          Watched(
            Self.query(pool, using: &random),
            upTo: random.once(in: 3) ? GrowingLimit(random.int(0..<4)) : nil, in: store,
            marginCount: random.pick([0, 1, 5, nil]))
        }
        for step in 0..<30 {
          if step == 15, random.bool() { try declareIndexes(in: store, using: &random) }
          try change(store, pool, using: &random)
          for place in watches.indices {
            // Some take several commits in one step.
            if random.once(in: 4) { continue }
            if random.once(in: 4) { watches[place].limit?.grow(by: random.pick([0, 1, 2, 7])) }
            try look(&watches[place], store, &tally, random.hint)
          }
          if tally.isEnough(total) { break }
        }
        tally.rereads += watches.reduce(0) { $0 + $1.watch.rereadCount }
        tally.refills += watches.reduce(0) { $0 + $1.watch.refillCount }
        tally.grown += watches.reduce(0) { $0 + $1.watch.grownCount }
      }
    }
    print("watch: \(tally)")
    #expect(tally.hasMetAll(total), "\(random.hint)")
    // Only erasures may need the whole result.
    #expect(tally.resets == 0)
    #expect(tally.rereads < tally.compared / 8)
  }

  private func look(
    _ watched: inout Watched, _ store: Store, _ tally: inout Tally, _ hint: String
  ) throws {
    // What has changed, and then the rows of a limit that has grown.
    for _ in 0..<2 {
      let before = watched.list
      guard let change = try watched.watch.next(skippingTo: 0) else { break }
      watched.list.apply(change)
      #expect(try store.read { $0.sequence } == change.sequence)
      if case .reset = change { tally.resets += 1 }
      guard case .update(let difference) = change else { continue }
      tally.updates += 1
      tally.moves += difference.insertions.count { $0.origin != nil }
      let swift = before.applying(difference.collectionDifference(from: before))
      let isSame = swift?.map(\.face) == watched.list.map(\.face)
      if !isSame { try #require(isSame, "\(watched.query), \(hint)") }
    }
    let expected = try store.repository(of: Specimen.self).fetch(watched.query)
    let faces = expected.map(\.face)
    let isSame = watched.list.map(\.face) == faces
    if !isSame { try #require(isSame, "\(watched.query), \(hint)") }
    tally.compared += 1
    if !expected.isEmpty { tally.found += 1 }
  }

  func declareIndexes(in store: Store, using random: inout RandomSource) throws {
    var declaration = try Declaration(Specimen.self)
    declaration.indexes = RandomIndexes.declarations(
      count: random.int(1..<10),
      conditions: (0..<4).map { _ in Condition.random(depth: 1, using: &random) }, using: &random)
    let engine = store.engine
    try engine.writer.run { [declaration] in
      try engine.declare(declaration)
      while try engine.workOnIndex() {}
    }
  }

  /// Some documents of a pool that is small enough for keys to come again and values to tie.
  func change(
    _ store: Store, _ pool: [Specimen], using random: inout RandomSource
  ) throws {
    let repository = store.repository(of: Specimen.self)
    let count = random.pick([1, 1, 2, 5, 20])
    var some = (0..<count).map { _ in random.pick(pool) }
    for place in some.indices where random.bool() { some[place].renew(using: &random) }
    switch random.int(0..<12) {
    case 0:
      let condition = Condition.random(depth: 1, using: &random)
      try repository.save(some, clearBeforeSaving: Specimen.where(condition.filter))
    case 1: try repository.delete(keys: some.map(\.id))
    case 2 where random.once(in: 3):
      let condition = Condition.random(depth: 1, using: &random)
      try repository.delete(Specimen.where(condition.filter))
    case 3 where random.once(in: 10): try repository.eraseAllData()
    case 4 where random.once(in: 4):
      // All at once, with other documents after it.
      try store.write { tx in
        try tx.eraseAllData(of: Specimen.self)
        try tx.save(some)
      }
    case 5:
      // There and back, which nobody needs to hear of.
      for specimen in some {
        guard let old = try repository.get(specimen.id) else { continue }
        try repository.save(specimen)
        try repository.save(old)
      }
    case 6:
      // Equal keys in another collection.
      try store.repository(of: Contact.self).save(some.map { Contact(id: $0.id, city: "Oslo") })
    default: try repository.save(some)
    }
  }

  static func query(
    _ pool: [Specimen], using random: inout RandomSource
  ) -> Query<Specimen> {
    var query = Specimen.all
    if !random.once(in: 4) {
      query = query.where(Condition.random(depth: random.int(0..<3), using: &random).filter)
    }
    for _ in 0..<random.int(0..<3) { query = Ordering.random(using: &random).sort(query) }
    if random.once(in: 3) { query = query.offset(random.pick([0, 1, 2, 5, 10, 100, .max])) }
    if random.bool() { query = query.limit(random.pick([0, 1, 1, 2, 5, 10, .max])) }
    return query
  }
}

extension Pool {
  /// Short ones, that make other keys with a number behind them.
  static let keys = ["", "a", "A", "\u{E9}", "e\u{301}", "\u{1F600}", "\u{AC00}"]
}

extension Specimen {
  /// What is compared: a document with NaN in it is not equal to itself. All that ``renew`` changes
  /// is in it.
  fileprivate var face: Face {
    Face(
      texts: [id, name, note] + tags, count: count,
      bits: [ratio.bitPattern, weight?.bitPattern, made.timeIntervalSinceReferenceDate.bitPattern],
      token: token)
  }

  fileprivate struct Face: Equatable {
    let texts: [String?]
    let count: Int
    let bits: [UInt64?]
    let token: UUID
  }

  /// Other values in a few fields.
  fileprivate mutating func renew(using random: inout RandomSource) {
    switch random.int(0..<8) {
    case 0: name = random.pick(Pool.allTexts)
    case 1: count = random.pick(Pool.integers)
    case 2: ratio = random.pick(Pool.doubles)
    case 3: weight = random.maybe(Pool.doubles)
    case 4: note = random.maybe(Pool.allTexts)
    case 5: tags = random.several(Pool.allTexts)
    case 6: made = random.pick(Pool.dates)
    default: self = Specimen(id: id, using: &random)
    }
  }
}
