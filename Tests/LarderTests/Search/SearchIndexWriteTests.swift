import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite("a search index, beside every way to change documents")
struct SearchIndexWriteTests {
  private struct Refused: Error {}

  /// Changes some documents in one of the ways that there are.
  private func change(_ store: Store, _ random: inout RandomSource) throws {
    let pamphlets = store.repository(of: Pamphlet.self)
    let id = random.int(0..<300)
    switch random.int(0..<11) {
    case 0, 1: try pamphlets.save(.random(id, &random))
    case 2:
      let first = random.int(0..<200)
      try pamphlets.save((first..<first + 100).map { .random($0, &random) })
    case 3:
      // Texts that do not change.
      try pamphlets.save(
        try pamphlets.fetch(Pamphlet.where { $0.id < id }).map {
          var pamphlet = $0
          pamphlet.place += 1
          return pamphlet
        })
    case 4: try pamphlets.delete(keys: [id, id + 1, id + 2])
    case 5: try pamphlets.delete(Pamphlet.where { $0.tags.contains("sea") })
    case 6:
      try pamphlets.save(
        (0..<5).map { .random(id + $0, &random) },
        clearBeforeSaving: Pamphlet.where { $0.id > 250 })
    case 7:
      try store.collection("Pamphlet").save([
        ["id": .integer(Int64(id)), "text": .string(Pamphlet.word(&random))]
      ])
    case 8:
      try store.write { scope in
        let inside = Pamphlet.random(id, &random)
        try scope.save([inside])
        try scope.delete(Pamphlet.self, inside.id + 1)
        try scope.save([Pamphlet.random(id, &random)])
      }
    case 9:
      #expect(throws: Refused.self) {
        try store.write { scope in
          try scope.save([Pamphlet.random(id, &random), .random(id + 1, &random)])
          throw Refused()
        }
      }
    default:
      if random.once(in: 8) { try store.write { _ = try $0.eraseAllData(of: Pamphlet.self) } }
      try pamphlets.update(id) { $0.title = Pamphlet.word(&random) }
    }
  }

  private func compare(_ store: Store, _ random: inout RandomSource) throws {
    let all = try store.repository(of: Pamphlet.self).fetch(Pamphlet.all)
    for _ in 0..<6 {
      let word = Pamphlet.word(&random)
      #expect(
        try store.pamphletFrequencies(of: word) == all.frequencies(of: word), "\(random.hint)")
    }
    #expect(try store.check().problems == [], "\(random.hint)")
  }

  @Test("it has the words of the documents, whatever has changed them")
  func kept() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(4) {
      try withTemporaryStore { store in
        if random.bool() {
          try store.repository(of: Pamphlet.self)
            .save((0..<random.int(0..<600)).map { .random($0, &random) })
        }
        try store.declarePamphletWords()
        try store.collection("Pamphlet").buildIndexes()
        for round in 0..<40 {
          try change(store, &random)
          if random.bool() { try store.engine.writer.run { _ = try store.engine.workOnIndex() } }
          if round % 10 == 9 { try compare(store, &random) }
        }
        try store.collection("Pamphlet").rebuildIndexes()
        try compare(store, &random)
      }
    }
  }

  @Test("declared on a full collection it is built in steps, beside the writes of others")
  func built() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let pamphlets = store.repository(of: Pamphlet.self)
      try pamphlets.save((0..<9_000).map { .random($0, &random) })
      try store.declarePamphletWords()
      #expect(try store.pamphletFrequencies(of: "oslo") == nil)
      for _ in 0..<12 {
        try change(store, &random)
        try pamphlets.save(.random(random.int(0..<9_000), &random))
        try pamphlets.delete(keys: [random.int(0..<9_000)])
        try store.engine.writer.run { _ = try store.engine.workOnIndex() }
      }
      try store.collection("Pamphlet").buildIndexes()
      try compare(store, &random)
      let index = try #require(try store.collection("Pamphlet").indexes().first)
      #expect(index.fields == ["title", "text", "tags", "source.name", "source.remarks"])
      #expect(index.state == .complete)
    }
  }

  @Test("segments are merged in the background, also when the store is opened again")
  func merged() throws {
    var random = RandomSource()
    let folder = TestFolder()
    func segmentCount(_ store: Store) throws -> Int {
      let index = try #require(store.pamphletWords)
      return try store.read {
        try $0.transaction.searchHeader(in: index.database).segments.count
      }
    }
    do {
      let store = try Store(at: folder.store)
      try store.declarePamphletWords()
      for round in 0..<40 {
        try store.repository(of: Pamphlet.self).save(
          (0..<40).map { .random(round * 40 + $0, &random) })
      }
      #expect(try segmentCount(store) < 20)
      try store.close()
    }
    let store = try Store(at: folder.store)
    while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
    #expect(try segmentCount(store) <= 2 * SearchHeader.fanOut)
    try compare(store, &random)
    try store.close()
  }

  #if os(Linux)
    @Test("a merge that gave way, as it waited for another process, goes on later")
    func mergeGivesWay() async throws {
      var random = RandomSource()
      let folder = TestFolder()
      let store = try Store(at: folder.store)
      try store.declarePamphletWords()
      let index = try #require(store.pamphletWords)
      // Not before the other process writes.
      store.engine.indexWork.withLock { $0.isScheduled = true }
      for round in 0...SearchHeader.fanOut {
        try await store.repository(of: Pamphlet.self).save(
          (0..<40).map { .random(round * 40 + $0, &random) })
      }
      func needsMerge() throws -> Bool {
        let header = try store.engine.environment.beginRead().searchHeader(in: index.database)
        return header.needsWork
      }
      #expect(try needsMerge())
      let other = try OtherProcess("hold-writer", folder.store)
      _ = try other.expect("holding")
      store.engine.indexWork.withLock { $0.isScheduled = false }
      store.engine.scheduleIndexWork()

      let saving = OnThread { try store.collection("side").save([["id": "a"]], keyField: "id") }
      // Time enough for the merge to let this one through, which then waits as well.
      try await Task.sleep(for: .seconds(1.5))
      #expect(store.engine.indexWork.withLock { !$0.searchesToMerge.isEmpty })
      other.goOn()
      _ = try other.expect("saved")
      _ = try saving.value()

      #expect(try await eventually { try !needsMerge() })
      #expect(other.finish().isEmpty)
      try store.close()
    }
  #endif

  @Test("damage in it stops no save, and is mended by building it anew")
  func damaged() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(10) {
      try withTemporaryStore { store in
        let pamphlets = store.repository(of: Pamphlet.self)
        try store.declarePamphletWords()
        for _ in 0..<8 {
          try pamphlets.save((0..<60).map { _ in .random(random.int(0..<500), &random) })
        }
        while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
        let index = try #require(store.pamphletWords)
        try store.engine.writer.run {
          try store.engine.perform { scope in
            try scope.damageWords(in: index.database, &random)
          }
        }
        for _ in 0..<6 {
          try pamphlets.save((0..<60).map { _ in .random(random.int(0..<500), &random) })
          try pamphlets.delete(keys: [random.int(0..<500)])
        }
        while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
        // What was not met on the way is found by a check.
        if try !store.check().isSound {
          try store.collection("Pamphlet").rebuildIndexes()
        }
        try compare(store, &random)
      }
    }
  }

  @Test("a header that counts less than there is stops no save, and is mended likewise")
  func earlierSums() throws {
    var random = RandomSource()
    // Few documents wait as pending changes, many are a segment.
    for count in [5, 200] {
      try withTemporaryStore { store in
        let pamphlets = store.repository(of: Pamphlet.self)
        try store.declarePamphletWords()
        try pamphlets.save((0..<count).map { .random($0, &random) })
        let database = try #require(store.pamphletWords).database
        try store.engine.writer.run {
          try store.engine.perform { scope in
            var header = try scope.transaction.searchHeader(in: database)
            header.documentCount = 0
            header.totalLength = 0
            try scope.transaction.put(header, in: database)
            scope.hasWrittenMore = true
          }
        }

        try pamphlets.delete(keys: [0, 1])
        try pamphlets.save(.random(2, &random))

        while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
        try compare(store, &random)
      }
    }
  }

  @Test("a document whose id the index has lost is no longer found by the words that it had")
  func lostIDs() throws {
    var random = RandomSource()
    for deletes in [false, true] {
      try withTemporaryStore { store in
        let pamphlets = store.repository(of: Pamphlet.self)
        try store.declarePamphletWords()
        try pamphlets.save((0..<200).map { .random($0, &random) })
        let index = try #require(store.pamphletWords)
        try store.engine.writer.run {
          try store.engine.perform { try $0.deleteIDs(in: index.database) }
        }
        for id in 0..<20 {
          if deletes {
            try pamphlets.delete(keys: [id])
          } else {
            try pamphlets.save(.random(id, &random))
          }
        }
        while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
        try compare(store, &random)
      }
    }
  }

  @Test("it is built anew when its ids have come to their end, and is right before and after")
  func lastIDs() throws {
    var random = RandomSource()
    let events = Locked<[LogEvent]>([])
    var options = StoreOptions()
    options.log = { event in events.withLock { $0.append(event) } }
    let folder = TestFolder()
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: Pamphlet.self).save((0..<200).map { .random($0, &random) })
    try store.declarePamphletWords()
    while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
    let database = try #require(store.pamphletWords).database
    /// Leaves so many ids; where all documents were erased, they begin at zero again.
    func leave(_ count: UInt32) throws {
      try store.engine.writer.run {
        try store.engine.perform { scope in
          var header = try scope.transaction.searchHeader(in: database)
          guard header.nextID < SearchHeader.maximumIDCount - count else { return }
          header.nextID = SearchHeader.maximumIDCount - count
          try scope.transaction.put(header, in: database)
          scope.hasWrittenMore = true
        }
      }
    }
    func endCount() -> Int {
      events.withLock { $0.count { $0.message.contains("its ids have come to their end") } }
    }
    /// Whether it has been built anew. A write that met the end and was then undone left it as it was.
    func isYoung() throws -> Bool {
      let database = try #require(store.pamphletWords).database
      return try store.read { try $0.transaction.searchHeader(in: database).nextID } < 1_000_000
    }
    for round in 0..<2000 {
      try leave(300)
      try change(store, &random)
      while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
      if round % 10 == 0 { try compare(store, &random) }
      if endCount() > 0, try isYoung() { break }
    }
    let metCount = endCount()
    #expect(metCount > 0, "\(random.hint)")
    try compare(store, &random)
    for _ in 0..<20 { try change(store, &random) }
    while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
    try compare(store, &random)
    #expect(endCount() == metCount)
    try verifyAndClose(store)
  }

  @Test("built anew it has no word of a deleted document, which it may have had until then")
  func forgotten() throws {
    try withTemporaryStore { store in
      let pamphlets = store.repository(of: Pamphlet.self)
      try store.declarePamphletWords()
      try pamphlets.save((0..<200).map { Pamphlet(id: $0, title: "word\($0)") })
      try pamphlets.delete(keys: [7])
      while try store.engine.writer.run({ try store.engine.workOnIndex() }) {}
      #expect(try store.pamphletWordsHave("word7"))

      try store.collection("Pamphlet").rebuildIndexes()

      #expect(try !store.pamphletWordsHave("word7"))
      #expect(try store.pamphletWordsHave("word8"))
    }
  }

  @Test("it says what cannot be searched")
  func refused() throws {
    try withTemporaryStore { store in
      try store.declare(Pamphlet.self)
      let description = try #require(store.engine.catalogue["Pamphlet"]).description
      func define(_ weights: [UInt32], _ parts: IndexDeclaration.Part...) throws {
        _ = try IndexDefinition(
          IndexDeclaration(
            name: "words", parts: parts, isUnique: false, filter: nil, weights: weights),
          in: description)
      }
      let fields = Fields<Pamphlet>()
      let error = #expect(throws: StoreError.self) {
        try define([1], .init(fields.place, isDescending: false))
      }
      #expect("\(try #require(error))".contains("`place` is neither text nor an array or a set"))
      #expect(throws: StoreError.self) {
        try define([0], .init(fields.title, isDescending: false))
      }
      #expect(throws: StoreError.self) {
        try define([101], .init(fields.title, isDescending: false))
      }
      try define([100], .init(fields.title, isDescending: false))
    }
  }

  @Test(
    "a collection that is renamed takes it along, and its record in the catalogue says all of it")
  func renamed() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      try store.declarePamphletWords()
      try store.repository(of: Pamphlet.self).save((0..<100).map { .random($0, &random) })
      let before = try #require(store.pamphletWords).definition
      let record = IndexRecord(before, .complete)
      let decoded = try record.encoded(number: 7).withUnsafeBytes {
        try IndexRecord($0, number: 7)
      }
      #expect(decoded == record)

      try store.migrate(to: 2) { tx in
        try tx.rename(store.collection("Pamphlet"), to: "Cutting")
      }
      let index = try #require(store.engine.catalogue["Cutting"]?.indexes.first)
      #expect(index.isComplete)
      #expect(index.definition.weights == Pamphlet.weights)
      #expect(try store.collection("Cutting").indexes().first?.entryCount == 100)
      #expect(try store.check().problems == [])
    }
  }
}

extension Store {
  /// Whether the index has a term, of a document that is gone, too.
  fileprivate func pamphletWordsHave(_ term: String) throws -> Bool {
    guard let index = pamphletWords else { return false }
    return try read { snapshot in
      let header = try snapshot.transaction.searchHeader(in: index.database)
      for segment in header.segments {
        var terms = TermCursor(segment, try snapshot.transaction.cursor(in: index.database))
        if try terms.seek(atOrAfter: Array(term.utf8)), terms.term == Array(term.utf8) {
          return true
        }
      }
      return false
    }
  }
}

extension WriteScope {
  /// Changes a bit of some record of a search index.
  fileprivate mutating func damageWords(
    in database: Database, _ random: inout RandomSource
  ) throws {
    hasWrittenMore = true
    try transaction.damageRecord(in: database, using: &random)
  }

  /// Takes the ids of all documents out of a search index.
  fileprivate mutating func deleteIDs(in database: Database) throws {
    hasWrittenMore = true
    var cursor = try transaction.cursor(in: database)
    while try [SearchLayout.ids].withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) {
      try cursor.delete()
    }
  }
}
