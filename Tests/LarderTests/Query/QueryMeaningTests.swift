import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

/// Facts that a reader may want to look up; the oracle has them all too.
@Suite struct QueryMeaningTests {
  /// The keys of the specimens that a query selects. The keys are the places in `specimens`.
  private func places(
    _ query: Query<Specimen>, in changes: [(inout Specimen) -> Void]
  ) throws -> [Int] {
    try withTemporaryStore { store in
      let repository = store.repository(of: Specimen.self)
      for (place, change) in changes.enumerated() {
        var random = RandomSource(seed: 7)
        var specimen = Specimen(id: "\(place)", using: &random)
        change(&specimen)
        try repository.save(specimen)
      }
      return try repository.fetch(query).compactMap { Int($0.id) }
    }
  }

  @Test("decimals are equal by value, and NaN is below all of them as in Swift")
  func decimals() throws {
    let values: [Decimal] = [.nan, 1, 1.5, Decimal(string: "1.50") ?? 0, -2]
    let changes = values.map { value in { (it: inout Specimen) in it.price = value } }

    #expect(try places(Specimen.where { $0.price == 1.5 }, in: changes) == [2, 3])
    #expect(try places(Specimen.where { $0.price < 1 }, in: changes) == [0, 4])
    #expect(try places(Specimen.where { $0.price == .nan }, in: changes) == [0])
    #expect(try places(Specimen.where { $0.price >= 1 }, in: changes) == [1, 2, 3])
    #expect(values.map { $0 < 1 } == [true, false, false, false, true])
  }

  @Test("decimals that are not numbers are sorted last all the same")
  func decimalOrder() throws {
    let values: [Decimal] = [.nan, 1, -2]
    let changes = values.map { value in { (it: inout Specimen) in it.price = value } }

    #expect(try places(Specimen.all.sorted(by: \.price), in: changes) == [2, 1, 0])
    #expect(try places(Specimen.all.sorted(by: \.price, .reverse), in: changes) == [0, 1, 2])
  }

