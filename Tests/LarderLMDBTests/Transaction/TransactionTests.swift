import LarderTestKit
import Testing

@testable import LarderLMDB

@Suite("transactions")
struct TransactionTests {
  let folder = TestFolder()
  let environment: Environment

  struct Refused: Error {}

  init() throws {
    environment = try Environment.open(at: folder.store)
  }

  @Test("a write that is let go of keeps nothing")
  func abort() throws {
    do {
      var transaction = try environment.beginWrite()
      try transaction.put("1", "a")
      #expect(try transaction.value("a") == "1")
    }
    #expect(try environment.read("a") == nil)
  }

  @Test("a snapshot does not see later commits until it renews")
  func snapshot() throws {
    try environment.store(["a": "1"])
    var snapshot = try environment.beginRead()
    let id = snapshot.id

    try environment.store(["a": "2"])

    #expect(try snapshot.value("a") == "1")
    try snapshot.renew()
    #expect(try snapshot.value("a") == "2")
    #expect(snapshot.id == id + 1)
  }

  @Test("a pooled snapshot sees the last commit")
  func pooled() throws {
    for number in 0..<50 {
      try environment.store(["a": "\(number)"])
      #expect(try environment.read("a") == "\(number)")
    }
    #expect(try environment.statistics().readersInUse == 1)
  }

  @Test("many threads read while one writes, and each sees one moment")
  func readersAndWriter() async throws {
    try environment.store(["a": "0", "b": "0"])
    let environment = environment
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...100 { try environment.store(["a": "\(number)", "b": "\(number)"]) }
      }
      for _ in 0..<20 {
        group.addTask {
          for _ in 0..<200 {
            let snapshot = try environment.beginRead()
            #expect(try snapshot.value("a") == snapshot.value("b"))
          }
        }
      }
      try await group.waitForAll()
    }
    try environment.close()
  }

  @Test("a nested write that throws is undone, and the outer one goes on")
  func nested() throws {
    var transaction = try environment.beginWrite()
    try transaction.put("1", "a")
    #expect(throws: Refused.self) {
      try transaction.nested { inner in
        try inner.put("2", "a")
        try inner.put("2", "b")
        throw Refused()
      }
    }
    #expect(try transaction.value("a") == "1")
    let answer = try transaction.nested { inner in
      try inner.put("3", "c")
      return try inner.nested { try $0.value("a") }
    }
    #expect(answer == "1")
    try transaction.put("4", "d")
    try transaction.commit()

    #expect(try environment.beginRead().records() == ["a=1", "c=3", "d=4"])
  }

  @Test("the outer write is of use after a nested one filled the map")
  func nestedMapFull() throws {
    let folder = TestFolder()
    var options = Environment.Options()
    options.mapByteCount = 1 << 20
    let environment = try Environment.open(at: folder.store, options: options)
    var transaction = try environment.beginWrite()
    try transaction.put("1", "a")
    let full = code {
      try transaction.nested { try $0.put(String(repeating: "x", count: 2 << 20), "large") }
    }
    #expect(full == .mapFull)
    try transaction.put("2", "b")
    try transaction.commit()
    #expect(try environment.beginRead().records() == ["a=1", "b=2"])
  }

  @Test("deleting says whether there was a record")
  func delete() throws {
    var transaction = try environment.beginWrite()
    try transaction.put("1", "a")
    #expect(try transaction.delete("a"))
    #expect(try !transaction.delete("a"))
    #expect(try transaction.value("a") == nil)
    try transaction.commit()
  }

  @Test("emptying a database leaves the database")
  func empty() throws {
    let books = try #require(try environment.database(named: "books", create: true))
    try environment.store(["a": "1", "b": "2"], in: books)
    var transaction = try environment.beginWrite()
    try transaction.empty(books)
    #expect(try transaction.records(in: books) == [])
    try transaction.put("3", "c", in: books)
    try transaction.commit()
    #expect(try environment.beginRead().records(in: books) == ["c=3"])
    #expect(try environment.databaseNames() == ["books"])
  }

  @Test("appending takes only keys that come after all others")
  func append() throws {
    var transaction = try environment.beginWrite()
    try transaction.put("1", "b")
    let refused = code {
      try withBytes("a") { try transaction.put($0, for: $0, in: .main, append: true) }
    }
    #expect(refused == .keyExists)
    try withBytes("c") { try transaction.put($0, for: $0, in: .main, append: true) }
    try transaction.commit()
    #expect(try environment.beginRead().records() == ["b=1", "c=c"])
  }

  @Test("what the body of withValue throws comes out")
  func bodyThrows() throws {
    try environment.store(["a": "1"])
    let snapshot = try environment.beginRead()
    #expect(throws: Refused.self) {
      try withBytes("a") { try snapshot.withValue(for: $0, in: .main) { _ in throw Refused() } }
    }
  }

  @Test("a cursor that outlives its transaction stops the program")
  func cursorOutlives() async {
    await #expect(processExitsWith: .failure) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      let transaction = try environment.beginWrite()
      let cursor = try transaction.cursor(in: .main)
      try transaction.commit()
      _ = cursor.key
    }
  }

  @Test("a write that ends on another thread than it began on stops the program")
  func endsElsewhere() async {
    await #expect(processExitsWith: .failure) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      let transaction = try environment.beginWrite()
      let handle = transaction.handle
      // Guard: used by one thread, while this one waits.
      nonisolated(unsafe) let lent = handle
      try OnThread { try environment.commit(writing: lent) }.value()
    }
  }
}
