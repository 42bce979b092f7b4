import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct WritingTests {
  struct Stop: Error {}

  let long = String(repeating: "k", count: 256)

  private func note(_ id: String, _ nonce: String = "") -> Note {
    Note(id: id, nonce: nonce, batchCount: 1)
  }

  // MARK: All or nothing

  @Test("a bad key in the middle of a batch keeps nothing of the batch", arguments: ["", "long"])
  func badKey(kind: String) throws {
    let key = kind == "long" ? long : ""
    try withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      // In the first save of a collection, and in a later one.
      for count in 0...1 {
        let batch = [note("a"), note(key), note("b")]
        let error = storeError { try notes.save(batch) }
        guard case .keyLength("Note", _, key.utf8.count, 255)? = error else {
          Issue.record("thrown was \(String(describing: error))")
          return
        }
        #expect(storeError { _ = try store.write { try $0.save(batch) } } == error)
        #expect(
          storeError { try notes.save(batch, clearBeforeSaving: Note.all) } == error)
        #expect(try notes.count() == count)
        #expect(try store.statistics().sequence == UInt64(count))
        try notes.save(note("first"))
      }
      #expect(try notes.fetch(Note.all).map(\.id) == ["first"])
    }
  }

  @Test("a body that throws after several saves keeps none of them, in no collection")
  func bodyThrows() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      try await notes.save(note("old", "1"))
      let sequence = try store.statistics().sequence

      await #expect(throws: Stop.self) {
        try await store.write { tx in
          try tx.save([note("new"), note("old", "2")])
          try tx.save(Account(number: 1, balance: 1))
          try tx.save([note("third")], clearBeforeSaving: Note.all)
          try tx.delete(Note.self, "third")
          try tx.eraseAllData(of: Account.self)
          throw Stop()
        }
      }

      #expect(try notes.fetch(Note.all) == [note("old", "1")])
      #expect(try store.repository(of: Account.self).count() == 0)
      #expect(try store.statistics().sequence == sequence)
    }
  }

  @Test("a save that is refused before it began keeps nothing, and its body may go on")
  func swallowed() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      try notes.save([note("a"), note("b")])

      try store.write { tx in
        try tx.save(note("c"))
        _ = try? tx.save([note("d"), note("")], clearBeforeSaving: Note.all)
      }

      #expect(try notes.fetch(Note.all).map(\.id) == ["a", "b", "c"])
    }
  }

  @Test("a task that is cancelled before its turn never writes")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      try await notes.save(note("a"))
      let isHolding = DispatchSemaphore(value: 0)
      let mayEnd = DispatchSemaphore(value: 0)
      let holder = Threads(1) { _ in
        try store.write { tx in
          isHolding.signal()
          mayEnd.wait()
          try tx.save(note("held"))
        }
      }
      await withCheckedContinuation { done in
        Thread {
          isHolding.wait()
          done.resume()
        }.start()
      }
      let waiting = (0..<5).map { number in
        Task {
          number % 2 == 0
            ? try await notes.save([note("cancelled-\(number)")]).inserted
            : try await store.write { try $0.save(note("cancelled-\(number)")).inserted }
        }
      }
      let kept = Task { try await notes.save([note("kept")]).inserted }
      let cancelledBefore = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await notes.save([note("never")]).inserted
      }
      for task in waiting { task.cancel() }
      mayEnd.signal()

      for task in waiting + [cancelledBefore] {
        await #expect(throws: CancellationError.self) { try await task.value }
      }
      #expect(try await kept.value == 1)
      try holder.join()
      #expect(try notes.fetch(Note.all).map(\.id) == ["a", "held", "kept"])
    }
  }

  @Test("a task that is cancelled while its body runs is kept whole")
  func cancelledTooLate() async throws {
    try await withTemporaryStore { store in
      let isIn = Flag()
      let mayGoOn = Flag()
      let task = Task {
        try await store.write { tx in
          isIn.set()
          while !mayGoOn.isSet { usleep(500) }
          try tx.save(note("a"))
        }
      }
      while !isIn.isSet { try await Task.sleep(for: .milliseconds(1)) }
      task.cancel()
      mayGoOn.set()

      try await task.value

      #expect(try store.repository(of: Note.self).count() == 1)
    }
  }

  // MARK: Writes in writes

  @Test("a write inside a write of the same store is refused, and the outer one goes on")
  func nested() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      let refuse: @Sendable () -> Void = {
        #expect(storeError { try store.write { _ in } } == .nestedWrite)
        #expect(storeError { try notes.save(note("inner")) } == .nestedWrite)
        #expect(storeError { try notes.delete(keys: ["a"]) } == .nestedWrite)
        #expect(storeError { try notes.eraseAllData() } == .nestedWrite)
        #expect(
          storeError { try store.collection("new").save([["id": "a"]], keyField: "id") }
            == .nestedWrite)
      }
      func synchronous() throws {
        try store.write { tx in
          try tx.save(note("sync"))
          refuse()
        }
      }
      try synchronous()
      try await store.write { tx in
        try tx.save(note("async"))
        refuse()
      }

      #expect(try notes.fetch(Note.all).map(\.id) == ["async", "sync"])
    }
  }

  @Test("a write of one store inside that of another is fine, and a third level back is refused")
  func nestedInAnother() throws {
    try withTemporaryStore { first in
      try withTemporaryStore { second in
        try first.write { tx in
          try tx.save(note("a"))
          try second.write { inner in
            try inner.save(note("b"))
            #expect(storeError { try first.write { _ in } } == .nestedWrite)
            #expect(storeError { try second.write { _ in } } == .nestedWrite)
          }
          try tx.save(note("c"))
        }
        #expect(try first.repository(of: Note.self).count() == 2)
        #expect(try second.repository(of: Note.self).count() == 1)
      }
    }
  }

  @Test("a read inside a write sees what was before it, and the write its own")
  func readInWrite() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      try notes.save([note("a"), note("b")])
      try store.write { tx in
        try tx.save([note("c"), note("a", "new")])
        try tx.delete(Note.self, "b")

        #expect(try notes.fetch(Note.all) == [note("a"), note("b")])
        let own = try tx.fetch(Note.all)
        #expect(own == [note("a", "new"), note("c")])
        let count = try tx.count(Note.where { $0.nonce == "new" })
        #expect(count == 1)
        #expect(try tx.get(Note.self, "b") == nil)
      }
      #expect(try notes.fetch(Note.all) == [note("a", "new"), note("c")])
    }
  }

  // MARK: Little and nothing

  @Test("a save of nothing ends with its task, too, in a store and in memory")
  func cancelledNothing() async throws {
    try await withTemporaryStore { store in
      let repositories: [any Repository<Note, Note>] = [
        store.repository(of: Note.self), InMemoryRepository(of: Note.self),
      ]
      for notes in repositories {
        let save = Task {
          while !Task.isCancelled { await Task.yield() }
          return try await notes.save([])
        }
        save.cancel()
        await #expect(throws: CancellationError.self) { try await save.value }
      }
    }
  }

  @Test("saving and deleting nothing changes nothing, and makes no collection")
  func nothing() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)

      #expect(try await notes.save([]) == SaveReport())
      #expect(try await notes.save([], clearBeforeSaving: Note.all) == SaveReport())
      #expect(try await notes.delete(keys: []) == 0)
      #expect(try await notes.delete(keys: ["a", "", long]) == 0)
      #expect(try await notes.delete(Note.all) == 0)
      #expect(try await notes.eraseAllData() == 0)
      #expect(try notes.get("") == nil)
      #expect(try notes.get(long) == nil)
      #expect(try notes.fetch(Note.all).isEmpty)
      #expect(try store.statistics().sequence == 0)

      try await notes.save(note("a"))
      #expect(try await notes.save([]) == SaveReport())
      #expect(try await notes.delete(keys: ["b", "", long]) == 0)
      #expect(try await notes.delete(Note.where { $0.nonce == "none" }) == 0)
      #expect(try notes.get(keys: ["b", "", long]).isEmpty)
      #expect(try store.statistics().sequence == 1)
      #expect(try await notes.save([], clearBeforeSaving: Note.all).deleted == 1)
      #expect(try notes.count() == 0)
      #expect(try await notes.eraseAllData() == 0)
      #expect(try store.statistics().sequence == 2)
    }
  }

  @Test("a limit or an offset is refused where the whole match is meant, with nothing changed")
  func limited() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      for query in [Note.all.limit(1), Note.all.offset(1), Note.all.limit(5).offset(2)] {
        #expect(throws: StoreError.self) { try notes.save([note("x")], clearBeforeSaving: query) }
      }
      try await notes.save([note("a"), note("b")])

      for query in [Note.all.limit(1), Note.all.offset(1), Note.all.limit(0)] {
        let calls: [() throws -> Void] = [
          { try notes.delete(query) },
          { try notes.save([note("c")], clearBeforeSaving: query) },
          { try notes.save([Note](), clearBeforeSaving: query) },
          { try store.write { _ = try $0.delete(query) } },
          { try store.write { _ = try $0.save([note("c")], clearBeforeSaving: query) } },
        ]
        for call in calls {
          guard case .queryNotAllowed? = storeError(call) else {
            Issue.record("thrown was something else")
            continue
          }
        }
        await #expect(throws: StoreError.self) { try await notes.delete(query) }
      }
      #expect(try notes.fetch(Note.all).map(\.id) == ["a", "b"])
      #expect(try await notes.delete(Note.all.sorted(by: \.nonce)) == 2)
    }
  }

  @Test("of documents with one key in a batch the last one wins, and the others are counted")
  func duplicates() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      let batch = [
        note("b", "1"), note("a", "1"), note("b", "2"), note("c", "1"), note("b", "3"),
        note("a", "2"),
      ]

      let first = try notes.save(batch)
      let second = try notes.save(batch)
      // A composed and a decomposed letter are one key.
      let accents = try notes.save([note("\u{E9}", "1"), note("e\u{301}", "2")])

      #expect(first == report(inserted: 3, duplicates: 3))
      #expect(second == report(unchanged: 3, duplicates: 3))
      #expect(accents == report(inserted: 1, duplicates: 1))
      #expect(try notes.get("\u{E9}")?.nonce == "2")
      #expect(
        try notes.fetch(Note.all).prefix(3) == [note("a", "2"), note("b", "3"), note("c", "1")])
    }
  }

  private func report(
    inserted: Int = 0, unchanged: Int = 0, duplicates: Int = 0
  ) -> SaveReport {
    var report = SaveReport()
    report.inserted = inserted
    report.unchanged = unchanged
    report.duplicates = duplicates
    return report
  }

  @Test("a type with another kind of key is refused by every call, and deletes nothing")
  func otherKeyKind() throws {
    try withTemporaryStore { store in
      // The same eight bytes as the integer below.
      let key = "ABCDEFGH"
      try store.collection("Account").save([["id": .string(key)]], keyField: "id")
      let number = Int(bitPattern: 0xC142_4344_4546_4748)
      let accounts = store.repository(of: Account.self)
      let calls: [() throws -> Void] = [
        { _ = try accounts.get(number) }, { _ = try accounts.fetch(Account.all) },
        { _ = try accounts.count() }, { try accounts.delete(keys: [number]) },
        { try accounts.delete(Account.all) },
        { try accounts.save(Account(number: number, balance: 0)) },
      ]
      for call in calls {
        #expect(
          storeError(call) == .keyKind(collection: "Account", stored: .string, found: .integer))
      }
      #expect(try store.collection("Account").count() == 1)
    }
  }

  @Test("a key of 255 bytes is stored and found, and one of 256 is not")
  func keyLengths() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      let keys = [String(long.dropLast()), String(repeating: "\u{E9}", count: 127), "k"]

      try notes.save(keys.map { note($0) })

      for key in keys { #expect(try notes.get(key)?.id == key) }
      #expect(throws: StoreError.self) { try notes.save(note(long)) }
      #expect(try notes.delete(keys: keys) == 3)
    }
  }
}
