import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

/// What a compaction makes of the pages.
@Suite struct CompactionTests {
  private let folder = TestFolder()

  private func environment(mapByteCount: Int? = nil) throws -> Environment {
    var options = Environment.Options()
    options.durability = .volatile
    if let mapByteCount { options.mapByteCount = mapByteCount }
    return try Environment.open(at: folder.store, options: options)
  }

  private func compact(_ environment: Environment) throws -> Environment.Compaction {
    try #require(
      try environment.compact(timeoutSeconds: 300, prepare: { _ in }, progress: { _, _ in true }))
  }

  @Test("what was deleted here and there is given back, and not only whole pages")
  func halfEmptyPages() throws {
    let environment = try environment()
    let books = try #require(try environment.database(named: "books", create: true))
    let keys = (0..<9000).map { "book \(10_000 + $0)" }
    try environment.store(
      Dictionary(uniqueKeysWithValues: keys.map { ($0, "of \($0)") }), in: books)
    _ = try compact(environment)
    let full = try SafeFiles.byteCount(folder.data)
    var writing = try environment.beginWrite()
    for (number, key) in keys.enumerated() where number % 3 != 0 {
      #expect(try writing.delete(key, in: books))
    }
    try writing.commit()

    let done = try compact(environment)

    #expect(done.byteCountAfter < full * 2 / 5, "\(done.byteCountAfter) of \(full)")
    let kept = keys.enumerated().filter { $0.offset % 3 == 0 }.map {
      "\($0.element)=of \($0.element)"
    }
    #expect(try environment.beginRead().records(in: books) == kept)
  }

  @Test("a compaction changes no record of any database, and its pages are sound")
  func random() throws {
    var store = RandomStore(random: RandomSource())
    let environment = try environment()
    for round in 0..<repetitions(20) {
      for _ in 0..<8 { try store.change(environment, upTo: round % 5 == 0 ? 1500 : 60) }
      let before = try everything(in: environment)

      let done = try compact(environment)

      let hint: Comment = "round \(round), \(store.random.hint)"
      #expect(try everything(in: environment) == before, hint)
      #expect(try environment.checkPages().isSound, hint)
      #expect(try environment.checkPages().freePageCount < 8, hint)
      #expect(done.byteCountAfter <= done.byteCountBefore, hint)
    }
  }

  /// The records of all databases, by their names.
  private func everything(in environment: Environment) throws -> [String: [String]] {
    var all: [String: [String]] = [:]
    let names = try environment.databaseNames()
    for name in names {
      let database = try #require(try environment.database(named: name, create: false))
      all[name] = try environment.beginRead().records(in: database)
    }
    // Beside the records of the main database stand the names.
    all[""] = try environment.beginRead().records().filter { record in
      !names.contains { record.hasPrefix("\($0)=") }
    }
    return all
  }

  @Test("a store as large as its map can be compacted, and never grows by that")
  func full() throws {
    let environment = try environment(mapByteCount: 1 << 20)
    var count = 0
    while true {
      do {
        try environment.store(["\(10_000 + count)": String(repeating: "x", count: 1000)])
        count += 1
      } catch let error as LMDBError where error.code == .mapFull {
        break
      }
    }

    let done = try compact(environment)

    #expect(done.byteCountAfter <= done.byteCountBefore)
    #expect(try environment.beginRead().records().count == count)
  }

  @Test("a compaction that its caller ends changes nothing, wherever it ends")
  func ended() throws {
    let environment = try environment()
    let value = String(repeating: "x", count: 1000)
    try environment.store(
      Dictionary(uniqueKeysWithValues: (0..<5000).map { ("\($0)", value) }))
    let before = try contents(of: folder.data)
    var moments = 0

    for last in 0... {
      var tellings = 0
      let done = try environment.compact(timeoutSeconds: 300, prepare: { _ in }) { written, total in
        #expect(written <= total)
        tellings += 1
        return tellings <= last
      }
      if done != nil { break }
      moments += 1
      #expect(try contents(of: folder.data) == before)
      #expect(!FileManager.default.fileExists(atPath: folder.store + "/.larder-staging"))
    }

    #expect(moments >= 4)
    #expect(try environment.beginRead().records().count == 5000)
  }

  @Test("a damaged page is named, and nothing is changed")
  func damaged() throws {
    let environment = try environment()
    try environment.store(
      Dictionary(uniqueKeysWithValues: (0..<5000).map { ("\($0)", "value") }))
    var file = try EditedFile(folder.data)
    // Where the page says how much of it is in use.
    file.put16(file.mainLeaf, 12, 0xffff)
    let bytes = Data(file.bytes)
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.data))
    try handle.write(contentsOf: bytes)

    #expect(failure { _ = try compact(environment) }?.code == .corrupted)
    #expect(try contents(of: folder.data) == bytes)
  }

  @Test("a suspension waits for a copy that is being made, whose files are locked")
  func suspended() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let codes = Locked<[LMDBError.Code?]>([])
    func suspend(_ copy: Environment) {
      codes.withLock { $0.append(code { try environment.suspend(timeoutSeconds: 0.05) }) }
    }

    _ = try environment.compact(timeoutSeconds: 300, prepare: suspend, progress: { _, _ in true })
    _ = try environment.backup(
      to: folder.path + "/copy", prepare: suspend, progress: { _, _ in true })

    #expect(codes.withLock { $0 } == [.inUse, .inUse])
    #expect(!environment.isSuspended)
    try environment.suspend(timeoutSeconds: 300)
    #expect(code { _ = try compact(environment) } == .suspended)
    try environment.resume()
    try environment.close()
  }

  @Test("copies that are being made make way for a suspension", arguments: [true, false])
  func makingWay(isBackup: Bool) throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    var suspending: OnThread<Void>?
    func progress(_: Int, _: Int) -> Bool {
      if suspending == nil {
        suspending = OnThread { try environment.suspend(timeoutSeconds: 300) }
        while environment.gate.closure != .resting { usleep(1000) }
      }
      return true
    }

    let found = code {
      if isBackup {
        _ = try environment.backup(
          to: folder.path + "/copy", prepare: { _ in }, progress: progress)
      } else {
        _ = try environment.compact(timeoutSeconds: 300, prepare: { _ in }, progress: progress)
      }
    }

    #expect(found == .suspended)
    try #require(suspending).value()
    #expect(environment.isSuspended)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["store"])
    try environment.resume()
    #expect(try environment.read("a") == "1")
    _ = try compact(environment)
    try environment.close()
  }

  @Test("LMDB that could not be opened again is not closed twice by who waits to close it")
  func closedMeanwhile() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let closing = Locked<OnThread<LMDBError.Code?>?>(nil)
    _ = CallFaults.watch(environment.folder) { call in
      guard call == .openEnvironment else { return nil }
      closing.withLock {
        $0 = OnThread { code { try environment.close(timeoutSeconds: 300) } }
      }
      while !environment.gate.isShut { usleep(1000) }
      return EMFILE
    }
    defer { CallFaults.stopWatching(environment.folder) }

    #expect(code { _ = try compact(environment) } != nil)

    let thread = try #require(closing.withLock { $0 })
    #expect(try thread.value() == nil)
    CallFaults.stopWatching(environment.folder)
    let again = try Environment.open(at: folder.store)
    #expect(try again.read("a") == "1")
    try again.close()
  }
}
