import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document struct Slip: Equatable {
  var id: String
  var text = ""
}

/// Every way in which a document can change, and what stands in the outbox after it.
@Suite("what edits leave in the outbox") struct OutboxTableTests {
  /// Slip row: what is there, what is done, and what is left to be sent.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    /// Documents that the remote has.
    var known = ["a", "b"]
    let body: @Sendable (Store) async throws -> Void
    /// The entries, as ``text(of:in:)`` writes them.
    let outbox: [String]

    init(
      _ name: String, _ outbox: [String], _ body: @escaping @Sendable (Store) async throws -> Void
    ) {
      self.name = name
      self.outbox = outbox
      self.body = body
    }

    var testDescription: String { name }
  }

  struct Stop: Error {}

  /// A collection that is synced, with two documents that the remote has.
  static func makeStore(at folder: String? = nil) throws -> Store {
    let store = try folder.map { try Store(at: $0) } ?? Store.temporary()
    try store.declare(Slip.self)
    try store.prepareOutbox()
    try store.write(as: .sync) { tx in
      try tx.setSynced("Slip", true)
      for id in ["a", "b"] {
        try tx.save(Slip(id: id, text: "old"))
        try tx.setBase("Slip", Array(id.utf8), to: [0, 0, 1, 7])
      }
    }
    return store
  }

  /// The entries of a store: key, whether the remote had it, the text of the shadow, and marks.
  static func text(of store: Store) throws -> [String] {
    try store.read { snapshot in
      var lines: [String] = []
      try snapshot.forEachOutboxEntry("Slip") { key, entry in
        var line = String(decoding: key, as: UTF8.self)
        if entry.base != nil { line += " base" }
        if let shadow = entry.shadow,
          let document = try snapshot.document("Slip", key, record: shadow),
          case .string(let text)? = document["text"]
        {
          line += " was \(text)"
        }
        if entry.isDeleted { line += " deleted" }
        if entry.isEditedInFlight { line += " edited in flight" }
        lines.append(line)
        return true
      }
      return lines
    }
  }

  private static let was = "base was old"

  static let rows: [Row] = [
    Row("a typed save of one", ["a \(was)"]) {
      try await $0.slips.save(Slip(id: "a", text: "new"))
    },
    Row("a typed save of many, of which one is new", ["a \(was)", "c"]) {
      try await $0.slips.save([Slip(id: "a", text: "new"), Slip(id: "c", text: "new")])
    },
    Row("a save of what stands there already", []) {
      try await $0.slips.save(Slip(id: "a", text: "old"))
    },
    Row("a save that clears first", ["a \(was)", "b \(was) deleted"]) {
      try await $0.slips.save([Slip(id: "a", text: "new")], clearBeforeSaving: Slip.all)
    },
    Row("an update of one document", ["a \(was)"]) { store in
      _ = try await store.write { tx in try tx.update(Slip.self, "a") { $0.text = "new" } }
    },
    Row("an upsert that keeps what is there", ["c"]) { store in
      try await store.write { tx in
        for id in ["a", "c"] where try tx.get(Slip.self, id) == nil {
          try tx.save(Slip(id: id, text: "new"))
        }
      }
    },
    Row("a deletion by key", ["a \(was) deleted"]) { try await $0.slips.delete(key: "a") },
    Row("a deletion by keys", ["a \(was) deleted", "b \(was) deleted"]) {
      try await $0.slips.delete(keys: ["a", "b", "none"])
    },
    Row("a deletion by query", ["b \(was) deleted"]) {
      try await $0.slips.delete(Slip.where { $0.id == "b" })
    },
    Row("an untyped save", ["a \(was)", "c"]) { store in
      try store.collection("Slip").save(
        [["id": "a", "text": "new"], ["id": "c", "text": "new"]], keyField: "id")
    },
    Row("an untyped deletion", ["a \(was) deleted"]) { store in
      _ = try await store.write { try $0.delete(key: "a", in: store.collection("Slip")) }
    },
    Row("several edits of one document", ["a \(was)"]) { store in
      for text in ["1", "2", "3"] { try await store.slips.save(Slip(id: "a", text: text)) }
    },
    Row("several edits in one transaction", ["a \(was)"]) { store in
      try await store.write { tx in
        for text in ["1", "2", "3"] { try tx.save(Slip(id: "a", text: text)) }
      }
    },
    Row("deleted and made again", ["a \(was)"]) { store in
      try await store.slips.delete(key: "a")
      try await store.slips.save(Slip(id: "a", text: "new"))
    },
    Row("created and deleted", []) { store in
      try await store.slips.save(Slip(id: "c", text: "new"))
      try await store.slips.delete(key: "c")
    },
    Row("created and deleted in one transaction", []) { store in
      try await store.write { tx in
        try tx.save(Slip(id: "c", text: "new"))
        _ = try tx.delete(Slip.self, keys: ["c"])
      }
    },
    Row("everything erased", []) { store in
      try await store.slips.save(Slip(id: "c", text: "new"))
      try await store.slips.delete(key: "a")
      try await store.slips.eraseAllData()
    },
    Row("everything erased, and something saved behind that", ["a"]) { store in
      try await store.write { tx in
        try tx.eraseAllData(of: Slip.self)
        try tx.save(Slip(id: "a", text: "new"))
      }
    },
    Row("what comes from the remote", []) { store in
      try await store.write(as: .sync) { tx in
        try tx.save(Slip(id: "a", text: "new"))
        _ = try tx.delete(Slip.self, keys: ["b"])
      }
    },
    Row("an import", ["a \(was)"]) { store in
      _ = try await store.write(as: .imported) { try $0.save(Slip(id: "a", text: "new")) }
    },
    Row("expiry", []) { store in
      try await store.write(as: .expiry) { _ = try $0.delete(Slip.self, keys: ["a"]) }
    },
    Row("a migration", []) { store in
      try await store.migrate(Slip.self, to: 2) { $0["text"] = "migrated" }
    },
    Row("a write that throws", []) { store in
      await #expect(throws: Stop.self) {
        try await store.write { tx in
          try tx.save(Slip(id: "a", text: "new"))
          throw Stop()
        }
      }
    },
    Row("writes that share a commit, of which one throws", ["a \(was)", "c"]) { store in
      await withTaskGroup(of: Void.self) { group in
        for id in ["a", "b", "c"] {
          group.addTask {
            try? await store.write { tx -> Void in
              try tx.save(Slip(id: id, text: "new"))
              if id == "b" { throw Stop() }
            }
          }
        }
      }
    },
    Row("an edit of what was sent and not answered", ["a \(was) edited in flight"]) { store in
      try await send("a", in: store)
      try await store.slips.save(Slip(id: "a", text: "newer"))
    },
    Row("a deletion of what was sent and not answered", ["c deleted edited in flight"]) { store in
      try await send("c", in: store)
      try await store.slips.delete(key: "c")
    },
    Row("a compaction", ["a \(was)"]) { store in
      try await store.slips.save(Slip(id: "a", text: "new"))
      _ = try await store.compact()
    },
  ]

  /// Edits a document, and notes that the edit is under way.
  private static func send(_ id: String, in store: Store) async throws {
    try await store.slips.save(Slip(id: id, text: "sent"))
    try await store.write(as: .sync) { tx in
      var entry = try #require(try tx.outboxEntry("Slip", Array(id.utf8)))
      entry.flight = OutboxEntry.Flight(mutation: UUID())
      try tx.setOutboxEntry("Slip", Array(id.utf8), to: entry)
    }
  }

  @Test("each way to change documents leaves these entries", arguments: rows)
  func table(_ row: Row) async throws {
    let store = try Self.makeStore()

    try await row.body(store)

    #expect(try Self.text(of: store) == row.outbox)
    try verifyAndClose(store)
  }

  @Test("what was sent is kept as it was sent, however often the document is edited after that")
  func flight() async throws {
    let store = try Self.makeStore()
    try await Self.send("a", in: store)

    for text in ["1", "2"] { try await store.slips.save(Slip(id: "a", text: text)) }

    try store.read { snapshot in
      let entry = try #require(try snapshot.outboxEntry("Slip", Array("a".utf8)))
      let flight = try #require(entry.flight)
      let record = try #require(flight.sent)
      let sent = try #require(record)
      #expect(try snapshot.document("Slip", Array("a".utf8), record: sent)?["text"] == "sent")
    }
    try verifyAndClose(store)
  }

  @Test("a backup has documents and entries as they were together")
  func backup() async throws {
    let folder = TestFolder()
    let store = try Self.makeStore()
    try await store.slips.save(Slip(id: "a", text: "new"))

    try await store.backup(to: URL(filePath: folder.path + "/backup"))
    try await store.slips.delete(key: "b")

    let copy = try Store(at: folder.path + "/backup")
    #expect(try Self.text(of: copy) == ["a \(Self.was)"])
    try verifyAndClose(copy)
    try verifyAndClose(store)
  }

  @Test("what the remote has is forgotten when a collection is erased that only comes down")
  func eraseDown() async throws {
    let store = try Self.makeStore()
    try await store.write(as: .sync) { try $0.setSynced("Slip", false) }

    try await store.slips.eraseAllData()

    try store.read { snapshot in
      var count = 0
      try snapshot.forEachBase("Slip") { _, _ in
        count += 1
        return true
      }
      #expect(count == 0)
      #expect(try snapshot.eraseCount("Slip") == 1)
    }
    try verifyAndClose(store)
  }

  @Test("a damaged entry is found, keeps nobody from saving, and is sent with what the remote has")
  func damage() async throws {
    let store = try Self.makeStore()
    try await store.slips.save([Slip(id: "a", text: "new"), Slip(id: "c", text: "new")])
    try await store.slips.delete(key: "b")
    try await store.write { tx in
      let outbox = try #require(tx.engine.outboxDatabases).outbox
      for id in ["a", "b"] {
        try (OutboxKey.prefix(of: "Slip") + Array(id.utf8)).withUnsafeBytes { key in
          try [UInt8](repeating: 1, count: 40).withUnsafeBytes {
            try tx.transaction.put($0, for: key, in: outbox)
          }
        }
      }
      tx.hasWrittenMore = true
    }

    #expect(try store.check().problems.count == 2)
    #expect(try Self.text(of: store) == ["a base", "b base deleted", "c"])

    try await store.slips.save([Slip(id: "a", text: "newer"), Slip(id: "b", text: "again")])
    #expect(try store.check().problems.isEmpty)
    #expect(
      try Self.text(of: store) == ["a base was new", "b base", "c"])
    try store.close()
  }

  @Test("a record of what an engine noted is found where it is damaged")
  func damagedNote() throws {
    let store = try Self.makeStore()
    try store.write(as: .sync) { tx in
      let sync = try #require(tx.engine.outboxDatabases).sync
      try OutboxKey.baseKey("Slip", Array("a".utf8)).withUnsafeBytes { key in
        try [UInt8](repeating: 3, count: 20).withUnsafeBytes {
          try tx.transaction.put($0, for: key, in: sync)
        }
      }
      tx.hasWrittenMore = true
    }

    #expect(try store.check().problems.map(\.description).contains { $0.contains("sync") })
    try store.slips.save(Slip(id: "a", text: "new"))
    #expect(try Self.text(of: store) == ["a"])
    try store.close()
  }
}

extension Store {
  fileprivate var slips: StoreRepository<Slip> { repository(of: Slip.self) }
}
