import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct CompactTests {
  private let folder = TestFolder()

  private func notes(_ numbers: Range<Int>) -> [Note] {
    numbers.map {
      Note(id: "note-\($0 + 100_000)", nonce: String(repeating: "n", count: 200), batchCount: $0)
    }
  }

  /// A store with many free pages and two collections.
  private func makeStore(_ options: StoreOptions = StoreOptions()) throws -> Store {
    let store = try Store(at: folder.store, options: options)
    let repository = store.repository(of: Note.self)
    try repository.save(notes(0..<8000))
    try store.repository(of: Account.self).save((0..<300).map { Account(number: $0, balance: $0) })
    try repository.delete(keys: notes(200..<8000).map(\.id))
    return store
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted()
  }

  @Test("compacting gives free pages back to the disk, says how many bytes, and keeps everything")
  func compact() throws {
    let store = try makeStore()
    let before = try store.statistics()
    let token = try store.changeToken()

    let report = try store.compact(timeout: .seconds(600))

    let after = try store.statistics()
    #expect(report.byteCountBefore == before.fileByteCount)
    #expect(report.byteCountAfter == after.fileByteCount)
    #expect(report.freedByteCount > 500_000)
    #expect(after.freeByteCount < 100_000)
    #expect(after.sequence == before.sequence)
    #expect(try store.changeToken() == token)
    #expect(try names() == ["data.mdb", "larder.lock", "lock.mdb"])
    #expect(try store.repository(of: Note.self).fetch(Note.all) == notes(0..<200))
    #expect(try store.repository(of: Account.self).count() == 300)
    try verifyAndClose(store)
    let again = try Store(at: folder.store)
    #expect(try again.repository(of: Note.self).count() == 200)
    try verifyAndClose(again)
  }

  @Test("a store is written and read behind a compaction as before, by all who have it open")
  func useAfterwards() throws {
    let store = try makeStore()
    let second = try Store(at: folder.store)
    let repository = second.repository(of: Note.self)

    for round in 0..<4 {
      try store.compact(timeout: .seconds(600))
      try repository.save(Note(id: "after-\(round)", nonce: "", batchCount: round))
      let account = Account(number: 1000 + round, balance: 1)
      try store.repository(of: Account.self).save(account)
      // A collection that comes into being after the exchange.
      try store.collection("new-\(round)").save([["id": "a"]], keyField: "id")
      #expect(try second.collection("new-\(round)").count() == 1)
    }

    #expect(try store.repository(of: Note.self).count() == 204)
    #expect(try second.repository(of: Account.self).count() == 304)
    let other = try OtherProcess("count", folder.store)
    #expect(other.lines() == ["count 204"])
    try second.close()
    try verifyAndClose(store)
  }

  @Test("indexes, and what queries find by them, are the same behind a compaction")
  func indexes() throws {
    let store = try Store(at: folder.store)
    let repository = store.repository(of: Aged.self)
    try repository.save(
      (0..<500).map { Aged(id: $0, seen: Date(timeIntervalSince1970: Double($0))) })
    try repository.delete(Aged.where { $0.id < 100 })
    let query = Aged.where { $0.seen < Date(timeIntervalSince1970: 200) }.sorted(by: \.seen)

    try store.compact(timeout: .seconds(600))

    #expect(try repository.fetch(query).map(\.id) == Array(100..<200))
    try repository.save(Aged(id: 7, seen: Date(timeIntervalSince1970: 7)))
    #expect(try repository.fetch(query).first?.id == 7)
    try verifyAndClose(store)
  }

  @Test("snapshots see their moment while a compaction runs, and it waits for them at its end")
  func readers() throws {
    let store = try makeStore()
    let isOver = Locked(false)
    let reads = (0..<3).map { _ in
      OnThread {
        var counts: Set<Int> = []
        while !isOver.withLock({ $0 }) {
          counts.insert(try store.read { try $0.fetch(Note.all).count })
        }
        return counts
      }
    }

    for _ in 0..<10 { try store.compact(timeout: .seconds(600)) }
    isOver.withLock { $0 = true }

    for read in reads { #expect(try read.value() == [200]) }
    try verifyAndClose(store)
  }

  @Test("a read that does not end is a clear error, and the store goes on")
  func heldReader() throws {
    let store = try makeStore()

    try store.read { snapshot in
      let error = storeError { try store.compact(timeout: .seconds(0.2)) }
      guard case .storage(let failure)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
      #expect(failure.code == .inUse)
      let count = try snapshot.count(Note.all)
      #expect(count == 200)
    }

    #expect(try names() == ["data.mdb", "larder.lock", "lock.mdb"])
    try store.repository(of: Note.self).save(notes(300..<301))
    #expect(try store.compact(timeout: .seconds(600)).freedByteCount > 0)
    try verifyAndClose(store)
  }

  @Test("a store that another process has open is not compacted, and is once that one has closed")
  func otherProcess() throws {
    let store = try makeStore()
    let other = try OtherProcess("create", folder.store)
    _ = try other.expect("saved")

    let error = storeError { try store.compact(timeout: .seconds(0.3)) }

    guard case .storage(let failure)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.code == .inUse)
    #expect("\(failure)".contains("another process"))
    try store.repository(of: Note.self).save(notes(900..<901))
    let waiting = OnThread { try store.compact(timeout: .seconds(600)).freedByteCount }
    usleep(50_000)
    #expect(other.finish().isEmpty)
    #expect(try waiting.value() > 0)
    #expect(try store.repository(of: Note.self).count() == 202)
    try verifyAndClose(store)
  }

  @Test("a store that could not be compacted still keeps others from replacing it")
  func locksOutliveTheQuestion() throws {
    let store = try makeStore()
    let backup = folder.path + "/backup"
    try store.backup(to: backup)
    let other = try OtherProcess("create", folder.store)
    _ = try other.expect("saved")
    #expect(storeError { try store.compact(timeout: .seconds(0)) } != nil)
    #expect(other.finish().isEmpty)

    let restoring = try OtherProcess("restore", folder.store, backup)

    #expect(try restoring.expect("open").isEmpty)
    #expect(try restoring.expect("error").hasPrefix("storage(inUse)"))
    #expect(try store.repository(of: Note.self).count() == 201)
    try verifyAndClose(store)
  }

  @Test("a process that opens a store while it is compacted waits, and finds all of it")
  func openedMeanwhile() throws {
    let store = try makeStore()
    var other: OtherProcess?
    try store.compact { _ in
      if other == nil { other = try? OtherProcess("count", folder.store) }
      usleep(100_000)
    }

    #expect(try #require(other).lines() == ["count 200"])
    try verifyAndClose(store)
  }

  @Test("a compaction tells how far it is, and one that is ended changes nothing")
  func ended() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(notes(0..<20_000))
    let bytes = try store.statistics().fileByteCount
    var news: [StoreProgress] = []

    #expect(throws: CancellationError.self) {
      try store.compact { progress in
        news.append(progress)
        if news.count == 2 { throw CancellationError() }
      }
    }

    #expect(news.count == 2)
    #expect(news.allSatisfy { $0.phase == .copying && $0.completed > 0 && $0.fraction ?? 2 <= 1 })
    #expect(try store.statistics().fileByteCount == bytes)
    #expect(try names() == ["data.mdb", "larder.lock", "lock.mdb"])
    var last: StoreProgress?
    try store.compact { last = $0 }
    #expect(last?.completed == last?.total)
    try verifyAndClose(store)
  }

  @Test("a task that is cancelled ends its compaction")
  func cancelled() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Note.self).save(notes(0..<20_000))
    var task: Task<CompactionReport, any Error>?
    // It cannot be over before it is cancelled.
    try await together(store) { _ in
      task = Task { try await store.compact(timeout: .seconds(600)) }
      task?.cancel()
    }
    let result = try #require(await task?.result)

    #expect(throws: CancellationError.self) { try result.get() }
    let report = try await store.compact(timeout: .seconds(600))
    #expect(report.byteCountAfter > 0)
    #expect(try store.repository(of: Note.self).count() == 20_000)
    try verifyAndClose(store)
  }

  @Test("a watcher hears of saves behind a compaction, those of other processes too")
  func watchers() async throws {
    let store = try makeStore()
    let repository = store.repository(of: Note.self)
    let seen = Locked<[Int]>([])
    let watching = Task {
      for try await count in repository.watchCount(Note.all) { seen.withLock { $0.append(count) } }
    }
    func sees(_ count: Int) async throws -> Bool {
      try await eventually { seen.withLock { $0.last } == count }
    }
    #expect(try await sees(200))

    try await store.compact(timeout: .seconds(600))
    try await repository.save(notes(500..<501))
    #expect(try await sees(201))

    store.engine.watchHub.stopLookingNowAndThen()
    let other = try OtherProcess("create", folder.store)
    _ = try other.expect("saved")
    #expect(try await sees(202))
    watching.cancel()
    #expect(other.finish().isEmpty)
    try verifyAndClose(store)
  }

  @Test("a store that is read-only or closed is not compacted")
  func refused() throws {
    let store = try makeStore()
    try store.close()
    #expect(storeError { try store.compact() } == .closed)
    let reading = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))
    #expect(storeError { try reading.compact() } == .readOnly)
    try reading.close()
    let writing = try Store(at: folder.store)
    #expect(
      storeError { try writing.write { _ in _ = try writing.compact() } } == .nestedWrite)
    try verifyAndClose(writing)
  }

  @Test("what a compaction that was killed has left is removed by the next opening")
  func leftover() throws {
    try makeStore().close()
    let staging = folder.store + "/.larder-staging"
    try FileManager.default.createDirectory(atPath: staging, withIntermediateDirectories: false)
    try Data(repeating: 1, count: 5000).write(to: URL(filePath: staging + "/data.mdb"))

    let store = try Store(at: folder.store)

    #expect(try names() == ["data.mdb", "larder.lock", "lock.mdb"])
    #expect(try store.repository(of: Note.self).count() == 200)
    try verifyAndClose(store)
  }

  #if os(Linux)
    @Test("compacting ends in time although work of the background waits for another process")
    func behindTheBackground() async throws {
      try makeSearched()
      let other = try OtherProcess("hold-writer", folder.store)
      _ = try other.expect("holding")
      // Looks whether there is anything to merge, behind the other one.
      let store = try Store(at: folder.store)
      #expect(try await eventually { store.engine.environment.turn?.isAwaited == true })

      for isOnThread in [true, false] {
        do {
          if isOnThread {
            _ = try OnThread { try store.compact(timeout: .milliseconds(1)) }.value()
          } else {
            try await store.compact(timeout: .milliseconds(1))
          }
          Issue.record("it was compacted beside another process")
        } catch StoreError.storage(let failure) {
          #expect(failure.code == .inUse)
        }
      }

      other.goOn()
      _ = try other.expect("saved")
      #expect(other.finish().isEmpty)
      try await store.compact(timeout: .seconds(600))
      #expect(try store.collection("texts").count() == 1)
      try store.close()
    }

    private func makeSearched() throws {
      let store = try Store(at: folder.store)
      let texts = store.collection("texts")
      try texts.save([["id": "a", "text": "one"]], keyField: "id")
      try texts.createSearchIndex(on: ["text"])
      try texts.buildIndexes()
      try store.close()
    }
  #endif
}
