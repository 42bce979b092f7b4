import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// The same types before and after a migration that gives fields of their embedded documents another kind.
private enum Old {
  @EmbeddedDocument struct Address: Equatable {
    var street = ""
    var zip: Int?
    var fee = 0.0
    var fees: [Double] = []
    var floors: Set<Int> = []
    var residents: [Int: String] = [:]
  }

  @EmbeddedDocument struct Branch: Equatable {
    var level = 0
    var twigs: [Branch] = []
  }

  @Document(as: "Person") struct Person: Equatable {
    var id: Int
    var home = Address()
    var work: Address?
    var others: [Address] = []
    var named: [String: Address] = [:]
    var branch = Branch()
  }
}

private enum New {
  @EmbeddedDocument struct Address: Equatable {
    var street = ""
    var zip: String?
    var fee: Decimal = 0
    var fees: [Decimal] = []
    var floors: Set<Int> = []
    var residents: [Int: String] = [:]
  }

  @EmbeddedDocument struct Branch: Equatable {
    var level = ""
    var twigs: [Branch] = []
  }

  @Document(as: "Person") struct Person: Equatable {
    var id: Int
    var home = Address()
    var work: Address?
    var others: [Address] = []
    var named: [String: Address] = [:]
    var branch = Branch()
  }
}

