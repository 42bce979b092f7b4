import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Stores that earlier versions of the library wrote, read and changed by today's.
@Suite struct StoredFormatTests {
  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures/Formats")

  private let folder = TestFolder()

  /// Lends a copy of a stored one, which is checked afterwards.
  private func withStore(_ name: String, _ body: (Store) throws -> Void) throws {
    try copy(name)
    let store = try Store(at: folder.store)
    #expect(try store.check().isSound)
    try body(store)
    try verifyAndClose(store)
  }

  private func copy(_ name: String) throws {
    let stored = Self.fixtures.appending(path: "\(name)/data.mdb")
    try FileManager.default.createDirectory(
      atPath: folder.store, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try replaceContents(of: folder.data, by: try Data(contentsOf: stored))
    chmod(folder.data, 0o600)
  }

  private var first: [FirstSeller] { (0..<20).map { FirstSeller($0) } }

  @Test("the stored ones are as they were written, and never written again")
  func unchanged() throws {
    for (name, hash) in Self.hashes {
      let bytes = try Data(contentsOf: Self.fixtures.appending(path: "\(name)/data.mdb"))

      #expect(bytes.withUnsafeBytes { Checksum.hash($0, seed: 0) } == hash, "\(name)")
    }
  }

  private static let hashes: [String: UInt64] = [
    "first": 11_602_929_619_581_721_668, "half-migrated": 15_846_622_184_928_532_621,
  ]

  @Test("the type that wrote a store reads every document as it was, and finds it unchanged")
  func sameType() throws {
    try withStore("first") { (store) throws in
      let sellers = store.repository(of: FirstSeller.self)

      #expect(try sellers.fetch(FirstSeller.all) == first)
      #expect(try sellers.count(FirstSeller.where { $0.city == "東京" }) == 6)
      #expect(try sellers.save(first).unchanged == 20)
      #expect(try store.version(of: FirstSeller.self) == 1)
      #expect(try store.version() == 1)
    }
  }

  @Test("keys of every kind are found in the order that they were written in")
  func keys() throws {
    try withStore("first") { (store) throws in
      func check(_ name: String, _ expected: [Value]) throws {
        let keyed = store.collection(name)
        #expect(try keyed.documents().map { $0["key"] } == expected)
        #expect(
          try expected.map { try keyed.get($0)?["text"] } == expected.map { .string("\($0)") })
      }
      try check("Keyed integer", [-1, 0, .integer(.max)])
      try check("Keyed unsigned", [0, .unsigned(.max)])
      let keyed = store.collection("Keyed uuid")
      let ids = try keyed.documents().compactMap { $0["text"] }
      #expect(ids.count == 2)
      #expect(try ids.compactMap { try keyed.get($0)?["text"] } == ids)
      #expect(
        try store.collection("imported").documents() == [
          ["id": "a", "order": "7", "geo": .document(["lat": 1, "lon": 2])],
          ["id": "b", "order": "x"],
        ])
    }
  }

  @Test("fields added, removed, renamed, made optional and widened are read without a migration")
  func laterType() throws {
    try withStore("first") { (store) throws in
      let sellers = store.repository(of: SecondSeller.self)
      let expected = first.map { SecondSeller($0) }

      #expect(try sellers.fetch(SecondSeller.all) == expected)
      #expect(try sellers.count(SecondSeller.where { $0.stars == 3 && $0.balance >= 1.9e10 }) == 1)
      #expect(try sellers.count(SecondSeller.where { $0.nick == nil }) == 20)
      #expect(try sellers.fetch(SecondSeller.where { $0.geo.lat < 0.2 }).map(\.id).count == 2)

      var changed = expected
      for index in changed.indices {
        changed[index].city = nil
        changed[index].channel = .chat
        changed[index].order = .max
        changed[index].rating = 0.1
        changed[index].geo.label = "home"
        changed[index].places.append(SecondGeo(label: "x", lat: 0, lon: 0, height: 9))
      }
      #expect(try sellers.save(changed).updated == 20)
      #expect(try sellers.fetch(SecondSeller.all) == changed)
      // What the second version does not know is kept.
      #expect(
        try store.collection("Seller").documents().map { $0["fax"] }
          == first.map { .string($0.fax) })
    }
  }

  @Test("an older type that saves keeps the fields of a newer one, in nested documents too")
  func downgrade() throws {
    try withStore("first") { (store) throws in
      let second = store.repository(of: SecondSeller.self)
      var documents = first.map { SecondSeller($0) }
      for index in documents.indices {
        documents[index].nick = "nick \(index)"
        documents[index].stars = index
        documents[index].geo.label = "label"
        documents[index].geo.height = index
      }
      try second.save(documents)
    }
    let again = try Store(at: folder.store)
    let firstSellers = again.repository(of: FirstSeller.self)
    var older = try firstSellers.fetch(FirstSeller.all)
    #expect(older == first)
    for index in older.indices {
      older[index].name = "renamed"
      older[index].geo.lat = 7
    }
    #expect(try firstSellers.save(older).updated == 20)

    let newer = try again.repository(of: SecondSeller.self).fetch(SecondSeller.all)

    #expect(newer.map(\.nick) == (0..<20).map { "nick \($0)" })
    #expect(newer.map(\.stars) == Array(0..<20))
    #expect(newer.map(\.geo.height) == Array(0..<20))
    #expect(newer.allSatisfy { $0.geo.label == "label" && $0.geo.lat == 7 && $0.name == "renamed" })
    try verifyAndClose(again)
  }

  @Test("an enum's case that an older type does not know is an error that names the document")
  func unknownCase() throws {
    try withStore("first") { (store) throws in
      var changed = SecondSeller(FirstSeller(3))
      changed.channel = .chat
      try store.repository(of: SecondSeller.self).save(changed)
      let sellers = store.repository(of: FirstSeller.self)

      #expect(
        throws: StoreError.unknownCase(
          collection: "Seller", key: "\"seller-03\"",
          reason: .field("channel", .unknownCase("chat", type: "FirstChannel")))
      ) { try sellers.get("seller-03") }
      #expect(try sellers.get("seller-04") == FirstSeller(4))
      #expect(try store.repository(of: SecondSeller.self).get("seller-03") == changed)
    }
  }

  @Test("a change of kind is refused until it is migrated, and right afterwards, with new keys")
  func migrated() throws {
    try withStore("first") { (store) throws in
      let third = store.repository(of: ThirdSeller.self)
      #expect(
        throws: StoreError.kindMismatch(
          collection: "Seller", field: "rank", stored: "string", declared: "int64")
      ) { try third.count() }

      try store.migrate(ThirdSeller.self, to: 2) { seller in
        guard case .string(let rank)? = seller["rank"], case .string(let id) = seller.key,
          case .document(var geo)? = seller["geo"], case .double(let lat)? = geo["lat"]
        else { throw Unexpected() }
        seller["rank"] = .integer(Int64(rank) ?? 0)
        geo["lat"] = .string("\(lat)")
        seller["geo"] = .document(geo)
        seller["id"] = .string(String(id.dropFirst("seller-".count)))
        if rank == "57" { seller.delete() }
      }

      let expected = first.dropLast().map { seller in
        ThirdSeller(
          id: String(seller.id.suffix(2)), name: seller.name, rank: Int(seller.rank) ?? 0,
          geo: ThirdGeo(lat: "\(seller.geo.lat)", lon: seller.geo.lon), stars: 3)
      }
      #expect(try third.fetch(ThirdSeller.all) == expected)
      #expect(try third.fetch(ThirdSeller.where { $0.rank > 48 }).map(\.id) == ["17", "18"])
      // Of the fields that the third version does not know none is lost.
      let dynamic = try #require(try store.collection("Seller").get("07"))
      #expect(dynamic["fax"] == "fax 7")
      #expect(dynamic["order"] == -3)
      #expect(dynamic["tags"] == ["a", "b", "c"])
      #expect(throws: StoreError.self) { try store.repository(of: SecondSeller.self).count() }
    }
  }

  @Test("a store that was left half-migrated opens, says so, and is finished")
  func halfMigrated() throws {
    try withStore("half-migrated") { (store) throws in
      let counts = store.collection("Count")
      #expect(try counts.version() == 1)
      #expect(try store.version() == 2)
      #expect(try counts.get(999)?["n"] == 9)
      #expect(try counts.get(1000)?["n"] == "0")
      #expect(throws: StoreError.unfinishedMigration(collection: "Count", version: 2)) {
        try counts.save([["id": 7, "n": 7]])
      }
      #expect(try store.collection("note").documents() == [["id": "a", "note": "of version 2"]])

      var migrated: [Value] = []
      var news: [StoreProgress] = []
      try counts.migrate(to: 2, progress: { news.append($0) }) { count in
        guard case .string(let text)? = count["n"] else { throw Unexpected() }
        count["n"] = .integer(Int64(text) ?? -1)
        migrated.append(count.key)
      }

      #expect(migrated == [1000, 1001, 1002])
      #expect(news.map(\.completed) == [1003])
      #expect(try counts.documents().map { $0["n"] } == (0..<1003).map { .integer($0 % 10) })
      #expect(try counts.version() == 2)
    }
  }

  @Test("a store of an earlier version that is opened to read only is left as it was")
  func readOnly() throws {
    try copy("first")
    let before = try contents(of: folder.data)

    let store = try Store(at: folder.store, options: StoreOptions(isReadOnly: true))
    #expect(try store.repository(of: SecondSeller.self).count() == 20)
    #expect(throws: StoreError.readOnly) {
      try store.migrate(FirstSeller.self, to: 2) { _ in }
    }
    #expect(throws: StoreError.readOnly) { try store.migrate(to: 2) { _ in } }
    #expect(try store.migrate(FirstSeller.self, to: 1) { _ in }.version == 1)
    try store.close()

    #expect(try contents(of: folder.data) == before)
  }
}
