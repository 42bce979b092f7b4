import Foundation
import Larder
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

/// Fields that were added to a type, in records from before.
@Suite struct LackingFieldTests {
  @EmbeddedDocument
  struct Lid: Equatable { var color = "red" }

  @Document(as: "Case")
  struct OldCase: Identifiable {
    var id: Int
    var size: Int?
    var lid: Lid?
  }

  @Document(as: "Case")
  struct SizedCase: Identifiable {
    var id: Int
    var size: Int
  }

  @Document(as: "Case")
  struct LiddedCase: Identifiable {
    var id: Int
    var lid: Lid
  }

  @Document(as: "Case")
  struct NamedCase: Identifiable {
    var id: Int
    var name: String
  }

  @Test(
    "a sorted query leaves out documents that it cannot read, even where they lack the sort value")
  func sortedMisfits() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldCase.self).save(
        (1...5).map { OldCase(id: $0, size: $0 == 3 ? nil : 10 - $0) })
      let repository = store.repository(of: SizedCase.self)
      let reports = Locked<[String]>([])
      let query = SizedCase.all.skippingUnreadable { document in
        reports.withLock { $0.append(document.key) }
      }
      for (query, ids) in [
        (query.sorted(by: \.size), [5, 4, 2, 1]),
        (query.sorted(by: \.size, .reverse), [1, 2, 4, 5]),
      ] {
        #expect(try repository.fetch(query).map(\.id) == ids)
        #expect(try repository.fetch(query.limit(2)).map(\.id) == Array(ids.prefix(2)))
        #expect(try repository.page(query.limit(3)).models.map(\.id) == Array(ids.prefix(3)))
        #expect(try repository.first(query)?.id == ids[0])
      }
      #expect(Set(reports.withLock { $0 }) == ["3"])
    }
  }

  @Test(
    "a document of another version that lacks a value is said to be that, and not to be damaged")
  func misfit() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldCase.self).save(OldCase(id: 1))
      func check<Entity: Document>(_ type: Entity.Type, _ words: String) throws {
        nonisolated(unsafe) var report: UnreadableDocument?
        #expect(
          try store.repository(of: type).fetch(Entity.all.skippingUnreadable { report = $0 })
            .isEmpty)
        let document = try #require(report)
        #expect(document.isFromOtherVersion && !document.isFromNewerVersion)
        let text = "\(document)"
        #expect(text.contains(words) && text.contains("It is not damaged"), "\(text)")
        #expect(
          throws: StoreError.damagedRecord(collection: "Case", key: "1", reason: document.reason)
        ) {
          try store.repository(of: type).fetch(Entity.all)
        }
      }
      try check(SizedCase.self, "size: expected an integer, found nil")
      try check(LiddedCase.self, "lid: expected a document, found nil")
      try check(NamedCase.self, "name: the field is missing")
      // None of these is a reason to look at every page when the store is opened next.
      #expect(!store.engine.isSuspected.withLock { $0 })
    }
  }

  private struct OldBox: Document, Identifiable {
    var id: Int

    static let schema = Schema<OldBox>("Box", key: \.id, fields: [Field("id", \.id)])

    func encode(into record: inout RecordWriter) { record.put(id, at: 0) }

    init(id: Int) { self.id = id }

    init(from record: borrowing RecordReader) throws(RecordError) { id = try record.get(0) }
  }

  private struct Box: Document, Identifiable {
    var id: Int
    var rank: Int

    static let schema = Schema<Box>(
      "Box", key: \.id, fields: [Field("id", \.id), Field("rank", \.rank, default: 5).indexed()])

    func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(rank, at: 1)
    }

    init(from record: borrowing RecordReader) throws(RecordError) {
      id = try record.get(0)
      rank = try record.get(1)
    }
  }

  @Test("only their type knows the default; other readers find nil until the type has saved it")
  func defaults() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldBox.self).save((0..<3).map { OldBox(id: $0) })
      try store.declare(Box.self)
      let boxes = store.repository(of: Box.self)
      let collection = store.collection("Box")

      #expect(try boxes.count(Box.where { $0.rank == 5 }) == 3)
      #expect(try collection.count(.where { $0.rank == 5 }) == 0)
      #expect(try collection.count(.where { $0.rank == .null }) == 3)
      #expect(try collection.get(0)?["rank"] == nil)

      #expect(try boxes.save(boxes.fetch(Box.all)).updated == 3)
      #expect(try boxes.count(Box.where { $0.rank == 5 }) == 3)
      #expect(try collection.count(.where { $0.rank == 5 }) == 3)
      #expect(try collection.get(0)?["rank"] == 5)
    }
  }
}
