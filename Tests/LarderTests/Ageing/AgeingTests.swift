import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

private let day = 86_400.0

/// A clipping that goes a day after it was read, of which 100 stay.
private struct Clipping: Document, Identifiable, Equatable {
  var id: String
  var read: Date?
  var rank = 0
  var text = ""

  static let schema = Schema<Clipping>(
    "Clipping", key: \.id,
    fields: [
      Field("id", \.id), Field("read", \.read), Field("rank", \.rank, default: 0),
      Field("text", \.text, default: ""),
    ])

  static let ageing: [Ageing<Clipping>] = [
    .expires(after: .seconds(86_400), since: \.read), .keepNewest(100, by: \.rank),
  ]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(read, at: 1)
    record.put(rank, at: 2)
    record.put(text, at: 3)
  }

  init(id: String, read: Date? = nil, rank: Int = 0, text: String = "") {
    self.id = id
    self.read = read
    self.rank = rank
    self.text = text
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), read: try record.get(1), rank: try record.get(2),
      text: try record.get(3))
  }
}

/// A picture; all of them take 256 KiB at most.
private struct Picture: Document, Identifiable, Equatable {
  var id: Int
  var bytes: Data

  static let schema = Schema<Picture>(
    "Picture", key: \.id, fields: [Field("id", \.id), Field("bytes", \.bytes)])
  static let ageing: [Ageing<Picture>] = [.keepNewest(byteCount: 256 << 10, by: \.id)]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(bytes, at: 1)
  }

  init(id: Int) {
    self.id = id
    bytes = Data(repeating: UInt8(truncatingIfNeeded: id), count: 1000)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    bytes = try record.get(1)
  }
}

@Suite struct AgeingTests {
  private func clippings(
    _ numbers: Range<Int>, read: Date? = nil, rank: (Int) -> Int = { $0 }
  ) -> [Clipping] {
    numbers.map { Clipping(id: "\($0 + 1000)", read: read, rank: rank($0)) }
  }

  @Test("documents whose date is longer ago than their age go on demand, the others stay")
  func expires() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      let now = Date.now
      try repository.save(clippings(0..<20, read: now))
      try repository.save(clippings(20..<40, read: now.addingTimeInterval(3600)))
      try repository.save(clippings(40..<60))

