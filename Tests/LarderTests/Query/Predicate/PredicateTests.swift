import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@Suite struct PredicateTests {
  @Test("a predicate selects what it evaluates to on decoded documents, or throws where it throws")
  func oracle() throws {
    var random = RandomSource()
    var hits = 0
    var failures = 0
    for _ in 0..<20 {
      try withTemporaryStore { store in
        let repository = store.repository(of: Specimen.self)
        try repository.save(
          Pool.texts.filter { !$0.isEmpty && random.once(in: 3) }.map {
            Specimen(id: $0, using: &random)
          })
        let specimens = try repository.fetch(Specimen.all)
        for make in PredicateCase.all {
          let one = make(&random)
          let query = Specimen.matching(one.predicate)
          let hint = Comment(rawValue: "\(query), \(random.hint)")
          #expect("\(query)".contains("<computed") != one.isLowered, hint)
          guard let expected = Self.answer(one, specimens) else {
            failures += 1
            let error = #expect(throws: StoreError.self, hint) { try repository.fetch(query) }
            guard case .predicateFailed("Specimen", _, _)? = error else {
              Issue.record("\(String(describing: error)), \(hint)")
              continue
            }
            continue
          }
          try #require(try repository.fetch(query).map(\.id) == expected, hint)
          try #require(try repository.count(query) == expected.count, hint)
          if !expected.isEmpty { hits += 1 }
        }
      }
    }
    #expect(hits > 10 * PredicateCase.all.count)
    #expect(failures > 10)
  }

  /// The keys for which the predicate itself is true; nil where it throws.
  private static func answer(_ one: PredicateCase, _ specimens: [Specimen]) -> [String]? {
    try? specimens.filter { specimen in  // Nil stands for what was thrown.
      var specimen = specimen
      var predicate = one.predicate
      if one.comparesTexts {
        specimen.name = TextOracle.normal(specimen.name)
        predicate = one.predicate
      }
      return try predicate.evaluate(specimen)
    }.map(\.id)
  }

  @Test("predicates and conditions stand beside each other in one query")
  func together() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let repository = store.repository(of: Specimen.self)
      try repository.save(
        Pool.texts.filter { !$0.isEmpty }.map { Specimen(id: $0, using: &random) })
      let specimens = try repository.fetch(Specimen.all)
      for _ in 0..<300 {
        let condition = Condition.random(depth: 1, using: &random)
        let one = PredicateCase.random(using: &random)
        guard let holds = Self.answer(one, specimens).map(Set.init) else { continue }
        let query = Specimen.where(condition.filter).matching(one.predicate)
          .sorted(by: \.count, .reverse)
        let hint = Comment(rawValue: "\(query), \(random.hint)")
        let expected = specimens.filter { condition.holds($0) && holds.contains($0.id) }
          .enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }
          .map(\.element.id)

        #expect(try repository.fetch(query).map(\.id) == expected, hint)
      }
    }
  }

  @Test("what conditions know of a predicate becomes them, and the description says what does not")
  func descriptions() {
    let city = "Oslo"
    let lowered = Contact.matching(#Predicate { $0.city == city && $0.order < 5 })
    let rest = Contact.matching(#Predicate { $0.city == city && $0.order + 1 < 5 })

    #expect(lowered == Contact.where { $0.city == "Oslo" && $0.order < 5 })
    #expect(
      "\(rest)" == #"Contact where city == "Oslo" && <computed by #Predicate> == true"#)
    #expect(rest == rest)
    #expect(
      Contact.matching(#Predicate { ["Oslo", "Bergen"].contains($0.city) })
        == Contact.where { $0.city.isIn(["Oslo", "Bergen"]) })
    #expect(
      Contact.matching(#Predicate { $0.geo?.lat == 1 }) == Contact.where { $0.geo.lat == 1 })
    #expect(
      Contact.matching(#Predicate { $0.tags.contains { $0.starts(with: "v") } })
        == Contact.where { $0.tags.contains { $0.hasPrefix("v") } })
  }

  @Test("where there is nil a closure of `flatMap` is not asked, whatever it makes its result of")
  func flatMap() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save([
        Contact(id: "a", city: "Oslo", note: "x"), Contact(id: "b", city: "Oslo"),
        Contact(id: "c", city: "Bergen", note: "x"),
      ])
      let city = "Oslo"
      let ofDocument = Contact.matching(
        #Predicate { contact in contact.note.flatMap { _ in contact.city } == city })

      #expect(try contacts.fetch(ofDocument).map(\.id) == ["a"])
      #expect(
        Contact.matching(#Predicate { $0.geo.flatMap { $0.lat } == 1 })
          == Contact.where { $0.geo.lat == 1 })
    }
  }

  @Test("of an optional in an optional a predicate means what Swift means, whichever level is nil")
  func nestedOptionals() throws {
    typealias Nested = One<Int??>
    let documents = [
      Nested(.none, id: "a"), Nested(.some(.none), id: "b"), Nested(5, id: "c"),
      Nested(6, id: "d"), Nested(0, id: "e"),
    ]
    let outer: Int?? = .none
    let inner: Int?? = .some(.none)
    let listed: [Int??] = [5, .some(.none)]
    let cases: [(Predicate<Nested>, holds: (Int??) -> Bool, isLowered: Bool)] = [
      (#Predicate { $0.value == 5 }, { $0 == 5 }, false),
      (#Predicate { $0.value != 5 }, { $0 != 5 }, false),
      (#Predicate { $0.value == inner }, { $0 == inner }, false),
      (#Predicate { $0.value != inner }, { $0 != inner }, false),
      (#Predicate { $0.value == outer }, { $0 == outer }, true),
      (#Predicate { $0.value == nil }, { $0 == nil }, true),
      (#Predicate { $0.value != nil }, { $0 != nil }, true),
      (#Predicate { ($0.value ?? 5) == 5 }, { ($0 ?? 5) == 5 }, false),
      (#Predicate { ($0.value ?? 5) == nil }, { ($0 ?? 5) == nil }, false),
      (#Predicate { listed.contains($0.value) }, { listed.contains($0) }, false),
      (
        #Predicate { one in one.value.flatMap { inside in inside == nil } == true },
        { $0.flatMap { $0 == nil } == true }, false
      ),
    ]
    try withTemporaryStore { store in
      let repository = store.repository(of: Nested.self)
      try repository.save(documents)
      for (number, one) in cases.enumerated() {
        let query = Nested.matching(one.0)
        let expected = documents.filter { one.holds($0.value) }.map(\.id)

        #expect(try repository.fetch(query).map(\.id) == expected, "\(number)")
        #expect("\(query)".contains("<computed") != one.isLowered, "\(number), \(query)")
      }
    }
  }

  @Test("an error of a predicate names the document, and nothing is deleted")
  func errors() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save([Contact(id: "a", note: "x"), Contact(id: "b")])
      let query = Contact.matching(#Predicate { $0.note! == "x" })

      #expect(try contacts.fetch(query.where { $0.id == "a" }).count == 1)
      for read in [{ try contacts.fetch(query).count }, { try contacts.delete(query) }] {
        let error = #expect(throws: StoreError.self) { _ = try read() }
        guard case .predicateFailed("Contact", "\"b\"", let reason)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(reason.contains("nil"))
      }
      #expect(try contacts.count() == 2)
    }
  }

  @Test("a predicate may select in memory too")
  func inMemory() throws {
    let contacts = InMemoryRepository(of: Contact.self)
    try contacts.save([Contact(id: "a", city: "Oslo", order: 1), Contact(id: "b", city: "Oslo")])

    #expect(
      try contacts.fetch(Contact.matching(#Predicate { $0.city == "Oslo" && $0.order + 1 == 2 }))
        .map(\.id) == ["a"])
  }
}
