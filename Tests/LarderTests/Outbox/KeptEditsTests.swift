import Foundation
import LarderTesting
import Testing

@testable import Larder

/// Every way in which what was pulled can change documents, beside edits that were not sent yet.
@Suite("what is pulled leaves documents alone whose edits wait to be sent") struct KeptEditsTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The texts afterwards, by key: `a` was edited, `b` deleted, `c` made here; the remote has `d`.
    var texts = ["a": "mine", "c": "mine", "d": "pulled"]
    /// How many documents it says that it has kept; nil where it says nothing.
    var kept: Int?
    let body: @Sendable (Store) async throws -> SaveReport?
  }

  private static let pulled = ["a", "b", "c", "d"].map { Slip(id: $0, text: "pulled") }
  private static let withoutD = ["a": "mine", "c": "mine"]

  static let rows: [Row] = [
    Row(testDescription: "a save by a repository", kept: 3) {
      try await $0.repository(of: Slip.self).save(pulled, as: .sync)
    },
    Row(testDescription: "a save that clears first", kept: 3) {
      try await $0.repository(of: Slip.self).save(
        pulled, clearBeforeSaving: Slip.all, as: .sync)
    },
    Row(testDescription: "a save of nothing that clears first", texts: withoutD, kept: 0) {
      try await $0.repository(of: Slip.self).save(
        [], clearBeforeSaving: Slip.all, as: .sync)
    },
    Row(testDescription: "a save through a mapper", kept: 3) {
      try await $0.repository(of: Slip.self, mappedBy: LeafletMapper()).save(
        pulled.map { Leaflet(name: $0.id, words: $0.text) }, clearBeforeSaving: Slip.all,
        as: .sync)
    },
    Row(testDescription: "a save of a plain type", kept: 3) {
      try await $0.repository(of: PlainSlip.self, collection: "Slip").save(
        pulled.map { PlainSlip(id: $0.id, text: $0.text) }, as: .sync)
    },
    Row(testDescription: "a save of many in the order of their keys", kept: 3) { store in
      // More than are encoded before the write.
      let many = pulled + (0..<2000).map { Slip(id: "e\($0 + 1000)", text: "many") }
      let report = try await store.write(as: .sync) { try $0.save(many) }
      _ = try await store.write(as: .sync) { try $0.delete(Slip.where { $0.text == "many" }) }
      return report
    },
    Row(testDescription: "a save without a type", kept: 3) { store in
      try await store.write(as: .sync) { tx in
        try tx.save(
          pulled.map {
            DynamicDocument([.init("id", .string($0.id)), .init("text", .string($0.text))])
          }, in: store.collection("Slip"), keyField: "id")
      }
    },
    Row(testDescription: "an update", texts: withoutD.merging(["d": "new"]) { $1 }) { store in
      for id in ["a", "c", "d"] {
        let slip = try await store.repository(of: Slip.self).update(id, as: .sync) {
          $0.text = "new"
        }
        #expect(slip?.text == (id == "d" ? "new" : "mine"))
      }
      return nil
    },
    Row(testDescription: "deletions by key", texts: withoutD) { store in
      let count = try await store.repository(of: Slip.self).delete(
        keys: ["a", "b", "c", "d"], as: .sync)
      #expect(count == 1)
      return nil
    },
    Row(testDescription: "a deletion by a query", texts: withoutD) { store in
      let count = try await store.repository(of: Slip.self).delete(Slip.all, as: .sync)
      #expect(count == 1)
      return nil
    },
    Row(testDescription: "a deletion by an index", texts: withoutD) { store in
      try store.declare(UniqueSlip.self)
      let count = try await store.repository(of: UniqueSlip.self).delete(
        UniqueSlip.where { $0.text >= "" }, as: .sync)
      #expect(count == 1)
      return nil
    },
    Row(testDescription: "deletions without a type", texts: withoutD) { store in
      let slips = store.collection("Slip")
      let count = try await store.write(as: .sync) { tx in
        try tx.delete(keys: ["a", "b", "c", "d"], in: slips)
      }
      #expect(count == 1)
      return nil
    },
    Row(testDescription: "but not an engine", texts: ["a": "pulled"], kept: 0) { store in
      try await store.write(as: .sync) { tx in
        try tx.reconciling { tx in
          try tx.delete(Slip.self, keys: ["c", "d"])
          return try tx.save(Slip(id: "a", text: "pulled"))
        }
      }
    },
    Row(testDescription: "nor edits", texts: ["a": "again", "b": "again"], kept: 0) { store in
      try await store.write { tx in
        try tx.delete(Slip.self, keys: ["c", "d"])
        return try tx.save(["a", "b"].map { Slip(id: $0, text: "again") })
      }
    },
  ]

  @Test("row", arguments: rows)
  func keeps(_ row: Row) async throws {
    let store = try OutboxTableTests.makeStore()
    try await store.write(as: .sync) { try $0.save(Slip(id: "d", text: "old")) }
    try await store.write { tx in
      // In the order of their keys: no two documents have one text.
      try tx.save([Slip(id: "a", text: "mine"), Slip(id: "c", text: row.isUnique ? "my" : "mine")])
      try tx.delete(Slip.self, "b")
    }
    let outbox = try OutboxTableTests.text(of: store)
    #expect(outbox.map { $0.prefix(1) } == ["a", "b", "c"])

    let report = try await row.body(store)

    var texts: [String: String] = [:]
    for slip in try store.repository(of: Slip.self).fetch(Slip.all) {
      texts[slip.id] = slip.text == "my" ? "mine" : slip.text
    }
    #expect(texts == row.texts)
    #expect(report?.kept == row.kept)
    if row.texts["a"] == "mine" { #expect(try OutboxTableTests.text(of: store) == outbox) }
    #expect(try store.check().isSound)
    try store.close()
  }

  @Test("whose edits were sent, are replaced again") func sent() async throws {
    let store = try OutboxTableTests.makeStore()
    try await store.write { try $0.save(Slip(id: "a", text: "mine")) }
    try await store.write(as: .sync) { try $0.setOutboxEntry("Slip", Array("a".utf8), to: nil) }
    let report = try await store.repository(of: Slip.self).save(Self.pulled, as: .sync)
    #expect(report.kept == 0 && report.updated == 2)
    #expect(report.description == "2 inserted, 2 updated, 0 unchanged, 0 deleted")
    try store.close()
  }
}

extension KeptEditsTests.Row {
  fileprivate var isUnique: Bool { testDescription.contains("index") }
}
