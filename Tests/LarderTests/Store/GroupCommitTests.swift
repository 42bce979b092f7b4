import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite struct GroupCommitTests {
  struct Refused: Error {}

  private func transactionID(_ store: Store) throws -> Int {
    try store.engine.environment.statistics().lastTransactionID
  }

  @Test("writes that wait at the same time share one transaction, and each returns its own result")
  func shared() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first", city: "Oslo"))
      let before = try transactionID(store)
      try await withThrowingTaskGroup(of: Int.self) { group in
        try await together(store) { wait in
          for number in 0..<64 {
            group.addTask {
              try await store.write { tx in
                try tx.save(Contact(id: "\(number)", city: "Oslo"))
                return number
              }
            }
          }
          await wait(64)
        }
        let results = try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        #expect(results == Set(0..<64))
      }

      #expect(try contacts.count() == 65)
      #expect(try transactionID(store) == before + 1)
      #expect(try store.read { $0.sequence } == 65)
    }
  }

  @Test("a write that throws is undone alone, whatever it had done")
  func undoneAlone() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "kept", city: "Oslo"))
      try await withThrowingTaskGroup(of: Bool.self) { group in
        try await together(store) { wait in
          for number in 0..<30 {
            group.addTask {
              do {
                try await store.write { tx in
                  try tx.save(Contact(id: "\(number)", city: "Oslo"))
                  if number % 3 == 0 {
                    try tx.delete(Contact.self, "kept")
                    throw Refused()
                  }
                }
                return true
              } catch is Refused {
                return false
              }
            }
          }
          await wait(30)
        }
        let kept = try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        #expect(kept == 20)
      }

      let ids = try Set(contacts.fetch(Contact.all).map(\.id))
      #expect(ids == Set((0..<30).filter { $0 % 3 != 0 }.map { "\($0)" } + ["kept"]))
      #expect(try store.read { $0.sequence } == 21)
    }
  }

  @Test("writes are committed in the order in which they were asked for")
  func order() async throws {
    try await withTemporaryStore { store in
      let seen = Locked<[Int]>([])
      try await together(store) { _ in
        for number in 0..<100 {
          store.engine.writer.enqueue(
            WriteJob(store.engine, isLarge: number % 17 == 0) { tx in
              try tx.save(Contact(id: "one", city: "\(number)"))
            } finish: { _ in
              seen.withLock { $0.append(number) }
            })
        }
      }
      try await store.flush()

      #expect(seen.withLock { $0 } == Array(0..<100))
      #expect(try store.repository(of: Contact.self).get("one")?.city == "99")
    }
  }

  @Test("what is cancelled before its turn never runs, and the others do")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first", city: "Oslo"))
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        for number in 0..<10 {
          tasks.append(
            Task { _ = try await contacts.save(Contact(id: "\(number)", city: "Oslo")) })
        }
        await wait(10)
        for task in tasks[..<5] { task.cancel() }
      }
      var cancelled = 0
      for task in tasks {
        do { try await task.value } catch is CancellationError { cancelled += 1 }
      }

      #expect(cancelled == 5)
      #expect(try contacts.count() == 6)
    }
  }

  @Test("a collection that comes into being in the middle of a group ends it, and nothing is lost")
  func declaring() async throws {
    try await withTemporaryStore { store in
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for number in 0..<20 {
            group.addTask {
              if number % 2 == 0 {
                try await store.repository(of: Contact.self)
                  .save(Contact(id: "\(number)", city: "Oslo"))
              } else {
                try await store.repository(of: Parcel.self).save(Parcel(id: number))
              }
            }
          }
          await wait(20)
        }
        try await group.waitForAll()
      }

      #expect(try store.repository(of: Contact.self).count() == 10)
      #expect(try store.repository(of: Parcel.self).count() == 10)
    }
  }

  @Test("a body that hides a change that stopped half-way is refused all the same")
  func hidden() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first", city: "Oslo"))
      let tooLong = String(repeating: "k", count: 300)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        try await together(store) { wait in
          for number in 0..<4 {
            group.addTask {
              do {
                try await store.write { tx in
                  try tx.save(Contact(id: "\(number)", city: "Oslo"))
                  if number == 2 {
                    // Refused before it changes anything: that may be hidden.
                    _ = try? tx.save(Contact(id: tooLong, city: "Oslo"))
                  }
                  if number == 3 { tx.failure = Refused() }
                }
                return true
              } catch is Refused {
                return false
              }
            }
          }
          await wait(4)
        }
        let kept = try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        #expect(kept == 3)
      }

      #expect(try contacts.count() == 4)
    }
  }

  @Test("a thousand tasks that write at random agree with a model")
  func random() async throws {
    var random = RandomSource()
    try await withTemporaryStore { store in
      let counters = (0..<1_000).map { _ in (random.int(0..<10), random.once(in: 4)) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, isRefused) in counters {
          group.addTask {
            do {
              try await store.write { tx in
                let old = try tx.get(Parcel.self, number)
                try tx.save(Parcel(id: number, shelf: (old?.shelf ?? 0) + 1))
                if isRefused { throw Refused() }
              }
            } catch is Refused {}
          }
        }
        try await group.waitForAll()
      }

      for number in 0..<10 {
        let expected = counters.count { $0.0 == number && !$0.1 }
        let found = try store.repository(of: Parcel.self).get(number)?.shelf ?? 0
        #expect(found == expected, "\(random.hint)")
      }
    }
  }

  @Test("a write that throws hears its own error where the commit of the others fails")
  func ownError() async throws {
    try await withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try await repository.save(Contact(id: "first", city: "Oslo"))
      let path = store.engine.environment.folder
      let commits = Locked(0)
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        tasks.append(Task { try await store.write { _ in throw Refused() } })
        await wait(1)
        tasks.append(
          Task { _ = try await repository.save(Contact(id: "second", city: "Oslo")) })
        await wait(2)
        _ = CallFaults.watch(path) { call in
          guard call == .commit else { return nil }
          // The first one is that of the transaction inside.
          return commits.withLock { count in
            count += 1
            return count >= 2 ? EIO : nil
          }
        }
      }

      await #expect(throws: Refused.self) { try await tasks[0].value }
      await #expect(throws: StoreError.self) { try await tasks[1].value }
      CallFaults.stopWatching(path)
    }
  }

  @Test("where a common commit finds no room, each write is tried alone", arguments: [ENOSPC, EIO])
  func noRoom(status: Int32) async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first", city: "Oslo"))
      let path = store.engine.environment.folder
      let commits = Locked(0)
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        for number in 0..<4 {
          tasks.append(
            Task { _ = try await contacts.save(Contact(id: "\(number)", city: "Oslo")) })
          await wait(number + 1)
        }
        _ = CallFaults.watch(path) { call in
          guard call == .commit else { return nil }
          return commits.withLock { count in
            count += 1
            // Behind those of the four inside it comes the common one, and then one that is too large.
            return count == 5 || count == 7 ? status : nil
          }
        }
      }
      var outcomes: [Bool] = []
      for task in tasks {
        do {
          try await task.value
          outcomes.append(true)
        } catch is StoreError {
          outcomes.append(false)
        }
      }
      CallFaults.stopWatching(path)

      #expect(outcomes == [true, false, true, true])
      let ids = try Set(contacts.fetch(Contact.all).map(\.id))
      #expect(ids == ["first", "0", "2", "3"])
    }
  }

  @Test("a write of many bytes has a transaction of its own")
  func large() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first", city: "Oslo"))
      let before = try transactionID(store)
      let long = String(repeating: "x", count: 700_000)
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for (number, city) in ["a", "b", long, "c", "d"].enumerated() {
            group.addTask { _ = try await contacts.save(Contact(id: "\(number)", city: city)) }
            await wait(number + 1)
          }
        }
        try await group.waitForAll()
      }

      #expect(try contacts.count() == 6)
      #expect(try transactionID(store) == before + 3)
    }
  }
}
