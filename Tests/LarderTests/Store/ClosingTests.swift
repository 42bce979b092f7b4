import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct ClosingTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  @Test("a consumer whose store is closed says that, in whatever moment")
  func consumers() async throws {
    for round in 0..<repetitions(60) {
      let store = try Store(at: folder.store)
      let consuming = Task { () -> (any Error)? in
        do {
          for try await _ in store.changes(for: "one") {}
          return nil
        } catch {
          return error
        }
      }
      usleep(UInt32(round * 37 % 250))
      try store.close(timeout: .seconds(300))
      #expect(await consuming.value as? StoreError == .closed)
    }
  }

  @Test("a temporary store whose folder was taken away is closed all the same")
  func temporaryWithoutFolder() throws {
    let store = try Store.temporary()
    try FileManager.default.removeItem(at: store.folder)
    try store.close()
    try store.close()
  }

  @Test("many short watches use one notifier of the system, one after the other")
  func shortWatches() throws {
    let store = try Store(at: folder.store)
    let hub = store.engine.watchHub
    func notifier() -> ObjectIdentifier? {
      hub.state.withLock { $0.writes.map(ObjectIdentifier.init) }
    }
    var found: Set<ObjectIdentifier?> = []
    for _ in 0..<50 {
      let seat = hub.listen(in: store)
      found.insert(notifier())
      hub.leave(seat)
    }
    #expect(found.count == 1)
    while notifier() != nil { usleep(10_000) }
    try store.close()
  }

  @Test("who closes a store that another thread is closing waits no longer than it says")
  func together() throws {
    let store = try Store(at: folder.store)
    let (isReading, mayEnd) = (Flag(), Flag())
    let reading = OnThread {
      try store.read { _ in
        isReading.set()
        while !mayEnd.isSet { usleep(1000) }
      }
    }
    while !isReading.isSet { usleep(1000) }
    let closing = OnThread { try store.close(timeout: .seconds(300)) }
    while store.closing.withLockIfFree({ _ in }) != nil { usleep(1000) }

    guard case .storage(let failure)? = storeError({ try store.close(timeout: .milliseconds(10)) })
    else {
      Issue.record("it was closed under a read")
      return
    }

    #expect(failure.code == .inUse)
    mayEnd.set()
    try reading.value()
    try closing.value()
    try store.close()
  }

  @Test("every call on a closed store says that it is closed")
  func everyCall() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    let things = store.collection("things")
    try await notes.save(note)
    try things.save([["id": "a"]], keyField: "id")
    // Another one keeps the engine running: the answer is the store's own.
    let other = try Store(at: folder.store)
    try store.close()
    try store.close()

    for round in ["another store is open", "none is open"] {
      let calls: [(String, () throws -> Void)] = [
        ("read", { try store.read { _ in } }),
        ("write", { try store.write { _ in } }),
        ("check", { _ = try store.check() }),
        ("statistics", { _ = try store.statistics() }),
        ("collectionNames", { _ = try store.collectionNames() }),
        ("declare", { try store.declare(Account.self) }),
        ("get", { _ = try notes.get("a") }),
        ("get many", { _ = try notes.get(keys: ["a"]) }),
        ("fetch", { _ = try notes.fetch(Note.all) }),
        ("count", { _ = try notes.count() }),
        ("save", { try notes.save(note) }),
        ("save nothing", { try notes.save([Note]()) }),
        ("save and clear", { try notes.save([note], clearBeforeSaving: Note.all) }),
        ("delete", { try notes.delete(keys: ["a"]) }),
        ("delete a query", { try notes.delete(Note.all) }),
        ("erase", { try notes.eraseAllData() }),
        ("dynamic get", { _ = try things.get("a") }),
        ("dynamic count", { _ = try things.count() }),
        ("dynamic save", { try things.save([["id": "b"]]) }),
        ("dynamic save of nothing", { try things.save([]) }),
        ("dynamic forEach", { _ = try things.documents() }),
        ("keyField", { _ = try things.keyField() }),
        ("keyKind", { _ = try things.keyKind() }),
      ]
      for (name, call) in calls {
        #expect(throws: StoreError.closed, "\(name), \(round)") { try call() }
      }
      await #expect(throws: StoreError.closed) { try await notes.save([note]) }
      await #expect(throws: StoreError.closed) { try await notes.save([Note]()) }
      await #expect(throws: StoreError.closed) { try await notes.eraseAllData() }
      await #expect(throws: StoreError.closed) { try await notes.async.count() }
      await #expect(throws: StoreError.closed) { try await store.write { _ in } }
      try other.close()
    }
    let again = try Store(at: folder.store)
    #expect(try again.repository(of: Note.self).fetch(Note.all) == [note])
    try verifyAndClose(again)
  }

  @Test("closing waits for a read that runs")
  func waitsForReads() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    let isReading = DispatchSemaphore(value: 0)
    let isRead = Flag()
    let reader = Threads(1) { _ in
      try store.read { snapshot in
        isReading.signal()
        usleep(200_000)
        let count = try snapshot.count(Note.all)
        #expect(count == 1)
        isRead.set()
      }
    }
    isReading.wait()

    try store.close(timeout: .seconds(300))

    #expect(isRead.isSet)
    try reader.join()
  }

  @Test("closing gives up after its time while a read runs, and the store goes on")
  func givesUp() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(note)
    let isReading = DispatchSemaphore(value: 0)
    let mayEnd = DispatchSemaphore(value: 0)
    let reader = Threads(1) { _ in
      try store.read { _ in
        isReading.signal()
        mayEnd.wait()
      }
    }
    isReading.wait()

    let error = storeError { try store.close(timeout: .seconds(0.1)) }

    guard case .storage(let failure)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(failure.code == .inUse)
    #expect(try notes.get("a") == note)
    try notes.save(Note(id: "b", nonce: "", batchCount: 1))
    #expect(try notes.count() == 2)
    mayEnd.signal()
    try reader.join()
    try verifyAndClose(store)
  }

  @Test("a read inside a read while the store closes is told so at once, and the store closes")
  func readInReadWhileClosing() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(note)
    let isReading = DispatchSemaphore(value: 0)
    let reader = Threads(1) { _ in
      try store.read { _ in
        isReading.signal()
        // Until the store is closing.
        while (try? notes.count()) != nil { usleep(1000) }
        #expect(throws: StoreError.closed) { try notes.count() }
      }
    }
    isReading.wait()

    try store.close(timeout: .seconds(300))

    try reader.join()
  }

  @Test("closing from inside a read or a write of the same store gives up, and both go on")
  func closingInside() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try store.write { tx in
      try tx.save(note)
      let error = storeError { try store.close(timeout: .seconds(0.05)) }
      guard case .storage? = error else {
        Issue.record("thrown was \(String(describing: error))")
        return
      }
    }
    try store.read { snapshot in
      #expect(storeError { try store.close(timeout: .seconds(0.05)) } != .closed)
      let count = try snapshot.count(Note.all)
      #expect(count == 1)
    }
    #expect(try notes.count() == 1)
    try verifyAndClose(store)
  }

  @Test("writes that wait while the store closes are kept or are told, never half done")
  func closingUnderWrites() async throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try await notes.save([note])
    let saved = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<60 {
        group.addTask {
          do {
            try await notes.save([
              Note(id: "\(number)-0", nonce: "\(number)", batchCount: 2),
              Note(id: "\(number)-1", nonce: "\(number)", batchCount: 2),
            ])
            return 1
          } catch StoreError.closed {
            return 0
          }
        }
      }
      group.addTask {
        try store.close(timeout: .seconds(300))
        return 0
      }
      return try await group.reduce(0, +)
    }

    let again = try Store(at: folder.store)
    #expect(try again.repository(of: Note.self).count() == 1 + 2 * saved)
    try verifyAndClose(again)
  }

  @Test("a store that is let go of without closing is closed, and can be opened with other options")
  func dropped() throws {
    for durability in [StoreOptions.Durability.durable, .recentCommitsMayBeLost, .durable] {
      let store = try Store(at: folder.store, options: StoreOptions(durability: durability))
      try store.repository(of: Note.self).save(note)
    }
    #expect(try openDescriptors(in: folder.store) == 0)
    let store = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))
    #expect(try store.repository(of: Note.self).count() == 1)
    try verifyAndClose(store)
    #expect(try openDescriptors(in: folder.store) == 0)
  }

  @Test("an opening that is refused leaves nothing open")
  func refused() throws {
    let store = try Store(at: folder.store)
    try store.close()
    try withEnvironment(folder.store) { environment in
      var transaction = try environment.beginWrite()
      _ = try Array("larder.state".utf8).withUnsafeBytes { try transaction.delete($0, in: .main) }
      try transaction.commit()
    }
    for _ in 0..<20 {
      #expect(throws: StoreError.self) { try Store(at: folder.store) }
    }
    #expect(try openDescriptors(in: folder.store) == 0)
  }

  private func openDescriptors(in folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      // The one that lists them is gone by the time it is asked about.
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/" + name)
      return target?.hasPrefix(folder) == true
    }
  }

  @Test("a temporary store deletes its folder when it is closed or let go of")
  func temporary() throws {
    let closed = try Store.temporary()
    let closedFolder = closed.folder.path
    try closed.repository(of: Note.self).save(note)
    #expect(access(closedFolder, F_OK) == 0)
    try closed.close()
    #expect(access(closedFolder, F_OK) != 0)

    var dropped: Store? = try Store.temporary()
    let droppedFolder = try #require(dropped?.folder.path)
    try dropped?.repository(of: Note.self).save(note)
    dropped = nil
    #expect(access(droppedFolder, F_OK) != 0)
  }

  @Test("a snapshot that is let go of late keeps no store from closing")
  func readersEndWithTheirClosure() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(note)
    struct Stop: Error {}
    for _ in 0..<100 {
      #expect(throws: Stop.self) { try store.read { _ in throw Stop() } }
      #expect(throws: Stop.self) { try store.write { _ in throw Stop() } }
    }
    #expect(try store.statistics().readerCount <= 2)
    try store.close(timeout: .seconds(0))
  }
}
