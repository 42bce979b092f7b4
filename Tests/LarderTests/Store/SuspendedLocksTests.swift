#if os(Linux)
  import Foundation
  import LarderTestKit
  import LarderTestProcess
  import LarderTesting
  import Testing

  @testable import Larder
  @testable import LarderLMDB

  /// A system may end an app that holds a lock of a file while it sleeps, whichever file, and whatever for.
  @Suite(.timeLimit(.minutes(20))) struct SuspendedLocksTests {
    private let folder = TestFolder()
    private let note = Note(id: "a", nonce: "n", batchCount: 1)
    private var published: URL { folder.url.appending(path: "published") }
    private var mailbox: Mailbox { Mailbox(at: folder.url.appending(path: "mailbox")) }

    /// Held with the store's own name, by the place of the number.
    private func isOfConsumer(_ lock: String) -> Bool {
      lock.hasPrefix("OFDLCK WRITE")
        && (lock.split(separator: " ").last.flatMap { Int($0) } ?? 0) > 1 << 21
    }

    @Test("a suspended store holds no lock of any file, and takes the same ones again")
    func none() async throws {
      let store = try Store(at: folder.store)
      let notes = store.repository(of: Note.self)
      try await notes.save(note)
      var changes = notes.watch(Note.all).makeAsyncIterator()
      _ = try await changes.next()
      var first = store.changes(for: "first").makeAsyncIterator()
      var second = store.changes(for: "second").makeAsyncIterator()
      #expect(try await first.next()?.isReset == true)
      #expect(try await second.next()?.isReset == true)
      try await store.publish(Note.all, to: published)
      let reader = try Store(published: published)
      #expect(try reader.repository(of: Note.self).fetch(Note.all) == [note])
      try mailbox.post([Note(id: "posted", nonce: "n", batchCount: 1)])
      try await store.collect(Note.self, from: mailbox)
      let backup = folder.url.appending(path: "backup")
      try await store.backup(to: backup)
      // Another process hears of commits, and this one of its own.
      let other = try OtherProcess("hammer", folder.store, "other", "1")
      _ = try other.expect("open")
      let before = try HeldLocks.list(folder.path)
      #expect(before.count(where: isOfConsumer) == 2, "\(before)")
      other.kill()
      let own = try HeldLocks.list(folder.path)

      try store.suspend(timeout: .seconds(300))

      #expect(try HeldLocks.list(folder.path) == [])
      #expect(try HeldLocks.ofThisProcess(folder.path) == [])
      // Nothing that is asked of a suspended store takes any.
      _ = storeError { try notes.save(note) }
      _ = storeError { _ = try store.publish(Note.all, to: published) }
      _ = storeError { _ = try store.collect(Note.self, from: mailbox) }
      _ = storeError { _ = try store.check() }
      _ = storeError { _ = try store.compact() }
      var third = store.changes(for: "third", busyTimeout: .zero).makeAsyncIterator()
      let asking = Task { try await third.next() }
      let joined = try Store(at: folder.store)
      #expect(joined.isSuspended)
      #expect(try HeldLocks.list(folder.path) == [])
      asking.cancel()
      #expect(try await asking.value == nil)
      try store.resume()
      #expect(try HeldLocks.list(folder.path) == own)

      let later = Note(id: "b", nonce: "n", batchCount: 1)
      try await notes.save(later)
      // The letter's note, its document, and this one.
      #expect(try await first.next()?.changes.count == 3)
      #expect(try await second.next()?.changes.count == 3)
      try joined.close()
      try reader.close()
      try verifyAndClose(store)
      #expect(try HeldLocks.list(folder.path) == [])
    }

    @Test("a name that another process took while the store was suspended is lost to its consumer")
    func lost() async throws {
      let store = try Store(at: folder.store)
      try await store.repository(of: Note.self).save(note)
      var kept = store.changes(for: "kept").makeAsyncIterator()
      var changes = store.changes(for: "taken").makeAsyncIterator()
      #expect(try await kept.next()?.isReset == true)
      #expect(try await changes.next()?.isReset == true)

      try store.suspend(timeout: .seconds(300))
      let other = try OtherProcess("consume", folder.store, "taken")
      _ = try other.expect("consuming")
      other.kill()
      try store.resume()

      await #expect(throws: StoreError.consumerLost(name: "taken")) { try await changes.next() }
      #expect(try await changes.next() == nil)
      // Whoever begins anew has the name again: the other process has ended.
      var again = store.changes(for: "taken", busyTimeout: .zero).makeAsyncIterator()
      #expect(try await again.next()?.isReset == true)
      try await store.repository(of: Note.self).save(Note(id: "b", nonce: "n", batchCount: 1))
      #expect(try await kept.next()?.changes.count == 1)
      try verifyAndClose(store)
    }

    @Test("a name is not free to other processes once its store was resumed")
    func heldAgain() async throws {
      let store = try Store(at: folder.store)
      try await store.repository(of: Note.self).save(note)
      var changes = store.changes(for: "index").makeAsyncIterator()
      #expect(try await changes.next()?.isReset == true)
      let taken = try HeldLocks.list(folder.opening).filter(isOfConsumer)
      #expect(taken.count == 1)

      for _ in 0..<3 {
        try store.suspend(timeout: .seconds(300))
        #expect(try HeldLocks.list(folder.opening) == [])
        try store.resume()
        #expect(try HeldLocks.list(folder.opening).filter(isOfConsumer) == taken)
      }

      // One that ends while the store is suspended is not held for ever.
      try store.suspend(timeout: .seconds(300))
      changes = store.changes(for: "other").makeAsyncIterator()
      try store.resume()
      #expect(try HeldLocks.list(folder.opening).filter(isOfConsumer) == [])
      try store.close()
    }

    @Test("a suspension waits for what is being published, and says where it does not end")
    func publishing() throws {
      let store = try Store(at: folder.store)
      try store.repository(of: Note.self).save(note)
      let failures = Locked<[StoreError?]>([])
      let path = published.path(percentEncoded: false)
      _ = CallFaults.watch(path) { call in
        // The file has its name, and the folder is about to be flushed.
        guard call == .syncFolder else { return nil }
        failures.withLock {
          $0.append(storeError { try store.suspend(timeout: .milliseconds(20)) })
        }
        return nil
      }
      defer { CallFaults.stopWatching(path) }

      try store.publish(Note.all, to: published)

      let thrown = failures.withLock { $0 }
      #expect(thrown.count == 1)
      guard case .storage(let failure)?? = thrown.first else {
        Issue.record("thrown was \(thrown)")
        return
      }
      #expect(failure.code == .inUse)
      #expect(!store.isSuspended)
      try verifyAndClose(store)
    }

    @Test("a published store has nothing to give back: suspending it changes nothing")
    func publication() async throws {
      let store = try Store(at: folder.store)
      try await store.repository(of: Note.self).save(note)
      try await store.publish(Note.all, to: published)
      let reader = try Store(published: published)
      try await store.repository(of: Note.self).save(Note(id: "b", nonce: "n", batchCount: 1))
      try await store.publish(Note.all, to: published)

      try reader.suspend(timeout: .seconds(300))

      #expect(!reader.isSuspended)
      #expect(try reader.repository(of: Note.self).count() == 1)
      try reader.resume()
      #expect(try reader.newerPublication()?.repository(of: Note.self).count() == 2)
      let names = try FileManager.default.contentsOfDirectory(
        atPath: published.path(percentEncoded: false))
      #expect(names.sorted() == ["data.mdb", "larder.published"])
      #expect(try HeldLocks.list(published.path(percentEncoded: false)) == [])
      try reader.close()
      try verifyAndClose(store)
    }
  }
#endif
