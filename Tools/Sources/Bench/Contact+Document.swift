import Larder

// By hand, as the macro will write it: every field is read before the first is assigned, as an
// initializer that may throw half-way builds a second copy of the document.

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
    let id: String = try record.get(0)
    let name: String = try record.get(1)
    let phone: String = try record.get(2)
    let address: String = try record.get(3)
    let city: String = try record.get(4)
    let order: Int64 = try record.get(5)
    let balance: Double = try record.get(6)
    let updatedAt: Double = try record.get(7)
    let tags: [String] = try record.get(8)
    let active: Bool = try record.get(9)
    let geo: Geo? = try record.get(10)
    self.id = id
    self.name = name
    self.phone = phone
    self.address = address
    self.city = city
    self.order = order
    self.balance = balance
    self.updatedAt = updatedAt
    self.tags = tags
    self.active = active
    self.geo = geo
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
    let lat: Double = try record.get(0)
    let lon: Double = try record.get(1)
    let label: String? = try record.get(2)
    self.lat = lat
    self.lon = lon
    self.label = label
  }
}
