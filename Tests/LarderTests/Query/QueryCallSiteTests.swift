import Foundation
import Larder
import LarderTesting
import Testing

/// The call sites that the design promises, as they are written there.
@Suite struct QueryCallSiteTests {
  let contacts = [
    Contact(id: "a", name: "Astrid", city: "Oslo", order: 3, tags: ["vip"]),
    Contact(id: "b", name: "Bj\u{F8}rn", city: "Oslo", order: 1, geo: Geo(lat: 59.9, lon: 10.7)),
    Contact(id: "c", name: "Cecilie", city: "Bergen", order: 7, isActive: false, note: "calls"),
  ]

  private func keys(of query: Query<Contact>) throws -> [String] {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts)
      return try repository.fetch(query).map(\.id)
    }
  }

  @Test("the queries of the design page compile and select what they say")
  func design() throws {
    #expect(
      try keys(
        of: Contact.where { $0.city == "Oslo" && $0.order < 5 }.sorted(by: \.name).limit(20))
        == ["a", "b"])
    #expect(
      try keys(of: Contact.where { $0.tags.contains("vip") || $0.name.hasPrefix("Bj") })
        == ["a", "b"])
  }

  @Test("where the type of the documents is known, a query does without its name")
  func withoutType() async throws {
    #expect(try keys(of: .all) == ["a", "b", "c"])
    #expect(try keys(of: .where { $0.isActive }) == ["a", "b"])
    #expect(
      try keys(of: .where { $0.city == "Oslo" }.sorted(by: \.order).limit(1)) == ["b"])
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts)
      #expect(try repository.count(.where { $0.order > 2 }) == 2)
      #expect(try repository.exists(.where(\.isActive)))
      try repository.save([contacts[0]], clearBeforeSaving: .where { $0.city == "Oslo" })
      #expect(try repository.fetch(.all).map(\.id) == ["a", "c"])
      #expect(try repository.delete(.all) == 2)
      let plain = store.repository(of: CallSiteNote.self)
      try plain.save(CallSiteNote(id: 1, text: "one"))
      #expect(try plain.fetch(.where { $0.text == "one" }).count == 1)
    }
    let memory = InMemoryRepository(of: CallSiteNote.self)
    try await memory.save([CallSiteNote(id: 1, text: "one"), CallSiteNote(id: 2, text: "two")])
    #expect(try memory.fetch(.where { $0.text != "one" }.limit(2)).map(\.id) == [2])
    #expect(try memory.count(.all) == 2)
  }

  @Test("Bool fields stand alone, negated, and between other conditions")
  func booleans() throws {
    #expect(try keys(of: Contact.where { $0.isActive }) == ["a", "b"])
    #expect(try keys(of: Contact.where { !$0.isActive }) == ["c"])
    #expect(try keys(of: Contact.where(\.isActive)) == ["a", "b"])
    #expect(try keys(of: Contact.all.where { $0.isActive }.where { $0.order > 1 }) == ["a"])
    #expect(try keys(of: Contact.where { $0.isActive && $0.order > 1 }) == ["a"])
    #expect(
      try keys(of: Contact.where { $0.order > 1 && $0.isActive || !$0.isActive }) == ["a", "c"])
    #expect(try keys(of: Contact.where { !($0.isActive || $0.order == 1) }) == ["c"])
    #expect(try keys(of: Contact.where { $0.isActive == false }) == ["c"])
  }

  @Test(
    "Bools of the app stand beside conditions, as in a closure of Swift's",
    arguments: [true, false])
  func ownBooleans(mine: Bool) throws {
    let pairs: [(Query<Contact>, (Contact) -> Bool)] = [
      (Contact.where { !mine || $0.isActive }, { !mine || $0.isActive }),
      (Contact.where { mine && $0.isActive }, { mine && $0.isActive }),
      (Contact.where { $0.isActive || mine }, { $0.isActive || mine }),
      (Contact.where { $0.isActive && mine }, { $0.isActive && mine }),
      (Contact.where { mine || $0.order > 1 }, { mine || $0.order > 1 }),
      (Contact.where { $0.order > 1 && mine }, { $0.order > 1 && mine }),
      (Contact.where { !(mine && $0.order > 1) }, { !(mine && $0.order > 1) }),
      (
        Contact.where {
          (mine || $0.isActive) && ($0.city == "Oslo" || mine) && !($0.order > 2 || !mine)
        },
        { (mine || $0.isActive) && ($0.city == "Oslo" || mine) && !($0.order > 2 || !mine) }
      ),
    ]
    for (query, condition) in pairs {
      #expect(try keys(of: query) == contacts.filter(condition).map(\.id), "\(query)")
    }
    #expect("\(Contact.where { true || $0.isActive })" == "\(Contact.all)")
    #expect(Contact.where { false || $0.isActive } == Contact.where { $0.isActive })
    #expect(Contact.where { $0.isActive && true } == Contact.where { $0.isActive })
  }

  @Test("an index may be of the documents whose Bool is true")
  func indexOfTrue() {
    let pairs: [(Index<Contact>, Index<Contact>)] = [
      (Index(\.order, where: { $0.isActive }), Index(\.order, where: { $0.isActive == true })),
      (
        Index(.descending(\.order), name: "a", where: \.isActive),
        Index(.descending(\.order), name: "a", where: { $0.isActive == true })
      ),
    ]
    for (index, other) in pairs {
      #expect("\(index)".split(separator: "place:")[0] == "\(other)".split(separator: "place:")[0])
      #expect("\(index)".contains("active == true"))
    }
  }

  @Test("literals and nil stand against optional fields")
  func optionals() throws {
    #expect(try keys(of: Contact.where { $0.note == "calls" }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note == nil }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.note != nil }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note != "calls" }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.note.isIn(["calls", "x"]) }) == ["c"])
    #expect(try keys(of: Contact.where { $0.note.hasPrefix("ca") }) == ["c"])
    #expect(try keys(of: Contact.where { $0.geo.isNil() }) == ["a", "c"])
    #expect(try keys(of: Contact.where { $0.geo.lat > 50 && $0.geo.lon < 11 }) == ["b"])
    #expect(try keys(of: Contact.where { $0.geo.lat.isIn(59...60) }) == ["b"])
  }

  @Test("ranges are conditions, however many values they have")
  func ranges() throws {
    #expect(try keys(of: Contact.where { $0.order.isIn(1...3) }) == ["a", "b"])
    #expect(try keys(of: Contact.where { $0.order.isIn(1..<3) }) == ["b"])
    #expect(try keys(of: Contact.where { $0.order.isIn(3...) }) == ["a", "c"])
    #expect(try keys(of: Contact.where { $0.order.isIn(.min ... .max) }) == ["a", "b", "c"])
    #expect(try keys(of: Contact.where { $0.balance.isIn(-0.5...0.5) }) == ["a", "b", "c"])
    let optional = Specimen.where { $0.bigger.isIn(0 ... .max) && $0.step.isIn(0...) }
    #expect(
      "\(optional)"
        == "Specimen where bigger >= 0 && bigger <= 18446744073709551615 && step >= 0")
  }

  @Test("what a list or a range contains is said as in a closure of Swift's, and means the same")
  func contained() {
    let (counts, names, grades) = ([1, 3], Set(["a"]), [Specimen.Grade.worst, .good])
    let pairs: [(Query<Specimen>, Query<Specimen>)] = [
      (Specimen.where { counts.contains($0.count) }, Specimen.where { $0.count.isIn(counts) }),
      (Specimen.where { names.contains($0.id) }, Specimen.where { $0.id.isIn(names) }),
      (Specimen.where { names.contains($0.note) }, Specimen.where { $0.note.isIn(names) }),
      (Specimen.where { grades.contains($0.grade) }, Specimen.where { $0.grade.isIn(grades) }),
      (
        Specimen.where { grades.contains($0.lastGrade) },
        Specimen.where { $0.lastGrade.isIn(grades) }
      ),
      (Specimen.where { (1...3).contains($0.count) }, Specimen.where { $0.count.isIn(1...3) }),
      (Specimen.where { (0..<3).contains($0.step) }, Specimen.where { $0.step.isIn(0..<3) }),
      (Specimen.where { (0.5...).contains($0.weight) }, Specimen.where { $0.weight.isIn(0.5...) }),
      (Specimen.where { (...0.5).contains($0.ratio) }, Specimen.where { $0.ratio.isIn(...0.5) }),
      (Specimen.where { (..<0.5).contains($0.ratio) }, Specimen.where { $0.ratio.isIn(..<0.5) }),
      (
        Specimen.where { (Specimen.Grade.fair...).contains($0.grade) },
        Specimen.where { $0.grade.isIn(.fair...) }
      ),
      (
        Specimen.where { (...Specimen.Grade.fair).contains($0.lastGrade) },
        Specimen.where { $0.lastGrade.isIn(...Specimen.Grade.fair) }
      ),
    ]
    for (left, right) in pairs { #expect(left == right) }
    #expect("\(pairs[5].0)" == "Specimen where n >= 1 && n <= 3")
    let among = Specimen.where { !counts.contains($0.count) && $0.isNew }
    #expect("\(among)" == "Specimen where !(n in [1, 3]) && new == true")
  }

  @Test("the first of a query is what its order says, and nil where it selects nothing")
  func first() async throws {
    try await withTemporaryStore { store in
      let stored = store.repository(of: Contact.self)
      let inMemory = InMemoryRepository(of: Contact.self)
      try await stored.save(contacts)
      try await inMemory.save(contacts)
      let (last, none) = (Contact.all.sorted(by: \.id, .reverse), Contact.where { $0.order > 99 })
      for repository in [stored as any Repository<Contact, Contact>, inMemory] {
        #expect(try repository.first()?.id == "a")
        #expect(try repository.first(last.offset(1))?.id == "b")
        #expect(try await repository.async.first(last)?.id == "c")
        #expect(try repository.first(none) == nil)
        #expect(try repository.first(last.limit(0)) == nil)
      }
      #expect(try store.read { try $0.first(last)?.id } == "c")
      let written = try await store.write { try $0.first(none) }
      #expect(written == nil)
      let cities = stored.including(\.id, from: stored)
      #expect(try cities.first(last)?.related?.id == "c")
    }
  }

  @Test("conditions can be made in steps and from values of the program")
  func steps() throws {
    let cities = ["Oslo", "Bergen"]
    let start = "C"
    #expect(
      try keys(
        of: Contact.where { contact in
          let isHere = contact.city.isIn(cities)
          let isNamed = contact.name.hasPrefix(start)
          return isHere && isNamed
        }) == ["c"])
    #expect(
      try keys(
        of: Contact.where { contact in
          ["vip", "new"].map { contact.tags.contains($0) }.reduce(contact.order == 1) { $0 || $1 }
        }) == ["a", "b"])
  }

  @Test("ten conditions are one expression")
  func tenConditions() throws {
    let query = Contact.where {
      $0.city == "Oslo" && $0.order < 5 && $0.order >= 0 && $0.balance <= 1.5 && $0.isActive
        && $0.name.hasPrefix("A") && $0.tags.contains("vip") && $0.note == nil
        && $0.updatedAt < .now && $0.phone != "1"
    }
    #expect(try keys(of: query) == ["a"])
  }
}

private struct CallSiteNote: Codable, Identifiable, Equatable {
  var id: Int
  var text: String
}
