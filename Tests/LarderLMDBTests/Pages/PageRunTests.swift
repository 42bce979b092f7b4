import Foundation
import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite("going along pages")
struct PageRunTests {
  private let folder = TestFolder()

  /// Whether a value has an even number of bytes.
  private struct Even: ValueTest {
    func passes(_ value: UnsafeRawBufferPointer) -> Bool { value.count % 2 == 0 }
  }

  /// What a walk from `start` lends before `end`, up to `limit` records, by steps of LMDB's or along
  /// pages.
  private func walked(
    _ transaction: borrowing some Transaction & ~Copyable, _ database: Database,
    from start: String, before end: String?, limit: Int, isStepping: Bool, evenOnly: Bool
  ) throws -> [String] {
    let end = end.map { Array($0.utf8) }
    return try transaction.withCursor(in: database) { cursor throws in
      var records: [String] = []
      func add(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        records.append(
          String(decoding: key, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self))
        return records.count < limit
      }
      guard try cursor.seek(atOrAfter: start) else { return [] }
      if isStepping {
        repeat {
          if let end, !Array(cursor.key).lexicographicallyPrecedes(end) { break }
          if evenOnly, cursor.value.count % 2 != 0 { continue }
          guard add(cursor.key, cursor.value) else { break }
        } while try cursor.next()
        return records
      }
      func walk(_ end: UnsafeRawBufferPointer?) throws -> Bool {
        try evenOnly
          ? cursor.forEachOnward(before: end, passing: Even(), add)
          : cursor.forEachOnward(before: end, add)
      }
      let isDone = try end.map { try $0.withUnsafeBytes { try walk($0) } } ?? walk(nil)
      #expect(isDone == (records.count < limit))
      return records
    }
  }

  @Test("along pages come the records that steps come to, of every size and up to every end")
  func agrees() throws {
    let environment = try Environment.open(at: folder.store)
    var store = RandomStore(random: RandomSource())
    var lent = 0
    for round in rounds(40, until: { lent > 10_000 }) {
      try store.change(environment, upTo: 600)
      guard let database = try environment.database(named: "documents/a", create: true) else {
        continue
      }
      for _ in 0..<40 {
        let ends = (0..<2).map { _ in "\(store.random.int(0..<7)) \(store.random.int(0..<4000))" }
        let end = store.random.int(0..<3) == 0 ? nil : ends[1]
        let limit = store.random.int(0..<2) == 0 ? Int.max : store.random.int(1..<60)
        let isWriting = store.random.int(0..<4) == 0
        for evenOnly in [false, true] {
          let context: Comment = "\(store.random.hint), round \(round)"
          func compare(_ transaction: borrowing some Transaction & ~Copyable) throws {
            let stepped = try walked(
              transaction, database, from: ends[0], before: end, limit: limit, isStepping: true,
              evenOnly: evenOnly)
            let along = try walked(
              transaction, database, from: ends[0], before: end, limit: limit, isStepping: false,
              evenOnly: evenOnly)
            try #require(along == stepped, context)
            lent += along.count
          }
          if isWriting {
            // Pages that this transaction has changed lie where it has made room for them.
            var transaction = try environment.beginWrite()
            for number in 0..<30 {
              try transaction.put("new \(number)", "\(number % 7) \(number * 97)", in: database)
            }
            try compare(transaction)
          } else {
            try compare(environment.beginRead())
          }
        }
      }
    }
    #expect(lent > 10_000)
  }

  /// A sound store with records in several leaves, and its file.
  private func file() throws -> EditedFile {
    let environment = try Environment.open(at: folder.store)
    let database = try #require(try environment.database(named: "documents/a", create: true))
    var transaction = try environment.beginWrite()
    for number in 0..<300 {
      try transaction.put(
        String(repeating: "v", count: 60), "key \(1000 + number)", in: database)
    }
    try transaction.commit()
    try environment.close()
    return try EditedFile(folder.data)
  }

  @Test("a page whose keys are in disorder is told, not gone around")
  func disorder() throws {
    let sound = try file()
    let environment = try Environment.open(at: folder.store)
    let database = try #require(try environment.database(named: "documents/a", create: false))
    func count() throws -> Int {
      let snapshot = try environment.beginRead()
      return try snapshot.withCursor(in: database) { cursor in
        var count = 0
        guard try cursor.first() else { return 0 }
        _ = try cursor.forEachOnward(before: nil) { _, _ in
          count += 1
          return count < 1000
        }
        return count
      }
    }
    #expect(try count() == 300)
    let (leaf, last) = (sound.leaf, sound.nodeCount(sound.leaf) - 1)
    var damaged = sound
    damaged.put16(leaf, 16, sound.node(leaf, last))
    damaged.put16(leaf, 16 + 2 * last, sound.node(leaf, 0))

    // Under the open store, whose pages were found sound.
    let data = try FileHandle(forUpdating: URL(fileURLWithPath: folder.data))
    try data.seek(toOffset: UInt64(leaf * 4096))
    try data.write(contentsOf: damaged.bytes[(leaf * 4096)..<(leaf * 4096 + 4096)])
    try data.close()

    #expect(failure { _ = try count() }?.detail == "the keys of a page are in disorder")
    try environment.close()
  }

  @Test("a record that is said to reach beyond its page is left to LMDB")
  func beyond() throws {
    let file = try file()
    let leaf = file.leaf
    let count = file.nodeCount(leaf)
    func walked(_ edit: (UnsafeMutableRawBufferPointer) -> Void) -> Int {
      let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 4096)
      defer { page.deallocate() }
      page.copyBytes(from: file.bytes[(leaf * 4096)..<(leaf * 4096 + 4096)])
      edit(page)
      let key = UnsafeRawBufferPointer(
        start: page.baseAddress.map { UnsafeRawPointer($0) + file.node(leaf, 0) + 8 }, count: 8)
      var run = PageRun.from(key, pageByteCount: 4096, before: nil)
      var found = Calls.Found()
      var walked = 1
      while run.next(&found) { walked += 1 }
      return walked
    }
    let third = file.node(leaf, 2)

    #expect(walked { _ in } == count)
    // Its value, its key, itself, its flags; the number of nodes, and what the page is.
    #expect(walked { $0.storeBytes(of: 4096, toByteOffset: third, as: UInt32.self) } == 2)
    #expect(walked { $0.storeBytes(of: .max, toByteOffset: third, as: UInt32.self) } == 2)
    #expect(walked { $0.storeBytes(of: .max, toByteOffset: third + 6, as: UInt16.self) } == 2)
    #expect(walked { $0.storeBytes(of: 4090, toByteOffset: 20, as: UInt16.self) } == 2)
    #expect(walked { $0.storeBytes(of: 1, toByteOffset: third + 4, as: UInt16.self) } == 2)
    #expect(walked { $0.storeBytes(of: .max, toByteOffset: 12, as: UInt16.self) } == 1)
    #expect(walked { $0.storeBytes(of: 0, toByteOffset: 12, as: UInt16.self) } == 1)
    #expect(walked { $0.storeBytes(of: 0x12, toByteOffset: 10, as: UInt16.self) } == 1)
  }
}
