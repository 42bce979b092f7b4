import Foundation
import Larder

/// A document with a unique index.
struct Parcel: Document, Identifiable, Equatable {
  var id: Int
  var code: String?
  var shelf = 0
  var labels: [String] = []
  var note = ""

  static let schema = Schema<Parcel>(
    "Parcel", key: \.id,
    fields: [
      Field("id", \.id), Field("code", \.code).indexed(unique: true),
      Field("shelf", \.shelf, default: 0).indexed(), Field("labels", \.labels, default: []),
      Field("note", \.note, default: ""),
    ])

  static let indexes: [Index<Parcel>] = [
    Index(\.labels), Index(\.shelf, \.note, where: { $0.note != "" }),
  ]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(code, at: 1)
    record.put(shelf, at: 2)
    record.put(labels, at: 3)
    record.put(note, at: 4)
  }
}

extension Parcel {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), code: try record.get(1), shelf: try record.get(2),
      labels: try record.get(3), note: try record.get(4))
  }
}

/// The same collection as an app without any index declares it.
struct PlainParcel: Document, Identifiable, Equatable {
  var id: Int
  var code: String?
  var shelf = 0
  var labels: [String] = []
  var note = ""

  static let schema = Schema<PlainParcel>(
    "Parcel", key: \.id,
    fields: [
      Field("id", \.id), Field("code", \.code), Field("shelf", \.shelf, default: 0),
      Field("labels", \.labels, default: []), Field("note", \.note, default: ""),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(code, at: 1)
    record.put(shelf, at: 2)
    record.put(labels, at: 3)
    record.put(note, at: 4)
  }
}

extension PlainParcel {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), code: try record.get(1), shelf: try record.get(2),
      labels: try record.get(3), note: try record.get(4))
  }
}
