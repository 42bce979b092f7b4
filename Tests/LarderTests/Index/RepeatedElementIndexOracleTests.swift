import Larder
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Arrays with equal elements, some of them only canonically equal or alike up to where indexes cut
/// them, under unique and plain indexes.
@Suite struct RepeatedElementIndexOracleTests {
  @Test("what is saved over arrays with equal elements ends as it does in a repository in memory")
  func repeatedElements() throws {
    var random = RandomSource()
    let total = repetitions(600)
    var tally = Tally()
    while tally.done < total || tally.done < 20 * total && !tally.hasMetAll(total) {
      let texts = Self.texts(using: &random)
      try withTemporaryStore { store in
        let memory = InMemoryRepository(of: Bundle.self)
        if random.bool() { try begin(texts, in: store, memory, &random) }
        for _ in 0..<30 {
          try change(texts, in: store, memory, &tally, &random)
        }
      }
    }
    print("repeated elements: \(tally)")
    #expect(tally.hasMetAll(total), "\(random.hint)")
  }

  private struct Tally {
    var done = 0
    var saved = 0
    var refused = 0
    var found = 0
    var byIndex = 0

    /// Saves that are all refused, or all let through, prove nothing; nor do questions that nothing
    /// answers.
    func hasMetAll(_ total: Int) -> Bool {
      saved > total / 4 && refused > total / 20 && found > total && byIndex > total
    }
  }

  /// Many that differ, so that batches have room beside each other, each in several forms that do not.
  private static func texts(using random: inout RandomSource) -> [String] {
    let stem = String(repeating: "\u{E9}", count: random.int(110..<130))
    return (0..<60).flatMap { number -> [String] in
      switch number % 4 {
      case 0: ["\(number)"]
      case 1: ["\(number)\u{E9}", "\(number)e\u{301}"]
      case 2: [stem + "\(number)"]
      default: ["\(number)" + stem + "\u{C5}", "\(number)" + stem + "\u{212B}"]
      }
    }
  }

  private static func bundle(_ texts: [String], using random: inout RandomSource) -> Bundle {
    func elements() -> [String] {
      var elements = random.array(0..<3) { $0.pick(texts) }
      for _ in 0..<random.int(0..<3) where !elements.isEmpty {
        let element = random.pick(elements)
        // The same, or another form of it.
        elements.append(random.pick(texts.filter { $0 == element }))
      }
      return elements.shuffled(using: &random)
    }
    return Bundle(
      id: random.int(0..<12), shelf: random.int(0..<3), links: elements(), codes: elements(),
      tags: elements())
  }

  /// Documents that are there before any index is.
  private func begin(
    _ texts: [String], in store: Store, _ memory: InMemoryRepository<Bundle, Bundle>,
    _ random: inout RandomSource
  ) throws {
    for _ in 0..<10 {
      _ = try? memory.save(Self.bundle(texts, using: &random))  // One that clashes stays out.
    }
    let stored = try memory.fetch(Bundle.all)
    try store.repository(of: PlainBundle.self).save(stored.map { PlainBundle(bundle: $0) })
  }

  private func change(
    _ texts: [String], in store: Store, _ memory: InMemoryRepository<Bundle, Bundle>,
    _ tally: inout Tally, _ random: inout RandomSource
  ) throws {
    let bundles = store.repository(of: Bundle.self)
    let batch = random.array(1..<6) { Self.bundle(texts, using: &$0) }
    let shelf = random.int(0..<3)
    let kind = random.int(0..<6)
    func outcome(_ repository: some Repository<Bundle, Bundle>) throws -> SaveReport? {
      do {
        switch kind {
        case 0:
          try repository.delete(keys: batch.map(\.id))
          return SaveReport()
        case 1:
          return try repository.save(batch, clearBeforeSaving: Bundle.where { $0.shelf == shelf })
        default: return try repository.save(batch)
        }
      } catch let error as StoreError {
        guard case .uniqueViolation = error else { throw error }
        return nil
      }
    }
    let hint = Comment(rawValue: "\(batch), \(kind), \(random.hint)")
    let expected = try outcome(memory)
    try #require(try outcome(bundles) == expected, hint)
    tally.done += 1
    if expected == nil { tally.refused += 1 } else { tally.saved += 1 }

    let stored = try memory.fetch(Bundle.all)
    try #require(try bundles.fetch(Bundle.all) == stored, hint)
    for text in batch.flatMap({ $0.links + $0.codes + $0.tags }) {
      try ask(text, shelf, of: stored, in: store, memory, &tally, hint)
    }
    for index in try store.collection("Bundle").indexes() {
      let count = stored.reduce(0) { sum, bundle in
        let elements =
          index.fields.contains("links")
          ? bundle.links : index.fields.contains("tags") ? bundle.tags : bundle.codes
        return sum + Bundle.entryCount(elements)
      }
      try #require(index.entryCount == count, "\(index), \(hint)")
    }
  }
  /// Which documents have an element: by plain Swift, in memory, and in the store by every plan, with
  /// a type and without.
  private func ask(
    _ text: String, _ shelf: Int, of stored: [Bundle], in store: Store,
    _ memory: InMemoryRepository<Bundle, Bundle>, _ tally: inout Tally, _ hint: Comment
  ) throws {
    let questions:
      [(
        typed: (Fields<Bundle>) -> Filter<Bundle>, untyped: (DynamicFields) -> DynamicFilter,
        holds: (Bundle) -> Bool
      )] = [
        (
          { $0.links.contains(text) }, { $0.links.contains(.string(text)) },
          { $0.links.contains(text) }
        ),
        (
          { $0.tags.contains(text) }, { $0.tags.contains(.string(text)) },
          { $0.tags.contains(text) }
        ),
        (
          { $0.shelf == shelf && $0.codes.contains(text) },
          { $0.shelf == .integer(Int64(shelf)) && $0.codes.contains(.string(text)) },
          { $0.shelf == shelf && $0.codes.contains(text) }
        ),
      ]
    let bundles = store.repository(of: Bundle.self)
    let untyped = store.collection("Bundle")
    for question in questions {
      let query = Bundle.where(question.typed)
      let answer = stored.filter(question.holds)
      let ids = answer.map(\.id)
      tally.found += answer.count
      try #require(try memory.fetch(query) == answer, hint)
      try #require(try bundles.fetch(query) == answer, hint)
      try #require(try bundles.count(query) == answer.count, hint)
      let documents = try untyped.fetch(.where(question.untyped)).map { $0["id"] }
      try #require(documents == ids.map { .integer(Int64($0)) }, hint)
      try store.eachPlan(of: query) { found, plan in
        try #require(found == ids, "\(plan), \(hint)")
        if !plan.isScan { tally.byIndex += 1 }
      }
      let keys = ids.map { $0.withEncodedKey { [UInt8]($0) } }
      try store.read { snapshot in
        guard let binding = snapshot.catalogue.binding(ofCollection: "Bundle") else {
          // Nothing was ever saved.
          try #require(ids.isEmpty, hint)
          return
        }
        let selection = try DynamicQuery.where(question.untyped).lowered(in: binding.collection)
        for answer in try snapshot.everyAnswer(to: selection, binding) {
          try #require(answer.keys == keys, "\(answer.plan), \(hint)")
        }
      }
    }
  }
}
