import Foundation
@testable import LarderLMDB
import LarderTestKit
import Testing

@Suite("space of an environment")
struct SpaceTests {
  let folder = TestFolder()

  private func small() -> Environment.Options {
    var options = Environment.Options()
    options.mapByteCount = 1 << 20
    return options
  }

  @Test("a map that has grown takes what was too much before")
  func grow() throws {
    let environment = try Environment.open(at: folder.store, options: small())
    try environment.store(["a": "1"])
    let large = ["large": String(repeating: "x", count: 3 << 20)]
    #expect(code { try environment.store(large) } == .mapFull)

    try environment.grow(toMapByteCount: 8 << 20)

    try environment.store(large)
    #expect(try environment.mapByteCount() == 8 << 20)
    #expect(try environment.read("large")?.count == 3 << 20)
    #expect(try environment.read("a") == "1")
    // Never smaller.
    try environment.grow(toMapByteCount: 4 << 20)
    #expect(try environment.mapByteCount() == 8 << 20)
  }

  @Test("a map does not grow under a snapshot or a write, and does once they have ended")
  func growInUse() throws {
    let environment = try Environment.open(at: folder.store, options: small())
    try environment.store(["a": "1"])
    do {
      let held = try environment.beginRead()
      #expect(code { try environment.grow(toMapByteCount: 8 << 20) } == .inUse)
      #expect(try held.value("a") == "1")
    }
    do {
      let writing = try environment.beginWrite()
      #expect(code { try environment.grow(toMapByteCount: 8 << 20) } == .nestedWrite)
      #expect(writing.id > 0)
    }
    #expect(try environment.mapByteCount() == 1 << 20)

    try environment.grow(toMapByteCount: 8 << 20)

    #expect(try environment.mapByteCount() == 8 << 20)
  }

  @Test("a map that the address space cannot hold is refused, and the old one stays in use")
  func growTooMuch() throws {
    let environment = try Environment.open(at: folder.store, options: small())
    try environment.store(["a": "1"])

    #expect(code { try environment.grow(toMapByteCount: 1 << 50) } == .system(errno: ENOMEM))

    #expect(try environment.read("a") == "1")
    try environment.store(["b": "2"])
    #expect(try environment.mapByteCount() == 1 << 20)
  }

  @Test("where the map is lost nobody comes in any more, and a new opening finds everything")
  func lostMap() throws {
    let environment = try Environment.open(at: folder.store, options: small())
    try environment.store(["a": "1"])
    _ = CallFaults.watch(environment.folder) { $0 == .setMapSize ? ENOMEM : nil }
    defer { CallFaults.stopWatching(environment.folder) }

    #expect(code { try environment.grow(toMapByteCount: 8 << 20) } == .system(errno: ENOMEM))

    #expect(code { _ = try environment.read("a") } == .system(errno: ENOMEM))
    CallFaults.stopWatching(environment.folder)
    #expect(code { try environment.store(["b": "2"]) } == .system(errno: ENOMEM))
    try environment.close()
    #expect(try Environment.open(at: folder.store, options: small()).read("a") == "1")
  }

