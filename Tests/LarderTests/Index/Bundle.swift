import Larder

/// A document with arrays under unique indexes and a plain one.
struct Bundle: Document, Identifiable, Equatable {
  var id: Int
  var shelf = 0
  var links: [String] = []
  var codes: [String] = []
  var tags: [String] = []

  static let schema = Schema<Bundle>(
    "Bundle", key: \.id,
    fields: [
      Field("id", \.id), Field("shelf", \.shelf), Field("links", \.links),
      Field("codes", \.codes), Field("tags", \.tags),
    ])

  static let indexes: [Index<Bundle>] = [
    Index(\.links, unique: true),
    Index(.ascending(\.shelf), .descending(\.codes), unique: true),
    Index(\.tags, \.shelf),
  ]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(shelf, at: 1)
    record.put(links, at: 2)
    record.put(codes, at: 3)
    record.put(tags, at: 4)
  }
}

extension Bundle {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), shelf: try record.get(1), links: try record.get(2),
      codes: try record.get(3), tags: try record.get(4))
  }

  /// How many entries an index has of it over an array: one for each element that differs.
  static func entryCount(_ elements: [String]) -> Int { Set(elements).count }
}

/// The same collection as an app without any index declares it.
struct PlainBundle: Document, Identifiable, Equatable {
  var bundle: Bundle
  var id: Int { bundle.id }

  static let schema = Schema<PlainBundle>(
    "Bundle", key: \.bundle.id,
    fields: [
      Field("id", \.bundle.id), Field("shelf", \.bundle.shelf), Field("links", \.bundle.links),
      Field("codes", \.bundle.codes), Field("tags", \.bundle.tags),
    ])

  func encode(into record: inout RecordWriter) { bundle.encode(into: &record) }
}

extension PlainBundle {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(bundle: try Bundle(from: record))
  }
}
