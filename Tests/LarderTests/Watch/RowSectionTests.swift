import LarderTestKit
import Testing

@testable import Larder

/// Sections as they follow the differences of a result, without a store.
@Suite struct RowSectionTests {
  /// What is watched: a number for its identity, and the key of its section.
  private struct Item: Equatable {
    var id: Int
    var key: Int
  }

  private typealias Runs = SectionRuns<Int, Item>

  private static func runs(_ items: [Item]) -> Runs {
    var runs = Runs(by: \.key, isSame: ==)
    runs.apply(.initial(Rows(items), sequence: 0))
    return runs
  }

  /// The oracle: cuts the whole anew.
  private static func cut(_ items: [Item]) -> [(key: Int, items: [Item])] {
    var sections: [(key: Int, items: [Item])] = []
    for item in items {
      if sections.last?.key == item.key {
        sections[sections.count - 1].items.append(item)
      } else {
        sections.append((item.key, [item]))
      }
    }
    return sections
  }

  private static func isSame(_ runs: Runs, _ items: [Item]) -> Bool {
    let expected = cut(items)
    return runs.sections.count == expected.count
      && zip(runs.sections, expected).allSatisfy { $0.key == $1.key && $0.rows == $1.items }
  }

  @Test("after any difference the sections are those of the whole result, whatever its order")
  func everyDifference() throws {
    var random = RandomSource()
    var (most, least) = (0, Int.max)
    for round in 0..<repetitions(150) {
      let keyCount = random.pick([1, 2, 5, 1000])
      let isSorted = random.bool()
      func key(_ random: inout RandomSource) -> Int { random.int(0..<keyCount) }
      var items = random.array(0..<random.pick([4, 60, 800])) { random in
        Item(id: random.int(0..<1_000_000), key: random.int(0..<keyCount))
      }
      // The first begins with as many sections as items; all end with none.
      if round == 0 { items = (0..<800).map { Item(id: $0, key: $0) } }
      if isSorted { items.sort { ($0.key, $0.id) < ($1.key, $1.id) } }
      var runs = Self.runs(items)
      for step in 0..<30 {
        let old = items
        for _ in 0..<random.pick([1, 1, 3, 20]) {
          let item = Item(id: random.int(0..<1_000_000), key: key(&random))
          switch random.int(0..<3) {
          case 0: items.insert(item, at: random.int(0..<items.count + 1))
          case 1 where !items.isEmpty: items.remove(at: random.int(0..<items.count))
          case 2 where !items.isEmpty: items[random.int(0..<items.count)].key = item.key
          default: break
          }
        }
        if isSorted { items.sort { ($0.key, $0.id) < ($1.key, $1.id) } }
        if step == 29 { items = [] }
        runs.apply(.update(Self.difference(from: old, to: items)))
        let isSame = Self.isSame(runs, items)
        if !isSame { try #require(isSame, "\(random.hint)") }
        most = max(most, runs.sections.count)
        least = min(least, runs.sections.count)
      }
    }
    #expect(most > 512 && least == 0)
  }

  @Test("a section has the key of its first row, where equal keys are spelt otherwise")
  func spellings() throws {
    var random = RandomSource()
    let names = ["\u{E9}", "e\u{301}", "a"]
    for _ in 0..<repetitions(20) {
      var items: [Item] = []
      var runs = SectionRuns<String, Item>(by: { names[$0.key] }, isSame: ==)
      for _ in 0..<40 {
        let old = items
        let item = Item(id: random.int(0..<1000), key: random.int(0..<names.count))
        switch random.int(0..<3) {
        case 0: items.insert(item, at: random.int(0..<items.count + 1))
        case 1 where !items.isEmpty: items.remove(at: random.int(0..<items.count))
        case 2 where !items.isEmpty: items[random.int(0..<items.count)].key = item.key
        default: break
        }
        runs.apply(.update(Self.difference(from: old, to: items)))
        for section in runs.sections {
          let first = try #require(section.rows.first)
          #expect(section.key.utf8.elementsEqual(names[first.key].utf8), "\(random.hint)")
        }
      }
    }
  }

  /// As a watcher tells it: by identity, and as an update where an item stays and has changed.
  private static func difference(from old: [Item], to new: [Item]) -> ResultDifference<Item> {
    let changes = new.difference(from: old) { $0.id == $1.id }
    var removals: [(offset: Int, destination: Int?)] = []
    var insertions: [(offset: Int, model: Item, origin: Int?)] = []
    var kept = old
    for change in changes {
      switch change {
      case .remove(let offset, _, _):
        removals.append((offset, nil))
        kept.remove(at: offset)
      case .insert(let offset, let item, _):
        insertions.append((offset, item, nil))
        kept.insert(item, at: offset)
      }
    }
    let updates = new.indices.filter { kept[$0] != new[$0] }.map { (offset: $0, model: new[$0]) }
    return ResultDifference(
      removals: removals, insertions: insertions, updates: updates, sequence: 1)
  }

  @Test("a change moves as many rows as it is of, in a short result and in a long one")
  func cost() {
    for count in [1_000, 100_000] {
      let items = (0..<count).map { Item(id: $0, key: $0 / 10) }
      var runs = Self.runs(items)
      let start = runs.movedCount

      // A row of a section, a section of its own, one that moves to the section behind, one that goes.
      let new = Item(id: -1, key: 5)
      runs.apply(.update(Self.step(insertions: [(57, new)])))
      runs.apply(.update(Self.step(insertions: [(0, Item(id: -2, key: -7))])))
      runs.apply(.update(Self.step(updates: [(10, Item(id: 9, key: 1))])))
      runs.apply(.update(Self.step(removals: [0])))

      #expect(runs.movedCount - start == 5)
      #expect(runs.sections.count == count / 10)
      #expect(runs.sections.prefix(2).map { $0.rows.map(\.id) } == [Array(0..<9), Array(9..<20)])
    }
  }

  @Test(
    "sections that have not changed are shared with the result before, and so is most of a long one"
  )
  func sharing() {
    let items = (0..<100_000).map { Item(id: $0, key: $0 / 10_000) }
    var runs = Self.runs(items)
    let before = runs.sections

    runs.apply(.update(Self.step(updates: [(25_000, Item(id: -1, key: 2))])))

    for place in 0..<10 {
      let (old, new) = (before[place].rows.root, runs.sections[place].rows.root)
      #expect((old.identity == new.identity) == (place != 2))
      #expect(old.sharedCount(with: new, at: 0) > 0)
    }
    #expect(before[2].rows[5_000].id == 25_000)
  }

  private static func step(
    removals: [Int] = [], insertions: [(Int, Item)] = [], updates: [(Int, Item)] = []
  ) -> ResultDifference<Item> {
    ResultDifference(
      removals: removals.map { ($0, nil) }, insertions: insertions.map { ($0.0, $0.1, nil) },
      updates: updates.map { ($0.0, $0.1) }, sequence: 1)
  }

  @Test("the run of a row is found, whatever runs have come and gone")
  func runCounts() throws {
    var random = RandomSource()
    var list = (0..<3_000).map { _ in random.int(1..<5) }
    var counts = RunCounts(list)
    for step in 0..<6_000 {
      let isShrinking = step / 1_500 % 2 == 1
      switch random.int(0..<4) {
      case 0,
        1 where !isShrinking:
        let place = random.int(0..<list.count + 1)
        let count = random.int(1..<5)
        list.insert(count, at: place)
        counts.insert(count, at: place)
      case 2, 1:
        guard !list.isEmpty else { break }
        let place = random.int(0..<list.count)
        list.remove(at: place)
        counts.remove(at: place)
      default:
        guard !list.isEmpty else { break }
        let place = random.int(0..<list.count)
        list[place] += 1
        counts.add(1, to: place)
      }
      guard step % 20 == 0, !list.isEmpty else { continue }
      #expect(counts.rowCount == list.reduce(0, +))
      let offset = random.int(0..<counts.rowCount)
      var (run, start) = (0, 0)
      while start + list[run] <= offset {
        start += list[run]
        run += 1
      }
      let found = counts.run(at: offset)
      if found != (run, start) { try #require(found == (run, start), "\(random.hint)") }
      try #require(counts.start(of: run) == start, "\(random.hint)")
      try #require(counts.start(of: list.count) == counts.rowCount, "\(random.hint)")
    }
  }
}
