import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct QuarantineTests {
  private let folder = TestFolder()
  private var url: URL { URL(filePath: folder.store) }

  /// A closed store with documents of two collections, some of them changed, some deleted by the last
  /// commit. Gives what is in it.
  private func makeStore() throws -> [String: [String: DynamicDocument]] {
    try makeStoreInTwoSteps().last
  }

  private func makeStoreInTwoSteps() throws -> (
    earlier: [String: [String: DynamicDocument]], last: [String: [String: DynamicDocument]]
  ) {
    let store = try Store(at: folder.store)
    for round in 0..<2 {
      let notes = (0..<400).filter { round == 0 || $0 % 3 == 0 }.map {
        Note(id: "note-\($0 + 1000)", nonce: "nonce \(round) \($0)", batchCount: round)
      }
      try store.repository(of: Note.self).save(notes)
      let others: [DynamicDocument] = (0..<60).map {
        [
          "id": .integer(Int64($0)), "round": .integer(Int64(round)),
          "text": .string(String(repeating: "t", count: $0 % 10 == 0 ? 9000 : 100)),
        ]
      }
      try store.collection("Other").save(others, keyField: "id")
    }
    let earlier = try contents(of: store)
    try store.repository(of: Note.self).delete(keys: (0..<50).map { "note-\(1000 + 7 * $0)" })
    let contents = try contents(of: store)
    try store.close()
    return (earlier, contents)
  }

  /// A closed store with 4,000 notes on so many pages that reading them is told of several times.
  private func makeLargeStore() throws {
    let text = String(repeating: "x", count: 3000)
    let notes = (0..<4000).map { Note(id: "note-\($0)", nonce: text, batchCount: $0) }
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(notes)
    try store.close()
  }

  private func contents(of store: Store) throws -> [String: [String: DynamicDocument]] {
    var contents: [String: [String: DynamicDocument]] = [:]
    for name in try store.collectionNames() {
      try store.collection(name).forEach { document in
        contents[name, default: [:]]["\(document["id"] ?? .null)"] = document
        return true
      }
    }
    return contents
  }

  private func newContents() throws -> [String: [String: DynamicDocument]] {
    let store = try Store(at: folder.store)
    defer { try? store.close() }  // The check before says what is wrong.
    #expect(try store.check().problems == [])
    return try contents(of: store)
  }

  /// The pages of the file by what they are: the root of the main tree, and the root of the notes.
  private func roots() throws -> (main: Int, notes: Int) {
    guard case .success(let metas) = try MetaPages.read(PageFile(folder.data)) else {
      throw CocoaError(.fileReadCorruptFile)
    }
    let bytes = [UInt8](try fileContents(folder.data))
    let main = metas.newest.main.root
    let page = Array(bytes[main * 4096..<(main + 1) * 4096])
    let name = Array("documents/Note".utf8)
    let place = try #require(
      page.indices.dropLast(name.count).first { Array(page[$0..<$0 + name.count]) == name })
    let record = page.withUnsafeBytes { TreeRecord($0, at: place + name.count) }
    #expect(record.depth > 1)
    return (main, record.root)
  }

  private func damage(_ page: Int) throws -> Data {
    var bytes = try fileContents(folder.data)
    for place in 0..<64 { bytes[page * 4096 + place] = 0xA5 }
    try replaceContents(of: folder.data, by: bytes)
    return bytes
  }

  private func fileContents(_ path: String) throws -> Data {
    try Data(contentsOf: URL(filePath: path))
  }

  @Test("every document of a store whose pages are whole is there again")
  func whole() throws {
    let before = try makeStore()
    let bytes = try fileContents(folder.data)

    let report = try Store.quarantine(at: url)

    #expect(report.faults == [])
    #expect(report.salvage.documentCounts == before.mapValues(\.count))
    #expect(report.salvage.damagedRecordCount == 0)
    #expect(report.salvage.skippedPageCount == 0)
    #expect(try newContents() == before)
    #expect(try fileContents(report.folder.path + "/data.mdb") == bytes)
    #expect(report.folder.deletingLastPathComponent().path == folder.path)
    #expect(report.folder.lastPathComponent.hasPrefix("store.quarantine-"))
  }

  @Test("a store with more collections than one has by default is saved, whatever the options")
  func many() throws {
    let options = try makeStoreOfMany(at: folder.store)

    let report = try Store.quarantine(at: url)

    #expect(report.salvage.documentCounts.count == 270 && report.salvage.documentCount == 270)
    let store = try Store(at: folder.store, options: options)
    #expect(try store.collectionNames().count == 270)
    try verifyAndClose(store)
  }

  @Test("a store with a damaged page is refused by an error that names the way out")
  func refused() throws {
    _ = try makeStore()
    _ = try damage(try roots().notes)

    let error = storeError { _ = try Store(at: folder.store) }

    guard case .damagedFile(let path, let reason)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(path == folder.data)
    #expect(reason.contains("page \(try roots().notes):"))
    #expect("\(error ?? .closed)".contains("Store.quarantine(at:)"))
  }

  @Test(
    "a store of which little is left is refused, left alone, and set aside", arguments: [200, 2048])
  func cutOff(byteCount: Int) throws {
    _ = try makeStore()
    let bytes = try fileContents(folder.data).prefix(byteCount)
    try replaceContents(of: folder.data, by: bytes)

    guard case .damagedFile? = storeError({ _ = try Store(at: folder.store) }) else {
      Issue.record("another error, or none")
      return
    }
    #expect(try fileContents(folder.data) == bytes)
    let report = try Store.quarantine(at: url)

    #expect(report.salvage.documentCount == 0)
    #expect(report.faults.count == 1)
    #expect(try newContents() == [:])
  }

  @Test("documents are found again where the pages above them are damaged", arguments: [0, 1])
  func orphans(which: Int) throws {
    let before = try makeStore()
    let roots = try roots()
    let bytes = try damage(which == 0 ? roots.main : roots.notes)

    let report = try Store.quarantine(at: url)

    #expect(!report.faults.isEmpty)
    #expect(report.salvage.skippedPageCount > 0)
    #expect(try newContents() == before)
    #expect(try fileContents(report.folder.path + "/data.mdb") == bytes)
  }

  @Test("unsent edits, and whose they are, are found again where the pages above them are damaged")
  func orphanedEdits() throws {
    _ = try makeStore()
    let store = try Store(at: folder.store)
    try store.prepareOutbox()
    try store.write(as: .sync) { tx in
      try tx.setSynced("Note", true)
      try tx.setSyncNote("account", to: Array("me".utf8))
    }
    try store.repository(of: Note.self).save(
      (0..<100).map { Note(id: "edited-\($0)", nonce: "edited", batchCount: 9) })
    let before = try edits(in: store)
    #expect(before.count == 100)
    try store.close()
    _ = try damage(try roots().main)

    _ = try Store.quarantine(at: url)

    let saved = try Store(at: folder.store)
    #expect(try edits(in: saved) == before)
    let owner = try saved.read { try $0.syncNote("account") }
    #expect(owner == Array("me".utf8))
    try verifyAndClose(saved)
  }

  private func edits(in store: Store) throws -> [String: OutboxEntry] {
    try store.read { snapshot in
      var edits: [String: OutboxEntry] = [:]
      try snapshot.forEachOutboxEntry("Note") { key, entry in
        edits[String(decoding: key, as: UTF8.self)] = entry
        return true
      }
      return edits
    }
  }

  @Test("whatever is damaged, no document comes back wrong, old or from the dead")
  func random() throws {
    let (earlier, before) = try makeStoreInTwoSteps()
    let whole = try fileContents(folder.data)
    var random = RandomSource()
    var (salvaged, lost) = (0, 0)

    for _ in 0..<40 {
      let folder = TestFolder()
      try FileManager.default.createDirectory(
        atPath: folder.store, withIntermediateDirectories: true)
      var bytes = whole
      for _ in 0..<random.int(1..<12) {
        let place = random.int(0..<bytes.count)
        for index in place..<min(bytes.count, place + random.int(1..<600)) {
          bytes[index] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      if random.once(in: 4) { bytes = bytes.prefix(random.int(5000..<bytes.count)) }
      try replaceContents(of: folder.data, by: bytes)

      let report = try Store.quarantine(at: URL(filePath: folder.store))

      let store = try Store(at: folder.store)
      #expect(try store.check().problems == [], "\(random.hint)")
      let after = try contents(of: store)
      for (name, documents) in after {
        let expected = report.salvage.mayBeEarlier ? earlier : before
        for (key, document) in documents
        where before[name]?[key] != document && expected[name]?[key] != document {
          Issue.record("\(random.hint): \(name) \(key) is \(document)")
          return
        }
      }
      // Each of one type: the compiler takes seconds for all in one expression.
      let counted: Int = report.salvage.documentCounts.values.reduce(0, +)
      let afterCount: Int = after.values.reduce(0) { $0 + $1.count }
      let beforeCount: Int = before.values.reduce(0) { $0 + $1.count }
      #expect(counted == afterCount)
      salvaged += report.salvage.documentCount
      lost += beforeCount - report.salvage.documentCount
      try store.close()
    }

    #expect(salvaged > lost / 4)
    #expect(lost > 0)
  }

  @Test("a store that is open is left where it is")
  func open() throws {
    _ = try makeStore()
    let store = try Store(at: folder.store)
    guard case .storage(let error)? = storeError({ _ = try Store.quarantine(at: url) }) else {
      Issue.record("another error, or none")
      return
    }
    #expect(error.code == .inUse)
    try store.close()

    let process = try OtherProcess("create", folder.store)
    _ = try process.expect("saved")
    guard case .storage(let other)? = storeError({ _ = try Store.quarantine(at: url) }) else {
      Issue.record("another error, or none")
      return
    }
    #expect(other.code == .inUse)
    process.kill()
    #expect(try Store.quarantine(at: url).salvage.documentCount > 300)
    #expect(
      storeError { _ = try Store.quarantine(at: URL(filePath: folder.path + "/none")) } != nil)
  }

  @Test("what was saved into the new store meanwhile stays")
  func salvagedLater() throws {
    let before = try makeStore()
    let report = try Store.quarantine(at: url)
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).eraseAllData()
    let kept = Note(id: "note-1001", nonce: "kept", batchCount: 9)
    try store.repository(of: Note.self).save(kept)

    let again = try store.salvage(from: report.folder)

    #expect(again.documentCounts["Note"] == (before["Note"]?.count ?? 0) - 1)
    #expect(again.documentCounts["Other"] == 0)
    #expect(try store.repository(of: Note.self).get("note-1001") == kept)
    try store.close()
  }

  @Test("an index and a field that are declared meanwhile hold for what is salvaged after that")
  func declaredMeanwhile() throws {
    try makeLargeStore()
    let store = try Store(at: folder.path + "/new")
    let collection = store.collection("Note")
    var countBefore: Int?

    let report = try store.salvage(from: url) { news in
      guard countBefore == nil, let count = news.documentCount, count >= 1000 else { return }
      countBefore = try collection.count()
      try collection.createIndex(on: ["batchCount"])
      let new: DynamicDocument = ["id": "new", "nonce": "", "batchCount": 0, "colour": "red"]
      try collection.save([new], keyField: "id")
    }

    #expect(try (1000..<4000).contains(#require(countBefore)))
    #expect(report.documentCounts == ["Note": 4000] && report.damagedRecordCount == 0)
    #expect(try store.check().problems == [])
    try collection.buildIndexes()
    #expect(try collection.fetch(.where { $0.batchCount >= 3990 }).count == 10)
    #expect(try collection.count() == 4001)
    try store.close()
  }

  @Test("it tells how far it is, ends where it is asked to, and goes on from what was set aside")
  func stopped() throws {
    try makeLargeStore()
    var told: [StoreProgress] = []

    #expect(throws: CancellationError.self) {
      try Store.quarantine(at: url) { news in
        told.append(news)
        if try #require(news.documentCount) >= 2000 { throw CancellationError() }
      }
    }

    let first = try #require(told.first)
    let firstAside = URL(filePath: try #require(first.subject), directoryHint: .isDirectory)
    let pageCount = try #require(first.total)
    #expect(first.completed == 0 && first.documentCount == 0 && first.phase == .salvaging)
    #expect(told.count > 3)
    #expect(told.allSatisfy { $0.subject == first.subject && $0.completed <= pageCount })
    #expect(zip(told, told.dropFirst()).allSatisfy { $0.completed < $1.completed })
    expectUnfinished(firstAside)
    var last = 0
    let report = try Store.quarantine(at: url) { news in
      last = news.completed
      #expect(news.subject == first.subject)
    }
    #expect(report.folder == firstAside)
    #expect((1...2000).contains(report.salvage.documentCount))
    #expect(last > pageCount / 2)
    let store = try Store(at: folder.store)
    #expect(try store.repository(of: Note.self).count() == 4000)
    try store.close()

    // At once: the file is aside then, and no store in its place.
    var aside: URL?
    #expect(throws: CancellationError.self) {
      try Store.quarantine(at: url) { news in
        aside = news.subject.map { URL(filePath: $0, directoryHint: .isDirectory) }
        throw CancellationError()
      }
    }
    #expect(!FileManager.default.fileExists(atPath: folder.data))
    expectUnfinished(try #require(aside))
    #expect(!FileManager.default.fileExists(atPath: folder.data))
    let later = try Store.quarantine(at: url)
    #expect(later.folder == aside && later.salvage.documentCount == 4000)
    try Store(at: folder.store).close()
  }

  /// The store cannot be opened, to write or to read, and the error says where the rest is and what
  /// to do.
  private func expectUnfinished(_ aside: URL) {
    for isReadOnly in [false, true] {
      let error = storeError {
        _ = try Store(at: folder.store, options: StoreOptions(isReadOnly: isReadOnly))
      }
      guard case .unfinishedQuarantine(folder.store, let reason) = error else {
        Issue.record("opening gave \(error.map { "\($0)" } ?? "a store")")
        continue
      }
      #expect(reason.contains(aside.lastPathComponent))
      #expect(error?.description.contains("`larder quarantine`") == true)
    }
  }

  @Test(
    "a process that dies in a quarantine leaves no store that passes for whole; another goes on")
  func killed() throws {
    let before = try makeStore()
    for _ in 0..<2 {
      let process = try OtherProcess("quarantine", folder.store)
      let aside = URL(filePath: try process.expect("aside"))
      process.kill()

      expectUnfinished(aside)
    }

    let report = try Store.quarantine(at: url)

    #expect(try newContents() == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.filter { $0.contains("quarantine") } == [report.folder.lastPathComponent])
  }

  @Test("a quarantine whose file was moved back begins again, and one whose file is gone ends")
  func movedBack() throws {
    let before = try makeStore()
    var aside: URL?
    func stop() {
      #expect(throws: CancellationError.self) {
        try Store.quarantine(at: url) { news in
          aside = news.subject.map { URL(filePath: $0, directoryHint: .isDirectory) }
          throw CancellationError()
        }
      }
    }
    stop()
    let data = try #require(aside).appending(path: "data.mdb").path
    try FileManager.default.moveItem(atPath: data, toPath: folder.data)
    expectUnfinished(try #require(aside))
    #expect(try Store.quarantine(at: url).salvage.documentCounts == before.mapValues(\.count))
    #expect(try newContents() == before)

    stop()
    try FileManager.default.removeItem(at: try #require(aside))
    expectUnfinished(try #require(aside))
    let error = storeError { _ = try Store.quarantine(at: url) }
    #expect(error?.description.contains("is gone") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.data))
    // Whoever was told so may begin anew.
    try Store(at: folder.store).close()
  }

  @Test("restoring a backup ends a quarantine that was cut short")
  func restoredOver() throws {
    let before = try makeStore()
    let backup = folder.path + "/backup"
    let store = try Store(at: folder.store)
    try store.backup(to: backup)
    try store.close()
    #expect(throws: CancellationError.self) {
      try Store.quarantine(at: url) { _ in throw CancellationError() }
    }

    try Store.restore(from: backup, to: folder.store)

    #expect(try newContents() == before)
  }

  @Test("a task that waits for it may be cancelled")
  func cancelled() async throws {
    let before = try makeStore()
    let aside = Locked<URL?>(nil)
    let wasCancelled = DispatchSemaphore(value: 0)
    let url = url
    let task = Task {
      try await Store.quarantine(at: url) { news in
        aside.withLock {
          $0 = news.subject.map { URL(filePath: $0, directoryHint: .isDirectory) }
        }
        wasCancelled.wait()
      }
    }
    while aside.withLock({ $0 }) == nil { await Task.yield() }
    task.cancel()
    wasCancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }

    let moved = try #require(aside.withLock { $0 })
    let report = try await Store.quarantine(at: url)
    #expect(report.folder == moved)
    #expect(report.salvage.documentCounts == before.mapValues(\.count))
  }

  @Test("a damaged record is noted for the next opening, which looks at all pages")
  func suspicion() throws {
    _ = try makeStore()
    var bytes = try fileContents(folder.data)
    let text = Data("nonce 1 300".utf8)
    var place = bytes.startIndex
    while let range = bytes.range(of: text, in: place..<bytes.endIndex) {
      bytes[range.lowerBound] ^= 1
      place = range.upperBound
    }
    try replaceContents(of: folder.data, by: bytes)
    let store = try Store(at: folder.store)
    #expect(try note() == "open")

    let error = storeError { _ = try store.repository(of: Note.self).get("note-1300") }

    guard case .damagedRecord? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(try note() == "suspect")
    try store.close()
    #expect(try note() == "suspect")
    // Its pages are whole.
    try Store(at: folder.store).close()
    #expect(try note() == "closed")
  }

  @Test("who closes a store that another process has open does not note it as closed")
  func sharedNotes() throws {
    let process = try OtherProcess("create", folder.store)
    _ = try process.expect("saved")

    try Store(at: folder.store).close()
    #expect(try note() == "open")
    let store = try Store(at: folder.store)
    store.engine.noteSuspicion()
    try store.close()
    // Its opening looks at all pages beside the other process, and finds nothing.
    #expect(try note() == "suspect")
    try Store(at: folder.store).close()
    #expect(try note() == "open")
    process.kill()
    try Store(at: folder.store).close()
    #expect(try note() == "closed")
  }

  private func note() throws -> String {
    let text = String(decoding: try fileContents(folder.opening).dropFirst(16), as: UTF8.self)
    return text.split(separator: " ").first.map(String.init) ?? ""
  }

  @Test("a check lists damaged pages, and reads no record then")
  func check() throws {
    _ = try makeStore()
    let store = try Store(at: folder.store)
    #expect(try store.check().isSound)
    let page = try roots().notes
    _ = try damage(page)

    let report = try store.check()

    #expect(report.problems.first?.place == "page \(page)")
    #expect(report.documentCount == 0)
    #expect(try note() == "suspect")
    try store.close()
    #expect(
      storeError {
        var options = StoreOptions()
        options.pageCheck = .always
        _ = try Store(at: folder.store, options: options)
      } != nil)
  }
}
