import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Salvage into a store that describes its collections in another way than the file.
@Suite struct SalvageTests {
  private let folder = TestFolder()
  private var url: URL { URL(filePath: folder.store) }

  private func makeFile(_ collections: [String: [DynamicDocument]]) throws {
    let store = try Store(at: folder.store)
    for (name, documents) in collections {
      _ = try store.collection(name).save(documents, keyField: "id")
    }
    try store.close()
  }

  private func newStore() throws -> Store { try Store(at: folder.path + "/new") }

  @Test("documents are saved where a type has declared wider kinds than they were written with")
  func widened() throws {
    try makeFile([
      "Part": (0..<20).map { ["id": .integer(Int64($0)), "size": .integer(Int64($0))] }
    ])
    let store = try newStore()
    try store.declare(Part.self)

    let report = try store.salvage(from: url)

    #expect(report.documentCounts == ["Part": 20])
    #expect(report.unsaved.isEmpty && report.damagedRecordCount == 0)
    #expect(
      try store.repository(of: Part.self).fetch(Part.all)
        == (0..<20).map { Part(id: $0, size: Double($0)) })
    try verifyAndClose(store)
  }

  @Test("documents are saved where the store has other fields, and keep those that it lacks")
  func otherFields() throws {
    try makeFile([
      "Part": (0..<20).map { ["old": "x", "id": .integer(Int64($0)), "size": 1.5] }
    ])
    let store = try newStore()
    let parts = store.repository(of: Part.self)
    try parts.save(Part(id: 3, size: 7))

    let report = try store.salvage(from: url)

    #expect(report.documentCounts == ["Part": 19])
    #expect(report.unsaved.isEmpty && report.damagedRecordCount == 0)
    #expect(
      try parts.fetch(Part.all) == (0..<20).map { Part(id: $0, size: $0 == 3 ? 7 : 1.5) })
    #expect(try store.collection("Part").get(4)?["old"] == "x")
    try verifyAndClose(store)
  }

  @Test(
    "documents that do not fit the store are named, and keep no other collection from being saved")
  func unfit() throws {
    try makeFile([
      "Part": (0..<10).map { ["id": .integer(Int64($0)), "size": $0 < 4 ? "large" : "small"] },
      "Key": [["id": "a"]],
      "Good": [["id": 1]],
    ])
    let store = try newStore()
    try store.declare(Part.self)
    _ = try store.collection("Key").save([["id": 7]], keyField: "id")

    let report = try store.salvage(from: url)

    #expect(report.documentCounts == ["Good": 1, "Part": 0])
    #expect(report.unsaved.mapValues(\.count) == ["Key": 1, "Part": 10])
    #expect(report.unsaved["Key"]?.reason.contains("keys") == true)
    #expect(report.damagedRecordCount == 0)
    #expect(try store.collection("Key").documents() == [["id": 7]])
    #expect(try store.repository(of: Part.self).count() == 0)
    try verifyAndClose(store)
  }

  @Test("of a file whose whole store is of another version nothing is saved, nor said of the store")
  func otherStoreVersion() throws {
    try makeFile(["Part": (0..<20).map { ["id": .integer(Int64($0)), "size": 1.5] }])
    let file = try Store(at: folder.store)
    _ = try file.migrate(to: 2) { _ in }
    try file.close()
    let store = try newStore()
    let parts = store.repository(of: Part.self)
    try parts.save(Part(id: 3, size: 7))

    let report = try store.salvage(from: url)

    #expect(report.documentCounts.isEmpty && report.unsaved["Part"]?.count == 20)
    #expect(try parts.count(Part.all) == 1)
    #expect(try store.migrate(to: 2) { _ in }, "the store's own documents are still to be migrated")
    try verifyAndClose(store)
  }

  @Test(
    "an edit is sent also where the store has other fields, without what the document was before")
  func edits() throws {
    let file = try OutboxTableTests.makeStore(at: folder.store)
    try file.repository(of: Slip.self).save(Slip(id: "a", text: "new"))
    try file.close()
    let store = try newStore()
    _ = try store.collection("Slip").save([["text": "here", "id": "z"]], keyField: "id")

    let report = try store.salvage(from: url)

    #expect(report.documentCounts == ["Slip": 2])
    #expect(try OutboxTableTests.text(of: store) == ["a base"])
    #expect(try store.repository(of: Slip.self).get("a") == Slip(id: "a", text: "new"))
    try verifyAndClose(store)
  }
}

@Document
private struct Part: Equatable {
  var id: Int
  var size = 0.0
}