  @Test("used bytes are those of pages that hold something, in a transaction that writes too")
  func used() throws {
    let environment = try Environment.open(at: folder.store)
    let books = try #require(try environment.database(named: "books", create: true))
    func used() throws -> Int { environment.usedByteCount(in: try environment.beginRead()) }
    let empty = try used()

    try environment.store(["large": String(repeating: "x", count: 100_000)], in: books)

    let full = try used()
    #expect((100_000..<120_000).contains(full - empty))
    let statistics = try environment.statistics()
    #expect(
      (statistics.lastPageNumber + 1 - statistics.freePageCount) * statistics.pageByteCount == full)
    do {
      var writing = try environment.beginWrite()
      try writing.empty(books)
      #expect(environment.usedByteCount(in: writing) < full - 90_000)
    }
    #expect(try used() == full)
  }

  @Test("free pages are counted inside of a write while the environment closes")
  func freePagesWhileClosing() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["large": String(repeating: "x", count: 100_000)])
    try environment.store(["large": ""])
    let statistics = try environment.statistics()
    let free = statistics.freePageCount * statistics.pageByteCount
    #expect(free > 90_000)

    var writing = try environment.beginWrite()
    let closing = OnThread { try environment.close(timeoutSeconds: 300) }
    while code({ _ = try environment.beginRead() }) != .closed { usleep(1000) }
    #expect(try environment.freeByteCount(in: writing) == free)
    try writing.put("1", "a")
    try writing.commit()

    try closing.value()
    #expect(try Environment.open(at: folder.store).read("a") == "1")
  }

  @Test("the reserve takes disk behind the file's end and leaves its size")
  func reserve() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let data = folder.store + "/data.mdb"
    func blocks() -> Int {
      var status = stat()
      return stat(data, &status) == 0 ? Int(status.st_blocks) * 512 : 0
    }
    let (size, before) = (try environment.statistics().fileByteCount, blocks())
    func keepReserve() throws -> Bool {
      try environment.keepReserve(1 << 20, in: try environment.beginRead())
    }

    #expect(try keepReserve())

    #expect(try environment.statistics().fileByteCount == size)
    #expect(blocks() >= before + 900_000)
    let kept = blocks()
    for _ in 0..<10 { #expect(try keepReserve()) }
    #expect(blocks() == kept)
    try environment.store(["large": String(repeating: "x", count: 700_000)])
    #expect(try keepReserve())
    #expect(blocks() > kept)
    // Behind what a commit is about to add, and with it.
    let end = try environment.reachedByteCount() + 3 << 20
    #expect(try environment.keepReserve(1 << 20, behind: end, in: try environment.beginRead()))
    #expect(blocks() >= end + 900_000)
    #expect(try environment.keepReserve(1 << 20))
  }

  @Test("room that is held for a commit has no name, also behind a process that was killed")
  func heldRoom() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted()
    #expect(FileManager.default.createFile(atPath: folder.store + "/larder.room", contents: nil))

    let room = try #require(environment.holdReserve(1 << 20))
    let other = try #require(environment.holdReserve(1 << 20))

    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted() == names)
    try environment.store(["b": "2"])
    room.release()
    room.release()
    other.release()
  }

  @Test("an environment that is compacted keeps its handles, its readers and its place")
  func compact() throws {
    let environment = try Environment.open(at: folder.store)
    var databases: [Database] = []
    for name in ["one", "two", "three"] {
      databases.append(try #require(try environment.database(named: name, create: true)))
    }
    for (number, database) in databases.enumerated() {
      try environment.store(["a": "\(number)"], in: database)
      try environment.store(["b": String(repeating: "x", count: 300_000)], in: database)
      var writing = try environment.beginWrite()
      _ = try writing.delete("b", in: database)
      try writing.commit()
    }

    let done = try #require(
      try environment.compact(timeoutSeconds: 300, prepare: { _ in }, progress: { _, _ in true }))

    #expect(done.byteCountAfter < done.byteCountBefore / 2)
    for (number, database) in databases.enumerated() {
      #expect(try environment.read("a", in: database) == "\(number)")
    }
    #expect(try environment.database(named: "two", create: false) == databases[1])
    let again = try Environment.open(at: folder.store)
    #expect(again === environment)
    try again.close()
    try environment.store(["c": "1"], in: databases[2])
    try environment.close()
    let opened = try Environment.open(at: folder.store)
    let three = try #require(try opened.database(named: "three", create: false))
    #expect(try opened.read("c", in: three) == "1")
  }

  @Test("a compaction that cannot lock says why, and does not blame another process")
  func compactWithoutLock() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    unlink(folder.opening)

    let error = failure {
      _ = try environment.compact(
        timeoutSeconds: 60, prepare: { _ in }, progress: { _, _ in true })
    }

    #expect(error?.code == .lockFileReplaced)
    #expect(error?.path == folder.opening)
    #expect(try environment.read("a") == "1")
  }

  @Test("a compaction during which the store was written changes nothing")
  func writtenMeanwhile() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])

    let error = failure {
      _ = try environment.compact(
        timeoutSeconds: 1, prepare: { _ in try environment.store(["a": "2"]) },
        progress: { _, _ in true })
    }

    #expect(error?.code == .inUse)
    #expect(try environment.read("a") == "2")
    try environment.store(["b": "3"])
    #expect(try environment.read("b") == "3")
  }

  @Test("what the preparation of a copy throws leaves the store as it was")
  func prepareThrows() throws {
    struct Stop: Error {}
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])

    #expect(throws: Stop.self) {
      try environment.compact(
        timeoutSeconds: 1, prepare: { _ in throw Stop() }, progress: { _, _ in true })
    }
    #expect(throws: Stop.self) {
      try environment.backup(
        to: folder.path + "/copy", prepare: { _ in throw Stop() }, progress: { _, _ in true })
    }

    #expect(try environment.read("a") == "1")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == ["store"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.store).sorted()
        == ["data.mdb", "larder.lock", "lock.mdb"])
  }
}
