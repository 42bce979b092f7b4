import LarderLMDB
import LarderTestKit
import Testing

@testable import Larder

@Suite("ids of a search index whose documents are gone")
struct SearchSweepTests {
  private var random = RandomSource()

  private mutating func makeStore() throws -> SearchStore {
    try SearchStore(RandomSource(seed: random.next()))
  }

  @Test("take no room once they were merged, however often documents are replaced")
  mutating func replaced() throws {
    let store = try makeStore()
    try store.replace(0..<600)
    // The first id of all stays that of a document.
    for _ in 0..<30 {
      try store.replace(1..<600)
      while try store.merge() {}
    }

    let counts = try store.recordCounts()
    // There were 18,570 ids. The last full merge has left 600, and at most 1,712 were written since.
    #expect(counts[SearchLayout.lengths] ?? 0 < 16, "\(random.hint)")
    #expect(counts[SearchLayout.keys] ?? 0 < 256, "\(random.hint)")
    try compare(store)
  }

  @Test("have no keys any more once they were merged")
  mutating func keys() throws {
    let store = try makeStore()
    try store.replace(0..<600)
    try store.delete((0..<600).filter { $0 % 15 != 0 })
    while try store.merge() {}

    let expected = Set((0..<600).filter { $0 % 15 == 0 }.map { "k\($0)" })
    #expect(try store.storedKeys() == expected, "\(random.hint)")
    try compare(store)
    // What comes behind them has its place in the same blocks.
    try store.replace(580..<700)
    while try store.merge() {}
    try compare(store)
  }

  @Test("are passed over where their lengths and keys are missing; lengths alone are damage")
  mutating func missing() throws {
    let store = try makeStore()
    try store.replace(0..<600)

    var transaction = try store.environment.beginWrite()
    try transaction.delete(SearchLengths.key(0), in: store.database)
    #expect(throws: SearchDamage.self, "\(random.hint)") {
      let reading = try SearchReading(
        store.database, weights: store.naive.weights, transaction)
      _ = try reading.postings(of: .equals(Array("fjord".utf8)), transaction)
    }

    for block in 0..<SearchLengths.idsPerBlock / SearchKeys.idsPerBlock {
      try transaction.delete(SearchKeys.key(block), in: store.database)
    }
    let reading = try SearchReading(store.database, weights: store.naive.weights, transaction)
    let found = try reading.postings(of: .equals(Array("fjord".utf8)), transaction)
    #expect(found.ids == Array(512..<600), "\(random.hint)")
  }

  @Test("end a step of their merge, too, though nothing of them is copied", arguments: [100, 2000])
  mutating func steps(byteCount: Int) throws {
    let store = try makeStore()
    try store.replace(0..<2000)
    try store.delete(Array(0..<1990))

    var stopCount = 0
    while try store.merge(byteCount: byteCount) {
      let merge = try store.withReading { reading, _ in reading.header.merge }
      // It names a term and an id.
      if let merge, merge.position.count > 5 { stopCount += 1 }
    }

    // The postings and words of 2,000 documents are more than 40,000 bytes; four times as many are read as written.
    #expect(stopCount >= 3, "\(random.hint)")
    let segments = try store.withReading { reading, _ in reading.header.segments }
    #expect(segments.map(\.documentCount) == [10])
    #expect(segments.map(\.firstID) == [1990])
    try compare(store)
  }

  private func compare(_ store: SearchStore) throws {
    let naive = store.naive
    try store.withReading { reading, transaction in
      #expect(reading.header.documentCount == naive.count, "\(random.hint)")
      #expect(try reading.keys(transaction).count == naive.count, "\(random.hint)")
      for word in ["fjord", "boat7", "w0", "w585", "w1995"] {
        let list = try reading.postings(of: .equals(Array(word.utf8)), transaction)
        #expect(
          try reading.frequencies(list, transaction) == naive.frequencies { $0 == word },
          "\(random.hint)")
      }
    }
  }
}

extension SearchStore {
  /// Writes documents with a word that all of them have, one that some have, and one of their own.
  fileprivate func replace(_ numbers: Range<Int>) throws {
    try write { changes in
      for number in numbers {
        let key = "k\(number)"
        let words = ["fjord", "boat\(number % 50)", "w\(number)"]
        let old: SearchChanges.Standing = naive.documents[key] == nil ? .absent : .indexed
        naive.documents[key] = [words] + naive.weights.dropFirst().map { _ in [] }
        key.withKey { key in
          changes.put(key, old) { batch in
            for (position, word) in words.enumerated() {
              word.withKey { batch.add($0, field: 0, position: UInt32(position)) }
            }
          }
        }
      }
    }
  }

  fileprivate func delete(_ numbers: [Int]) throws {
    try write { changes in
      for number in numbers {
        naive.documents["k\(number)"] = nil
        "k\(number)".withKey { changes.delete($0, .indexed) }
      }
    }
  }

  private func write(_ note: (SearchChanges) -> Void) throws {
    let changes = SearchChanges(database: database, weights: naive.weights)
    note(changes)
    var transaction = try environment.beginWrite()
    try changes.write(to: &transaction)
    try transaction.commit()
  }

  /// How many records there are of each tag.
  fileprivate func recordCounts() throws -> [UInt8: Int] {
    try withReading { reading, transaction in
      var counts: [UInt8: Int] = [:]
      var cursor = try transaction.cursor(in: reading.database)
      var hasOne = try cursor.first()
      while hasOne {
        if let tag = cursor.key.first { counts[tag, default: 0] += 1 }
        hasOne = try cursor.next()
      }
      return counts
    }
  }

  /// The keys of documents that stand beside ids.
  fileprivate func storedKeys() throws -> Set<String> {
    try withReading { reading, transaction in
      var keys: Set<String> = []
      for block in 0...reading.header.nextID / SearchKeys.idsPerBlock {
        for document in try SearchKeys.read(block, transaction, in: reading.database)
        where !document.key.isEmpty {
          keys.insert(String(decoding: document.key, as: UTF8.self))
        }
      }
      return keys
    }
  }
}

extension WriteTransaction {
  fileprivate mutating func delete(_ key: [UInt8], in database: Database) throws {
    var cursor = try cursor(in: database)
    if try key.withUnsafeBytes({ try cursor.seek($0) }) { try cursor.delete() }
  }
}
