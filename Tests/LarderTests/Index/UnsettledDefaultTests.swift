import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@EmbeddedDocument private struct Stamp: Equatable {
  var at = Date()
}

/// A type as one process declares it: the default of a date is the time at which that is done.
@Document(as: "Call")
private struct Call: Identifiable, Equatable {
  var id: Int
  var line = 0
  @Indexed var at = Date()
  @Indexed(unique: true) var token = UUID()
  var stamp = Stamp()

  static let indexes: [Index<Call>] = [
    Index(.ascending(\.line), .descending(\.at)), Index(\.stamp.at),
  ]
}

/// The same type as the next process declares it.
@Document(as: "Call")
private struct NextCall: Identifiable, Equatable {
  var id: Int
  var line = 0
  @Indexed var at = Date()
  @Indexed(unique: true) var token = UUID()
  var stamp = Stamp()

  static let indexes: [Index<NextCall>] = [
    Index(.ascending(\.line), .descending(\.at)), Index(\.stamp.at),
  ]
}

/// Defaults that are the same in each process.
@Document private struct Fixed: Identifiable {
  var id: Int
  @Indexed var at = Date(timeIntervalSinceReferenceDate: 5)
  @Indexed var name = ""
  @Indexed var count = 7
  @Indexed var ratio = Double.nan
  @Indexed var limit: Date? = .distantFuture
}

/// A version of the type whose default is always the same.
@Document(as: "Call")
private struct FixedCall: Identifiable, Equatable {
  var id: Int
  var line = 0
  @Indexed var at = Date(timeIntervalSince1970: 0)
  @Indexed(unique: true) var token = UUID()
  var stamp = Stamp()

  static let indexes: [Index<FixedCall>] = [
    Index(.ascending(\.line), .descending(\.at)), Index(\.stamp.at),
  ]
}

/// Articles that are kept for a year.
@Document private struct Clipping: Identifiable, Equatable {
  var id: Int
  var fetchedAt = Date()

  static let ageing: [Ageing<Clipping>] = [
    .expires(after: .seconds(365 * 86_400), since: \.fetchedAt)
  ]
}

@Suite("a default that each process has another one of")
struct UnsettledDefaultTests {
  @Test("is told apart from one that is always the same")
  func toldApart() {
    func isSettled(_ field: FieldDescription) -> Bool { FieldStep(field).isSettled }
    #expect(Call.schema.fields.map(isSettled) == [true, true, false, false, true])
    #expect(Call.schema.path(to: \Call.stamp.at)?.map(\.isSettled) == [false, false])
    #expect(Fixed.schema.fields.allSatisfy(isSettled))
  }

  @Test("leaves indexes as they are when the next process declares them")
  func keptIndexes() throws {
    let folder = TestFolder()
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: Call.self).save([Call(id: 1), Call(id: 2)])
    let before = store.engine.catalogue.indexes
    #expect(before.count == 4)

    try store.repository(of: NextCall.self).save(NextCall(id: 3))

