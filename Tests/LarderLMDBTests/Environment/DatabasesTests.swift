import LarderLMDB
import LarderTestKit
import Testing

@Suite("named databases")
struct DatabasesTests {
  let folder = TestFolder()

  @Test("a missing database is nil, and one that was made is found by name and kept")
  func createAndFind() throws {
    let environment = try Environment.open(at: folder.store)
    #expect(try environment.database(named: "books", create: false) == nil)
    let books = try #require(try environment.database(named: "books", create: true))
    let orders = try #require(try environment.database(named: "orders", create: true))
    #expect(books != orders)
    #expect(try environment.database(named: "books", create: false) == books)
    try environment.store(["a": "book"], in: books)
    try environment.store(["a": "order"], in: orders)
    try environment.close()

    let again = try Environment.open(at: folder.store)

    let found = try #require(try again.database(named: "books", create: false))
    #expect(try again.read("a", in: found) == "book")
    #expect(try again.databaseNames() == ["books", "orders"])
  }

  @Test("records of the main database are not names")
  func recordsAreNotNames() throws {
    let environment = try Environment.open(at: folder.store)
    _ = try environment.database(named: "books", create: true)
    try environment.store(["plain": String(repeating: "x", count: 48), "nul\0": "1"])

    #expect(try environment.databaseNames() == ["books"])
    #expect(try environment.database(named: "plain", create: false) == nil)
    #expect(code { _ = try environment.database(named: "plain", create: true) } != nil)
    try environment.close()
    #expect(try Environment.open(at: folder.store).databaseNames() == ["books"])
  }

  @Test("a database that another process made is found")
  func madeElsewhere() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      let store = folder.store
      let report = try Child.report {
        let own = try Environment.open(at: store)
        guard let books = try own.database(named: "books", create: true) else { return 1 }
        try own.store(["a": "1"], in: books)
        return 0
      }
      #expect(report == 0)

      let books = try #require(try environment.database(named: "books", create: false))
      #expect(try environment.read("a", in: books) == "1")
    }
  }

  @Test("a known handle is given inside a write transaction too")
  func knownInsideWrite() throws {
    let environment = try Environment.open(at: folder.store)
    let books = try environment.database(named: "books", create: true)
    let transaction = try environment.beginWrite()

    #expect(try environment.database(named: "books", create: true) == books)
    _ = transaction.id
  }

  @Test("a handle opened after a snapshot began is refused in it, and works once it renews")
  func handleNewerThanSnapshot() throws {
    let environment = try Environment.open(at: folder.store)
    var snapshot = try environment.beginRead()
    let books = try #require(try environment.database(named: "books", create: true))
    try environment.store(["a": "1"], in: books)

    #expect(code { _ = try snapshot.value("a", in: books) } == .missing)
    #expect(code { _ = try snapshot.records(in: books) } == .missing)
    try snapshot.renew()
    #expect(try snapshot.value("a", in: books) == "1")
  }

  @Test("more databases than the option allows are refused with the number")
  func databasesFull() throws {
    var options = Environment.Options()
    options.maximumDatabaseCount = 2
    let environment = try Environment.open(at: folder.store, options: options)
    _ = try environment.database(named: "a", create: true)
    _ = try environment.database(named: "b", create: true)

    let error = failure { _ = try environment.database(named: "c", create: true) }

    #expect(error?.code == .databasesFull)
    #expect(error?.detail.contains("all 2 ") == true)
    #expect(error?.description.contains("maximumDatabaseCount") == true)
    #expect(try environment.databaseNames() == ["a", "b"])
    try environment.close()
    options.maximumDatabaseCount = 1
    #expect(
      code { _ = try Environment.open(at: folder.store, options: options) } == .databasesFull)
    #expect(try Environment.open(at: folder.store).databaseNames() == ["a", "b"])
  }

  @Test("a name that LMDB cannot take is refused")
  func badNames() throws {
    let environment = try Environment.open(at: folder.store)
    for name in ["", "a\0b", String(repeating: "n", count: 512)] {
      #expect(code { _ = try environment.database(named: name, create: true) } == .badValueSize)
    }
    #expect(try environment.databaseNames() == [])
  }

  @Test("threads that ask for the same new databases get the same handles")
  func askedByMany() async throws {
    let environment = try Environment.open(at: folder.store)
    let handles = try await withThrowingTaskGroup(of: [Database?].self) { group in
      for _ in 0..<4 {
        group.addTask {
          try (0..<20).map { try environment.database(named: "d\($0)", create: true) }
        }
      }
      var all: Set<[Database?]> = []
      for try await handles in group { all.insert(handles) }
      return all
    }
    #expect(handles.count == 1)
    #expect(Set(handles.first ?? []).count == 20)
  }
}
