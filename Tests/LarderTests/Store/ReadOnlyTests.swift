import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct ReadOnlyTests {
  let folder = TestFolder()
  let note = Note(id: "a", nonce: "n", batchCount: 1)

  @Test("a read-only store reads and refuses every write")
  func readOnly() async throws {
    let writing = try Store(at: folder.store)
    try await writing.repository(of: Note.self).save(note)
    try writing.close()
    let before = try contents(of: folder.data)

    let store = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))

    let notes = store.repository(of: Note.self)
    #expect(try notes.fetch(Note.all) == [note])
    #expect(storeError { try notes.save(note) } == .readOnly)
    #expect(storeError { try notes.delete(keys: ["a"]) } == .readOnly)
    #expect(storeError { try notes.eraseAllData() } == .readOnly)
    #expect(
      storeError {
        try store.repository(of: Account.self).save(
          Account(number: 1, balance: 1))
      } == .readOnly)
    #expect(
      storeError { try store.collection("new").save([["id": "a"]], keyField: "id") }
        == .readOnly)
    await #expect(throws: StoreError.readOnly) { try await notes.save([note]) }
    #expect(try notes.count() == 1)
    try verifyAndClose(store)
    #expect(try contents(of: folder.data) == before)
  }

  @Test("a read-only opening of nothing is refused and makes nothing")
  func readOnlyMissing() throws {
    let error = storeError {
      _ = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))
    }

    guard case .storage(let failure)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(failure.code == .missing)
    #expect(access(folder.store, F_OK) != 0)
  }

  @Test(
    "another user reads a store in a folder that it cannot write to, and leaves nothing there",
    .enabled(if: geteuid() == 0))
  func foreignReadOnlyFolder() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(note)
    try store.close()
    unlink(folder.lock)
    unlink(folder.opening)
    chmod(folder.path, 0o755)
    chmod(folder.store, 0o755)
    chmod(folder.data, 0o644)
    let before = try contents(of: folder.data)
    let program = try OtherProcess.executable()

    let reading = try OtherProcess(
      running: Self.asNobody + [program, "open", folder.store, "read-only"])
    #expect(
      reading.lines() == ["open", "sound", "count 1", "error readOnly", "closed"])
    #expect(reading.wait() == 0)
    let writing = try OtherProcess(running: Self.asNobody + [program, "open", folder.store])
    #expect(writing.lines().first?.hasPrefix("error storage(unsafeFile)") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store) == ["data.mdb"])
    #expect(try contents(of: folder.data) == before)
  }

  private static let asNobody = [
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
  ]
}