    #expect(store.engine.catalogue.indexes == before)
    #expect(events.withLock { $0 }.filter { $0.level >= .warning }.isEmpty)
    try verifyAndClose(store)
  }

  @Test("does not keep a cursor from going on in the next process")
  func cursors() throws {
    try withTemporaryStore { store in
      let calls = store.repository(of: Call.self)
      try calls.save((1...9).map { Call(id: $0, at: Date(timeIntervalSince1970: Double($0))) })
      let page = try calls.page(
        Call.where { $0.at > .distantPast }.sorted(by: \.at, .reverse).limit(3), after: nil)
      let cursor = try #require(page.next)

      let rest = try store.repository(of: NextCall.self).page(
        NextCall.where { $0.at > .distantPast }.sorted(by: \.at, .reverse).limit(3), after: cursor)

      #expect(rest.models.map(\.id) == [6, 5, 4])
    }
  }

  /// The index that a query is answered by; nil where it is by none.
  private func index(_ query: Query<Call>, in store: Store) throws -> String? {
    guard case .index(let use) = try query.explain(in: store).source else { return nil }
    return use.name
  }

  @Test("has documents which lack the field found as what they are read as, by no index")
  func lackingDocuments() throws {
    try withTemporaryStore { store in
      let calls = store.repository(of: Call.self)
      let untyped = store.collection("Call")
      let inOrder = Call.where { $0.line == 0 }.sorted(by: \.at, .reverse).limit(2)
      let recent = Call.where { $0.at > Date(timeIntervalSince1970: 994) }
      try calls.save((1..<1000).map { Call(id: $0, at: Date(timeIntervalSince1970: Double($0))) })
      #expect(try index(inOrder, in: store) == "line,-at")
      #expect(try index(recent, in: store) == "at")

      // Two of them: what is unique is a value, and these have none.
      try untyped.save([["id": 2000, "line": 0], ["id": 2001, "line": 1]])

      #expect(try index(inOrder, in: store) == nil)
      #expect(try index(recent, in: store) == nil)
      #expect(try calls.fetch(inOrder).map(\.id) == [2000, 999])
      #expect(try calls.fetch(recent).map(\.id) == [995, 996, 997, 998, 999, 2000, 2001])
      #expect(try calls.count(recent) == 7)

      try calls.save(
        calls.get(keys: [2000, 2001]).map { call in
          var call = call
          call.token = UUID()
          return call
        })
      #expect(try index(inOrder, in: store) == "line,-at")
      #expect(try index(recent, in: store) == "at")
      #expect(try calls.fetch(inOrder).map(\.id) == [2000, 999])
      #expect(try calls.count(recent) == 7)
    }
  }

  @Test("has the index stay as it is beside a version whose default is always the same")
  func fixedDefault() throws {
    try withTemporaryStore { store in
      try store.repository(of: Call.self).save(
        (1..<1000).map { Call(id: $0, at: Date(timeIntervalSince1970: Double($0))) })
      let before = store.engine.catalogue.indexes

      let fixed = store.repository(of: FixedCall.self)
      try fixed.save(FixedCall(id: 1000, at: Date(timeIntervalSince1970: 1000)))
      let recent = FixedCall.where { $0.at > Date(timeIntervalSince1970: 998) }
      let untyped = DynamicQuery.where { $0.at > .date(Date(timeIntervalSince1970: 998)) }

      #expect(store.engine.catalogue.indexes == before)
      for plan in [
        try recent.explain(in: store), try store.collection("Call").explain(untyped),
      ] {
        guard case .index = plan.source else {
          Issue.record("\(plan)")
          continue
        }
      }
      try store.collection("Call").save([["id": 2000]])
      #expect(try fixed.fetch(recent).map(\.id) == [999, 1000])
      try fixed.save([FixedCall(id: 2000, at: Date(timeIntervalSince1970: 2000))])
      #expect(try fixed.fetch(recent).map(\.id) == [999, 1000, 2000])
      try store.repository(of: NextCall.self).save(NextCall(id: 3000))
      #expect(store.engine.catalogue.indexes == before)
    }
  }

  @Test("has a damaged index fail the queries that would use it, and no others")
  func damaged() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let calls = store.repository(of: Call.self)
    try calls.save(
      (1..<1000).map { Call(id: $0, line: $0 % 300, at: Date(timeIntervalSince1970: Double($0))) })
    let index = try #require(store.engine.catalogue["Call"]?.indexes.first { $0.name == "at" })
    try store.write { scope in
      var (key, value): ([UInt8], [UInt8]) = ([], [])
      do {
        var cursor = try scope.transaction.cursor(in: index.database)
        _ = try cursor.first()
        (key, value) = ([UInt8](cursor.key), [UInt8](cursor.value))
      }
      value[2] ^= 1
      try key.withUnsafeBytes { key in
        try value.withUnsafeBytes { try scope.transaction.put($0, for: key, in: index.database) }
      }
      scope.hasWrittenMore = true
    }

    #expect(try calls.fetch(Call.where { $0.id == 7 }).count == 1)
    #expect(try calls.fetch(Call.where { $0.line == 7 }).count == 4)
    #expect(try calls.fetch(Call.all).count == 999)
    #expect(throws: StoreError.self) {
      try calls.fetch(Call.where { $0.at > Date(timeIntervalSince1970: 990) })
    }
  }

  @Test(
    "leaves ageing to evict() while its index cannot be used, and saves do not look for what is old"
  )
  func ageing() throws {
    try withTemporaryStore { store in
      let clippings = store.repository(of: Clipping.self)
      try clippings.save((0..<2000).map { Clipping(id: $0) })
      try store.collection("Clipping").save([["id": 5000]])
      try clippings.save(Clipping(id: 5001, fetchedAt: .distantPast))
      try clippings.save(Clipping(id: 5002))
      #expect(try clippings.get(5001) != nil)

      try store.evict(Clipping.self)
      #expect(try clippings.get(5001) == nil)

      try clippings.save(clippings.get(keys: [5000]))
      try clippings.save(Clipping(id: 5003, fetchedAt: .distantPast))
      try clippings.save(Clipping(id: 5004))
      #expect(try clippings.get(5003) == nil)
    }
  }

  @Test("changes no answer, whichever documents lack the field")
  func oracle() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(20) {
      try withTemporaryStore { store in
        let calls = store.repository(of: Call.self)
        let untyped = store.collection("Call")
        // Declares the collection.
        try calls.save(Call(id: 0))
        func date() -> Date { Date(timeIntervalSince1970: Double(random.int(0..<20))) }
        for _ in 0..<repetitions(20) {
          for _ in 0..<random.int(0..<6) {
            let id = random.int(0..<12)
            switch random.int(0..<4) {
            case 0: try calls.delete(keys: [id])
            case 1:
              try calls.delete(keys: [id])
              var document: DynamicDocument = ["id": .integer(Int64(id)), "line": 1]
              if random.bool() { document["at"] = .date(date()) }
              if random.bool() { document["stamp"] = .document(["at": .date(date())]) }
              try untyped.save([document])
            default:
              try calls.save(
                Call(id: id, line: random.int(0..<3), at: date(), stamp: Stamp(at: date())))
            }
          }
          let all = try calls.fetch(Call.all)
          let (from, to, line) = (date(), date(), random.int(0..<3))
          let source = "\(random.hint)"

          let inRange = Call.where { $0.at >= from && $0.at < to }
          let expected = all.filter { $0.at >= from && $0.at < to }
          #expect(try calls.fetch(inRange) == expected, "\(source)")
          #expect(try calls.count(inRange) == expected.count, "\(source)")
          #expect(
            try calls.fetch(Call.where { $0.stamp.at > from })
              == all.filter { $0.stamp.at > from }, "\(source)")
          let ordered = Call.where { $0.line == line }.sorted(by: \.at, .reverse)
          let sorted = all.filter { $0.line == line }.sorted {
            $0.at == $1.at ? $0.id < $1.id : $0.at > $1.at
          }
          #expect(try calls.fetch(ordered) == sorted, "\(source)")
          #expect(try calls.fetch(ordered.limit(2)) == Array(sorted.prefix(2)), "\(source)")
          #expect(try calls.min(\.at) == all.map(\.at).min(), "\(source)")
          #expect(try calls.max(\.at) == all.map(\.at).max(), "\(source)")
          let distinct = try calls.distinct(\.at)
          #expect(distinct == Set(all.map(\.at)).sorted(), "\(source)")
        }
      }
    }
  }
}
