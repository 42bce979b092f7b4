import LarderLMDB
import LarderTestKit
import Testing

@testable import Larder

@Suite("the search index, held against every document")
struct SearchIndexOracleTests {
  @Test("random saves and merges of any step find what looking at every document finds")
  func oracle() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(2) {
      let store = try SearchStore(RandomSource(seed: random.next()))
      for round in 0..<random.int(4..<30) {
        try store.change()
        for _ in 0..<random.int(0..<6) where try !store.merge() { break }
        if round % 4 == 0 { try compare(store, random.hint) }
      }
      try compare(store, random.hint)
      while try store.merge() {}
      try compare(store, random.hint)
    }
  }

  @Test(
    "the last ids that there are find as all others do, and there is an error instead of another one"
  )
  func lastIDs() throws {
    var random = RandomSource()
    let store = try SearchStore(RandomSource(seed: random.next()))
    for _ in 0..<random.int(0..<6) { try store.change() }
    try store.putNextID(SearchHeader.maximumIDCount - UInt32(random.int(200..<400)))
    var isAtEnd = false
    while !isAtEnd {
      let naive = store.naive
      do {
        try store.change()
      } catch let damage as SearchDamage {
        #expect(damage.isOutOfIDs, "\(damage) \(random.hint)")
        isAtEnd = true
        store.naive = naive
      }
      for _ in 0..<random.int(0..<6) where try !store.merge() { break }
      if isAtEnd || random.once(in: 4) { try compare(store, random.hint) }
    }
    while try store.merge() {}
    try compare(store, random.hint)
    try store.putNextID(.max)
    #expect(throws: SearchDamage.self) { while true { try store.change() } }
  }

  private func compare(_ store: SearchStore, _ hint: String) throws {
    let naive = store.naive
    try store.withReading { reading, transaction in
      #expect(reading.header.documentCount == naive.count, "\(hint)")
      for _ in 0..<4 {
        let (word, second) = (store.word(), store.word())
        let exact = try reading.postings(of: .equals(Array(word.utf8)), transaction)
        let having = naive.frequencies { $0 == word }
        #expect(try reading.frequencies(exact, transaction) == having, "\(hint)")
        #expect(exact.ids == exact.ids.sorted(), "\(hint)")
        for (place, id) in exact.ids.enumerated() {
          let key = String(decoding: try reading.document(id, transaction).key, as: UTF8.self)
          #expect(exact.entries[place].length == naive.length(of: key), "\(hint)")
        }

        let start = String(word.unicodeScalars.prefix(2).map(Character.init))
        let begun = try reading.postings(of: .begins(Array(start.utf8)), transaction)
        #expect(
          try reading.frequencies(begun, transaction)
            == naive.frequencies { $0.utf8.starts(with: start.utf8) }, "\(hint)")

        let near = try reading.postings(
          of: .resembles(Array(word.utf8), edits: 1, orBegins: false), transaction)
        #expect(
          try reading.frequencies(near, transaction)
            == naive.frequencies { $0.unicodeScalars.isWithinOneEdit(of: word.unicodeScalars) },
          "\(hint)")

        let typed = try reading.postings(
          of: .resembles(Array(start.utf8), edits: 1, orBegins: true), transaction)
        #expect(
          try reading.frequencies(typed, transaction)
            == naive.frequencies {
              $0.utf8.starts(with: start.utf8)
                || $0.unicodeScalars.isWithinOneEdit(of: start.unicodeScalars)
            }, "\(hint)")

        let both = try [word, second].map {
          try reading.postings(of: .equals(Array($0.utf8)), withPositions: true, transaction)
        }
        let phrase = try PostingList.phrase(
          of: both, weights: naive.weights, reading.coding)
        #expect(
          try reading.frequencies(phrase, transaction) == naive.frequencies(of: [word, second]),
          "\(hint)")

        let third = store.word()
        let excluded = try reading.postings(of: .equals(Array(third.utf8)), transaction)
        let search = RankedSearch(
          wanted: [[exact], [both[1]]], excluded: [excluded], header: reading.header)
        var best: [(key: [UInt8], score: Double)] = []
        try search.forEachBest(in: reading, transaction) { key, score in
          best.append((key, score))
          return best.count < 10
        }
        let expected = naive.ranked(
          [having, naive.frequencies { $0 == second }],
          excluding: naive.frequencies { $0 == third }, upTo: 10)
        #expect(
          best.map { String(decoding: $0.key, as: UTF8.self) } == expected.map(\.key), "\(hint)")
        #expect(best.map(\.score) == expected.map(\.score), "\(hint)")
      }
    }
  }

  @Test("whatever byte of it is damaged, it says so or finds what is there")
  func damage() throws {
    var random = RandomSource()
    let store = try SearchStore(RandomSource(seed: random.next()))
    for _ in 0..<12 {
      try store.change()
      _ = try store.merge()
    }
    let word = store.word()
    let expected = store.naive.frequencies { $0 == word }
    var damageCount = 0
    for _ in 0..<repetitions(300) {
      var transaction = try store.environment.beginWrite()
      try store.damage(&transaction, using: &random)
      do {
        let reading = try SearchReading(
          store.database, weights: store.naive.weights, transaction)
        let list = try reading.postings(
          of: .equals(Array(word.utf8)), withPositions: true, transaction)
        var found: [String: UInt32] = [:]
        for (place, id) in list.ids.enumerated() {
          let key = String(decoding: try reading.document(id, transaction).key, as: UTF8.self)
          found[key] = list.entries[place].frequency
        }
        #expect(found == expected, "\(random.hint)")
      } catch is SearchDamage {
        damageCount += 1
      }
    }
    #expect(damageCount > 0, "\(random.hint)")
  }

  // As where a bit of its key is another one.
  @Test("a header that is gone, and a pending change that is gone, are damage")
  func missing() throws {
    var random = RandomSource()
    let store = try SearchStore(RandomSource(seed: random.next()))
    while try store.withReading({ reading, _ in reading.header.pendingCount }) < 2 {
      try store.change()
    }
    for tag in [SearchLayout.header, SearchLayout.pending] {
      var transaction = try store.environment.beginWrite()
      do {
        var cursor = try transaction.cursor(in: store.database)
        #expect(try [tag].withUnsafeBytes { try cursor.seek(atOrAfter: $0) })
        #expect(cursor.key.first == tag)
        try cursor.delete()
      }
      #expect(throws: SearchDamage.self, "\(random.hint)") {
        try SearchReading(store.database, weights: store.naive.weights, transaction)
      }
      #expect(throws: SearchDamage.self, "\(random.hint)") {
        var header = try transaction.searchHeader(in: store.database)
        try transaction.flushPendingSearch(
          &header, weights: store.naive.weights, in: store.database)
      }
    }
  }

  // As where its page came back in an earlier state.
  @Test("a header that counts less than there is is damage", arguments: [2, 200])
  func earlierSums(count: Int) throws {
    var random = RandomSource()
    let keys = (0..<count).map { "k\($0)" }
    let changes: [(inout SearchHeader) -> Void] = [
      { $0.documentCount = 0 }, { $0.totalLength = 0 }, { $0.pendingCount = 0 },
      { $0.pendingByteCount = 0 },
    ]
    // Few documents wait as pending changes, many are a segment.
    let isPending = count == 2
    for change in isPending ? changes[...] : changes[..<2] {
      let store = try SearchStore(RandomSource(seed: random.next()))
      try store.change(keys)
      #expect(try store.withReading { reading, _ in reading.header.pendingCount > 0 } == isPending)
      try store.changeHeader(change)

      #expect(throws: SearchDamage.self) { try store.change(["k1"], deletes: true) }
    }
  }

  @Test("two pending changes with one id are damage")
  func repeatedID() throws {
    var random = RandomSource()
    let store = try SearchStore(RandomSource(seed: random.next()))
    try store.change(["a"])
    try store.changeHeader { $0.nextID = 0 }
    try store.change(["b"])

    var transaction = try store.environment.beginWrite()
    #expect(throws: SearchDamage.self) {
      var header = try transaction.searchHeader(in: store.database)
      try transaction.flushPendingSearch(
        &header, weights: store.naive.weights, in: store.database)
    }
  }
}

