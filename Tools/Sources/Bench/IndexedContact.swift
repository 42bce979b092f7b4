import Larder

/// A contact under another type, which declares indexes.
protocol ContactWithIndexes: Document where Key == String {
  var contact: Contact { get }
  init(contact: Contact)
}

extension ContactWithIndexes {
  var entityAccessorKey: String { contact.id }
  var id: String { contact.id }
  var city: String { contact.city }
  var order: Int64 { contact.order }

  func encode(into record: inout RecordWriter) { contact.encode(into: &record) }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(contact: try Contact(from: record))
  }

  /// As ``Contact`` numbers them.
  static func fields() -> [Field<Self>] {
    [
      Field("id", \.id), Field("name", \.contact.name), Field("phone", \.contact.phone),
      Field("address", \.contact.address), Field("city", \.city), Field("order", \.order),
      Field("balance", \.contact.balance), Field("updatedAt", \.contact.updatedAt),
      Field("tags", \.contact.tags), Field("active", \.contact.active),
      Field("geo", \.contact.geo),
    ]
  }
}

/// With an index over `city` and one over `order`.
struct IndexedContact: ContactWithIndexes {
  var contact: Contact

  static let schema = Schema<Self>("Contact", key: \.id, fields: fields())
  static let indexes: [Index<Self>] = [Index(\.city), Index(\.order)]
}

/// With an index over `city` and then `order`.
struct CompoundContact: ContactWithIndexes {
  var contact: Contact

  static let schema = Schema<Self>("Contact", key: \.id, fields: fields())
  static let indexes: [Index<Self>] = [Index(\.city, \.order)]
}
