import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Synchronization
import Testing

@testable import Larder

/// What several threads make of large collections beside documents and counts. What is large is set as in
/// ``ParallelReadTests``.
@Suite("aggregates, first documents and checks by several threads") struct ParallelWorkTests {
  private let folder = TestFolder()

  init() { ParallelRead.leastDocumentCount.store(1, ordering: .relaxed) }

  private func open(threads: Int) throws -> Store {
    var options = StoreOptions(durability: .volatile)
    options.readThreadCount = threads
    return try Store(at: folder.store, options: options)
  }

  /// Something told of a store whose reads have one thread, and again with four.
  private func both<Result>(_ body: (Store) throws -> Result) throws -> (one: Result, four: Result)
  {
    func told(_ threads: Int) throws -> Result {
      let store = try open(threads: threads)
      let result = try body(store)
      try store.close()
      return result
    }
    return (try told(1), try told(4))
  }

  /// Compares what is printed: NaN is equal to nothing.
  private func expectSame<Result>(
    _ aggregate: Aggregate<Specimen, Result>, _ query: Query<Specimen>, inParts: Bool = true,
    _ hint: Comment
  ) throws {
    let told = try both { store in
      try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: Specimen.self))
        let execution = try snapshot.transaction.execution(
          of: aggregate.selection(of: query), binding)
        let parts = try aggregate.fromParts(LentTransaction(snapshot.transaction), execution)
        return ("\(try snapshot.aggregate(aggregate, of: query))", parts.map { "\($0)" })
      }
    }
    #expect(told.one.0 == told.four.0, hint)
    #expect(told.one.1 == nil, hint)
    if inParts { #expect(told.four.1 == told.four.0, hint) }
  }

  @Test("aggregates in parts are those of one thread")
  func aggregates() throws {
    var random = RandomSource()
    let hint = Comment(rawValue: random.hint)
    let store = try open(threads: 1)
    try store.repository(of: Specimen.self)
      .save((0..<1_500).map { Specimen(id: "\($0)", using: &random) })
    try store.close()
    for query in [
      Specimen.all, Specimen.where { $0.count > 3 }, Specimen.where { $0.name == "none such" },
    ] {
      try expectSame(.sum(\.ratio), query, hint)
      try expectSame(.sum(\.weight), query.where { $0.weight < 1e300 }, hint)
      try expectSame(.average(\.count), query, hint)
      try expectSame(.min(\.count), query, hint)
      try expectSame(.max(\.name), query, hint)
      try expectSame(.max(\.made), query, hint)
      try expectSame(.counts(by: \.color), query, hint)
      try expectSame(.distinct(\.note), query, hint)
      try expectSame(.sums(of: \.ratio, by: \.color), query, hint)
      // Decimals that need more digits than there are count in the order of the keys.
      try expectSame(.sum(\.cost), query, inParts: false, hint)
      try expectSame(.sums(of: \.cost, by: \.color), query, inParts: false, hint)
    }
  }

  @Test("very many groups are gathered by one thread, and are the same")
  func manyGroups() throws {
    let store = try open(threads: 1)
    try store.repository(of: Contact.self).save(
      (0..<5_000).map { Contact(id: "\($0)", city: "city \($0)", order: $0) })
    try store.close()
    let told = try both { store in
      try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: Contact.self))
        let execution = try snapshot.transaction.execution(of: Contact.all.selection, binding)
        let transaction = LentTransaction(snapshot.transaction)
        let few = try Aggregate<Contact, [ValueGroup<String, Int>]>.sums(of: \.order, by: \.name)
          .fromParts(transaction, execution)
        let all = Aggregate<Contact, [ValueGroup<String, Int>]>.sums(of: \.order, by: \.city)
        let many = try all.fromParts(transaction, execution)
        return (few?.count, many == nil, try snapshot.aggregate(all).count)
      }
    }
    #expect(told.one == (nil, true, 5_000))
    // A part has 160 of them.
    #expect(told.four == (1, true, 5_000))
  }

  @Test("sums in parts are exact: of doubles that cancel out, and of decimals that fit")
  func exactSums() throws {
    let store = try open(threads: 1)
    let contacts = store.repository(of: Contact.self)
    // In the order of the keys 1 and its like are lost beside 1e300 before that goes away.
    func balance(_ number: Int) -> Double {
      switch number {
      case 0: 1e300
      case 1_999: -1e300
      default: Double(number % 10) / 8
      }
    }
    try contacts.save((0..<2_000).map { Contact(id: "\(1_000_000 + $0)", balance: balance($0)) })
    let exact = (1..<1_999).map { Double($0 % 10) / 8 }.reduce(0, +)
    try store.close()
    let told = try both { try $0.repository(of: Contact.self).sum(\.balance, of: Contact.all) }
    #expect(told == (exact, exact))

    var sum = ExactSum()
    var other = ExactSum()
    sum.add(.infinity)
    other.add(0.1)
    sum.add(contentsOf: other)
    #expect(sum.value == .infinity)
    sum.add(contentsOf: sum)
    other.add(-.infinity)
    sum.add(contentsOf: other)
    #expect(sum.value.isNaN)

    var total = FieldTotal()
    var more = FieldTotal()
    total.add(.decimal(Decimal(string: "1e20") ?? 0))
    more.add(.decimal(Decimal(string: "1e-17") ?? 0))
    #expect(!total.isRounded && !more.isRounded)
    var fits = total
    fits.add(contentsOf: total)
    #expect(!fits.isRounded && fits.count == 2 && fits.decimals == Decimal(string: "2e20"))
    total.add(contentsOf: more)
    #expect(total.isRounded)
  }

  @Test("the first documents in an order are found in parts where few are wanted")
  func firstInParts() throws {
    let store = try open(threads: 4)
    try store.repository(of: Contact.self).save((0..<3_000).map { Contact(id: "\($0)", order: $0) })
    func isInParts(_ query: Query<Contact>, _ wanted: Int) throws -> Bool {
      try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: Contact.self))
        let execution = try snapshot.transaction.execution(of: query.selection, binding)
        let rows = try execution.firstInParts(LentTransaction(snapshot.transaction), wanted: wanted)
        return rows != nil
      }
    }
    #expect(try isInParts(Contact.all.sorted(by: \.order), 200))
    #expect(try isInParts(Contact.where { $0.city == "" }.sorted(by: \.name), 1))
    #expect(try !isInParts(Contact.all.sorted(by: \.order), 201))
    #expect(try !isInParts(Contact.where { $0.id > "1" }.sorted(by: \.order), 5))
    try verifyAndClose(store)
  }

  @Test("of damaged documents those are told of that are among the first, and no others")
  func damagedFirst() throws {
    let store = try open(threads: 1)
    try store.repository(of: Contact.self).save(
      (0..<3_000).map { Contact(id: "\(1_000_000 + $0)", order: $0, note: "note of \($0).") })
    try store.close()
    let path = URL(filePath: folder.store).appending(path: "data.mdb")
    var bytes = try Data(contentsOf: path)
    for number in [5, 2_000] {
      let note = Data("note of \(number).".utf8)
      while let found = bytes.firstRange(of: note) { bytes[found.lowerBound] = UInt8(ascii: "N") }
    }
    try bytes.write(to: path)
    let told = try both { store in
      let contacts = store.repository(of: Contact.self)
      let query = Contact.all.sorted(by: \.order)
      #expect(throws: StoreError.self) { try contacts.fetch(query.limit(6)) }
      return try contacts.fetch(query.limit(5)).map(\.order)
    }
    #expect(told == ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]))
  }

  @Test("the first documents in an order without an index are those of one thread")
  func firstDocuments() throws {
    var random = RandomSource()
    let store = try open(threads: 1)
    let specimens = (0..<1_500).map { Specimen(id: "\($0)", using: &random) }
    try store.repository(of: Specimen.self).save(specimens)
    try store.close()
    for _ in 0..<20 {
      let condition = Condition.random(depth: 1, using: &random)
      let query = Ordering.random(using: &random)
        .sort(random.bool() ? Specimen.all : Specimen.all.where(condition.filter))
      let limit = random.pick([1, 5, 20, 170, 1_100])
      let offset = random.pick([0, 0, 3, 30])
      let told = try both { store in
        try store.repository(of: Specimen.self).fetch(query.offset(offset).limit(limit)).map(\.id)
      }
      let hint = Comment(rawValue: "\(query), \(random.hint)")
      #expect(told.one == told.four, hint)
      let all = try both { try $0.repository(of: Specimen.self).fetch(query).map(\.id) }
      #expect(Array(all.one.dropFirst(offset).prefix(limit)) == told.four, hint)
    }
  }

  @Test("a check in parts finds nothing in a sound store, and says of damage what one thread says")
  func checks() throws {
    var random = RandomSource()
    let store = try open(threads: 1)
    let contacts = store.repository(of: Contact.self)
    try contacts.save(
      (0..<3_000).map {
        Contact(
          id: "\(1_000_000 + $0)", name: "name of \($0).", city: random.pick(["Oslo", "Wien"]),
          order: $0)
      })
    try store.collection("Contact").createIndex(on: "city")
    try store.collection("Contact").createIndex(on: "order")
    try store.collection("Contact").buildIndexes()
    try store.close()
    let sound = try both { try $0.check() }
    #expect(sound.one == sound.four)
    #expect(sound.four.isSound && sound.four.documentCount == 3_000)

    // A letter of three names.
    let path = URL(filePath: folder.store).appending(path: "data.mdb")
    var bytes = try Data(contentsOf: path)
    for number in [70, 1_500, 2_999] {
      let name = Data("name of \(number).".utf8)
      var start = bytes.startIndex
      while let found = bytes[start...].firstRange(of: name) {
        bytes[found.lowerBound] = UInt8(ascii: "N")
        start = found.upperBound
      }
    }
    try bytes.write(to: path)
    let damaged = try both { try $0.check() }
    #expect(damaged.one == damaged.four)
    #expect(
      damaged.four.problems.map(\.place).filter { $0.hasPrefix("Contact") } == [
        #"Contact "1000070""#, #"Contact "1001500""#, #"Contact "1002999""#,
      ])
  }

  @Test("the check of many small collections tells of its progress, too")
  func smallCollections() throws {
    let store = try open(threads: 4)
    for number in 0..<5 {
      let collection = store.collection("c\(number)")
      try collection.save([["id": 1], ["id": 2]] as [DynamicDocument], keyField: "id")
    }
    var told: [Int] = []
    _ = try store.check { told.append($0.completed) }
    #expect(told == [2, 4, 6, 8, 10])
    try verifyAndClose(store)
  }

  @Test(
    "a check in parts tells of its progress on the caller's thread alone, and ends when it is told to"
  )
  func progress() throws {
    let store = try open(threads: 4)
    try store.repository(of: Contact.self).save((0..<5_000).map { Contact(id: "\($0)") })
    struct Enough: Error {}
    let thread = SystemCall.threadNumber
    var told: [Int] = []
    let report = try store.check { progress in
      #expect(SystemCall.threadNumber == thread)
      told.append(progress.completed)
    }
    #expect(report.isSound)
    #expect(told == told.sorted() && told.last == 5_000)
    #expect(throws: Enough.self) { try store.check { _ in throw Enough() } }
    #expect(try store.check().isSound)
    try verifyAndClose(store)
  }

  @Test("parts have their turns in the order of the keys, and end with the first that fails")
  func turns() throws {
    struct Refused: Error, Equatable {
      let key: String
    }
    let store = try open(threads: 4)
    let numbers = (0..<6_000).map { "\(1_000_000 + $0)" }
    try store.repository(of: Contact.self).save(numbers.map { Contact(id: $0) })
    for refused in [nil, "1000000", "1003000", "1005999"] {
      let written = Locked<[String]>([])
      func read() throws {
        try store.read { snapshot in
          let isDone = try snapshot.inTurns(Contact.all) { part in
            var keys: [String] = []
            try part.forEachRecord { keys.append(try Contact(from: $0).id) }
            if let refused, keys.contains(refused) { throw Refused(key: refused) }
            // Parts that have no more to say wait for none.
            if keys.last?.hasSuffix("0") == true { return }
            try part.waitForTurn()
            written.withLock { $0.append(keys[0]) }
          }
          #expect(isDone)
        }
      }
      if let refused {
        #expect(throws: Refused(key: refused)) { try read() }
      } else {
        try read()
      }
      let begun = written.withLock { $0 }
      #expect(begun == begun.sorted())
      #expect(begun.allSatisfy { $0 < refused ?? "2" })
      if refused == nil { #expect(begun.count > 1) }
    }
    try verifyAndClose(store)
  }
}
