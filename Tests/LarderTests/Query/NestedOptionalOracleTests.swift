import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Fields of embedded documents that may be nil, inside of others that may be nil.
@Suite struct NestedOptionalOracleTests {
  @Test(
    "fields behind two optionals mean what Swift's optional chaining makes of them, by any plan")
  func twoDeep() throws {
    var random = RandomSource()
    var tally = (asked: 0, found: 0, byIndex: 0)
    func hasMetAll() -> Bool { tally.found > tally.asked / 4 && tally.byIndex > tally.asked }
    for _ in rounds(repetitions(4), until: hasMetAll) {
      try withTemporaryStore { store in
        let repository = store.repository(of: Tree.self)
        if random.bool() { _ = try repository.save(Tree(id: 1_000)) }
        var trees = (0..<60).map { Tree(id: $0, using: &random) }
        try repository.save(trees)
        // Entries that change, from and to nil.
        for index in trees.indices where random.once(in: 3) {
          trees[index] = Tree(id: index, using: &random)
        }
        try repository.save(trees)
        try repository.delete(keys: [1_000])
        let memory = InMemoryRepository(of: Tree.self)
        try memory.save(trees)
        for _ in 0..<60 {
          try ask(trees, store, memory, &tally, using: &random)
        }
        #expect(try store.check().isSound, "\(random.hint)")
      }
    }
    print("nested optionals: \(tally)")
    #expect(hasMetAll(), "\(random.hint)")
  }

  private func ask(
    _ trees: [Tree], _ store: Store, _ memory: InMemoryRepository<Tree, Tree>,
    _ tally: inout (asked: Int, found: Int, byIndex: Int), using random: inout RandomSource
  ) throws {
    let condition = Condition.random(depth: 2, using: &random)
    var query = Tree.all.where { _ in condition.typed }
    var untyped = DynamicQuery(where: condition.untyped)
    var answer = trees.filter(condition.holds)
    let isReversed = random.bool()
    let direction: SortOrder = isReversed ? .reverse : .forward
    switch random.int(0..<5) {
    case 0:
      query = query.sorted(by: \.stem.leaf.size, direction)
      untyped = untyped.sorted(by: FieldPath("stem.leaf.size")!, isReversed: isReversed)
      answer = sort(answer, isReversed) { $0.stem?.leaf?.size }
    case 1:
      query = query.sorted(by: \.stem.name, direction)
      untyped = untyped.sorted(by: FieldPath("stem.name")!, isReversed: isReversed)
      answer = sort(answer, isReversed) { $0.stem?.name }
    case 2:
      query = query.sorted(by: \.stem.leaf.weight, direction)
      untyped = untyped.sorted(by: FieldPath("stem.leaf.weight")!, isReversed: isReversed)
      answer = sort(answer, isReversed) { $0.stem?.leaf?.weight }
    default: break
    }
    let hint = "\(query), \(random.hint)"
    let expected = answer.map(\.id)
    tally.asked += 1
    if !expected.isEmpty { tally.found += 1 }

    let repository = store.repository(of: Tree.self)
    #expect(try repository.fetch(query) == answer, "\(hint)")
    #expect(try repository.count(query) == answer.count, "\(hint)")
    #expect(try memory.fetch(query) == answer, "\(hint)")
    let found = try store.collection("Tree").fetch(untyped)
    #expect(found.map { $0["id"] } == expected.map { .integer(Int64($0)) }, "\(hint)")
    let keys = expected.map { $0.withEncodedKey { [UInt8]($0) } }
    try store.read { snapshot in
      let binding = try #require(try snapshot.catalogue.binding(of: Tree.self))
      let untyped = try untyped.lowered(in: binding.collection)
      for selection in [query.selection, untyped] {
        for answer in try snapshot.everyAnswer(to: selection, binding) {
          #expect(answer.keys == keys, "\(answer.plan), \(hint)")
          if answer.plan.isScan { continue }
          tally.byIndex += 1
        }
      }
    }
  }

  /// Nil first, equals in the order that they have.
  private func sort<Key: Comparable>(
    _ trees: [Tree], _ isReversed: Bool, by key: (Tree) -> Key?
  ) -> [Tree] {
    trees.enumerated().sorted { first, second in
      let (left, right) = (key(first.element), key(second.element))
      if left == right { return first.offset < second.offset }
      let isBefore = left.map { left in right.map { left < $0 } ?? false } ?? true
      return isBefore != isReversed
    }.map(\.element)
  }

  private struct Condition {
    let typed: Filter<Tree>
    let untyped: DynamicFilter
    let holds: (Tree) -> Bool

