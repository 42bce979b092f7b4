import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

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
}
