import Larder

/// What an earlier version of an app knew of ``Everything``.
struct EarlierEverything: Document, Identifiable, Equatable {
  var id: Int
  var text: String
  var geo: EarlierGeo?

  static let schema = Schema<EarlierEverything>(
    "Everything", key: \.id,
    fields: [Field("id", \.id), Field("text", \.text), Field("geo", \.geo)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(text, at: 1)
    record.put(geo, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    text = try record.get(1)
    geo = try record.get(2)
  }
}

/// What it knew of ``Geo``.
struct EarlierGeo: EmbeddedDocument, Equatable {
  var lat: Double

  init(lat: Double) { self.lat = lat }

  static let schema = Schema<EarlierGeo>("Geo", fields: [Field("lat", \.lat)])

  func encode(into record: inout RecordWriter) { record.put(lat, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { lat = try record.get(0) }
}
