import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite struct WatchedStoreTests {
  @Test("the saves of another process arrive", .timeLimit(.minutes(20)), arguments: [true, false])
  func otherProcess(isPolled: Bool) async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    var changes = notes.watch(Note.all).makeAsyncIterator()
    var list: [Note] = []
    list.apply(try #require(try await changes.next()))
    #expect(list.isEmpty)
    let writer = try OtherProcess("write", folder.store)
    while list.count < 300 {
      let change = try #require(try await changes.next())
      list.apply(change)
      // Without it only the file system can tell.
      if !isPolled { store.engine.watchHub.stopLookingNowAndThen() }
    }
    writer.kill()

    // The writer may have saved more before it ended.
    let rest = try notes.fetch(Note.all)
    while list.count < rest.count { list.apply(try #require(try await changes.next())) }
    #expect(list.map(\.id) == rest.map(\.id))
    try store.close()
  }

  @Test(
    "every single commit of another process is heard of, without looking now and then",
    .timeLimit(.minutes(20)))
  func everyCommit() async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    let heard = Locked(-1)
    let watching = Task {
      for try await count in notes.watchCount(Note.all) { heard.withLock { $0 = count } }
    }
    func hears(_ count: Int) async throws -> Bool {
      try await eventually { heard.withLock { $0 } == count }
    }
    #expect(try await hears(0))
    store.engine.watchHub.stopLookingNowAndThen()

    let writer = try OtherProcess("step", folder.store)
    _ = try writer.expect("open")
    for number in 1...500 {
      writer.goOn()
      // Nothing else is written meanwhile that would tell of it.
      try #require(try await hears(number), "of commit \(number) nothing was heard")
    }
    watching.cancel()
    writer.kill()
    try verifyAndClose(store)
  }

  @Test(
    "several processes and this one write at once, and watchers here end with what is there",
    .timeLimit(.minutes(20)))
  func severalWriters() async throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    let batches = 40
    let writers = try (1...2).map {
      try OtherProcess("hammer", folder.store, "\($0)", "\(batches)")
    }
    for writer in writers { _ = try writer.expect("open") }
    // Three notes of each batch of each process, and this one's own.
    let count = writers.count * batches * 3 + batches
    let queries = [Note.all, Note.all.sorted(by: \.nonce)]
    let watchers = queries.map { query in
      Task {
        var list: [Note] = []
        for try await change in notes.watch(query) {
          list.apply(change)
          if list.count == count { break }
        }
        return list
      }
    }
    for writer in writers { writer.goOn() }
    for number in 0..<batches {
      _ = try await notes.save(Note(id: "here-\(number)", nonce: "", batchCount: 1))
    }

    for (watcher, query) in zip(watchers, queries) {
      let list = try await watcher.value
      #expect(try list == notes.fetch(query))
    }
    for writer in writers { #expect(writer.lines().last == "done") }
    try verifyAndClose(store)
  }

  @Test(
    "a store that another process grew past this one's map is read, written and watched here",
    .timeLimit(.minutes(20)))
  func grown() async throws {
    let folder = TestFolder()
    var options = StoreOptions()
    options.mapByteCount = 128 << 10
    let store = try Store(at: folder.store, options: options)
    let notes = store.repository(of: Note.self)
    _ = try await notes.save(Note(id: "here", nonce: "", batchCount: 1))
    let writer = try OtherProcess("write", folder.store)
    _ = try writer.expect("open")
    var saved = 0
    func byteCount() throws -> Int {
      try FileManager.default.attributesOfItem(atPath: folder.data)[.size] as? Int ?? 0
    }
    while try byteCount() < 512 << 10 {
      saved += Int(try writer.expect("saved").split(separator: " ")[1]) ?? 0
    }
    writer.kill()

    #expect(try notes.count() > saved)
    var changes = notes.watch(Note.all).makeAsyncIterator()
    var list: [Note] = []
    list.apply(try #require(try await changes.next()))
    _ = try await notes.save(Note(id: "again", nonce: "", batchCount: 1))
    list.apply(try #require(try await changes.next()))
    #expect(try list == notes.fetch(Note.all))
    #expect(list.contains { $0.id == "again" } && list.contains { $0.id == "here" })
    try verifyAndClose(store)
  }
}
