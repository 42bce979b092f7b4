import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Threads and tasks in one line.
@Suite(.timeLimit(.minutes(20))) struct WriterTests {
  struct Refused: Error {}

  private func transactionID(_ store: Store) throws -> Int {
    try store.engine.environment.statistics().lastTransactionID
  }

  @Test("a thread's write shares the transaction of the tasks' writes that it waits for")
  func shared() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let before = try transactionID(store)
      var thread: Threads?
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for number in 0..<5 {
            group.addTask { _ = try await contacts.save(Contact(id: "task-\(number)")) }
          }
          await wait(5)
          thread = Threads(1) { _ in
            let count = try store.write { tx in
              try tx.save(Contact(id: "thread"))
              return try tx.count(Contact.all)
            }
            // Those before it are done before it.
            #expect(count == 7)
          }
          await wait(6)
        }
        try await group.waitForAll()
      }
      try #require(thread).join()

      #expect(try contacts.count() == 7)
      #expect(try transactionID(store) == before + 1)
    }
  }

  @Test("whoever waits, threads or tasks, is served in the order in which they came")
  func order() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Parcel.self).save(Parcel(id: 0))
      let seen = Locked<[Int]>([])
      let write: @Sendable (inout WriteScope, Int) throws -> Void = { tx, number in
        let count = try tx.get(Parcel.self, 0)?.shelf ?? 0
        // Each finds what the one before it has left.
        #expect(count == number)
        try tx.save(Parcel(id: 0, shelf: number + 1))
        seen.withLock { $0.append(number) }
      }
      var threads: [Threads] = []
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for number in 0..<60 {
            if number % 4 == 3 || number % 11 == 10 {
              threads.append(Threads(1) { _ in try store.write { try write(&$0, number) } })
            } else {
              group.addTask {
                try await store.submit(as: .local, isLarge: number % 13 == 12) {
                  try write(&$0, number)
                }
              }
            }
            await wait(number + 1)
          }
        }
        try await group.waitForAll()
      }
      for thread in threads { try thread.join() }

      #expect(seen.withLock { $0 } == Array(0..<60))
    }
  }

  @Test("a thread's write that throws, and a task's before it, are undone alone", arguments: 0..<3)
  func undone(which: Int) async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      var thread: Threads?
      let task = Locked<Task<Bool, any Error>?>(nil)
      try await together(store) { wait in
        task.withLock {
          $0 = Task {
            do {
              try await store.write { tx in
                try tx.save(Contact(id: "task"))
                if which == 0 { throw Refused() }
              }
              return true
            } catch is Refused {
              return false
            }
          }
        }
        await wait(1)
        thread = Threads(1) { _ in
          do {
            try store.write { tx in
              try tx.save(Contact(id: "thread"))
              if which == 1 { throw Refused() }
            }
            #expect(which != 1)
          } catch is Refused {
            #expect(which == 1)
          }
        }
        await wait(2)
      }
      try #require(thread).join()
      let isKept = try await task.withLock { $0 }?.value

      #expect(isKept == (which != 0))
      let ids = try Set(contacts.fetch(Contact.all).map(\.id))
      let expected: Set = ["first", "task", "thread"]
      #expect(ids == expected.subtracting(which == 0 ? ["task"] : which == 1 ? ["thread"] : []))
    }
  }

  @Test("a collection that a thread's write needs is made behind those that it shared with")
  func declaring() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      var thread: Threads?
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          group.addTask { _ = try await contacts.save(Contact(id: "task")) }
          await wait(1)
          thread = Threads(1) { _ in _ = try store.write { try $0.save(Parcel(id: 1)) } }
          await wait(2)
          group.addTask { _ = try await contacts.save(Contact(id: "later")) }
          await wait(3)
        }
        try await group.waitForAll()
      }
      try #require(thread).join()

      #expect(try contacts.count() == 3)
      #expect(try store.repository(of: Parcel.self).count() == 1)
    }
  }

  /// What a body may do to the store besides its `tx`; returns what it has started.
  private func readAndStart(
    _ tx: inout WriteScope, _ name: String, _ store: Store
  ) throws -> Task<Void, any Error> {
    let contacts = store.repository(of: Contact.self)
    let before = try contacts.count()
    try tx.save(Contact(id: name))
    // A read shows what was before.
    #expect(try contacts.count() == before)
    let task = Task { _ = try await contacts.save(Contact(id: "by-\(name)")) }
    // One on another thread as well, which the body waits for.
    try Threads(1) { _ in
      let count = try contacts.count()
      #expect(count == before)
    }.join()
    #expect(storeError { try contacts.save(Contact(id: "inner")) } == .nestedWrite)
    #expect(storeError { try store.write { _ in } } == .nestedWrite)
    return task
  }

  @Test("a body may read the store and start a task that writes to it")
  func readingAndStarting() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let started = Locked<[Task<Void, any Error>]>([])
      let body: @Sendable (inout WriteScope, String) throws -> Void = { tx, name in
        let task = try readAndStart(&tx, name, store)
        started.withLock { $0.append(task) }
      }
      try Threads(1) { _ in try store.write { try body(&$0, "thread") } }.join()
      try await store.write { try body(&$0, "task") }
      var shared: Threads?
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for number in 0..<3 {
            group.addTask { try await store.write { try body(&$0, "group-\(number)") } }
          }
          await wait(3)
          shared = Threads(1) { _ in try store.write { try body(&$0, "leader") } }
          await wait(4)
        }
        try await group.waitForAll()
      }
      try #require(shared).join()
      for task in started.withLock({ $0 }) { try await task.value }

      #expect(try contacts.count() == 1 + 2 * 6)
    }
  }

  @Test("a write that waits alone needs no transaction inside its own, and each of several does")
  func nested() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let path = store.engine.environment.folder
      let begins = Locked(0)
      _ = CallFaults.watch(path) { call in
        if call == .begin { begins.withLock { $0 += 1 } }
        return nil
      }
      defer { CallFaults.stopWatching(path) }

      try await contacts.save(Contact(id: "alone"))
      #expect(begins.withLock { $0 } == 1)
      try await withThrowingTaskGroup(of: Void.self) { group in
        try await together(store) { wait in
          for number in 0..<3 {
            group.addTask { _ = try await contacts.save(Contact(id: "\(number)")) }
          }
          await wait(3)
        }
        try await group.waitForAll()
      }
      let count: Int = begins.withLock { $0 }
      #expect(count == 1 + 1 + 3)
    }
  }

  @Test("threads and tasks that write at random lose no change")
  func random() async throws {
    try await withTemporaryStore { store in
      let writers = 8
      let rounds = 40
      try await store.repository(of: Parcel.self).save(Parcel(id: 0))
      let increment: @Sendable (inout WriteScope) throws -> Void = { tx in
        try tx.save(Parcel(id: 0, shelf: (try tx.get(Parcel.self, 0)?.shelf ?? 0) + 1))
      }
      let threads = Threads(writers) { _ in
        for _ in 0..<rounds { try store.write(increment) }
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<writers * rounds { group.addTask { try await store.write(increment) } }
        try await group.waitForAll()
      }
      try threads.join()

      #expect(try store.repository(of: Parcel.self).get(0)?.shelf == 2 * writers * rounds)
    }
  }

  private enum Current {
    @TaskLocal static var user = "nobody"
  }

  @Test("a task's write that shares a thread's transaction sees nothing of that thread's task")
  func foreignTask() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(Contact(id: "first"))
      let before = try transactionID(store)
      let seen = Locked<[String]>([])
      let write: @Sendable (inout WriteScope) throws -> Void = { tx in
        try Task.checkCancellation()
        try tx.save(Contact(id: "alice"))
        seen.withLock { $0.append(Current.user) }
      }
      func writeHere(_ name: String) throws {
        try store.write { tx in
          try tx.save(Contact(id: name))
          seen.withLock { $0.append(Current.user) }
        }
      }
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        tasks.append(Current.$user.withValue("alice") { Task { try await store.write(write) } })
        await wait(1)
        let bob = Current.$user.withValue("bob") {
          Task(executorPreference: OwnThread()) { try writeHere("bob") }
        }
        bob.cancel()
        tasks.append(bob)
        await wait(2)
      }
      for task in tasks { try await task.value }

      #expect(try contacts.count() == 3)
      #expect(seen.withLock { $0 } == ["nobody", "bob"])
      #expect(try transactionID(store) == before + 1)
    }
  }

  @Test("scopes of two stores that a body exchanges stop the program")
  func exchanged() async {
    await #expect(processExitsWith: .failure) {
      let folder = TestFolder()
      let one = try Store(at: folder.path + "/one")
      let two = try Store(at: folder.path + "/two")
      try one.write { x in try two.write { y in swap(&x, &y) } }
    }
  }
}
