import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// A suspended store has no file open: its file may move, or be another one, while nobody looks.
@Suite struct SuspendedFileTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  private var elsewhere: String { folder.path + "/elsewhere" }

  private func suspendedStore() throws -> Store {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    try store.suspend(timeout: .seconds(300))
    return store
  }

  @Test("the file of a suspended store, found in another folder, is opened as a store of its own")
  func moved() throws {
    let store = try suspendedStore()
    try FileManager.default.moveItem(atPath: folder.store, toPath: elsewhere)

    let other = try Store(at: elsewhere)

    #expect(!other.isSuspended)
    #expect(try other.repository(of: Note.self).get("a") == note)
    #expect(storeError { try store.resume() } != nil)
    #expect(store.isSuspended)
    // Back again, but open already: LMDB must not open it twice in a process.
    try FileManager.default.moveItem(atPath: elsewhere, toPath: folder.store)
    #expect(storeError { try store.resume() } != nil)
    #expect(store.isSuspended)
    try other.close()
    try store.resume()
    #expect(try store.repository(of: Note.self).get("a") == note)
    try verifyAndClose(store)
  }

  @Test("a store whose file was replaced while it was suspended is opened once in a process")
  func replaced() throws {
    let store = try suspendedStore()
    // As another process that compacts it does.
    let (data, copy) = (folder.store + "/data.mdb", folder.path + "/copy")
    try FileManager.default.copyItem(atPath: data, toPath: copy)
    #expect(rename(copy, data) == 0)

    let second = try Store(at: folder.store)

    #expect(second.isSuspended)
    try store.resume()
    #expect(!second.isSuspended)
    #expect(try second.repository(of: Note.self).get("a") == note)
    try second.repository(of: Note.self).save(Note(id: "b", nonce: "n", batchCount: 1))
    #expect(try store.repository(of: Note.self).count() == 2)
    try second.close()
    try verifyAndClose(store)
  }

  @Test("a store that is opened while the folder of a suspended one is gone has nothing of it")
  func removed() throws {
    let store = try suspendedStore()
    try FileManager.default.removeItem(atPath: folder.store)
    // One of them often gets the number of the file that was removed.
    for number in 0..<20 {
      let other = try Store(at: elsewhere + "\(number)")
      #expect(!other.isSuspended)
      #expect(try other.repository(of: Note.self).count() == 0)
      try other.close()
    }
    #expect(storeError { try store.resume() } != nil)
    #expect(store.isSuspended)
    try store.close()
  }

  @Test(
    "a backup that was restored over a suspended store is not taken for it, and stays as it is",
    arguments: [StoreOptions.Durability.durable, .recentCommitsMayBeLost], [true, false])
  func restored(_ durability: StoreOptions.Durability, isWrittenSince: Bool) throws {
    let backup = folder.path + "/backup"
    var options = StoreOptions()
    options.durability = durability
    let store = try Store(at: folder.store, options: options)
    let notes = store.repository(of: Note.self)
    try notes.save(note)
    try store.backup(to: backup)
    // The catalogue is newer than that of the backup, and has no database more.
    try store.collection("Note").save(
      [["id": "b", "nonce": "n", "batchCount": 1, "extra": 1]], keyField: "id")
    try store.suspend(timeout: .seconds(300))
    let other = try OtherProcess("restore", folder.store, backup)
    _ = try other.expect("open")
    _ = try other.expect("restored")
    if isWrittenSince {
      // By now it has seen more changes than the one that was suspended.
      let writer = try OtherProcess("hammer", folder.store, "later", "20")
      _ = try writer.expect("open")
      writer.goOn()
      for _ in 0..<20 { _ = try writer.expect("saved") }
      _ = try writer.expect("done")
      _ = writer.finish()
    }

    let error = storeError { try store.resume() }

    guard case .notAStore(_, let reason)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(reason.contains("backup"))
    #expect(store.isSuspended)
    #expect(storeError { _ = try notes.count() } != nil)
    try store.close()
    let found = try Store(at: folder.store)
    #expect(try found.repository(of: Note.self).fetch(Note.all).contains(note))
    try verifyAndClose(found)
  }

  @Test("a backup that lacks a collection which was in use says so as every other one does")
  func restoredWithLess() throws {
    let backup = folder.path + "/backup"
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    try store.backup(to: backup)
    try store.repository(of: Account.self).save(Account(number: 1, balance: 0))
    try store.suspend(timeout: .seconds(300))
    let other = try OtherProcess("restore", folder.store, backup)
    _ = try other.expect("open")
    _ = try other.expect("restored")

    let error = storeError { try store.resume() }

    guard case .notAStore(_, let reason)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(reason.contains("backup"))
    #expect(store.isSuspended)
    try store.close()
    try verifyAndClose(try Store(at: folder.store))
  }

  @Test("a resumption that is asked for during a suspension comes behind it")
  func together() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    let gate = { store.engine.environment.gate.closure }
    let resuming = try store.read { _ in
      let suspending = OnThread { try store.suspend(timeout: .seconds(300)) }
      while gate() != .resting { usleep(1000) }
      let resuming = OnThread { try store.resume() }
      // Long enough for it to return at once, as it must not.
      usleep(100_000)
      return (suspending, resuming)
    }

    try resuming.0.value()
    try resuming.1.value()

    #expect(!store.isSuspended)
    #expect(try store.repository(of: Note.self).count() == 1)
    try verifyAndClose(store)
  }

  @Test("a store that another process has begun a new timeline in is resumed, and loses nothing")
  func renewed() throws {
    var options = StoreOptions()
    options.durability = .recentCommitsMayBeLost
    let store = try Store(at: folder.store, options: options)
    // Written before the system was started, as far as others can tell.
    store.engine.boot.withLock { $0 = 7 }
    try store.repository(of: Note.self).save(note)
    store.engine.boot.withLock { $0 = Environment.boot }
    let token = try store.changeToken()
    try store.suspend(timeout: .seconds(300))
    let other = try OtherProcess("hammer", folder.store, "later", "1")
    _ = try other.expect("open")
    other.goOn()
    _ = try other.expect("saved")
    other.kill()

    try store.resume()

    #expect(try store.changeToken() != token)
    #expect(try store.repository(of: Note.self).get("a") == note)
    try store.repository(of: Note.self).save(Note(id: "b", nonce: "n", batchCount: 1))
    try verifyAndClose(store)
  }

  #if os(Linux)
    @Test("a resumption that waits for another process makes way for a suspension")
    func makingWay() throws {
      let store = try suspendedStore()
      // As one that opens the store.
      let opening = try FileHandle(forUpdating: URL(filePath: folder.opening))
      #expect(flock(opening.fileDescriptor, LOCK_EX | LOCK_NB) == 0)
      let hasEnded = Flag()
      let resuming = OnThread {
        defer { hasEnded.set() }
        return storeError { try store.resume() }
      }

      // Again where it has not begun to wait.
      while !hasEnded.isSet { try store.suspend(timeout: .seconds(300)) }

      #expect(store.isSuspended)
      if case .suspended? = try resuming.value() {} else { Issue.record("it was resumed") }
      try opening.close()
      try store.resume()
      #expect(try store.repository(of: Note.self).get("a") == note)
      try verifyAndClose(store)
    }
  #endif
}
