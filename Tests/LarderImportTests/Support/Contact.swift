import Foundation
import Larder

/// What `contacts.json` holds.
struct Contact: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var phone: String
  var address: String
  var city: String
  var country: String
  var order: Int
  var balance: Double
  var updatedAt: Date
  var tags: [String]
  var isActive: Bool
  var geo: Geo?
  var note: String?

  static let schema = Schema<Contact>(
    "Contact", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("tel", \.phone),
      Field("address", \.address), Field("city", \.city), Field("country", \.country),
      Field("order", \.order), Field("balance", \.balance), Field("updatedAt", \.updatedAt),
      Field("tags", \.tags), Field("active", \.isActive), Field("geo", \.geo),
      Field("note", \.note),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(phone, at: 2)
    record.put(address, at: 3)
    record.put(city, at: 4)
    record.put(country, at: 5)
    record.put(order, at: 6)
    record.put(balance, at: 7)
    record.put(updatedAt, at: 8)
    record.put(tags, at: 9)
    record.put(isActive, at: 10)
    record.put(geo, at: 11)
    record.put(note, at: 12)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    name = try record.get(1)
    phone = try record.get(2)
    address = try record.get(3)
    city = try record.get(4)
    country = try record.get(5)
    order = try record.get(6)
    balance = try record.get(7)
    updatedAt = try record.get(8)
    tags = try record.get(9)
    isActive = try record.get(10)
    geo = try record.get(11)
    note = try record.get(12)
  }
}

struct Geo: EmbeddedDocument, Equatable {
  var lat: Double
  var lon: Double
  var label: String?

  static let schema = Schema<Geo>(
    "Geo", fields: [Field("lat", \.lat), Field("lon", \.lon), Field("label", \.label)])

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(lon, at: 1)
    record.put(label, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    lat = try record.get(0)
    lon = try record.get(1)
    label = try record.get(2)
  }
}
