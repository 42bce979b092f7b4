import Larder
import LarderTesting
import Testing

/// Arrays with elements that are equal, as indexes see them.
@Suite struct RepeatedElementTests {
  private static let cutText = String(repeating: "long ", count: 80)

  private static let repeated: [[String]] = [
    ["a", "a"], ["b", "a", "b", "a"], ["caf\u{E9}", "cafe\u{301}"], ["", ""],
    [cutText + "a", cutText + "a"], [cutText + "\u{E9}", cutText + "e\u{301}", cutText],
  ]

  @Test(
    "an array with equal elements is saved under a unique index, wherever its entries come",
    arguments: repeated, [[], ["0"], ["zzz"], ["0", "zzz"]])
  func saved(elements: [String], others: [String]) throws {
    try withTemporaryStore { store in
      let bundles = store.repository(of: Bundle.self)
      let memory = InMemoryRepository(of: Bundle.self)
      let stored = [
        Bundle(id: 0, links: others), Bundle(id: 1, links: elements),
        Bundle(id: 2, codes: elements), Bundle(id: 3, shelf: 1, codes: elements),
      ]
      try bundles.save(stored[0])
      #expect(try bundles.save(stored).inserted == 3)
      try memory.save(stored)

      #expect(try bundles.fetch(Bundle.all) == stored)
      #expect(try memory.fetch(Bundle.all) == stored)
      for element in elements {
        let query = Bundle.where { $0.links.contains(element) }
        #expect(try bundles.fetch(query).map(\.id) == [1])
        #expect(throws: StoreError.self) { try bundles.save(Bundle(id: 9, links: [element])) }
        #expect(throws: StoreError.self) { try memory.save(Bundle(id: 9, links: [element])) }
      }
    }
  }

  @Test(
    "an element that is taken away once stays in a unique index, and leaves it with the last one")
  func takenAway() throws {
    try withTemporaryStore { store in
      let bundles = store.repository(of: Bundle.self)
      let hasA = Bundle.where { $0.links.contains("a") }
      try bundles.save([Bundle(id: 1, links: ["a", "b", "a"]), Bundle(id: 2, links: ["z"])])

      try bundles.save(Bundle(id: 1, links: ["a", "b"]))
      #expect(try bundles.count(hasA) == 1)
      try bundles.save(Bundle(id: 1, links: ["b", "b", "a", "a"]))
      #expect(throws: StoreError.self) { try bundles.save(Bundle(id: 2, links: ["a", "a"])) }
      try bundles.save(Bundle(id: 1, links: ["b", "b"]))
      #expect(try bundles.count(hasA) == 0)
      try bundles.save(Bundle(id: 2, links: ["a", "a"]))
      #expect(try bundles.fetch(hasA).map(\.id) == [2])
    }
  }

  @Test(
    "a unique index that is declared later is built over arrays with equal elements",
    arguments: [20, 1_200])
  func declaredLater(count: Int) throws {
    try withTemporaryStore { store in
      let stored = (0..<count).map { number in
        let own = Self.repeated[number % Self.repeated.count].map { "\(number) \($0)" }
        return Bundle(id: number, shelf: number % 3, links: own, codes: own, tags: own)
      }
      try store.repository(of: PlainBundle.self).save(stored.map { PlainBundle(bundle: $0) })

      let bundles = store.repository(of: Bundle.self)
      try bundles.save(Bundle(id: count, links: ["new", "new"]))
      let collection = store.collection("Bundle")
      try collection.buildIndexes()

      let indexes = try collection.indexes()
      #expect(indexes.count == 3)
      #expect(indexes.allSatisfy { $0.state == .complete })
      let entryCount = stored.reduce(1) { $0 + Bundle.entryCount($1.links) }
      #expect(indexes.first { $0.fields == ["links"] }?.entryCount == entryCount)
      for bundle in stored.prefix(20) {
        let link = bundle.links[0]
        #expect(try bundles.fetch(Bundle.where { $0.links.contains(link) }) == [bundle])
        #expect(throws: StoreError.self) { try bundles.save(Bundle(id: -1, links: [link])) }
      }
    }
  }
}
