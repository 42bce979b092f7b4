import LarderTestKit
import Synchronization
import Testing

@testable import LarderLMDB

@Suite("several threads in one moment") struct TwinsTests {
  private let folder = TestFolder()

  private func open(threads: Int = 3) throws -> Environment {
    var options = Environment.Options()
    options.readThreadCount = threads
    return try Environment.open(at: folder.store, options: options)
  }

  private func fill(_ environment: Environment, _ database: Database, _ count: Int) throws {
    var transaction = try environment.beginWrite()
    for number in 0..<count {
      try transaction.put(
        String(repeating: "v", count: number % 90), "\(number)", in: database)
    }
    try transaction.commit()
  }

  /// The keys from one up to another.
  private func keys(
    _ transaction: borrowing some Transaction & ~Copyable, _ database: Database,
    from start: [UInt8], to end: [UInt8]?
  ) throws -> [[UInt8]] {
    try transaction.withCursor(in: database) { cursor throws in
      var keys: [[UInt8]] = []
      guard try start.withUnsafeBytes({ try cursor.seek(atOrAfter: $0) }) else { return [] }
      repeat {
        let key = [UInt8](cursor.key)
        if let end, !key.lexicographicallyPrecedes(end) { break }
        keys.append(key)
      } while try cursor.next()
      return keys
    }
  }

  @Test(
    "cuts divide a tree of any depth into parts of about one size, which are the whole together")
  func cuts() throws {
    let environment = try open()
    let database = try #require(try environment.database(named: "documents/ä", create: true))
    for count in [0, 1, 30, 200, 3_000, 60_000] {
      try fill(environment, database, count)
      let transaction = try environment.beginRead()
      let all = try keys(transaction, database, from: [], to: nil)
      for most in [1, 3, 31] {
        let cuts = try transaction.cuts(of: database, named: "documents/ä", maximumCount: most).map
        {
          [UInt8]($0)
        }
        #expect(cuts.count <= most)
        #expect(count < 200 ? cuts.isEmpty || count == 30 : !cuts.isEmpty)
        var found: [[UInt8]] = []
        for (start, end) in zip([[]] + cuts, cuts.map { Optional($0) } + [nil]) {
          let part = try keys(transaction, database, from: start, to: end)
          #expect(!part.isEmpty || count == 0)
          if count == 60_000 { #expect(part.count < 4 * count / (most + 1)) }
          found += part
        }
        #expect(found == all)
      }
    }
  }

  @Test("a write transaction, another name and a tree without branches are not cut")
  func uncut() throws {
    let environment = try open()
    let database = try #require(try environment.database(named: "documents/a", create: true))
    try fill(environment, database, 1_000)
    do {
      let transaction = try environment.beginWrite()
      #expect(try transaction.cuts(of: database, named: "documents/a", maximumCount: 8).isEmpty)
      #expect(!transaction.inParallel(8) { _, _ in })
    }
    let transaction = try environment.beginRead()
    #expect(try transaction.cuts(of: database, named: "documents/b", maximumCount: 8).isEmpty)
  }

  @Test("each part is done once, and every thread sees what the caller's transaction sees")
  func parts() throws {
    let environment = try open()
    let database = try #require(try environment.database(named: "documents/a", create: true))
    try fill(environment, database, 1_000)
    for _ in 0..<50 {
      let transaction = try environment.beginRead()
      let id = transaction.id
      let done = Locked<[Int]>([])
      let isDone = transaction.inParallel(40) { part, other in
        #expect(other.id == id)
        #expect((try? other.statistics(of: database).entryCount) == 1_000)
        done.withLock { $0.append(part) }
      }
      #expect(isDone)
      #expect(done.value.sorted() == Array(0..<40))
    }
  }

  @Test("one thread has to do where the options say so, or somebody has written since")
  func alone() throws {
    do {
      let environment = try open(threads: 1)
      let transaction = try environment.beginRead()
      #expect(!transaction.inParallel(8) { _, _ in })
      try fill(environment, try #require(try environment.database(named: "a", create: true)), 1)
    }
    let environment = try open()
    let database = try #require(try environment.database(named: "a", create: true))
    let transaction = try environment.beginRead()
    #expect(transaction.inParallel(8) { _, _ in })
    try fill(environment, database, 10)
    let before = transaction.inParallel(8) { _, _ in Issue.record("another moment") }
    #expect(!before)
    let later = try environment.beginRead()
    #expect(later.inParallel(8) { _, _ in })
  }

  @Test("scans leave readers to others: one thread has to do where there are few")
  func crowded() throws {
    for (count, isHelped) in [(1, false), (7, false), (8, true), (64, true)] {
      let folder = TestFolder()
      var options = Environment.Options()
      options.readThreadCount = 20
      options.maximumReaderCount = count
      let environment = try Environment.open(at: folder.store, options: options)
      let transaction = try environment.beginRead()
      let readers = Locked<Set<UnsafeRawPointer>>([])
      let isDone = transaction.inParallel(40) { _, other in
        readers.withLock { _ = $0.insert(UnsafeRawPointer(other.handle.state)) }
        SystemCall.sleep(microseconds: 100)
      }
      #expect(isDone == isHelped)
      #expect(readers.value.count <= 1 + count / 8)
      // The others are left.
      var others: [TransactionHandle] = []
      defer { for other in others { environment.end(reading: other) } }
      for _ in 0..<(count == 1 ? 0 : count / 2) {
        try environment.enter("test")
        others.append(try environment.beginFreshRead())
      }
    }
  }
}
