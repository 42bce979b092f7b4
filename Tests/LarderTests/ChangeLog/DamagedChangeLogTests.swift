import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Damage in what the store keeps beside documents is said, and harms nothing else.
@Suite struct DamagedChangeLogTests {
  private let folder = TestFolder()

  /// A store with changes and a consumer, that is closed.
  private func make() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: Parcel.self).save((0..<10).map { Parcel(id: $0) })
    do {
      var changes = store.changes(for: "index").makeAsyncIterator()
      let batch = try #require(try await changes.next())
      try await store.write { try $0.acknowledge(batch) }
    }
    try store.close()
  }

  private func rename(_ name: String) throws {
    var bytes = try contents(of: folder.data)
    var start = bytes.startIndex
    while let found = bytes[start...].firstRange(of: Data(name.utf8)) {
      bytes[found.upperBound - 2] ^= 0x02
      start = found.upperBound
    }
    try replaceContents(of: folder.data, by: bytes)
  }

  @Test("a log that has lost its name is damaged, and nobody looks for it without end")
  func lostLog() async throws {
    try await make()
    try rename(Layout.changesName)
    let store = try Store(at: folder.store)

    let error = storeError { _ = try store.history() }

    guard case .damagedChangeLog(let what)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(what.contains("\(Layout.changesName) is missing"))
    #expect(try store.check().problems.map(\.reason) == ["it is no name that Larder gives"])
    // The next save begins another one.
    try await store.repository(of: Parcel.self).save(Parcel(id: 100))
    #expect(try store.history().isReset)
    #expect(try store.repository(of: Parcel.self).count() == 11)
    try store.close()
  }

  @Test(
    "a check names what nobody knows, and what has lost its name",
    arguments: [Layout.consumersName, Layout.timelineName])
  func lostName(_ name: String) async throws {
    try await make()
    try rename(name)
    let store = try Store(at: folder.store)
    let problems = try store.check().problems
    #expect(problems.map(\.reason) == ["it is no name that Larder gives"])
    try store.close()
  }

  @Test("a check reads the packs of the log, the consumers and the timeline")
  func flipped() async throws {
    try await make()
    try withEnvironment(folder.store) { environment in
      let log = try #require(try environment.database(named: Layout.changesName, create: false))
      let consumers = try #require(
        try environment.database(named: Layout.consumersName, create: false))
      try flip(in: environment, log, key: [0, 0, 0, 0, 0, 0, 0, 1], at: 30)
      try flip(in: environment, consumers, key: Array("index".utf8), at: 3)
      try flip(in: environment, .main, key: Array(Layout.timelineName.utf8), at: 3)
    }
    let store = try Store(at: folder.store)

    let places = Set(try store.check().problems.map(\.place))

    #expect(places == ["change log, the pack at 1", "consumer index", "timeline"])
    // All of it heals, with a reset.
    try await store.repository(of: Parcel.self).save(Parcel(id: 11))
    var changes = store.changes(for: "index").makeAsyncIterator()
    #expect(try await changes.next()?.isReset == true)
    try store.close()
  }

  private func write(_ body: (inout WriteTransaction, Database) throws -> Void) throws {
    try withEnvironment(folder.store) { environment in
      let log = try #require(try environment.database(named: Layout.changesName, create: false))
      var transaction = try environment.beginWrite()
      try body(&transaction, log)
      try transaction.commit()
    }
  }

  @Test("a state record with numbers that no store comes to is damaged, whatever its checksum")
  func hostileState() async throws {
    try await make()
    for field in 0..<3 {
      try write { transaction, _ in
        var state = try #require(try transaction.state(path: ""))
        state.sequence = field == 0 ? .max : 10
        state.catalogueVersion = field == 1 ? .max : state.catalogueVersion
        if field == 2 { state.transaction = .max }
        try transaction.put(state)
      }

      let error = storeError { _ = try Store(at: folder.store) }

      guard case .damagedCatalogue? = error else {
        Issue.record("thrown was \(String(describing: error))")
        return
      }
      try withEnvironment(folder.store) { environment in
        var transaction = try environment.beginWrite()
        try transaction.put(
          StoreState(
            transaction: UInt64(transaction.id), sequence: 10, catalogueVersion: 1, storeID: UUID())
        )
        try transaction.commit()
      }
    }
  }

  @Test("a pack under the largest number, and a consumer behind it, are read without an overflow")
  func hostileNumbers() async throws {
    try await make()
    try write { transaction, log in
      for number in [0, UInt64.max, 1 << 63] {
        var pack = ChangePackBuilder(collection: "Parcel", origin: .local, writer: 1, time: 0)
        [UInt8]([1]).withUnsafeBytes { key in
          pack.append(.inserted, key: key)
          pack.append(.inserted, key: key)
        }
        try pack.seal(firstSequence: number) { bytes in
          try withUnsafeBytes(of: number.bigEndian) { key in
            try transaction.put(bytes, for: key, in: log)
          }
        }
      }
    }
    let store = try Store(at: folder.store)

    #expect(try store.history(limit: 5).changes.count <= 5)
    _ = try store.history(
      since: JSONDecoder().decode(
        ChangeToken.self,
        from: Data(
          #"{"storeID":"\#(UUID())","timeline":"\#(UUID())","sequence":\#(UInt64.max)}"#.utf8)))
    #expect(try store.check().problems.count == 3)
    try await store.repository(of: Parcel.self).save(Parcel(id: 11))
    #expect(try store.repository(of: Parcel.self).count() == 11)
    try store.close()
  }
}
