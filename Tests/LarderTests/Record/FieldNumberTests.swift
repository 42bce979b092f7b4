import Testing

@testable import Larder

@Suite struct FieldNumberTests {
  @Test("a number that the schema does not have traps when it is put, a negative one too")
  func put() async {
    await #expect(processExitsWith: .failure) {
      let store = try Store.temporary()
      _ = try store.write { try $0.save(Misnumbered(id: 1)) }
    }
  }

  @Test("and so for a Codable value")
  func putCoding() async {
    await #expect(processExitsWith: .failure) {
      let store = try Store.temporary()
      _ = try store.write { try $0.save(Misnumbered(id: 1, isCoded: true)) }
    }
  }
}

private struct Misnumbered: Document, Identifiable {
  var id: Int
  var isCoded = false

  init(id: Int, isCoded: Bool = false) {
    self.id = id
    self.isCoded = isCoded
  }

  static let schema = Schema<Misnumbered>("Misnumbered", key: \.id, fields: [Field("id", \.id)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    if isCoded { record.put(coding: 7, at: -1) } else { record.put(7, at: -1) }
    record.put(id, at: 0)
  }

  init(from record: borrowing RecordReader) throws(RecordError) { id = try record.get(0) }
}