      #expect(try store.evict(Clipping.self, asOf: now.addingTimeInterval(day - 1)) == 0)
      #expect(try store.evict(Clipping.self, asOf: now.addingTimeInterval(day + 1)) == 20)
      #expect(try store.evict(Clipping.self, asOf: now.addingTimeInterval(day + 1)) == 0)
      #expect(
        try repository.fetch(Clipping.all)
          == clippings(20..<60).map {
            var article = $0
            if Int($0.id) ?? 0 < 1040 { article.read = now.addingTimeInterval(3600) }
            return article
          })
      #expect(try store.evict(Clipping.self, asOf: now.addingTimeInterval(2 * day)) == 20)
      // Those without a date never expire.
      #expect(try store.evict(Clipping.self, asOf: .distantFuture) == 0)
      #expect(try repository.count() == 20)
    }
  }

  @Test("only so many documents stay, those with the greatest values")
  func keepNewest() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      var random = RandomSource()
      let ranks = (0..<1000).shuffled(using: &random)

      for start in stride(from: 0, to: 1000, by: 10) {
        try repository.save(clippings(start..<start + 10) { ranks[$0] })
        #expect(try repository.count() == min(start + 10, 100), "\(random.hint)")
      }

      #expect(
        try repository.fetch(Clipping.all.sorted(by: \.rank)).map(\.rank) == Array(900..<1000),
        "\(random.hint)")
    }
  }

  @Test("a save takes small steps, and several saves together evict all that is too old")
  func steps() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      // Without its rules: as an earlier version of the app has left it.
      try store.collection("Clipping").save(
        (0..<90).map { number in
          ["id": .string("\(number + 1000)"), "read": .date(Date.now - 2 * day), "rank": 0]
        }, keyField: "id")
      #expect(try repository.count() == 90)

      var counts: [Int] = []
      for number in 0..<6 {
        try repository.save(Clipping(id: "new-\(number)", read: .now))
        counts.append(try repository.count())
      }

      #expect(counts == [75, 60, 45, 30, 15, 6])
      #expect(try repository.fetch(Clipping.all).allSatisfy { $0.id.hasPrefix("new") })
    }
  }

  @Test("a size bound keeps a collection's pages below it, without letting go of much more")
  func bytes() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Picture.self)
      for start in stride(from: 0, to: 1000, by: 5) {
        try repository.save((start..<start + 5).map { Picture(id: $0) })
        let byteCount = try #require(try store.statistics().collections.first).byteCount
        #expect(byteCount <= 256 << 10)
      }

      let left = try repository.fetch(Picture.all).map(\.id)
      #expect(left == Array(1000 - left.count..<1000))
      #expect(left.count > 120)
    }
  }

  @Test("evictions are deletions of origin expiry in the change log, and watchers see them")
  func watched() async throws {
    try await withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      try await repository.save(clippings(0..<10, read: .now))
      let token = try store.changeToken()
      var watch = repository.watchCount(Clipping.all).makeAsyncIterator()
      #expect(try await watch.next() == 10)

      let evicted = try await store.evict(Clipping.self, asOf: .now + 2 * day)

      #expect(evicted == 10)
      #expect(try await watch.next() == 0)
      let changes = try store.history(since: token).changes
      #expect(changes.count == 10)
      #expect(changes.allSatisfy { $0.kind == .deleted && $0.origin == .expiry })
      #expect(try store.history(since: token, origins: [.local]).changes.isEmpty)
    }
  }

  @Test("a save and the eviction that it brings are told apart by their origin")
  func origins() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      try repository.save(clippings(0..<100))
      let token = try store.changeToken()

      try store.write(as: .imported) { tx in try tx.save(clippings(100..<103)) }

      let changes = try store.history(since: token).changes
      #expect(
        changes.map(\.origin) == [.imported, .imported, .imported, .expiry, .expiry, .expiry])
      #expect(changes.suffix(3).map(\.key) == ["1000", "1001", "1002"].map { .string($0) })
    }
  }

  @Test("a write that throws evicts nothing")
  func undone() throws {
    struct Stop: Error {}
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      try repository.save(clippings(0..<100))

      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.save(clippings(100..<150))
          try tx.evict(Clipping.self, asOf: .distantFuture)
          throw Stop()
        }
      }

      #expect(try repository.fetch(Clipping.all) == clippings(0..<100))
    }
  }

  @Test("a rule makes an index on its field, which is not made twice")
  func indexes() throws {
    try withTemporaryStore { store in
      try store.repository(of: Clipping.self).save(clippings(0..<3))
      #expect(try store.collection("Clipping").indexes().map(\.fields) == [["rank"], ["read"]])
    }
  }

  @Test("what is evicted is right however documents, dates and steps fall")
  func random() throws {
    var random = RandomSource()
    for _ in 0..<10 {
      try withTemporaryStore { store in
        let repository = store.repository(of: Clipping.self)
        let now = Date.now
        var all: [String: Clipping] = [:]
        for _ in 0..<random.int(1..<12) {
          let batch = random.array(1..<40) { random in
            Clipping(
              id: "\(random.int(0..<300))",
              read: random.once(in: 3) ? nil : now + Double(random.int(0..<1000)),
              rank: random.int(0..<50))
          }
          // No more than stay by their number, so that only time decides.
          for article in batch where all.count < 100 || all[article.id] != nil {
            try repository.save(article)
            all[article.id] = article
          }
          let moment = now + day + Double(random.int(0..<600))
          let limit = random.int(0..<30)
          let old = all.values.filter { $0.read.map { $0 < moment - day } ?? false }
            .sorted { ($0.read ?? now, $0.id) < ($1.read ?? now, $1.id) }
          let count = try store.write { try $0.evict(Clipping.self, limit: limit, asOf: moment) }
          #expect(count == min(limit, old.count), "\(random.hint)")
          for article in old.prefix(limit) { all[article.id] = nil }
          #expect(
            try Set(repository.fetch(Clipping.all).map(\.id)) == Set(all.keys), "\(random.hint)")
        }
      }
    }
  }

  @Test("a save goes past a bounded number of unsent edits, and the next one goes on behind them")
  func unsent() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Aged.self)
      let documents = store.collection("Aged")
      func old(_ numbers: Range<Int>) -> [DynamicDocument] {
        numbers.map { number in
          let seen = Date.distantPast.addingTimeInterval(Double(number))
          return ["id": .integer(Int64(number)), "seen": .date(seen)]
        }
      }
      try store.declare(Aged.self)
      try store.prepareOutbox()
      try store.write(as: .sync) { try $0.setSynced("Aged", true) }
      // Without a type, so that nothing goes yet: edits, and behind them what a remote has sent.
      try documents.save(old(0..<300), keyField: "id")
      _ = try store.write(as: .sync) { try $0.save(old(300..<310), in: documents) }

      var counts: [Int] = []
      var passed: [[Int]] = []
      for number in 0..<4 {
        try repository.save(Aged(id: 1000 + number, seen: .now))
        counts.append(try repository.count())
        passed.append(store.engine.evictionPlaces.withLock { $0.values.map(\.passedAmount) })
      }

      // Eight times the 16 that a save may evict.
      #expect(passed == [[128], [256], [], [128]])
      #expect(counts == [311, 312, 303, 304])
      // On demand all are looked at.
      _ = try store.write(as: .sync) { try $0.save(old(300..<310), in: documents) }
      #expect(try store.evict(Aged.self) == 10)
    }
  }

  @Test("edits that a save has gone past and that are sent then go before newer documents")
  func sent() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Clipping.self)
      let documents = store.collection("Clipping")
      func ranked(_ numbers: Range<Int>) -> [DynamicDocument] {
        numbers.map { ["id": .string("\($0 + 1000)"), "rank": .integer(Int64($0))] }
      }
      try store.declare(Clipping.self)
      try store.prepareOutbox()
      try store.write(as: .sync) { try $0.setSynced("Clipping", true) }
      try documents.save(ranked(0..<200), keyField: "id")
      _ = try store.write(as: .sync) { try $0.save(ranked(200..<305), in: documents) }
      try repository.save(Clipping(id: "new-0", rank: 1000))
      #expect(store.engine.evictionPlaces.withLock { $0.values.map(\.passedAmount) } == [128])
      try store.write(as: .sync) { tx in
        for number in 0..<200 {
          try tx.setOutboxEntry("Clipping", Array("\(number + 1000)".utf8), to: nil)
        }
      }

      for number in 1..<30 {
        try repository.save(Clipping(id: "new-\(number)", rank: 1000 + number))
      }

      #expect(
        try repository.fetch(Clipping.all.sorted(by: \.rank)).map(\.rank)
          == Array(235..<305) + Array(1000..<1030))
    }
  }

  @Test("a damaged record stops an eviction with its name, and no save")
  func damaged() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    try store.repository(of: Clipping.self).save(clippings(0..<50, read: .now - day / 2))
    try store.close()
    try withEnvironment(folder.store) { environment in
      let documents = try #require(
        try environment.database(named: "documents/Clipping", create: false))
      try flip(in: environment, documents, key: Array("1007".utf8), at: 4)
    }
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let again = try Store(at: folder.store, options: options)
    let repository = again.repository(of: Clipping.self)

    try repository.save(clippings(60..<61, read: .now - 2 * day))
    // More than are kept: those of the lowest rank should go, the damaged one among them.
    try repository.save(clippings(100..<200, read: .now))
    let told = events.withLock { $0 }.filter { $0.message == "old documents could not be evicted" }
    #expect(told.map(\.level) == [.warning, .debug])
    #expect(told.first?.metadata == ["collection": "Clipping"])
    #expect(told.last?.metadata["error"]?.contains("1007") == true)
    let error = storeError { try again.evict(Clipping.self, asOf: .now + day) }
    guard case .damagedRecord("Clipping", "\"1007\"", _)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    try repository.delete(keys: ["1007"])

    #expect(try again.evict(Clipping.self, asOf: .now + day / 2 + 60) == 49)
    #expect(try repository.count() == 100)
    try verifyAndClose(again)
  }
}
