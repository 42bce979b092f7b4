import Foundation
import LarderLMDB
import LarderTestKit
import Testing

@Suite("copies and statistics")
struct CopyTests {
  let folder = TestFolder()

  @Test("a copy holds what the store held, and opens beside it", arguments: [false, true])
  func copy(compacting: Bool) throws {
    let environment = try Environment.open(at: folder.store)
    let books = try #require(try environment.database(named: "books", create: true))
    for number in 0..<10 { try environment.store(["a": "\(number)"], in: books) }
    let target = folder.path + "/copy"

    try environment.copy(to: target, compacting: compacting)

    let copy = try Environment.open(at: target)
    #expect(copy !== environment)
    let copied = try #require(try copy.database(named: "books", create: false))
    #expect(try copy.read("a", in: copied) == "9")
    let names = try FileManager.default.contentsOfDirectory(atPath: target).sorted()
    #expect(names == ["data.mdb", "larder.lock", "lock.mdb"])
    if compacting { #expect(try copy.statistics().lastTransactionID <= 1) }
  }

  @Test("a copy never replaces a store")
  func refusesExisting() throws {
    let environment = try Environment.open(at: folder.store)
    let target = folder.path + "/copy"
    let other = try Environment.open(at: target)
    try other.store(["a": "other"])

    let error = failure { try environment.copy(to: target, compacting: false) }

    #expect(error?.code == .system(errno: EEXIST))
    #expect(try other.read("a") == "other")
    #expect(code { try environment.copy(to: folder.store, compacting: false) } != nil)
  }

  @Test("a copy that was cut short does not stop the next one")
  func leftoverCopy() throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["a": "1"])
    let target = folder.path + "/copy"
    try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: false)
    try replaceContents(of: target + "/data.mdb.copying", by: Data(repeating: 1, count: 9))

    try environment.copy(to: target, compacting: false)

    #expect(try Environment.open(at: target).read("a") == "1")
  }

  @Test("statistics count pages, bytes, transactions and readers")
  func statistics() throws {
    let environment = try Environment.open(at: folder.store)
    let books = try #require(try environment.database(named: "books", create: true))
    try environment.store(
      Dictionary(uniqueKeysWithValues: (0..<500).map { ("key\($0)", "value") }), in: books)
    try environment.store(["large": String(repeating: "x", count: 20_000)], in: books)
    let before = try environment.statistics()
    var transaction = try environment.beginWrite()
    try transaction.empty(books)
    let id = transaction.id
    try transaction.commit()
    let after = try environment.statistics()

    #expect(before.pageByteCount == 4096)
    #expect(before.mapByteCount == 1 << 37)
    #expect(before.fileByteCount >= (before.lastPageNumber + 1) * before.pageByteCount)
    #expect(before.readersInUse == 1)
    #expect(before.maximumReaderCount == 510)
    #expect(after.lastTransactionID == id)
    #expect(after.freePageCount >= before.freePageCount + 8)
  }

  @Test("statistics of a database count its entries and pages")
  func databaseStatistics() throws {
    let environment = try Environment.open(at: folder.store)
    let books = try #require(try environment.database(named: "books", create: true))
    try environment.store(
      Dictionary(uniqueKeysWithValues: (0..<500).map { ("key\($0)", "value") }), in: books)
    try environment.store(["large": String(repeating: "x", count: 20_000)], in: books)

    let statistics = try environment.beginRead().statistics(of: books)

    #expect(statistics.entryCount == 501)
    #expect(statistics.depth == 2)
    #expect(statistics.branchPageCount == 1)
    #expect(statistics.leafPageCount > 1)
    #expect(statistics.overflowPageCount == 5)
    #expect(statistics.pageByteCount == 4096)
  }
}
