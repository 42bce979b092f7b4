internal import GRDB

/// The contact of the benchmark as an app of GRDB declares it: one column for each property, the tags and
/// the place as JSON.
struct PeerContact: Codable, FetchableRecord, PersistableRecord, Sendable {
  static let databaseTableName = "contact"

  var id: String
  var name: String
  var phone: String
  var address: String
  var city: String
  var order: Int64
  var balance: Double
  var updatedAt: Double
  var tags: [String]
  var active: Bool
  var geo: Contact.Geo?

  init(_ contact: Contact) {
    id = contact.id
    name = contact.name
    phone = contact.phone
    address = contact.address
    city = contact.city
    order = contact.order
    balance = contact.balance
    updatedAt = contact.updatedAt
    tags = contact.tags
    active = contact.active
    geo = contact.geo
  }

  /// For checksums, outside the time.
  var contact: Contact {
    Contact(
      id: id, name: name, phone: phone, address: address, city: city, order: order,
      balance: balance, updatedAt: updatedAt, tags: tags, active: active, geo: geo)
  }

  enum Columns {
    static let id = Column("id")
    static let name = Column("name")
    static let city = Column("city")
    static let order = Column("order")
    static let balance = Column("balance")
  }

  /// Makes the table in a database without one.
  static func create(_ database: Database) throws {
    try database.create(table: databaseTableName) { table in
      table.primaryKey("id", .text)
      for column in ["name", "phone", "address", "city"] {
        table.column(column, .text).notNull()
      }
      table.column("order", .integer).notNull()
      table.column("balance", .double).notNull()
      table.column("updatedAt", .double).notNull()
      table.column("tags", .jsonText).notNull()
      table.column("active", .boolean).notNull()
      table.column("geo", .jsonText)
    }
  }
}
