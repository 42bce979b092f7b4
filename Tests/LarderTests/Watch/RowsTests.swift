import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct RowsTests {
  private static let counts = [0, 1, 2, 47, 48, 49, 64, 65, 128, 1_000, 3_073, 20_000, 100_000]

  /// What a random difference makes of `old`: rows go, come and change, some of them in runs.
  private func difference(
    of old: [Int], _ random: inout RandomSource
  ) -> ResultDifference<Int> {
    func offsets(below count: Int, _ random: inout RandomSource) -> Set<Int> {
      var found: Set<Int> = []
      for _ in 0..<random.int(0..<6) where count > 0 {
        let start = random.int(0..<count)
        let longest = random.once(in: 8) ? count : 40
        for offset in start..<min(count, start + random.int(1..<longest + 1)) {
          found.insert(offset)
        }
      }
      return found
    }
    let removed = random.once(in: 20) ? Set(old.indices) : offsets(below: old.count, &random)
    let kept = old.count - removed.count
    var inserted = Set<Int>()
    if random.once(in: 10) {
      let start = random.int(0..<kept + 1)
      inserted.formUnion(start..<start + random.int(1..<3_000))
    } else {
      // At most as far behind the last as there are others before it.
      for (place, offset) in offsets(below: kept + 1, &random).sorted().enumerated() {
        inserted.insert(offset + place)
      }
    }
    let count = kept + inserted.count
    let updated = offsets(below: count, &random).subtracting(inserted)
    return ResultDifference(
      removals: removed.map { ($0, nil) },
      insertions: inserted.map { ($0, Int(random.integer()), nil) },
      updates: updated.map { ($0, Int(random.integer())) }, sequence: 0)
  }

  @Test("rows are what an array is after the same differences, and so are those of before")
  func oracle() {
    var random = RandomSource()
    for _ in 0..<repetitions(12) {
      var array = (0..<random.pick(Self.counts)).map { $0 }
      var rows = Rows(array)
      var kept: [(Rows<Int>, [Int])] = []
      for step in 0..<20 {
        let difference = difference(of: array, &random)
        array.apply(difference)
        rows.apply(difference)
        #expect(rows == array, "\(random.hint)")
        expectSound(rows, random.hint)
        if step % 5 == 0 { kept.append((rows, array)) }
      }
      for (rows, array) in kept { #expect(Array(rows) == array, "\(random.hint)") }
    }
  }

  @Test("offsets, slices, distances and iterators are those of an array")
  func collection() {
    var random = RandomSource()
    for count in Self.counts {
      let array = random.array(count..<count + 1) { Int($0.integer()) }
      let rows = Rows(array)
      #expect(rows.count == count && rows.isEmpty == array.isEmpty)
      #expect(rows.first == array.first && rows.last == array.last)
      #expect(rows.indices == array.indices)
      var iterator = rows.makeIterator()
      for offset in array.indices {
        #expect(iterator.next() == array[offset])
        if random.once(in: 1 + count / 200) { #expect(rows[offset] == array[offset]) }
      }
      #expect(iterator.next() == nil && iterator.next() == nil)
      let low = random.int(0..<count + 1)
      let high = random.int(low..<count + 1)
      #expect(Array(rows[low..<high]) == Array(array[low..<high]))
      #expect(rows.reversed() == array.reversed())
      expectSound(rows, random.hint)
    }
  }

  @Test("rows that come and go one by one leave no sparse chunks behind")
  func sparse() {
    var random = RandomSource()
    var array = Array(0..<20_000)
    var rows = Rows(array)
    while array.count > 50 {
      let offset = random.int(0..<array.count)
      array.remove(at: offset)
      rows.replace(offset..<offset + 1, with: [])
    }
    #expect(rows == array, "\(random.hint)")
    #expect(rows.leaves.count <= 4)
    for number in 0..<5_000 {
      let offset = random.int(0..<array.count + 1)
      array.insert(number, at: offset)
      rows.replace(offset..<offset, with: [number])
    }
    #expect(rows == array, "\(random.hint)")
    expectSound(rows, random.hint)
    #expect(rows.leaves.count <= 5_050 / 16)
  }

  // MARK: Sharing

  @Test("a change makes one new chunk, or at most three, however many rows there are")
  func sharing() {
    var random = RandomSource()
    for count in [1_000, 30_000, 1_000_000] {
      var rows = Rows(0..<count)
      for number in 0..<200 {
        let before = rows
        let offset = random.int(0..<rows.count)
        switch random.int(0..<3) {
        case 0: rows.apply(ResultDifference([], [], [(offset, -number)]))
        case 1: rows.apply(ResultDifference([(offset, nil)], [], []))
        default: rows.apply(ResultDifference([], [(offset, -number, nil)], []))
        }
        let old = Set(before.leaves)
        let new = rows.leaves
        #expect(new.count { !old.contains($0) } <= 3, "\(random.hint)")
        #expect(rows.nodeCount - rows.sharedNodeCount(with: before) <= 3 * 5, "\(random.hint)")
        if count == 1_000_000, number == 5 { break }
      }
    }
  }

  @Test("each result of a watched query shares with the one before what has not changed")
  func watched() async throws {
    let contacts = (0..<2_000).map { Contact(id: "\($0)", city: "Oslo") }
    try await withTemporaryStore { store in
      let repositories: [any Repository<Contact, Contact>] = [
        store.repository(of: Contact.self), InMemoryRepository(of: Contact.self),
      ]
      for repository in repositories {
        try await repository.save(contacts)
        var values = repository.values(of: Contact.all).makeAsyncIterator()
        let first = try #require(try await values.next())
        var contact = first[1_000]
        contact.city = "Bergen"

        try await repository.save(contact)
        let second = try #require(try await values.next())

        #expect(second[1_000] == contact && first[1_000].city == "Oslo")
        let old = Set(first.leaves)
        #expect(second.leaves.count { !old.contains($0) } == 1)
        #expect(first.leaves.count > 30)
      }
    }
  }

  @Test("two results that follow each other are compared by what has changed")
  func equality() {
    var random = RandomSource()
    for count in [100, 10_000, 200_000] {
      let counter = Counter()
      let rows = Rows((0..<count).map { Counted(number: $0, counter: counter) })
      func compare(_ other: Rows<Counted>) -> (isEqual: Bool, comparisons: Int) {
        counter.count = 0
        return (rows == other, counter.count)
      }
      let offset = random.int(0..<count)
      var same = rows
      same.apply(ResultDifference([], [], [(offset, rows[offset])]))
      var other = rows
      other.apply(
        ResultDifference([], [], [(offset, Counted(number: -1, counter: counter))]))
      var shorter = rows
      shorter.apply(ResultDifference([(offset, nil)], [], []))

      #expect(compare(rows) == (true, 0))
      let (isEqual, comparisons) = compare(same)
      #expect(isEqual && comparisons > 0 && comparisons <= 64, "\(random.hint)")
      let (isOtherEqual, otherComparisons) = compare(other)
      #expect(!isOtherEqual && otherComparisons <= 64, "\(random.hint)")
      #expect(compare(shorter) == (false, 0))
      #expect(compare(Rows(rows)) == (true, count))
    }
  }

  // MARK: Values

  @Test("rows are equal and hashed by their elements, whatever their chunks are")
  func hashing() {
    var grown: Rows<Int> = []
    for number in 0..<1_000 { grown.replace(number..<number, with: [number]) }
    let made = Rows(0..<1_000)

    #expect(grown.leaves.count != made.leaves.count)
    #expect(grown == made && Set([grown, made]).count == 1)
    #expect(grown != Rows(0..<999) && grown != Rows(1..<1_001))
    #expect(made == Array(0..<1_000) && made != Array(0..<999) && made != [])
    #expect(Rows<Int>() == [])
  }

  @Test("rows are coded and described as an array is")
  func coding() throws {
    for count in [0, 1, 300] {
      let array = (0..<count).map { "row \($0)" }
      let rows = Rows(array)
      let data = try JSONEncoder().encode(rows)

      #expect(data == (try JSONEncoder().encode(array)))
      #expect(try JSONDecoder().decode(Rows<String>.self, from: data) == rows)
      #expect(rows.description == array.description)
      #expect(rows.debugDescription == array.debugDescription)
      #expect(Mirror(reflecting: rows).children.count == count)
    }
    let literal: Rows = ["a", "b"]
    #expect(literal == ["a", "b"])
  }

  @Test("a difference as Swift's own type is the same from rows and from an array")
  func swiftDifference() {
    let old = Rows(0..<300)
    let difference = ResultDifference(
      [(10, nil), (20, 5)], [(5, 20, 20), (299, -1, nil)], [(100, -2)])
    var new = old
    new.apply(difference)

    #expect(
      difference.collectionDifference(from: old)
        == difference.collectionDifference(from: Array(old)))
    #expect(Array(old).applying(difference.collectionDifference(from: old)) == Array(new))
  }
}

// MARK: Helpers

extension ResultDifference {
  fileprivate init(
    _ removals: [(offset: Int, destination: Int?)],
    _ insertions: [(offset: Int, model: Model, origin: Int?)],
    _ updates: [(offset: Int, model: Model)]
  ) {
    self.init(removals: removals, insertions: insertions, updates: updates, sequence: 0)
  }
}

/// Used by one test on one thread.
private final class Counter: @unchecked Sendable {
  var count = 0
}

private struct Counted: Sendable, Equatable {
  let number: Int
  let counter: Counter

  static func == (left: Self, right: Self) -> Bool {
    left.counter.count += 1
    return left.number == right.number
  }
}

extension RowNode {
  /// Itself and all below it.
  fileprivate var nodes: [RowNode] {
    switch self {
    case .leaf: [self]
    case .branch(let children): [self] + children.flatMap(\.node.nodes)
    }
  }

  fileprivate var isLeaf: Bool {
    if case .leaf = self { true } else { false }
  }
}

extension Rows {
  /// What tells its chunks apart.
  fileprivate var leaves: [UInt] { root.nodes.filter(\.isLeaf).map(\.identity) }
  fileprivate var nodeCount: Int { root.nodes.count }

  fileprivate func sharedNodeCount(with other: Rows) -> Int {
    let others = Set(other.root.nodes.map(\.identity))
    return root.nodes.count { others.contains($0.identity) }
  }
}

/// What holds for every tree: counts are right, leaves are of one depth, no node is too full, none
/// is empty.
private func expectSound<Element>(
  _ rows: Rows<Element>, _ hint: String, sourceLocation: SourceLocation = #_sourceLocation
) {
  var leafDepths: Set<Int> = []
  func look(_ node: RowNode<Element>, depth: Int) -> Bool {
    switch node {
    case .leaf(let elements):
      leafDepths.insert(depth)
      return elements.count <= RowNode<Element>.leafCapacity && (depth == 0 || !elements.isEmpty)
    case .branch(let children):
      return (depth > 0 || children.count > 1) && !children.isEmpty
        && children.count <= RowNode<Element>.branchCapacity
        && children.allSatisfy { $0.count == $0.node.count && look($0.node, depth: depth + 1) }
    }
  }
  #expect(look(rows.root, depth: 0), "\(hint)", sourceLocation: sourceLocation)
  #expect(leafDepths.count == 1, "\(hint)", sourceLocation: sourceLocation)
  #expect(rows.count == rows.root.count, "\(hint)", sourceLocation: sourceLocation)
}