    static func random(depth: Int, using random: inout RandomSource) -> Condition {
      if depth > 0, random.bool() {
        let left = Self.random(depth: depth - 1, using: &random)
        let right = Self.random(depth: depth - 1, using: &random)
        switch random.int(0..<3) {
        case 0:
          return Condition(
            typed: left.typed && right.typed, untyped: left.untyped && right.untyped
          ) { left.holds($0) && right.holds($0) }
        case 1:
          return Condition(
            typed: left.typed || right.typed, untyped: left.untyped || right.untyped
          ) { left.holds($0) || right.holds($0) }
        default:
          return Condition(typed: !left.typed, untyped: !left.untyped) { !left.holds($0) }
        }
      }
      let (fields, free) = (Fields<Tree>(), DynamicFields())
      let (size, name) = (random.int(0..<4), random.pick(Tree.names))
      let (number, text) = (Value.integer(Int64(size)), Value.string(name))
      let (stem, leaf) = (free.stem, free.stem.leaf)
      switch random.int(0..<13) {
      case 0: return Condition(typed: fields.stem == nil, untyped: stem == .null) { $0.stem == nil }
      case 1:
        return Condition(typed: fields.stem.leaf == nil, untyped: leaf == .null) {
          $0.stem?.leaf == nil
        }
      case 2:
        return Condition(typed: fields.stem.leaf != nil, untyped: leaf != .null) {
          $0.stem?.leaf != nil
        }
      case 3:
        let size = random.once(in: 3) ? nil : size
        return equality(fields.stem.leaf.size, leaf.size, size, using: &random) {
          $0.stem?.leaf?.size
        }
      case 4:
        let name = random.once(in: 3) ? nil : name
        return equality(fields.stem.leaf.label, leaf.label, name, using: &random) {
          $0.stem?.leaf?.label
        }
      case 5:
        let weight = random.once(in: 3) ? nil : size
        return equality(fields.stem.leaf.weight, leaf.weight, weight, using: &random) {
          $0.stem?.leaf?.weight
        }
      case 6:
        return Condition(typed: fields.stem.leaf.size < size, untyped: leaf.size < number) {
          $0.stem?.leaf?.size.map { $0 < size } ?? false
        }
      case 7:
        return Condition(typed: fields.stem.leaf.size >= size, untyped: leaf.size >= number) {
          $0.stem?.leaf?.size.map { $0 >= size } ?? false
        }
      case 8:
        return Condition(typed: fields.stem.leaf.weight < size, untyped: leaf.weight < number) {
          $0.stem?.leaf.map { $0.weight < size } ?? false
        }
      case 9:
        let name = random.once(in: 3) ? nil : name
        return equality(fields.stem.name, stem.name, name, using: &random) { $0.stem?.name }
      case 10:
        return Condition(typed: fields.stem.name < name, untyped: stem.name < text) {
          $0.stem?.name.map { $0 < name } ?? false
        }
      case 11:
        return Condition(
          typed: fields.stem.leaf.spots.contains(size), untyped: leaf.spots.contains(number)
        ) { $0.stem?.leaf?.spots.contains(size) ?? false }
      default:
        return Condition(
          typed: fields.root.leaf.size == size, untyped: free.root.leaf.size == number
        ) { $0.root.leaf?.size == size }
      }
    }

    /// That a field is, or is not, a value or nil.
    private static func equality<Value: Comparand>(
      _ typed: QueryField<Tree, Value?>, _ untyped: DynamicField, _ value: Value?,
      using random: inout RandomSource, _ read: @escaping (Tree) -> Value?
    ) -> Condition {
      let stored = value.map { Larder.Value(storing: $0) } ?? .null
      return random.bool()
        ? Condition(typed: typed == value, untyped: untyped == stored) { read($0) == value }
        : Condition(typed: typed != value, untyped: untyped != stored) { read($0) != value }
    }
  }
}

@Document
private struct Tree: Equatable {
  var id: Int
  var stem: Stem?
  var root: Stem

  static let indexes: [Index<Tree>] = [
    Index(\.stem.leaf.size), Index(.descending(\.stem.leaf.size), .ascending(\.stem.name)),
    Index(\.stem.name), Index(\.stem.leaf.label, \.root.leaf.size), Index(\.stem.leaf.spots),
    Index(\.stem.leaf.weight), Index(.descending(\.stem.leaf.weight), .ascending(\.stem.name)),
    Index(\.stem.name, where: { $0.stem.leaf == nil }),
    Index(\.root.leaf.size, where: { $0.stem.leaf.size != nil }),
  ]

  static let names = ["", "a", "b", "\u{E9}"]

  init(id: Int, stem: Stem? = nil, root: Stem = Stem()) {
    self.id = id
    self.stem = stem
    self.root = root
  }

  init(id: Int, using random: inout RandomSource) {
    self.init(
      id: id, stem: random.once(in: 3) ? nil : Stem(using: &random), root: Stem(using: &random))
  }
}

@EmbeddedDocument
private struct Stem: Equatable {
  var name: String?
  var leaf: Leaf?

  init(name: String? = nil, leaf: Leaf? = nil) {
    self.name = name
    self.leaf = leaf
  }

  init(using random: inout RandomSource) {
    self.init(
      name: random.bool() ? random.pick(Tree.names) : nil,
      leaf: random.once(in: 3) ? nil : Leaf(using: &random))
  }
}

@EmbeddedDocument
private struct Leaf: Equatable {
  var size: Int?
  var label: String
  var spots: [Int] = []
  /// What a record lacks has this; what stands behind nil has not.
  var weight = 1

  init(using random: inout RandomSource) {
    size = random.once(in: 3) ? nil : random.int(0..<4)
    label = random.pick(Tree.names)
    spots = random.array(0..<4) { $0.int(0..<4) }
    weight = random.int(0..<4)
  }
}