  @Test("dates are compared to the last bit, and one that is NaN as Swift does")
  func dates() throws {
    let seconds = [0, -0.0, 0.1, 0.1.nextUp, .nan, .infinity]
    let values = seconds.map { Date(timeIntervalSinceReferenceDate: $0) }
    let changes = values.map { value in { (it: inout Specimen) in it.made = value } }

    #expect(try places(Specimen.where { $0.made == values[0] }, in: changes) == [0, 1])
    #expect(try places(Specimen.where { $0.made == values[2] }, in: changes) == [2])
    #expect(try places(Specimen.where { $0.made > values[2] }, in: changes) == [3, 5])
    #expect(try places(Specimen.where { $0.made <= values[0] }, in: changes) == [0, 1, 4])
    #expect(try places(Specimen.where { $0.made == values[4] }, in: changes) == [])
    #expect(
      try places(Specimen.all.sorted(by: \.made), in: changes) == [0, 1, 2, 3, 5, 4])
  }

  @Test("URLs are equal by their text")
  func links() throws {
    let values = ["https://a.example/", "https://a.example", "HTTPS://a.example/"]
      .compactMap { URL(string: $0) }
    let changes = values.map { value in { (it: inout Specimen) in it.link = value } }

    for (place, value) in values.enumerated() {
      #expect(try places(Specimen.where { $0.link == value }, in: changes) == [place])
    }
    #expect(
      try places(Specimen.where { $0.link.isIn([values[0], values[2]]) }, in: changes) == [0, 2])
  }

  @Test("data is equal by its bytes, UUIDs are ordered by theirs")
  func bytes() throws {
    let blobs = [Data(), Data([0]), Data([0, 0])]
    let changes = blobs.map { value in { (it: inout Specimen) in it.blob = value } }
    #expect(try places(Specimen.where { $0.blob == Data([0]) }, in: changes) == [1])
    #expect(try places(Specimen.where { $0.blob != Data() }, in: changes) == [1, 2])

    let tokens = Pool.ids.map { value in { (it: inout Specimen) in it.token = value } }
    #expect(try places(Specimen.where { $0.token > Pool.ids[1] }, in: tokens) == [2, 3])
    #expect(try places(Specimen.all.sorted(by: \.token, .reverse), in: tokens) == [3, 2, 1, 0])
  }

  @Test("strings are equal by canonical equivalence and ordered by their normal form")
  func strings() throws {
    let values = ["\u{E9}", "e\u{301}", "\u{E9}a", "e", "z"]
    let changes = values.map { value in { (it: inout Specimen) in it.name = value } }

    #expect(try places(Specimen.where { $0.name == "\u{E9}" }, in: changes) == [0, 1])
    #expect(try places(Specimen.where { $0.name.isIn(["e\u{301}"]) }, in: changes) == [0, 1])
    #expect(try places(Specimen.where { $0.name > "e\u{301}" }, in: changes) == [2])
    #expect(try places(Specimen.where { $0.name <= "e\u{301}" }, in: changes) == [0, 1, 3, 4])
    #expect(try places(Specimen.all.sorted(by: \.name), in: changes) == [3, 4, 0, 1, 2])
    #expect(try places(Specimen.all.sorted(by: \.name, .reverse), in: changes) == [2, 0, 1, 4, 3])
  }

  @Test("strings that begin alike in different normal forms are ordered by what follows")
  func normalForms() throws {
    let (short, long) = ("e\u{301}", "\u{E9}a")
    for values in [[short, long], [long, short]] {
      let changes = values.map { value in { (it: inout Specimen) in it.name = value } }
      let (first, second) = (values[0] == short ? 0 : 1, values[0] == short ? 1 : 0)

      #expect(try places(Specimen.where { $0.name < long }, in: changes) == [first])
      #expect(try places(Specimen.where { $0.name > short }, in: changes) == [second])
      #expect(try places(Specimen.all.sorted(by: \.name), in: changes) == [first, second])
      #expect(
        try places(Specimen.all.sorted(by: \.name, .reverse), in: changes) == [second, first])
    }
  }

  @Test("a letter outside ASCII can be equal to one inside")
  func kelvin() throws {
    let changes = [{ (it: inout Specimen) in it.tags = ["\u{212A}"] }]

    #expect(try places(Specimen.where { $0.tags.contains("K") }, in: changes) == [0])
  }

  @Test("text operators go by whole characters, as Swift's own and not as Foundation's")
  func text() throws {
    let values = ["a\r\nb", "cafe\u{301}", "\u{1F468}\u{200D}\u{1F469}", ""]
    let changes = values.map { value in { (it: inout Specimen) in it.name = value } }

    #expect(try places(Specimen.where { $0.name.contains("\n") }, in: changes) == [])
    #expect(try places(Specimen.where { $0.name.contains("\r\n") }, in: changes) == [0])
    #expect(try places(Specimen.where { $0.name.contains("e") }, in: changes) == [])
    #expect(try places(Specimen.where { $0.name.contains("\u{E9}") }, in: changes) == [1])
    #expect(try places(Specimen.where { $0.name.hasSuffix("\u{1F469}") }, in: changes) == [])
    #expect(try places(Specimen.where { $0.name.hasPrefix("a\r") }, in: changes) == [])
    #expect(try places(Specimen.where { $0.name.contains("") }, in: changes) == [0, 1, 2, 3])
    #expect(try places(Specimen.where { $0.name.hasPrefix("") }, in: changes) == [0, 1, 2, 3])
  }

  @Test("a struct with a raw value is equal by it, whatever its own == says")
  func rawValues() throws {
    let small = Folded(rawValue: "a")
    #expect(small == Folded(rawValue: "A"))
    try withTemporaryStore { store in
      let documents = store.repository(of: One<Folded>.self)
      try documents.save([One(small, id: "a"), One(Folded(rawValue: "A"), id: "b")])

      #expect(try documents.fetch(One<Folded>.where { $0.value == small }).map(\.id) == ["a"])
      #expect(try documents.fetch(One<Folded>.where { $0.value != small }).map(\.id) == ["b"])
      #expect(
        try documents.fetch(One<Folded>.where { $0.value.isIn([small]) }).map(\.id) == ["a"])
    }
  }

  @Test("NaN is not equal to itself, is sorted last, and first in reverse; nil the other way")
  func notANumber() throws {
    let values: [Double?] = [.nan, nil, 1, -.infinity, .nan, .infinity, nil]
    let changes = values.map { value in { (it: inout Specimen) in it.weight = value } }

    #expect(try places(Specimen.where { $0.weight == .nan }, in: changes) == [])
    #expect(try places(Specimen.where { $0.weight != .nan }, in: changes) == Array(0...6))
    #expect(try places(Specimen.where { !($0.weight < 5) }, in: changes) == [0, 1, 4, 5, 6])
    #expect(try places(Specimen.all.sorted(by: \.weight), in: changes) == [1, 6, 3, 2, 5, 0, 4])
    #expect(
      try places(Specimen.all.sorted(by: \.weight, .reverse), in: changes)
        == [0, 4, 5, 2, 3, 1, 6])
  }
}

/// Equal whether its letters are large or small.
private struct Folded: RawRepresentable, Storable, Equatable, Sendable {
  var rawValue: String

  static func == (left: Self, right: Self) -> Bool {
    left.rawValue.lowercased() == right.rawValue.lowercased()
  }
}
