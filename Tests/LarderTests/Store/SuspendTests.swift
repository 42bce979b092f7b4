import Dispatch
import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct SuspendTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  private var suspended: StoreError {
    StoreError.suspended(path: URL(filePath: folder.store).resolvingSymlinksInPath().path)
  }

  @Test("a suspended store refuses reads and writes, and goes on once it is resumed")
  func refuses() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try await notes.save(note)

    try store.suspend(timeout: .seconds(300))

    #expect(store.isSuspended)
    #expect(storeError { _ = try notes.fetch(Note.all) } == suspended)
    #expect(storeError { _ = try store.statistics() } == suspended)
    #expect(storeError { try notes.save(note) } == suspended)
    await #expect(throws: suspended) { try await notes.save([note]) }
    #expect(storeError { _ = try store.backup(to: folder.path + "/backup") } == suspended)
    try store.suspend(timeout: .seconds(300))
    try store.resume()
    try store.resume()
    #expect(!store.isSuspended)
    #expect(try notes.fetch(Note.all) == [note])
    try await notes.save(Note(id: "b", nonce: "n", batchCount: 1))
    #expect(try notes.count() == 2)
    try verifyAndClose(store)
  }

  #if os(Linux)
    private func openCount() throws -> Int {
      let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
      return names.count { name in
        let target = try? FileManager.default.destinationOfSymbolicLink(
          atPath: "/proc/self/fd/\(name)")
        return target?.contains(folder.store) == true
      }
    }

    @Test("a suspended store holds no lock on its files, and none of them open")
    func holdsNothing() async throws {
      let store = try Store(at: folder.store)
      let notes = store.repository(of: Note.self)
      try await notes.save(note)
      var changes = notes.watch(Note.all).makeAsyncIterator()
      _ = try await changes.next()
      #expect(try !HeldLocks.list(folder.store).isEmpty)

      try store.suspend(timeout: .seconds(300))

      #expect(try HeldLocks.list(folder.store) == [])
      #expect(try openCount() == 0)
      try store.resume()
      #expect(try !HeldLocks.list(folder.store).isEmpty)
      try verifyAndClose(store)
    }

    @Test("a write that waits for another process's turn is refused by a suspension")
    func waiting() async throws {
      let store = try Store(at: folder.store)
      let notes = store.repository(of: Note.self)
      try await notes.save(note)
      store.engine.environment.writeWait.withLock { $0.checkSeconds = .infinity }
      let turn = try ForeignTurn(folder.opening)
      #expect(turn.take())
      let waiting = Task { try await notes.save([Note(id: "b", nonce: "n", batchCount: 1)]) }
      #expect(try await eventually { store.engine.environment.waitsForOtherProcess })

      try store.suspend(timeout: .seconds(300))

      // The other one's alone.
      #expect(try HeldLocks.list(folder.store).count == 1)
      await #expect(throws: suspended) { try await waiting.value }
      turn.giveBack()
      try store.resume()
      #expect(try notes.count() == 1)
      try await notes.save(Note(id: "c", nonce: "n", batchCount: 1))
      #expect(try notes.count() == 2)
      try verifyAndClose(store)
    }
  #endif

  @Test("what another process wrote and compacted meanwhile is there, and watchers are told of it")
  func othersMeanwhile() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try await notes.save(note)
    var changes = notes.watch(Note.all).makeAsyncIterator()
    var list: [Note] = []
    list.apply(try #require(try await changes.next()))
    for number in 0..<3 {
      try store.suspend(timeout: .seconds(300))
      let writer = try OtherProcess("hammer", folder.store, "\(number)", "1")
      _ = try writer.expect("open")
      writer.goOn()
      _ = try writer.expect("saved")
      writer.kill()
      let compacting = try OtherProcess("compact", folder.store)
      _ = try compacting.expect("compacted")
      compacting.kill()

      try store.resume()

      let stored = try notes.fetch(Note.all)
      #expect(stored.count > list.count)
      while list != stored { list.apply(try #require(try await changes.next())) }
      try await notes.save(Note(id: "own \(number)", nonce: "n", batchCount: 1))
      list.apply(try #require(try await changes.next()))
      #expect(try list == notes.fetch(Note.all))
    }
    try verifyAndClose(store)
  }

  @Test("a snapshot that is held keeps a store from being suspended, and the store stays open")
  func heldSnapshot() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try await notes.save(note)

    try store.read { snapshot in
      guard
        case .storage(let failure)? = storeError({ try store.suspend(timeout: .milliseconds(50)) })
      else {
        Issue.record("it was suspended")
        return
      }
      #expect(failure.code == .inUse)
      let count = try snapshot.count(Note.all)
      #expect(count == 1)
    }

    #expect(!store.isSuspended)
    #expect(try notes.count() == 1)
    let nested = storeError {
      try store.write { tx in
        try tx.save(Note(id: "b", nonce: "n", batchCount: 1))
        try store.suspend(timeout: .seconds(300))
      }
    }
    #expect(nested == .nestedWrite)
    #expect(try notes.count() == 1)
    try verifyAndClose(store)
  }

  @Test("a suspended store can be closed, and opened again")
  func closing() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Note.self).save(note)
    try store.suspend(timeout: .seconds(300))

    try store.close()

    #expect(storeError { try store.resume() } == .closed)
    let again = try Store(at: folder.store)
    #expect(try again.repository(of: Note.self).fetch(Note.all) == [note])
    try verifyAndClose(again)
  }

  @Test("two stores of one folder are suspended together")
  func together() async throws {
    let (first, second) = (try Store(at: folder.store), try Store(at: folder.store))
    try await first.repository(of: Note.self).save(note)

    try first.suspend(timeout: .seconds(300))

    let third = try Store(at: folder.store)
    #expect(second.isSuspended && third.isSuspended)
    try second.resume()
    #expect(try third.repository(of: Note.self).count() == 1)
    try first.close()
    try second.close()
    try verifyAndClose(third)
  }

  @Test("another store in the place of the suspended one is refused, and left as it is")
  func replaced() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Note.self).save(note)
    try store.suspend(timeout: .seconds(300))
    try FileManager.default.removeItem(atPath: folder.store)
    // Made by another process: in this one the file's number may be the old one's.
    let other = try OtherProcess("step", folder.store)
    _ = try other.expect("open")
    other.goOn()
    _ = try other.expect("saved")
    other.kill()

    let error = storeError { try store.resume() }

    guard case .notAStore? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(store.isSuspended)
    try store.close()
    let found = try Store(at: folder.store)
    #expect(try found.repository(of: Note.self).get("a") == nil)
    try verifyAndClose(found)
  }

  @Test("readers and writers of many threads meet suspensions, and nothing is lost")
  func concurrent() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try await notes.save(note)
    let saved = Locked(1)
    let isOver = Locked(false)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var number = 0
          while !isOver.withLock({ $0 }) {
            // Reads alone would leave no thread to those who suspend.
            await Task.yield()
            do {
              if worker < 2 {
                number += 1
                try await notes.save([
                  Note(id: "\(worker)-\(number)", nonce: "n", batchCount: 1)
                ])
                saved.withLock { $0 += 1 }
              } else {
                _ = try notes.count()
              }
            } catch StoreError.suspended {
              // Most of the time it is.
            } catch {
              Issue.record("thrown was \(error)")
              return
            }
          }
        }
      }
      for _ in 0..<repetitions(30) {
        do {
          try store.suspend(timeout: .seconds(300))
          try store.resume()
        } catch {
          Issue.record("thrown was \(error)")
        }
        await Task.yield()
      }
      isOver.withLock { $0 = true }
    }
    #expect(try notes.count() == saved.withLock { $0 })
    try verifyAndClose(store)
  }

  @Test("a store is resumed while another thread opens it")
  func resumedBesideOpening() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    for _ in 0..<300 {
      try store.suspend(timeout: .seconds(300))
      let errors = Locked<[any Error]>([])

      DispatchQueue.concurrentPerform(iterations: 2) { number in
        do {
          if number == 0 { try store.resume() } else { try Store(at: folder.store).close() }
        } catch {
          errors.withLock { $0.append(error) }
        }
      }

      #expect(errors.withLock { $0.map { "\($0)" } } == [])
      #expect(!store.isSuspended)
    }
    #expect(try store.repository(of: Note.self).count() == 1)
    try verifyAndClose(store)
  }

  @Test("a store is closed while another thread resumes it and waits for a process that opens it")
  func closedWhileResuming() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Note.self).save(note)
    try store.suspend(timeout: .seconds(300))
    let lock = open(folder.opening, O_RDWR | O_CLOEXEC)
    try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
    let resuming = Task.detached { storeError { try store.resume() } }
    // That it waits by now cannot be seen from here, and makes no difference.
    try await Task.sleep(for: .milliseconds(50))

    try store.close(timeout: .seconds(300))

    close(lock)
    #expect(await resuming.value == .closed)
    try verifyAndClose(Store(at: folder.store))
  }
}
