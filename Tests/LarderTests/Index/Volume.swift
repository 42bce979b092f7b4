import Larder

/// A document with texts that are meant to be long, alone and in an array, and what indexes combine
/// them with.
struct Volume: Document, Identifiable, Equatable {
  var id: Int
  var path = ""
  var alias: String?
  var shelf = 0
  var tags: [String] = []

  static let schema = Schema<Volume>(
    "Volume", key: \.id,
    fields: [
      Field("id", \.id), Field("path", \.path), Field("alias", \.alias), Field("shelf", \.shelf),
      Field("tags", \.tags),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(path, at: 1)
    record.put(alias, at: 2)
    record.put(shelf, at: 3)
    record.put(tags, at: 4)
  }
}

extension Volume {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), path: try record.get(1), alias: try record.get(2),
      shelf: try record.get(3), tags: try record.get(4))
  }
}
