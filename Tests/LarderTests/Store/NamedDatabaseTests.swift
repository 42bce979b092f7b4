import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// What LMDB keeps of a store's databases, as it stands in the file.
@Suite(.timeLimit(.minutes(20))) struct NamedDatabaseTests {
  /// LMDB's record of a database: two bytes of flags behind four of padding.
  private enum Record {
    static let byteCount = 48
    static let flagsPlace = 4
    /// Where the first meta page has the record of the free list, and behind it that of the main
    /// database.
    static let places = (freeList: 40, main: 88)
    static let duplicates: UInt16 = 0x04  // MDB_DUPSORT
    static let integerKeys: UInt16 = 0x08  // MDB_INTEGERKEY
  }

  /// The flags of every named database.
  private func flags(in store: Store) throws -> [String: UInt16] {
    let reading = try store.engine.environment.beginRead()
    var flags: [String: UInt16] = [:]
    for name in try store.engine.environment.databaseNames() {
      let found = try Array(name.utf8).withUnsafeBytes { key in
        try reading.withValue(for: key, in: .main) { record in
          record.count == Record.byteCount
            ? record.loadUnaligned(fromByteOffset: Record.flagsPlace, as: UInt16.self) : nil
        }
      }
      flags[name] = try #require(found ?? nil, "\(name)")
    }
    return flags
  }

  /// Does everything that an app can do with a store, and calls `look` after each step.
  private func everything(_ look: (Store, String) throws -> Void) async throws {
    try await CallFaultTests.withStore { store, _ in
      // Whoever does not know the newer version of a type cannot use it any more.
      let (last, first) = (
        CallFaultTests.operations.filter { $0.description == "migrate" },
        CallFaultTests.operations.filter { $0.description != "migrate" }
      )
      try #require(last.count == 1)
      for operation in first + last {
        try await operation.run(store)
        try look(store, operation.description)
      }
      try await store.repository(of: Parcel.self).eraseAllData()
      try await store.compact(timeout: .seconds(600))
      try look(store, "compact")
    }
  }

  @Test("no database of a store is made with DUPSORT, or with any other flag")
  func flags() async throws {
    var seen: Set<String> = []
    try await everything { store, step in
      let flags = try flags(in: store)
      seen.formUnion(flags.keys)
      #expect(flags.allSatisfy { $0.value == 0 }, "\(flags) after: \(step)")
    }

    for name in [
      Layout.catalogueName, Layout.indexesName, Layout.changesName, Layout.migrationsName,
      Layout.consumersName, Layout.documentsName(of: "Contact"),
    ] {
      #expect(seen.contains(name), "\(seen)")
    }
    #expect(seen.contains { $0.hasPrefix("index/") }, "\(seen)")
  }

  @Test("the main database and the free list have no duplicates either")
  func flagsOfMain() throws {
    let folder = TestFolder()
    let store = try Store(at: folder.store)
    try store.repository(of: Account.self).save(Account(number: 1, balance: 1))
    try store.close()

    let file = try Data(contentsOf: URL(filePath: folder.store + "/data.mdb"))

    func flags(_ place: Int) -> UInt16 {
      file.withUnsafeBytes {
        $0.loadUnaligned(fromByteOffset: place + Record.flagsPlace, as: UInt16.self)
      }
    }
    #expect(flags(Record.places.main) == 0)
    #expect(flags(Record.places.freeList) & Record.duplicates == 0)
    // What LMDB itself says of it: the place is the right one.
    #expect(flags(Record.places.freeList) & Record.integerKeys != 0)
  }

  @Test("no database is ever dropped under others' feet: emptied, it keeps its name")
  func names() async throws {
    var known: Set<String> = []
    var emptied: Set<String> = []
    try await everything { store, step in
      let reading = try store.engine.environment.beginRead()
      // Asked of the file, not of the handles that are open.
      var names: Set<String> = []
      var cursor = try reading.cursor(in: .main)
      while try cursor.next() { names.insert(String(decoding: cursor.key, as: UTF8.self)) }
      #expect(known.isSubset(of: names), "gone after: \(step)")
      known.formUnion(names)
      for name in names {
        guard let database = store.engine.environment.knownDatabase(named: name) else { continue }
        let count = try reading.statistics(of: database).entryCount
        if count == 0 { emptied.insert(name) }
      }
    }

    // Or else nothing was emptied, and nothing shown.
    #expect(emptied.contains(Layout.documentsName(of: "Parcel")), "\(emptied)")
    #expect(emptied.contains { $0.hasPrefix("index/") }, "\(emptied)")
  }
}
