import LarderLMDB
import LarderTestKit

@testable import Larder

/// A search index alone in a store, beside the same documents in memory.
final class SearchStore {
  let folder = TestFolder()
  let environment: Environment
  let database: Database
  let vocabulary: [String]
  var naive: NaiveSearch
  var random: RandomSource

  struct NoDatabase: Error {}

  init(_ random: RandomSource) throws {
    var random = random
    environment = try Environment.open(at: folder.store)
    guard let made = try environment.database(named: "index/1", create: true) else {
      throw NoDatabase()
    }
    database = made
    let weights = random.array(1..<4) { UInt32($0.int(1..<6)) }
    naive = NaiveSearch(weights: weights)
    vocabulary = random.array(5..<400) { random in
      String(
        random.array(1..<9) { random in random.pick(["a", "b", "c", "d", "é", "ø", "語"]) }.joined())
    }
    self.random = random
  }

  /// A word, those at the beginning much more often than others.
  func word() -> String {
    let share = Double.random(in: 0..<1, using: &random)
    return vocabulary[Int(share * share * share * Double(vocabulary.count))]
  }

  /// Saves and deletes some documents in one transaction.
  func change() throws {
    let changes = SearchChanges(database: database, weights: naive.weights)
    for _ in 0..<random.pick([1, 1, 2, 5, 30, 70, 200]) {
      let key = "k\(random.int(0..<400))"
      // A document without a word is in no index.
      let old: SearchChanges.Standing =
        naive.documents[key].map { $0.contains { !$0.isEmpty } ? .indexed : .unknown } ?? .absent
      if old != .absent, random.once(in: 4) {
        naive.documents[key] = nil
        key.withKey { changes.delete($0, old) }
        continue
      }
      let longest = random.once(in: 60) ? 1500 : 20
      let fields = naive.weights.map { _ in (0..<random.int(0..<longest)).map { _ in word() } }
      naive.documents[key] = fields
      key.withKey { bytes in
        changes.put(bytes, old) { batch in
          for (field, words) in fields.enumerated() {
            for (position, word) in words.enumerated() {
              word.withKey { batch.add($0, field: field, position: UInt32(position)) }
            }
          }
        }
      }
    }
    var transaction = try environment.beginWrite()
    try changes.write(to: &transaction)
    try transaction.commit()
  }

  /// Takes a step of a merge, of any size where none is given.
  ///
  /// - Returns: Whether another one is left.
  func merge(byteCount: Int? = nil) throws -> Bool {
    let step = SearchMergeStep(
      database: database, weights: naive.weights,
      byteCount: byteCount ?? random.pick([1, 300, 5000, 1 << 18]))
    var transaction = try environment.beginWrite()
    let isLeft = try step.take(&transaction)
    try transaction.commit()
    return isLeft
  }

  /// Has the next document take an id far behind the last one.
  func putNextID(_ id: UInt32) throws {
    var transaction = try environment.beginWrite()
    var header = try transaction.searchHeader(in: database)
    header.nextID = id
    try transaction.put(header, in: database)
    try transaction.commit()
  }

  func withReading<Result>(
    _ body: (SearchReading, borrowing ReadTransaction) throws -> Result
  ) throws -> Result {
    let transaction = try environment.beginRead()
    return try body(SearchReading(database, weights: naive.weights, transaction), transaction)
  }
}

extension String {
  func withKey<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try Array(utf8).withUnsafeBytes(body)
  }
}

extension SearchReading {
  /// The frequencies by key.
  func frequencies(
    _ list: PostingList, _ transaction: borrowing ReadTransaction
  ) throws -> [String: UInt32] {
    var found: [String: UInt32] = [:]
    for (place, id) in list.ids.enumerated() {
      let key = String(decoding: try document(id, transaction).key, as: UTF8.self)
      found[key] = list.entries[place].frequency
    }
    return found
  }
}

extension WriteTransaction {
  /// Changes a bit of the first record's value, which is the header, or of any other's.
  func damageRecord(in database: Database, using random: inout RandomSource) throws {
    var cursor = try cursor(in: database)
    let entryCount = try statistics(of: database).entryCount
    _ = try cursor.first()
    if !random.once(in: 4) {
      for _ in 0..<random.int(0..<entryCount) where try !cursor.next() { break }
    }
    guard !cursor.key.isEmpty else { return }
    let key = [UInt8](cursor.key)
    var value = [UInt8](cursor.value)
    value[random.int(0..<value.count)] ^= 1 << UInt8(random.int(0..<8))
    try key.withUnsafeBytes { key in
      try value.withUnsafeBytes { try cursor.put($0, for: key) }
    }
  }
}
