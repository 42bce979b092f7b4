import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Conditions with a list of many values.
@Suite struct ValueSetTests {
  /// Values of all kinds, many of them equal to others.
  private static let values: [Value] = {
    var values: [Value] = [
      .bool(true), .bool(false), .null, .array([1, 2]), .array([1.0]), .array([]),
    ]
    for number in -40..<40 {
      values.append(.integer(Int64(number)))
      values.append(.double(Double(number) / 2))
    }
    let doubles: [Double] = [
      -0.0, .nan, -.nan, .infinity, 0x1p53, 0x1p63, -0x1p63, 0x1p64, 1e19,
    ]
    let integers: [Int64] = [.max, .min, 9_007_199_254_740_992, 9_007_199_254_740_993]
    let unsigned: [UInt64] = [9_223_372_036_854_775_808, .max, 10_000_000_000_000_000_000]
    values += doubles.map(Value.double) + integers.map(Value.integer)
    values += unsigned.map(Value.unsigned) + Pool.ids.map(Value.uuid)
    values += ["", "a", "\u{C5}", "A\u{30A}", "\u{212B}", "\r\n"].map(Value.string)
    values += [Data(), Data([0]), Data([0, 1])].map(Value.data)
    for seconds in [0, -0.0, 1, .nan, .infinity] {
      values.append(.date(Date(timeIntervalSinceReferenceDate: seconds)))
    }
    for link in ["https://a.example/", "https://a.example", "mailto:a@b.example"] {
      if let url = URL(string: link) { values.append(.url(url)) }
    }
    return values
  }()

  @Test("a long list holds for what one of its values is equal to, whatever their kinds")
  func kinds() throws {
    var random = RandomSource()
    let decimals = [0, 1, 2].map { Value.decimal($0) }
    for _ in 0..<repetitions(200) {
      let list = (0..<random.int(17..<80)).map { _ in random.pick(Self.values) }
      let comparison = Comparison.isAny(list)
      let set = try #require(ValueSet(comparison))
      for value in Self.values + decimals {
        #expect(
          set.contains(value) == comparison.holds(for: value), "\(value), \(random.hint)")
      }
    }
  }

  @Test("a list of decimals, and a short one, are gone through")
  func others() {
    let integers = (0..<100).map { Value.integer(Int64($0)) }
    #expect(ValueSet(.isAny(integers)) != nil)
    #expect(ValueSet(.isAny(integers + [.decimal(1)])) == nil)
    #expect(ValueSet(.isAny(integers + [.unsigned(1)])) == nil)
    #expect(ValueSet(.isAny(Array(integers.prefix(5)))) == nil)
    #expect(ValueSet(.equal(1)) == nil)
  }

  @Test("a list of any length selects what Swift's `contains` does, with an index and without")
  func queries() throws {
    var random = RandomSource()
    for count in [5, 40, 100, 400] {
      for isIndexed in [false, true] {
        try withTemporaryStore { store in
          let contacts = Self.contacts(using: &random)
          let repository = store.repository(of: Contact.self)
          let memory = InMemoryRepository(of: Contact.self)
          try repository.save(contacts)
          try memory.save(contacts)
          if isIndexed {
            for field in ["city", "order", "balance"] {
              try store.collection("Contact").createIndex(on: [
                DynamicIndexPart(FieldPath(field: field))
              ])
            }
          }
          let texts = (0..<count).map { _ in Self.text(using: &random) }
          var notes: [String?] = texts
          notes[0] = random.bool() ? nil : "a"
          let noteList = notes
          let orders = (0..<count).map { _ in random.int(-500..<500) }
          let balances = (0..<count).map { _ in Self.balance(using: &random) }
          let dates = orders.map { Date(timeIntervalSinceReferenceDate: Double($0)) }
          let questions: [(Query<Contact>, (Contact) -> Bool)] = [
            (Contact.where { $0.city.isIn(texts) }, { texts.contains($0.city) }),
            (Contact.where { !$0.city.isIn(texts) }, { !texts.contains($0.city) }),
            (Contact.where { $0.note.isIn(noteList) }, { noteList.contains($0.note) }),
            (Contact.where { $0.order.isIn(orders) }, { orders.contains($0.order) }),
            (Contact.where { $0.balance.isIn(balances) }, { balances.contains($0.balance) }),
            (Contact.where { $0.updatedAt.isIn(dates) }, { dates.contains($0.updatedAt) }),
            (
              Contact.where { $0.tags.contains { $0.isIn(texts) } },
              { $0.tags.contains { texts.contains($0) } }
            ),
          ]
          for (number, (query, holds)) in questions.enumerated() {
            let expected = contacts.filter(holds).map(\.id)
            let hint = "question \(number), \(count) values, \(random.hint)"
            #expect(try repository.fetch(query).map(\.id) == expected, "\(hint)")
            #expect(try repository.count(query) == expected.count, "\(hint)")
            #expect(try memory.fetch(query).map(\.id) == expected, "\(hint)")
          }
        }
      }
    }
  }

  private static func contacts(using random: inout RandomSource) -> [Contact] {
    (1_000..<1_300).map { number in
      let order = random.int(-500..<500)
      return Contact(
        id: "\(number)", city: text(using: &random), order: order,
        balance: balance(using: &random),
        tags: (0..<random.int(0..<3)).map { _ in text(using: &random) },
        updatedAt: Date(timeIntervalSinceReferenceDate: Double(order)),
        note: random.bool() ? nil : text(using: &random))
    }
  }

  private static func text(using random: inout RandomSource) -> String {
    if random.once(in: 4) { return random.pick(["", "\u{C5}", "A\u{30A}", "\u{212B}", "\u{C5}x"]) }
    return "t\(random.int(0..<800))"
  }

  private static func balance(using random: inout RandomSource) -> Double {
    if random.once(in: 8) { return random.pick([0, -0.0, .nan, .infinity]) }
    return Double(random.int(-400..<400)) / 2
  }

  @Test("a document is not held against each value of a long list")
  func cost() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save((0..<10_000).map { Contact(id: "\($0)", order: 2 * $0, note: "n\($0)") })
      let many = (0..<20_000).map { 2 * $0 + 1 }
      let texts = many.map { "m\($0)" }
      func seconds(_ query: Query<Contact>) throws -> Double {
        var least = Double.infinity
        for _ in 0..<3 {
          var found = -1
          least = min(least, try processorSeconds { found = try contacts.count(query) })
          #expect(found == 0)
        }
        return least
      }
      let few = Contact.where {
        $0.order.isIn(many.prefix(200)) || $0.note.isIn(texts.prefix(200))
      }
      let most = Contact.where { $0.order.isIn(many) || $0.note.isIn(texts) }

      // A hundred times as long where it is. One quiet moment out of ten is enough.
      var isCheap = false
      for _ in 0..<10 where !isCheap { isCheap = try seconds(most) < 30 * seconds(few) }
      #expect(isCheap)
    }
  }
}
