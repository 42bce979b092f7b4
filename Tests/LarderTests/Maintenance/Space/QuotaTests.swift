import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct QuotaTests {
  private let folder = TestFolder()

  private func accounts(_ numbers: Range<Int>, byteCount: Int = 200) -> [Account] {
    numbers.map {
      Account(number: $0, balance: $0, text: String(repeating: "x", count: byteCount))
    }
  }

  private func options(quota: Int, map: Int? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.quotaByteCount = quota
    options.mapByteCount = map
    return options
  }

  /// Saves until the store is full; gives what was saved, and the shortage.
  private func fill(
    _ store: Store, from start: Int = 0, batchCount: Int = 20
  ) throws -> (saved: [Account], shortage: Shortage?) {
    var saved: [Account] = []
    for round in 0..<10_000 {
      let batch = accounts(start + round * batchCount..<start + (round + 1) * batchCount)
      do {
        try store.repository(of: Account.self).save(batch)
        saved += batch
      } catch StoreError.full(let shortage) {
        return (saved, shortage)
      }
    }
    return (saved, nil)
  }

  @Test("a store that has reached its quota says how much is used, free and needed, and what to do")
  func full() throws {
    let store = try Store(at: folder.store, options: options(quota: 512 << 10))

    let (saved, shortage) = try fill(store)

    let found = try #require(shortage)
    let statistics = try store.statistics()
    #expect(found.limit == .quota)
    #expect(found.usedByteCount == statistics.usedByteCount)
    #expect(found.freeByteCount == (512 << 10) - statistics.usedByteCount)
    #expect(try #require(found.neededByteCount) > found.freeByteCount ?? 0)
    #expect(statistics.usedByteCount <= 512 << 10)
    #expect(statistics.usedByteCount > 400 << 10)
    #expect(statistics.quotaByteCount == 512 << 10)
    let text = "\(StoreError.full(found))"
    for part in [
      "\(found.usedByteCount) bytes", "\(found.freeByteCount ?? 0) are free",
      "needs \(found.neededByteCount ?? 0) more", "quotaByteCount", "Delete documents",
    ] {
      #expect(text.contains(part), "\(text)")
    }
    #expect(try store.repository(of: Account.self).fetch(Account.all) == saved)
    try verifyAndClose(store)
  }

  @Test("every document of a full store can be deleted, one by one, and there is room again")
  func deletes() throws {
    let store = try Store(at: folder.store, options: options(quota: 512 << 10))
    let repository = store.repository(of: Account.self)
    let (saved, shortage) = try fill(store, batchCount: 1)
    #expect(shortage != nil)

    for account in saved { #expect(try repository.delete(keys: [account.number]) == 1) }

    #expect(try repository.count() == 0)
    let again = try fill(store)
    #expect(again.saved.count > saved.count * 3 / 4)
    #expect(again.shortage?.limit == .quota)
    #expect(
      try repository.delete(Account.where { $0.number < again.saved.count / 2 }) == again.saved
        .count / 2)
    #expect(try repository.eraseAllData() == (again.saved.count + 1) / 2)
    try verifyAndClose(store)
  }

  @Test(
    "a document of a full store can still be replaced by a smaller one, and not by a larger one")
  func updates() throws {
    let store = try Store(at: folder.store, options: options(quota: 512 << 10))
    let repository = store.repository(of: Account.self)
    let (saved, _) = try fill(store, batchCount: 1)

    try repository.save(Account(number: saved[3].number, balance: 7, text: ""))

    #expect(try repository.get(saved[3].number)?.balance == 7)
    let large = Account(
      number: saved[4].number, balance: 8, text: String(repeating: "y", count: 100_000))
    guard case .full? = storeError({ try repository.save(large) }) else {
      Issue.record("a large document was saved")
      return
    }
    #expect(try repository.get(saved[4].number) == saved[4])
    try verifyAndClose(store)
  }

  @Test("a lower quota than what a store takes already refuses saves, and deletes go on")
  func lowered() throws {
    let first = try Store(at: folder.store)
    try first.repository(of: Account.self).save(accounts(0..<5000))
    try first.close()
    let store = try Store(at: folder.store, options: options(quota: 256 << 10))
    let repository = store.repository(of: Account.self)

    guard case .full(let shortage)? = storeError({ try repository.save(accounts(5000..<6000)) })
    else {
      Issue.record("it was saved")
      return
    }
    #expect(shortage.freeByteCount == 0)
    #expect(shortage.usedByteCount > 1 << 20)
    // What does not need more pages is no reason to refuse it.
    try repository.save(Account(number: 1, balance: 7, text: "smaller"))
    #expect(try repository.get(1)?.balance == 7)
    for number in 0..<500 { try repository.delete(keys: [number * 10]) }
    #expect(try repository.count() == 4500)
    try verifyAndClose(store)
  }

  @Test("changes that a consumer waits for stay in the log until documents need the room")
  func consumer() async throws {
    let store = try Store(at: folder.store, options: options(quota: 1 << 20))
    let repository = store.repository(of: Account.self)
    try await repository.save(accounts(0..<10))
    var changes = store.changes(for: "index").makeAsyncIterator()
    let first = try #require(try await changes.next())
    try await store.write { try $0.acknowledge(first) }
    func overwrite(_ round: Int) async throws {
      try await repository.save(
        accounts(0..<100).map { Account(number: $0.number, balance: round, text: $0.text) })
    }

    // What is overwritten goes into the log, and stays there for as long as there is room for it.
    for round in 0..<20 { try await overwrite(round) }
    let expected = try Int(store.changeToken().sequence - first.token.sequence)
    #expect(expected > 20 * 99)
    var count = 0
    while count < expected {
      let batch = try #require(try await changes.next())
      try #require(!batch.isReset)
      count += batch.changes.count
      try await store.write { try $0.acknowledge(batch) }
    }
    #expect(count == expected)

    // No save is refused for a consumer that is slow: it reads the documents anew.
    for round in 20..<200 { try await overwrite(round) }
    #expect(try await changes.next()?.isReset == true)
    #expect(try store.statistics().usedByteCount <= 1 << 20)
    try verifyAndClose(store)
  }

  @Test("the log of changes gives way to documents")
  func logGivesWay() throws {
    let store = try Store(at: folder.store, options: options(quota: 1 << 20))
    let repository = store.repository(of: Account.self)
    // Each change leaves what was there before in the log.
    for round in 0..<150 {
      try repository.save(
        accounts(0..<100).map { Account(number: $0.number, balance: round, text: $0.text) })
    }

    let statistics = try store.statistics()
    #expect(statistics.usedByteCount <= 1 << 20)
    #expect(try repository.fetch(Account.all).allSatisfy { $0.balance == 149 })
    let history = try store.history(since: nil)
    #expect(history.isReset)
    try verifyAndClose(store)
  }

  @Test("of writes that share a transaction, one that finds no room is refused alone")
  func group() async throws {
    let store = try Store(at: folder.store, options: options(quota: 512 << 10))
    let repository = store.repository(of: Account.self)
    try await repository.save(accounts(0..<10))

    let results = try await withThrowingTaskGroup(of: (Int, Bool).self) { group in
      for number in 1..<40 {
        group.addTask {
          let isLarge = number % 3 == 0
          let text = String(repeating: "x", count: isLarge ? 700_000 : 100)
          do {
            try await repository.save(
              [Account(number: 1000 + number, balance: 0, text: text)])
            return (number, true)
          } catch StoreError.full {
            return (number, false)
          }
        }
      }
      return try await group.reduce(into: [Int: Bool]()) { $0[$1.0] = $1.1 }
    }

    #expect(results.count == 39)
    for (number, isSaved) in results {
      #expect(isSaved == (number % 3 != 0), "\(number)")
      #expect(try (repository.get(1000 + number) != nil) == isSaved, "\(number)")
    }
    try verifyAndClose(store)
  }

  @Test("a map that is too small for the quota grows, while reads go on")
  func growth() throws {
    let store = try Store(at: folder.store, options: options(quota: 8 << 20, map: 256 << 10))
    let repository = store.repository(of: Account.self)

    try repository.save(accounts(0..<3000))
    for round in 0..<20 {
      try repository.save(accounts(round * 100 + 5000..<round * 100 + 5100))
      #expect(try repository.count() == 3000 + (round + 1) * 100)
    }
    try store.write { tx in try tx.save(accounts(10_000..<13_000)) }

    #expect(try store.statistics().mapByteCount > 2 << 20)
    #expect(try repository.count() == 8000)
    let (_, shortage) = try fill(store, from: 20_000)
    #expect(shortage?.limit == .quota)
    try verifyAndClose(store)
  }

  @Test("tasks that write together make the map grow, and lose nothing")
  func growthInGroups() async throws {
    let store = try Store(at: folder.store, options: options(quota: 16 << 20, map: 256 << 10))
    let repository = store.repository(of: Account.self)

    try await withThrowingTaskGroup(of: Void.self) { group in
      for round in 0..<60 {
        let batch = accounts(round * 100..<round * 100 + 100)
        group.addTask { try await repository.save(batch) }
      }
      try await group.waitForAll()
    }

    #expect(try repository.fetch(Account.all) == accounts(0..<6000))
    #expect(try store.statistics().mapByteCount > 1 << 20)
    try verifyAndClose(store)
  }

  @Test("a write inside a read cannot make the map grow, and says so instead of waiting for ever")
  func growthInsideRead() throws {
    let store = try Store(at: folder.store, options: options(quota: 8 << 20, map: 256 << 10))
    let repository = store.repository(of: Account.self)
    try repository.save(accounts(0..<10))

    try store.read { snapshot in
      guard case .full(let shortage)? = storeError({ try repository.save(accounts(0..<3000)) })
      else {
        Issue.record("it was saved")
        return
      }
      #expect(shortage.limit == .map)
      let count = try snapshot.count(Account.all)
      #expect(count == 10)
    }

    try repository.save(accounts(0..<3000))
    #expect(try repository.count() == 3000)
    try verifyAndClose(store)
  }

  @Test(
    "a map that another process enlarged is taken on, also by a process that reads all the time")
  func adopted() throws {
    let small = options(quota: 64 << 20, map: 256 << 10)
    let store = try Store(at: folder.store, options: small)
    store.engine.environment.patience.withLock { $0.drainSeconds = .infinity }
    let repository = store.repository(of: Note.self)
    try repository.save(Note(id: "first", nonce: "", batchCount: 1))
    let isOver = Locked(false)
    let reads = (0..<2).map { _ in
      OnThread {
        while true {
          let isLast = isOver.withLock { $0 }
          let count = try repository.fetch(Note.all).count
          if isLast { return count }
        }
      }
    }
    let other = try OtherProcess("hammer", folder.store, "grower", "1000")
    _ = try other.expect("open")
    other.goOn()
    let lines = other.lines()
    isOver.withLock { $0 = true }

    #expect(lines.last == "done")
    for read in reads { #expect(try read.value() == 3001) }
    #expect(try repository.count() == 3001)
    #expect(try store.statistics().fileByteCount > 256 << 10)
    try verifyAndClose(store)
  }

  @Test(
    "a document is replaced by one that is no larger, however full the store is",
    arguments: [50, 3000, 9000])
  func replacing(byteCount: Int) throws {
    let store = try Store(at: folder.store, options: options(quota: 2 << 20))
    let accounts = store.repository(of: Account.self)
    let text = String(repeating: "x", count: byteCount)
    var count = 0
    while true {
      do {
        try accounts.save(Account(number: count, balance: 0, text: text))
        count += 1
      } catch StoreError.full {
        break
      }
    }

    for round in 0..<300 {
      let number = round % count
      let other = String(repeating: round / count % 2 == 0 ? "y" : "z", count: byteCount)
      try accounts.save(Account(number: number, balance: 0, text: other))
    }
    #expect(throws: StoreError.self) {
      for number in count..<count + 200 {
        try accounts.save(Account(number: number, balance: 0, text: text))
      }
    }
    try accounts.delete(keys: Array(0..<count / 2))
    try verifyAndClose(store)
  }

  @Test(
    "what the log takes for documents that are replaced or deleted is no room for more documents")
  func ratchet() async throws {
    let quota = 3 << 20
    var options = options(quota: quota)
    options.reserveByteCount = 256 << 10
    let store = try Store(at: folder.store, options: options)
    let accounts = store.repository(of: Account.self)
    func text(_ round: Int) -> String { String(repeating: "\(round % 10)", count: 600) }
    var count = 0
    func fill(_ round: Int) throws {
      while true {
        do {
          try accounts.save(
            (count..<count + 10).map { Account(number: $0, balance: 0, text: text(round)) })
          count += 10
        } catch StoreError.full {
          return
        }
      }
    }
    func check() throws {
      let statistics = try store.statistics()
      #expect(statistics.usedByteCount <= quota + 2 * options.reserveByteCount)
      #expect(statistics.usedByteCount - statistics.logByteCount <= quota)
    }
    try fill(0)
    for round in 1...6 {
      let last = count
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        for start in stride(from: 0, to: last, by: 40) {
          let documents = (start..<min(start + 40, last)).map {
            Account(number: $0, balance: 0, text: text(round))
          }
          tasks.append(
            Task { do { try await accounts.save(documents) } catch StoreError.full {} })
        }
        await wait(tasks.count)
      }
      for task in tasks { try await task.value }
      try check()
      try fill(round)
      try check()
    }
    // Nor is what is deleted here and there.
    for round in 1...4 {
      let gone = (0..<count).filter { $0 % 7 == round }
      for start in stride(from: 0, to: gone.count, by: 30) {
        try await accounts.delete(keys: Array(gone[start..<min(start + 30, gone.count)]))
      }
      try fill(round)
      try check()
    }
    try verifyAndClose(store)
  }

  @Test("a quota and a reserve out of range are refused, and two openings need the same")
  func invalid() throws {
    guard
      case .invalidOption("quotaByteCount", _)? = storeError({
        _ = try Store(at: folder.store, options: options(quota: 5))
      })
    else {
      Issue.record("it was opened")
      return
    }
    var negative = StoreOptions()
    negative.reserveByteCount = -1
    guard
      case .invalidOption("reserveByteCount", _)? = storeError({
        _ = try Store(at: folder.store, options: negative)
      })
    else {
      Issue.record("it was opened")
      return
    }
    let store = try Store(at: folder.store, options: options(quota: 1 << 20))
    guard
      case .optionsDiffer? = storeError({
        _ = try Store(at: folder.store, options: options(quota: 2 << 20))
      })
    else {
      Issue.record("it was opened")
      return
    }
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
    try verifyAndClose(store)
  }
}