/// A field inside of an embedded document changes its kind whatever batches a migration has.
@Suite(.timeLimit(.minutes(20))) struct NestedKindTests {
  private func convert(address value: Value) -> Value {
    guard case .document(var address) = value else { return value }
    if case .integer(let zip)? = address["zip"] { address["zip"] = .string("\(zip)") }
    if case .double(let fee)? = address["fee"] { address["fee"] = .decimal(Decimal(fee)) }
    if case .array(let fees)? = address["fees"] {
      address["fees"] = .array(
        fees.map { if case .double(let fee) = $0 { .decimal(Decimal(fee)) } else { $0 } })
    }
    return .document(address)
  }

  private func convert(branch value: Value) -> Value {
    guard case .document(var branch) = value else { return value }
    if case .integer(let level)? = branch["level"] { branch["level"] = .string("\(level)") }
    if case .array(let twigs)? = branch["twigs"] {
      branch["twigs"] = .array(twigs.map(convert(branch:)))
    }
    return .document(branch)
  }

  private func convert(_ person: inout MigratingDocument) {
    for name in ["home", "work"] { person[name] = person[name].map(convert(address:)) }
    if case .array(let others)? = person["others"] {
      person["others"] = .array(others.map(convert(address:)))
    }
    if case .dictionary(let named)? = person["named"] {
      person["named"] = .dictionary(named.mapValues(convert(address:)))
    }
    person["branch"] = person["branch"].map(convert(branch:))
  }

  private func new(_ address: Old.Address) -> New.Address {
    New.Address(
      street: address.street, zip: address.zip.map { "\($0)" }, fee: Decimal(address.fee),
      fees: address.fees.map { Decimal($0) }, floors: address.floors, residents: address.residents)
  }

  private func new(_ branch: Old.Branch) -> New.Branch {
    New.Branch(level: "\(branch.level)", twigs: branch.twigs.map(new))
  }

  private func new(_ person: Old.Person) -> New.Person {
    New.Person(
      id: person.id, home: new(person.home), work: person.work.map(new),
      others: person.others.map(new), named: person.named.mapValues(new),
      branch: new(person.branch))
  }

  private func check(
    _ people: [Old.Person], batchCount: Int, _ comment: Comment? = nil
  ) throws {
    try withTemporaryStore { store in
      try store.repository(of: Old.Person.self).save(people)
      try store.collection("Person").createIndex(on: "home.zip")
      try store.collection("Person").buildIndexes()

      try store.collection("Person").migrate(to: 2, batchCount: batchCount) { convert(&$0) }
      try store.collection("Person").buildIndexes()

      let found = try store.repository(of: New.Person.self).fetch(New.Person.all)
      #expect(found == people.map(new), comment)
      try store.repository(of: New.Person.self).save(
        found.map { person in
          var person = person
          person.home.zip = "new"
          return person
        })
      #expect(
        try store.repository(of: New.Person.self).count(New.Person.where { $0.home.zip == "new" })
          == people.count)
    }
  }

  @Test(
    "fields that only the last document has a value in change like those of every document",
    arguments: [1, 2, 3, 100])
  func late(batchCount: Int) throws {
    let full = Old.Address(
      street: "s", zip: 5, fee: 0.5, fees: [0.25], floors: [1, 2], residents: [7: "r"])
    var last = Old.Person(id: 4)
    (last.home, last.work, last.others, last.named) = (full, full, [full, full], ["a": full])
    try check((0..<4).map { Old.Person(id: $0) } + [last], batchCount: batchCount)
  }

  @Test(
    "fields that have a value in one place change in every place of the same type",
    arguments: [1, 9])
  func otherPlaces(batchCount: Int) throws {
    var people = (0..<4).map { Old.Person(id: $0, work: Old.Address()) }
    people[2].others = [Old.Address(), Old.Address(zip: 1, fees: [1])]
    people[3].named = ["b": Old.Address()]
    try check(people, batchCount: batchCount)
  }

  @Test("types that are embedded in themselves change at every depth", arguments: [1, 9])
  func recursive(batchCount: Int) throws {
    var people = (0..<3).map { Old.Person(id: $0) }
    people[0].home = Old.Address(zip: 1, fees: [1])
    people[1].branch = Old.Branch(
      level: 1, twigs: [Old.Branch(level: 2, twigs: [Old.Branch(level: 3)]), Old.Branch(level: 4)])
    try check(people, batchCount: batchCount)
  }

  @Test("random documents in random batches are read by the new type as the closure left them")
  func random() throws {
    var source = RandomSource()
    for _ in 0..<repetitions(20) {
      func address() -> Old.Address {
        Old.Address(
          street: "s\(Int.random(in: 0..<9, using: &source))",
          zip: Bool.random(using: &source) ? .random(in: 0..<99, using: &source) : nil,
          fee: Double(Int.random(in: 0..<8, using: &source)) / 4,
          fees: (0..<Int.random(in: 0..<3, using: &source)).map { Double($0) / 4 },
          floors: Set((0..<Int.random(in: 0..<3, using: &source)).map { $0 }))
      }
      func branch(_ depth: Int) -> Old.Branch {
        Old.Branch(
          level: depth,
          twigs: (0..<(depth > 2 ? 0 : Int.random(in: 0..<3, using: &source))).map { _ in
            branch(depth + 1)
          })
      }
      // In one place at least there are values.
      let first = Old.Person(id: -1, home: Old.Address(zip: 1, fees: [1]))
      let people =
        [first]
        + (0..<Int.random(in: 0..<12, using: &source)).map { id in
          Old.Person(
            id: id, home: address(), work: Bool.random(using: &source) ? address() : nil,
            others: (0..<Int.random(in: 0..<3, using: &source)).map { _ in address() },
            named: Bool.random(using: &source) ? ["n": address()] : [:], branch: branch(0))
        }
      try check(
        people, batchCount: .random(in: 1..<14, using: &source), "LARDER_SEED=\(source.seed)")
    }
  }

  @Test("a closure that leaves some values as they were has the others converted to their kind")
  func half() throws {
    try withTemporaryStore { store in
      let people = store.repository(of: Old.Person.self)
      try people.save((0..<6).map { Old.Person(id: $0, home: Old.Address(fee: Double($0))) })

      try store.collection("Person").migrate(to: 2, batchCount: 2) { person in
        guard case .document(var home)? = person["home"], case .double(let fee)? = home["fee"]
        else { throw Unexpected() }
        if fee > 2 { home["fee"] = .integer(Int64(fee) + 1) }
        person["home"] = .document(home)
      }

      #expect(try people.fetch(Old.Person.all).map(\.home.fee) == [0, 1, 2, 4, 5, 6])
    }
  }
}
