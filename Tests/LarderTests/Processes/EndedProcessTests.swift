import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

/// What a process leaves that ends at a place of our choice. Those that are killed at any moment are
/// the campaigns' (`Tools/stress kill`, `fault`).
@Suite(.timeLimit(.minutes(20))) struct EndedProcessTests {
  let folder = TestFolder()

  @Test("a process that dies in the midst of a write and a read leaves neither behind")
  func deathWithoutClosing() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: "before", nonce: "", batchCount: 1))
    let readers = try store.statistics().readerCount
    for _ in 0..<5 {
      let other = try OtherProcess("open-and-die", folder.store)
      #expect(other.lines().last?.hasPrefix("dying") == true)
      #expect(other.wait() == -SIGKILL)
    }

    try notes.save(Note(id: "after", nonce: "", batchCount: 1))

    #expect(try notes.fetch(Note.all).map(\.id) == ["after", "before"])
    let again = try OtherProcess("count", folder.store)
    #expect(again.lines() == ["count 2"])
    #expect(try store.statistics().readerCount <= readers + 1)
    try verifyAndClose(store)
  }

  @Test("a store is readable after its writer was killed while it declared a collection")
  func killedDeclaration() throws {
    // What a kill between the making of a collection's database and its description leaves.
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
    try store.close()
    let environment = try Environment.open(
      at: folder.store, options: StoreOptions().environment)
    _ = try environment.database(named: "documents/Half", create: true)
    try environment.close()

    let again = try Store(at: folder.store)

    #expect(try again.repository(of: Note.self).count() == 1)
    try again.repository(of: Note.self).save(Note(id: "b", nonce: "", batchCount: 1))
    try verifyAndClose(again)
    let readOnly = try OtherProcess("open", folder.store, "read-only")
    #expect(readOnly.lines().contains("count 2"))
  }
}