extension SearchStore {
  /// Writes documents of one word, which are new, or deletes some.
  fileprivate func change(_ keys: [String], deletes: Bool = false) throws {
    let changes = SearchChanges(database: database, weights: naive.weights)
    for key in keys {
      key.withKey { key in
        if deletes { return changes.delete(key, .indexed) }
        changes.put(key, .absent) { batch in
          "fjord".withKey { batch.add($0, field: 0, position: 0) }
        }
      }
    }
    var transaction = try environment.beginWrite()
    try changes.write(to: &transaction)
    try transaction.commit()
  }

  fileprivate func changeHeader(_ change: (inout SearchHeader) -> Void) throws {
    var transaction = try environment.beginWrite()
    var header = try transaction.searchHeader(in: database)
    change(&header)
    try transaction.put(header, in: database)
    try transaction.commit()
  }

  /// Changes a bit of the header or of any other record's value; the transaction is not kept.
  fileprivate func damage(
    _ transaction: inout WriteTransaction, using random: inout RandomSource
  ) throws {
    try transaction.damageRecord(in: database, using: &random)
  }
}

extension String.UnicodeScalarView {
  /// Whether a character that is added, left out or changed, or two neighbours that change places, make
  /// the other word of this one, and both begin with the same character.
  fileprivate func isWithinOneEdit(of other: String.UnicodeScalarView) -> Bool {
    let (left, right) = (Array(self), Array(other))
    guard left.first == right.first else { return false }
    if left == right { return true }
    var variants: [[Unicode.Scalar]] = []
    for place in right.indices {
      variants.append(Array(right[..<place] + right[(place + 1)...]))
      for scalar in Set(left) {
        variants.append(Array(right[..<place] + [scalar] + right[(place + 1)...]))
      }
      if place + 1 < right.count {
        var swapped = right
        swapped.swapAt(place, place + 1)
        variants.append(swapped)
      }
    }
    for place in 0...right.count {
      for scalar in Set(left) {
        variants.append(Array(right[..<place] + [scalar] + right[place...]))
      }
    }
    return variants.contains(left)
  }
}
