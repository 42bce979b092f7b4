import Larder
import LarderTesting
import Testing

/// Fields that were added to a type, in records from before.
@Suite struct LackingFieldTests {
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
