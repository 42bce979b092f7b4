import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Document struct Slip: Equatable {
  var id: String
  var text = ""
}

/// A slip as somebody else's code has it.
struct Leaflet: Equatable {
  var name: String
  var words: String
}

struct LeafletMapper: EntityMapper {
  func convert(_ entity: Slip) -> Leaflet? { Leaflet(name: entity.id, words: entity.text) }
  func newEntity(for model: Leaflet) -> Slip { Slip(id: model.name, text: model.words) }
  func update(_ entity: inout Slip, by model: Leaflet) { entity.text = model.words }
  func entityAccessorKey(_ model: Leaflet) -> String { model.name }
}

/// A slip without macros.
struct PlainSlip: Codable, Identifiable, Equatable {
  var id: String
  var text: String
}

/// A version of the app that keeps two slips, those whose texts come last.
@Document(as: "Slip") struct AgeingSlip: Equatable {
  var id: String
  var text = ""

  static let ageing: [Ageing<AgeingSlip>] = [.keepNewest(2, by: \.text)]
}

/// A version of the app in which no two slips have one text.
@Document(as: "Slip") struct UniqueSlip: Equatable {
  var id: String
  @Indexed(unique: true) var text = ""
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
    Row("letters that are collected", ["a \(was)", "c"]) { store in
      // A store of its own stands in a folder of its own.
      let mailbox = Mailbox(at: store.folder.appending(path: "../\(UUID().uuidString)-mailbox"))
      defer { try? FileManager.default.removeItem(at: mailbox.folder) }
      try mailbox.post([Slip(id: "b", text: "old"), Slip(id: "c", text: "new")])
      try mailbox.post([Slip(id: "a", text: "new")])
      let report = try await store.collect(Slip.self, from: mailbox)
      #expect(report.merged.count == 2)
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
      _ = try await store.compact(timeout: .seconds(600))
    },
    Row("a mapped save", ["a \(was)", "c"]) { store in
      try await store.repository(of: Slip.self, mappedBy: LeafletMapper()).save([
        Leaflet(name: "a", words: "new"), Leaflet(name: "c", words: "new"),
      ])
    },
    Row("a mapped save that clears first", ["a \(was)", "b \(was) deleted"]) { store in
      try await store.repository(of: Slip.self, mappedBy: LeafletMapper()).save(
        [Leaflet(name: "a", words: "new")], clearBeforeSaving: Slip.all)
    },
    Row("a mapped save of what was pulled", []) { store in
      try await store.repository(of: Slip.self, mappedBy: LeafletMapper()).save(
        [Leaflet(name: "a", words: "new")], clearBeforeSaving: Slip.all, as: .sync)
    },
    Row("a save of a plain type", ["a \(was)", "c"]) { store in
      try await store.repository(of: PlainSlip.self, collection: "Slip").save([
        PlainSlip(id: "a", text: "new"), PlainSlip(id: "c", text: "new"),
      ])
    },
    Row("ageing beside a save: what goes is no deletion", ["a \(was)", "c"]) { store in
      // `b` has the least text, and the collection keeps two.
      try await store.repository(of: AgeingSlip.self).save([
        AgeingSlip(id: "a", text: "x"), AgeingSlip(id: "c", text: "y"),
      ])
      _ = try await store.evict(AgeingSlip.self)
    },
    Row("ageing of what was edited", ["a \(was)"]) { store in
      try await store.repository(of: AgeingSlip.self).save(AgeingSlip(id: "a", text: "0"))
      try await store.write(as: .sync) { try $0.save(AgeingSlip(id: "d", text: "z")) }
      _ = try await store.evict(AgeingSlip.self)
    },
    Row("ageing of what was edited before the collection ceased to be synced", ["a \(was)"]) {
      store in
      try await store.repository(of: AgeingSlip.self).save(AgeingSlip(id: "a", text: "0"))
      try await store.write(as: .sync) { tx in
        try tx.setSynced("Slip", false)
        try tx.save(Slip(id: "d", text: "z"))
      }
      _ = try await store.evict(AgeingSlip.self)
      #expect(try store.slips.fetch(Slip.all.sorted(by: \.id)).map(\.id) == ["a", "b", "d"])
    },
    Row("a save that a unique index refuses", []) { store in
      try await store.write(as: .sync) { try $0.save(Slip(id: "b", text: "another")) }
      try store.declare(UniqueSlip.self)
      await #expect(throws: StoreError.self) {
        try await store.repository(of: UniqueSlip.self).save([
          UniqueSlip(id: "a", text: "same"), UniqueSlip(id: "c", text: "same"),
        ])
      }
    },
    Row("a save that is refused in a transaction that goes on", ["c"]) { store in
      try await store.write(as: .sync) { try $0.save(Slip(id: "b", text: "another")) }
      try store.declare(UniqueSlip.self)
      try await store.write { tx in
        try tx.save(UniqueSlip(id: "c", text: "taken"))
        do {
          try tx.save(UniqueSlip(id: "a", text: "taken"))
          Issue.record("two slips have one text")
        } catch is StoreError {}
      }
    },
    Row("an edit that is taken back", ["a \(was)"]) { store in
      try await store.slips.save(Slip(id: "a", text: "new"))
      try await store.slips.save(Slip(id: "a", text: "old"))
    },
    Row(
      "many edits of several documents in one save, in any order", ["a \(was)", "b \(was) deleted"]
    ) {
      store in
      try await store.write { tx in
        for id in ["e", "b", "d", "a", "c"] { try tx.save(Slip(id: id, text: "1")) }
        _ = try tx.delete(Slip.self, keys: ["d", "c", "b", "e"])
      }
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

  @Test("entries stand in the order of their keys among those of others, however many are written")
  func many() async throws {
    let store = try Self.makeStore()
    // Entries before and behind those of slips, so that nothing can be appended.
    for name in ["Other", "Tail"] {
      _ = try store.collection(name).save([["id": "x"]], keyField: "id")
      try await store.write(as: .sync) { try $0.setSynced(name, true) }
      _ = try store.collection(name).save([["id": "x", "n": 1], ["id": "y"]], keyField: "id")
    }
    let ids = (0..<3000).map { String(format: "s%04d", $0) }
    let known = Set(ids.filter { $0.hasSuffix("3") || $0.hasSuffix("7") })
    try await store.write(as: .sync) { tx in
      for id in known {
        try tx.save(Slip(id: id, text: "old"))
        try tx.setBase("Slip", Array(id.utf8), to: [1])
      }
    }

    try await store.slips.save(ids.shuffled().map { Slip(id: $0, text: "new") })
    try await store.slips.save(ids.shuffled().map { Slip(id: $0, text: "newer") })

    #expect(try Self.text(of: store) == ids.map { known.contains($0) ? "\($0) \(Self.was)" : $0 })
    let count = try store.read { try $0.outboxCount() }
    #expect(count == ids.count + 4)
    try verifyAndClose(store)
  }

  @Test(
    "without room an edit is refused as a whole, and a deletion leaves an entry without its record")
  func full() async throws {
    let folder = TestFolder()
    var options = StoreOptions()
    options.mapByteCount = 1 << 20
    let store = try Store(at: folder.store, options: options)
    try store.declare(Slip.self)
    try store.prepareOutbox()
    try await store.write(as: .sync) { try $0.setSynced("Slip", true) }
    var ids: [String] = []
    let long = String(repeating: "long", count: 500)
    // Everything is known to the remote, until nothing more is taken.
    while ids.count < 10_000 {
      let id = String(format: "s%05d", ids.count)
      do {
        try await store.write(as: .sync) { tx in
          try tx.save(Slip(id: id, text: long))
          try tx.setBase("Slip", Array(id.utf8), to: [1])
        }
        ids.append(id)
      } catch StoreError.full { break }
    }
    try #require(ids.count > 20 && ids.count < 10_000)

    var edited: [String] = []
    for id in ids {
      do {
        try await store.slips.save(Slip(id: id, text: String(long.reversed())))
        edited.append(id)
      } catch StoreError.full { break }
    }
    #expect(edited.count < ids.count)
    #expect(try Self.text(of: store).count == edited.count)
    // Until not even a small document finds room.
    var number = 0
    while number < 100_000 {
      do {
        _ = try store.collection("Other").save([["id": .integer(Int64(number))]], keyField: "id")
        number += 1
      } catch StoreError.full { break }
    }
    try #require(number < 100_000)
    // More than what is kept for deletions has room for.
    _ = try await store.slips.delete(keys: ids)

    let left = try store.read { snapshot in
      var left: [String: OutboxEntry] = [:]
      try snapshot.forEachOutboxEntry("Slip") { key, entry in
        left[String(decoding: key, as: UTF8.self)] = entry
        return true
      }
      return left
    }
    #expect(left.keys.sorted() == ids)
    #expect(left.values.allSatisfy { $0.isDeleted && $0.base != nil })
    #expect(left.values.contains { $0.shadow == nil })
    try verifyAndClose(store)
  }

  @Test("what is saved from a damaged store has its edits, and whose they are")
  func salvage() async throws {
    let folder = TestFolder()
    let store = try Self.makeStore(at: folder.store)
    try await store.slips.save([Slip(id: "a", text: "new"), Slip(id: "c", text: "new")])
    try await store.slips.delete(key: "b")
    try await store.write(as: .sync) { try $0.setSyncNote("account", to: Array("me".utf8)) }
    let entries = try Self.text(of: store)
    try store.close()

    _ = try await Store.quarantine(at: URL(filePath: folder.store))

    let saved = try Store(at: folder.store)
    #expect(try Self.text(of: saved) == entries)
    let owner = try saved.read { try $0.syncNote("account") }
    #expect(owner == Array("me".utf8))
    #expect(try saved.slips.fetch(Slip.all.sorted(by: \.id)).map(\.text) == ["new", "new"])
    try await saved.slips.save(Slip(id: "a", text: "newer"))
    #expect(try Self.text(of: saved) == entries)
    try verifyAndClose(saved)
  }

  @Test(
    "a synced collection is not renamed, nor is another one to its name, and nothing is changed",
    arguments: [true, false])
  func notRenamed(isSource: Bool) throws {
    let store = try Self.makeStore()
    _ = try store.collection("Other").save([["id": "c"]], keyField: "id")
    if !isSource { try store.slips.delete(Slip.all) }
    let before = try Self.text(of: store)

    #expect(throws: StoreError.renamingSynced(collection: "Slip")) {
      try store.migrate(to: 2) {
        _ =
          isSource
          ? try $0.rename(store.collection("Slip"), to: "Paper")
          : try $0.rename(store.collection("Other"), to: "Slip")
      }
    }

    #expect(try store.version() == 1)
    #expect(try store.collectionNames().sorted() == ["Other", "Slip"])
    #expect(try Self.text(of: store) == before)
    try verifyAndClose(store)
  }

  @Test("a process that is killed leaves an entry for each edit that it made, and none for others")
  func killed() throws {
    let folder = TestFolder()
    for round in 0..<3 {
      let other = try OtherProcess("edit-synced", folder.store, "\(round)")
      var said: [String] = []
      while said.count < 20, let line = other.line() { said.append(line) }
      other.kill()

      let store = try Store(at: folder.store)
      var entries: [String] = []
      try store.read { snapshot in
        try snapshot.forEachOutboxEntry("Note") { key, _ in
          entries.append(String(decoding: key, as: UTF8.self))
          return true
        }
      }
      let notes = try store.repository(of: Note.self).fetch(Note.all.sorted(by: \.id)).map(\.id)
      #expect(said.count == 20 && Set(said).isSubset(of: notes))
      #expect(entries == notes)
      try verifyAndClose(store)
    }
  }

  @Test("what was sent is kept as it was sent, however often the document is edited after that")
  func flight() async throws {
    let store = try Self.makeStore()
    try await Self.send("a", in: store)

    for text in ["1", "2"] { try await store.slips.save(Slip(id: "a", text: text)) }

    try store.read { snapshot in
      let entry = try #require(
        try snapshot.transaction.outboxEntry(
          "Slip", Array("a".utf8), snapshot.engine.outboxDatabases, snapshot.catalogue))
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
