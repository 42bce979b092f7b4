import Larder

// By hand, as the macro will write it.

extension Contact: Document {
  var entityAccessorKey: String { id }

  static let schema = Schema<Contact>(
    "Contact", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("phone", \.phone),
      Field("address", \.address), Field("city", \.city), Field("order", \.order),
      Field("balance", \.balance), Field("updatedAt", \.updatedAt), Field("tags", \.tags),
      Field("active", \.active), Field("geo", \.geo),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(phone, at: 2)
    record.put(address, at: 3)
    record.put(city, at: 4)
    record.put(order, at: 5)
    record.put(balance, at: 6)
    record.put(updatedAt, at: 7)
    record.put(tags, at: 8)
    record.put(active, at: 9)
    record.put(geo, at: 10)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0),
      name: try record.get(1),
      phone: try record.get(2),
      address: try record.get(3),
      city: try record.get(4),
      order: try record.get(5),
      balance: try record.get(6),
      updatedAt: try record.get(7),
      tags: try record.get(8),
      active: try record.get(9),
      geo: try record.get(10))
  }
}

extension Contact.Geo: EmbeddedDocument {
  static let schema = Schema<Contact.Geo>(
    "Geo", fields: [Field("lat", \.lat), Field("lon", \.lon), Field("label", \.label)])

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(lon, at: 1)
    record.put(label, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      lat: try record.get(0),
      lon: try record.get(1),
      label: try record.get(2))
  }
}
