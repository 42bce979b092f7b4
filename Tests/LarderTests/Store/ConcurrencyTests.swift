import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct ConcurrencyTests {
  @Test("what 50 tasks and 8 threads save at once is all there, each change with its number")
  func savesAtOnce() async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    let accounts = store.repository(of: Account.self)
    let threads = Threads(8) { thread in
      for round in 0..<10 {
        try accounts.save(Account(number: thread * 100 + round, balance: round))
        // Whoever saves sees its own save.
        let own = try accounts.get(thread * 100 + round)
        #expect(own?.balance == round)
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<50 {
        group.addTask {
          for round in 0..<4 {
            let batch = (0..<3).map {
              Note(id: "\(task)-\(round)-\($0)", nonce: "\(task)", batchCount: 3)
            }
            let report = try await notes.save(batch)
            #expect(report.inserted == 3)
            let own = try await notes.async.get(keys: batch.map(\.id))
            #expect(own == batch)
          }
          // On top of each other.
          try await notes.save([Note(id: "shared", nonce: "\(task)", batchCount: 1)])
        }
      }
      try await group.waitForAll()
    }
    try threads.join()

    #expect(try notes.count() == 50 * 4 * 3 + 1)
    #expect(try accounts.count() == 80)
    #expect(try store.statistics().sequence == 50 * 4 * 3 + 50 + 80)
    try verifyAndClose(store)
  }

  @Test("increments from many tasks and threads are never lost")
  func increments() async throws {
    try await withTemporaryStore { store in
      let increment: @Sendable (inout WriteScope) throws -> Void = { tx in
        var account = try tx.get(Account.self, 1) ?? Account(number: 1, balance: 0)
        account.balance += 1
        try tx.save(account)
      }
      let threads = Threads(4) { _ in
        for _ in 0..<50 { try store.write(increment) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<50 {
          group.addTask { for _ in 0..<4 { try await store.write(increment) } }
        }
        try await group.waitForAll()
      }
      try threads.join()

      #expect(try store.repository(of: Account.self).get(1)?.balance == 400)
      #expect(try store.statistics().sequence == 400)
    }
  }

  @Test("one type saved for the first time from many threads at once is declared once")
  func firstSavesAtOnce() throws {
    for _ in 0..<10 {
      try withTemporaryStore { store in
        try Threads(6) { thread in
          try store.repository(of: Account.self).save(Account(number: thread, balance: 0))
          try store.repository(of: Note.self).save(Note(id: "\(thread)", nonce: "", batchCount: 1))
          let count = try store.repository(of: Account.self).count()
          #expect(count >= 1)
        }.join()

        #expect(try store.repository(of: Account.self).count() == 6)
        #expect(try store.repository(of: Note.self).count() == 6)
        #expect(try store.collectionNames() == ["Account", "Note"])
      }
    }
  }

  @Test("a snapshot sees one moment however long it is held, and its sequence stands still")
  func longSnapshot() throws {
    try withTemporaryStore { store in
      let accounts = store.repository(of: Account.self)
      try accounts.save((0..<100).map { Account(number: $0, balance: 1) })
      try store.read { snapshot in
        let sequence = snapshot.sequence
        for round in 0..<30 {
          try accounts.save((round..<round + 100).map { Account(number: $0, balance: round + 2) })
          try accounts.delete(keys: [round])
          // A collection that is younger than the snapshot reads as empty in it.
          try store.collection("new-\(round)").save([["id": "a"]], keyField: "id")
          let seen = try snapshot.fetch(Account.all)
          #expect(seen.count == 100 && seen.allSatisfy { $0.balance == 1 })
          #expect(try snapshot.count(Note.all) == 0)
          #expect(snapshot.sequence == sequence)
        }
        try store.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
        #expect(try snapshot.count(Note.all) == 0)
        #expect(try snapshot.get(Note.self, "a") == nil)
      }
      #expect(try accounts.count() == 99)
    }
  }
}
