#if os(Linux)
  import Foundation
  import LarderTestKit
  import LarderTesting
  import Testing

  @testable import Larder
  @testable import LarderLMDB

  /// What waits for a writer of another process, and how cancelling its task ends that.
  @Suite(.timeLimit(.minutes(20))) struct EndedWaitTests {
    let folder = TestFolder()

    /// A store with one document, and a process that writes to it and does not end.
    private func besideWriter() throws -> (store: Store, other: OtherProcess) {
      let store = try Store(at: folder.store)
      try store.repository(of: Contact.self).save(Contact(id: "first"))
      let other = try OtherProcess("hold-writer", folder.store)
      _ = try other.expect("holding")
      return (store, other)
    }

    /// Runs `body` in a task that is cancelled once it waits for the other process; returns whether it
    /// has ended while that still writes, and how.
    private func cancelled<Value: Sendable>(
      in store: Store, _ other: OtherProcess,
      _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> (hasEnded: Bool, result: Result<Value, any Error>) {
      let hasEnded = Flag()
      let task = Task {
        defer { hasEnded.set() }
        return try await body()
      }
      #expect(try await eventually { store.engine.environment.turn?.isAwaited == true })
      task.cancel()
      let isInTime = try await eventually { hasEnded.isSet }
      if !isInTime { other.kill() }
      return (isInTime, await task.result)
    }

    private func isCancellation<Value>(_ result: Result<Value, any Error>) -> Bool {
      if case .failure(let error) = result { error is CancellationError } else { false }
    }

    @Test("a named consumer that waits for another process ends when its task is cancelled")
    func consumer() async throws {
      let (store, other) = try besideWriter()

      // The first one makes the place where consumers are kept.
      let first = try await cancelled(in: store, other) {
        for try await _ in store.changes(for: "index") { return true }
        return false
      }
      #expect(first.hasEnded)
      #expect(try first.result.get() == false)
      other.goOn()
      _ = try other.expect("saved")
      var changes = store.changes(for: "other").makeAsyncIterator()
      #expect(try await changes.next()?.isReset == true)
      let again = try OtherProcess("hold-writer", folder.store)
      _ = try again.expect("holding")
      let second = try await cancelled(in: store, again) {
        for try await _ in store.changes(for: "index") { return true }
        return false
      }
      #expect(second.hasEnded)
      #expect(try second.result.get() == false)

      again.kill()
      var last = store.changes(for: "index").makeAsyncIterator()
      #expect(try await last.next()?.isReset == true)
      try store.close()
    }

    @Test("consumers that wait for another process take no thread from anybody")
    func manyConsumers() async throws {
      let (store, other) = try besideWriter()
      let count = 200
      let tasks = (0..<count).map { number in
        Task { for try await _ in store.changes(for: "index-\(number)") { break } }
      }

      // One has the line, and all others stand in it.
      #expect(try await eventually { store.engine.writer.waitingCount == count - 1 })
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume() }
      }

      other.kill()
      for task in tasks { try await task.value }
      try store.close()
    }

    @Test("a migration of a store that is cancelled before its turn is not kept")
    func migration() async throws {
      let (store, other) = try besideWriter()

      let whole = try await cancelled(in: store, other) {
        try await store.migrate(to: 2) { tx in try tx.save(Contact(id: "migrated")) }
      }
      #expect(whole.hasEnded && isCancellation(whole.result))
      let single = try await cancelled(in: store, other) {
        try await store.migrate(Contact.self, to: 2) { $0["city"] = "Oslo" }
      }
      #expect(single.hasEnded && isCancellation(single.result))

      other.kill()
      // Behind whatever might still stand in the line.
      try await store.flush()
      #expect(try store.version() == 1)
      #expect(try store.version(of: Contact.self) == 1)
      #expect(try store.repository(of: Contact.self).count() == 1)
      try store.close()
    }

    @Test(
      "a compaction that waits for another process to close the store ends when it is cancelled")
    func compaction() async throws {
      let (store, other) = try besideWriter()
      let hasEnded = Flag()
      let tasks = Locked<[Task<Void, any Error>]>([])

      try await together(store) { wait in
        tasks.withLock { tasks in
          tasks.append(
            Task {
              defer { hasEnded.set() }
              try await store.compact(timeout: .seconds(600))
            })
        }
        await wait(1)
        tasks.withLock { $0.append(Task { try await store.flush() }) }
        await wait(2)
      }
      let (compacting, behind) = tasks.withLock { ($0[0], $0[1]) }
      #expect(try await eventually { store.engine.writer.waitingCount == 1 })
      compacting.cancel()
      #expect(try await eventually { hasEnded.isSet })

      await #expect(throws: CancellationError.self) { try await compacting.value }
      try await behind.value
      other.kill()
      #expect(try await store.compact(timeout: .seconds(600)).byteCountAfter > 0)
      try store.close()
    }

    /// A store whose write finds the turn taken as soon as it has begun once and has to begin again.
    private func besideTurn(
      _ isTaken: @escaping @Sendable () -> Void = {}
    ) throws -> (store: Store, turn: ForeignTurn) {
      let store = try Store(at: folder.store)
      try store.repository(of: Contact.self).save(Contact(id: "first"))
      store.engine.environment.writeWait.withLock { $0.checkSeconds = .infinity }
      let turn = try ForeignTurn(store.engine.environment.bellPath)
      let begins = Locked(0)
      _ = CallFaults.watch(store.engine.environment.folder) { call in
        // The second one looks for the new type's database, behind the write that lacked it.
        guard call == .begin,
          begins.withLock({
            $0 += 1; return $0 == 2
          })
        else { return nil }
        #expect(turn.take())
        isTaken()
        return nil
      }
      return (store, turn)
    }

    @Test("a write that has to begin again waits for another process as it did the first time")
    func beginningAgain() async throws {
      let (store, turn) = try besideTurn()
      defer { CallFaults.stopWatching(store.engine.environment.folder) }

      let saving = Task { try await store.write { try $0.save(Parcel(id: 1)) } }
      #expect(try await eventually { store.engine.environment.turn?.isAwaited == true })
      // Long enough for it to have looked several times whether anybody wants it.
      try await Task.sleep(for: .milliseconds(300))
      turn.giveBack()
      _ = try await saving.value

      #expect(try store.repository(of: Parcel.self).count() == 1)
      try store.close()
    }

    @Test("a write that waits to begin again ends when its task is cancelled, and nothing is kept")
    func cancelledAgain() async throws {
      let saving = Locked<Task<Void, any Error>?>(nil)
      let (store, turn) = try besideTurn { saving.withLock { $0?.cancel() } }
      defer { CallFaults.stopWatching(store.engine.environment.folder) }

      try await together(store) { wait in
        saving.withLock {
          $0 = Task { try await store.write { _ = try $0.save(Parcel(id: 1)) } }
        }
        await wait(1)
      }
      let result = await saving.withLock { $0 }?.result

      #expect(result.map(isCancellation) == true)
      turn.giveBack()
      try await store.flush()
      #expect(try store.repository(of: Parcel.self).count() == 0)
      try store.close()
    }
  }
#endif
