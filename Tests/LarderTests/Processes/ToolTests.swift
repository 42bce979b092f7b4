import Foundation
import Larder
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

/// LMDB's own tools, which must be installed (Debian and Ubuntu: `lmdb-utils`).
@Suite(.timeLimit(.minutes(20))) struct ToolTests {
  let folder = TestFolder()

  private func makeStore() throws -> [Note] {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    var saved: [Note] = []
    for number in 0..<30 {
      let note = Note(id: "note-\(number + 10)", nonce: "\(number)", batchCount: 1)
      try notes.save(note)
      saved.append(note)
    }
    try store.close()
    return saved
  }

  @Test("a copy by mdb_copy, plain or compacted, opens and works", arguments: [[], ["-c"]])
  func copies(options: [String]) throws {
    let saved = try makeStore()
    let copy = folder.path + "/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    let tool = try OtherProcess(running: ["mdb_copy"] + options + [folder.store, copy])
    #expect(tool.lines() == [])
    #expect(tool.wait() == 0)

    let store = try Store(at: copy)

    let notes = store.repository(of: Note.self)
    #expect(try notes.fetch(Note.all) == saved)
    #expect(try store.statistics().sequence == 30)
    try notes.save(Note(id: "new", nonce: "", batchCount: 1))
    try store.collection("other").save([["id": "a"]], keyField: "id")
    #expect(try store.statistics().sequence == 32)
    try verifyAndClose(store)
    let readOnly = try Store(at: copy, options: StoreOptions(isReadOnly: true))
    #expect(try readOnly.repository(of: Note.self).count() == 31)
    try verifyAndClose(readOnly)
  }

  @Test("a compacted copy that is opened read-only first reads, or says what to do")
  func readOnlyCopy() throws {
    let saved = try makeStore()
    let copy = folder.path + "/copy"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    #expect(try OtherProcess.run("mdb_copy", "-c", folder.store, copy).status == 0)

    let store = try Store(at: copy, options: StoreOptions(isReadOnly: true))
    do {
      #expect(try store.repository(of: Note.self).fetch(Note.all) == saved)
    } catch let error as StoreError {
      guard case .unstableSnapshot = error else { throw error }
      #expect(error.description.contains("open it once for writing"))
    }
    try store.close()
    let writing = try Store(at: copy)
    #expect(try writing.repository(of: Note.self).fetch(Note.all) == saved)
    try verifyAndClose(writing)
  }

  @Test("mdb_stat and mdb_dump read a store, and what mdb_load makes of the dump is refused")
  func statisticsAndDump() throws {
    _ = try makeStore()

    let statistics = try OtherProcess.run("mdb_stat", "-a", folder.store)
    #expect(statistics.status == 0)
    #expect(statistics.lines.contains("Status of documents/Note"))
    #expect(statistics.lines.contains("  Entries: 30"))
    let dump = try OtherProcess.run("mdb_dump", "-a", folder.store)
    #expect(dump.status == 0)
    #expect(dump.lines.contains("database=documents/Note"))
    // The catalogue, the documents and their changes.
    #expect(dump.lines.filter { $0 == "DATA=END" }.count == 3)

    let loaded = folder.path + "/loaded"
    try FileManager.default.createDirectory(atPath: loaded, withIntermediateDirectories: true)
    let load = try OtherProcess.run(
      "sh", "-c", "mdb_dump -a \(folder.store) | mdb_load \(loaded)")
    #expect(load.status == 0)
    // The dump leaves out the records of the main database, and so the state record.
    guard case .notAStore? = storeError({ _ = try Store(at: loaded) }) else {
      Issue.record("thrown was something else")
      return
    }
  }

  @Test("mdb_copy of a store that is being written to is one moment of it")
  func copyWhileWriting() throws {
    let store = try Store(at: folder.store)
    let accounts = store.repository(of: Account.self)
    try accounts.save((0..<200).map { Account(number: $0, balance: 0) })
    let isOver = Flag()
    let writer = Threads(1) { _ in
      var round = 1
      while !isOver.isSet {
        try accounts.save((0..<200).map { Account(number: $0, balance: round) })
        round += 1
      }
    }
    for number in 0..<5 {
      let copy = folder.path + "/copy-\(number)"
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      let tool = try OtherProcess(
        running: ["mdb_copy"] + (number % 2 == 0 ? [] : ["-c"]) + [folder.store, copy])
      _ = tool.lines()
      #expect(tool.wait() == 0)
      let copied = try Store(at: copy)
      let found = try copied.repository(of: Account.self).fetch(Account.all)
      #expect(found.count == 200)
      #expect(Set(found.map(\.balance)).count == 1)
      try verifyAndClose(copied)
    }
    isOver.set()
    try writer.join()
    try verifyAndClose(store)
  }
}
