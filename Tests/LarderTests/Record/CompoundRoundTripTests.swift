import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct CompoundRoundTripTests {
  @Test("an optional comes back, and each level of a nested one is told apart")
  func optionals() throws {
    #expect(try stored(One(Int?.none)).value == nil)
    #expect(try stored(One(Int?.some(5))).value == 5)
    let nested: [Int??] = [.none, .some(.none), .some(.some(5))]
    #expect(try stored(One(nested)).value == nested)
    for value in nested { #expect(try stored(One(value)).value == value) }
    let deep: [[Int]???] = [.none, .some(.none), .some(.some(.none)), .some(.some(.some([1])))]
    #expect(try stored(One(deep)).value == deep)
  }

  @Test("an optional of a type whose raw value may be nil tells nil from that value")
  func optionalRawValues() throws {
    let empty = Label(rawValue: nil)
    let values: [Label?] = [nil, empty, Label(rawValue: "a")]

    for value in values { #expect(try stored(One(value)).value == value) }
    #expect(try stored(One(values)).value == values)
    #expect(try stored(One(empty)).value == empty)
  }

  @Test("a record that lacks a field whose raw value may be nil has that value")
  func absentRawValue() throws {
    try withTemporaryStore { store in
      try store.repository(of: OnlyKey.self).save(OnlyKey())

      let labels = store.repository(of: One<Label>.self)

      #expect(try labels.get("a") == One(Label(rawValue: nil)))
    }
  }

  @Test("an array of any length comes back", arguments: [0, 1, 15, 16, 17, 65_535, 65_536])
  func arrays(count: Int) throws {
    let values = Array(0..<count)

    #expect(try stored(One(values)).value == values)
  }

  @Test("arrays of arrays, of optionals and of embedded documents come back")
  func nestedArrays() throws {
    let rows: [[Int?]] = [[], [1, nil], [nil]]
    let places = [Geo(lat: 1, lon: 2), Geo(lat: 3, lon: 4, label: "x")]

    #expect(try stored(One(rows)).value == rows)
    #expect(try stored(One(places)).value == places)
    #expect(try stored(One(["a": places, "b": []])).value == ["a": places, "b": []])
    #expect(try stored(One([Nothing(), Nothing()])).value == [Nothing(), Nothing()])
  }

  @Test("equal sets and equal dictionaries have equal bytes, however they were made")
  func canonical() throws {
    var random = RandomSource()
    for _ in 0..<6 {
      let numbers = random.array(0..<100) { Int($0.integer()) }
      let texts = random.array(0..<100) { $0.text(upTo: 40) }
      let set = Set(numbers)
      let words = Dictionary(
        texts.map { ($0, $0.utf8.count) }, uniquingKeysWith: { first, _ in first })
      var other = Set<Int>(minimumCapacity: 1000)
      for number in numbers.shuffled(using: &random) { other.insert(number) }
      var otherWords: [String: Int] = Dictionary(minimumCapacity: 2000)
      for word in words.shuffled(using: &random) { otherWords[word.key] = word.value }

      #expect(try storedBytes(One(set)) == storedBytes(One(other)), "\(random.hint)")
      #expect(try storedBytes(One(words)) == storedBytes(One(otherWords)), "\(random.hint)")
      #expect(try stored(One(set)).value == set, "\(random.hint)")
      #expect(try stored(One(words)).value == words, "\(random.hint)")
    }
  }

  @Test("dictionaries with keys of other kinds come back")
  func keys() throws {
    let ids = [UUID(): Channel.mail, UUID(): .phone]
    let optional: [Int?: [Int: String]] = [nil: [:], 1: [2: "x"]]

    #expect(try stored(One(ids)).value == ids)
    #expect(try stored(One(optional)).value == optional)
    #expect(try stored(One(Set([Nothing()]))).value == [Nothing()])
  }

  @Test(
    "a document inside documents comes back down to the deepest level", arguments: [1, 127, 128])
  func depth(_ depth: Int) throws {
    let node = Node(depth: depth)

    #expect(try stored(node) == node)
  }

  @Test("a document below the deepest level is refused and nothing is saved")
  func tooDeep() throws {
    try withTemporaryStore { store in
      let nodes = store.repository(of: Node.self)

      #expect(
        throws: StoreError.unwritable(collection: "Node", key: "\"129\"", reason: .tooDeep)
      ) {
        try nodes.save([Node(id: "x"), Node(depth: 129)])
      }

      #expect(try nodes.count() == 0)
      try nodes.save(Node(id: "y"))
      #expect(try nodes.get("y") == Node(id: "y"))
    }
  }

  @Test("a record of every kind of field comes back, whatever its values")
  func everything() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let documents = (0..<100).map { Everything(id: $0, &random) }
      let repository = store.repository(of: Everything.self)
      try repository.save(documents)

      let again = try repository.save(documents)
      let back = try repository.fetch(Everything.all)
      let copies = try repository.save(back)

      #expect(again.unchanged == 100, "\(random.hint)")
      // NaN is not equal to itself; equal bytes say more.
      #expect(copies.unchanged == 100, "\(random.hint)")
      #expect(back.map(\.texts) == documents.map(\.texts), "\(random.hint)")
    }
  }
}

private struct Label: RawRepresentable, Storable, Equatable, Sendable {
  var rawValue: String?
}
