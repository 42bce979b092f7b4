import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

/// Random operations on a store and on a dictionary, which must agree.
@Suite(.timeLimit(.minutes(20))) struct ModelTests {
  @Test("a store does what a dictionary does, whatever the order of operations", arguments: 0..<3)
  func agreesWithDictionary(run: UInt64) throws {
    let random = RandomSource(seed: RandomSource().seed &+ run)
    try withTemporaryStore { store in
      var model = Model(store: store, random: random)
      for step in 0..<2000 {
        try model.step("\(random.hint), step \(step)")
        if step % 200 == 199 {
          let report = try store.check()
          try #require(report.isSound, "\(random.hint), step \(step): \(report.problems)")
        }
      }
    }
  }

  @Test("sorted, reversed and shuffled batches of any size leave the same documents")
  func orders() throws {
    var random = RandomSource()
    for count in [1, 2, 3, 10, 100, 2000] {
      let accounts = (0..<count).map {
        Account(
          number: ($0 - count / 2) * 3, balance: $0, text: String(repeating: "t", count: $0 % 300))
      }
      for order in [accounts, accounts.reversed(), accounts.shuffled(using: &random)] {
        try withTemporaryStore { try saveAndDelete(order, accounts, in: $0) }
      }
    }
  }

  private func saveAndDelete(_ order: [Account], _ accounts: [Account], in store: Store) throws {
    let repository = store.repository(of: Account.self)
    // Into an empty collection, between what is there, and over it.
    #expect(try repository.save(order).inserted == order.count)
    #expect(try repository.fetch(Account.all) == accounts)
    let between = order.map { Account(number: $0.number + 1, balance: -1) }
    #expect(try repository.save(between).inserted == order.count)
    #expect(try repository.save(order).unchanged == order.count)
    #expect(try repository.delete(Account.where { $0.balance == -1 }) == order.count)
    #expect(try repository.fetch(Account.all) == accounts)
  }
}

private struct Model {
  let store: Store
  var random: RandomSource
  var expected: [Int: Account] = [:]
  /// Keys are drawn from a range that grows and shrinks, so that there are hits and misses.
  var range = 50
  var sequence: UInt64 = 0

  init(store: Store, random: RandomSource) {
    self.store = store
    self.random = random
  }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

  private mutating func account() -> Account {
    // Some of them need pages of their own.
    let length = number(20) == 0 ? number(9000) : number(120)
    return Account(
      number: number(range) - range / 2, balance: number(8),
      text: String(repeating: "abcdefgh", count: length / 8 + 1))
  }

  private mutating func batch() -> [Account] {
    var batch: [Account] = []
    for _ in 0..<(number(4) == 0 ? number(400) : number(12)) { batch.append(account()) }
    // Some of them are stored already, unchanged.
    for _ in 0..<number(5) {
      if let some = expected.values.randomElement(using: &random) { batch.append(some) }
    }
    if number(4) == 0 { batch.sort { $0.number < $1.number } }
    return batch
  }

  mutating func step(_ place: String) throws {
    let accounts = store.repository(of: Account.self)
    if number(40) == 0 { range = [5, 50, 500, 3000][number(4)] }
    switch number(20) {
    case 0..<8:
      let batch = batch()
      let report = try accounts.save(batch)
      try #require(report == save(batch), "\(place): save of \(batch.count)")
    case 8..<12:
      let batch = batch()
      let balance = number(8)
      let query = number(5) == 0 ? Account.all : Account.where { $0.balance == balance }
      let isAll = query == Account.all
      let report = try accounts.save(batch, clearBeforeSaving: query)
      let isExpected = save(batch) { isAll || $0.balance == balance }
      try #require(report == isExpected, "\(place): clear before save of \(batch.count)")
    case 12..<15:
      let keys = (0..<number(30)).map { _ in number(range) - range / 2 }
      let deleted = try accounts.delete(keys: keys)
      var count = 0
      for key in keys where expected.removeValue(forKey: key) != nil { count += 1 }
      sequence += UInt64(count)
      try #require(deleted == count, "\(place): delete of \(keys)")
    case 15..<17:
      let limit = number(range) - range / 2
      let deleted = try accounts.delete(Account.where { $0.number < limit && $0.balance != 3 })
      let gone = expected.values.filter { $0.number < limit && $0.balance != 3 }
      for account in gone { expected[account.number] = nil }
      sequence += UInt64(gone.count)
      try #require(deleted == gone.count, "\(place): delete below \(limit)")
    case 17 where number(4) == 0:
      let erased = try accounts.eraseAllData()
      try #require(erased == expected.count, "\(place): erase")
      if erased > 0 { sequence += 1 }
      expected = [:]
    case 18:
      try several(place)
    default:
      let thrown = batch()
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { tx in
          try tx.save(thrown, clearBeforeSaving: Account.all)
          throw Stop()
        }
      }
    }
    try verify(place)
  }

  /// Several operations in one transaction, which sees its own.
  private mutating func several(_ place: String) throws {
    let batches = (0..<3).map { _ in batch() }
    let key = number(range) - range / 2
    let reports = try store.write { tx in
      var reports: [SaveReport] = []
      for batch in batches { reports.append(try tx.save(batch)) }
      try tx.delete(Account.self, key)
      return reports
    }
    try #require(reports == batches.map { save($0) }, "\(place): several")
    if expected.removeValue(forKey: key) != nil { sequence += 1 }
  }

  /// What a save does, by the plainest means.
  private mutating func save(
    _ batch: [Account], clearing isCleared: (Account) -> Bool = { _ in false }
  ) -> SaveReport {
    var report = SaveReport()
    let new = Dictionary(batch.map { ($0.number, $0) }, uniquingKeysWith: { $1 })
    report.duplicates = batch.count - new.count
    for account in expected.values where isCleared(account) && new[account.number] == nil {
      expected[account.number] = nil
      report.deleted += 1
    }
    for (number, account) in new {
      switch expected[number] {
      case nil: report.inserted += 1
      case account: report.unchanged += 1
      default: report.updated += 1
      }
      expected[number] = account
    }
    sequence += UInt64(report.changed)
    return report
  }

  private mutating func verify(_ place: String) throws {
    let accounts = store.repository(of: Account.self)
    let ordered = expected.values.sorted { $0.number < $1.number }
    try #require(try accounts.fetch(Account.all) == ordered, "\(place): all documents")
    try #require(try accounts.count() == ordered.count, "\(place): count")
    let balance = number(8)
    try #require(
      try accounts.count(Account.where { $0.balance == balance })
        == ordered.count { $0.balance == balance }, "\(place): count of a filter")
    let keys = (0..<5).map { _ in number(range) - range / 2 }
    try #require(
      try accounts.get(keys: keys) == keys.compactMap { expected[$0] }, "\(place): get")
    try #require(try store.read { $0.sequence } == sequence, "\(place): sequence")
  }
}
