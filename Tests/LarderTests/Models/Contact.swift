import Foundation
import Larder

/// The documents that most tests use, written by hand as the README shows.
struct Contact: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var phone = ""
  var city: String
  var order = 0
  var balance = 0.0
  var tags: [String] = []
  var isActive = true
  var updatedAt: Date
  var geo: Geo?
  var note: String?

  init(
    id: String, name: String = "", phone: String = "", city: String = "", order: Int = 0,
    balance: Double = 0, tags: [String] = [], isActive: Bool = true,
    updatedAt: Date = Date(timeIntervalSinceReferenceDate: 0), geo: Geo? = nil,
    note: String? = nil
  ) {
    self.id = id
    self.name = name
    self.phone = phone
    self.city = city
    self.order = order
    self.balance = balance
    self.tags = tags
    self.isActive = isActive
    self.updatedAt = updatedAt
    self.geo = geo
    self.note = note
  }

  static let schema = Schema<Contact>(
    "Contact", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("tel", \.phone, default: ""),
      Field("city", \.city), Field("order", \.order, default: 0), Field("balance", \.balance),
      Field("tags", \.tags, default: []), Field("active", \.isActive, default: true),
      Field("updatedAt", \.updatedAt), Field("geo", \.geo), Field("note", \.note),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(phone, at: 2)
    record.put(city, at: 3)
    record.put(order, at: 4)
    record.put(balance, at: 5)
    record.put(tags, at: 6)
    record.put(isActive, at: 7)
    record.put(updatedAt, at: 8)
    record.put(geo, at: 9)
    record.put(note, at: 10)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    name = try record.get(1)
    phone = try record.get(2)
    city = try record.get(3)
    order = try record.get(4)
    balance = try record.get(5)
    tags = try record.get(6)
    isActive = try record.get(7)
    updatedAt = try record.get(8)
    geo = try record.get(9)
    note = try record.get(10)
  }
}

struct Geo: EmbeddedDocument, Equatable {
  var lat: Double
  var lon: Double
  var label: String?

  init(lat: Double, lon: Double, label: String? = nil) {
    self.lat = lat
    self.lon = lon
    self.label = label
  }

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
