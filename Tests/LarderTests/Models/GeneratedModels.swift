import Foundation
import Larder

/// What ``Everything`` is, written by the macro.
@Document(as: "Everything")
struct EverythingByMacro: Identifiable, Equatable {
  var id: Int
  var small: Int8
  var large: UInt64
  var single: Float
  var double: Double
  var isOn: Bool
  var text: String
  var data: Data
  var date: Date
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var maybe: Int?
  var twice: Int??
  var texts: [String]
  var rows: [[Double]?]
  var numbers: Set<Int>
  var counts: [String: Int]
  var places: [Int: Geo]
  var channel: Channel
  var ranks: [Rank]
  var geo: Geo?
  var nodes: [Node]
}

extension EverythingByMacro {
  init(_ other: Everything) {
    self.init(
      id: other.id, small: other.small, large: other.large, single: other.single,
      double: other.double, isOn: other.isOn, text: other.text, data: other.data, date: other.date,
      uuid: other.uuid, url: other.url, decimal: other.decimal, maybe: other.maybe,
      twice: other.twice, texts: other.texts, rows: other.rows, numbers: other.numbers,
      counts: other.counts, places: other.places, channel: other.channel, ranks: other.ranks,
      geo: other.geo, nodes: other.nodes)
  }
}

/// What ``Contact`` is, written by the macro, with an initializer in the body.
@Document(as: "Contact")
struct ContactByMacro: Equatable {
  @Key let id: String
  var name: String
  @Stored(as: "tel") var phone = ""
  var city: String
  var order = 0
  var balance: Double
  var tags: [String] = []
  @Stored(as: "active") var isActive = true
  var updatedAt: Date
  var geo: GeoByMacro?
  var note: String?

  init(_ other: Contact) {
    id = other.id
    name = other.name
    phone = other.phone
    city = other.city
    order = other.order
    balance = other.balance
    tags = other.tags
    isActive = other.isActive
    updatedAt = other.updatedAt
    geo = other.geo.map { GeoByMacro(lat: $0.lat, lon: $0.lon, label: $0.label) }
    note = other.note
  }
}

@EmbeddedDocument
struct GeoByMacro: Equatable {
  var lat: Double
  var lon: Double
  var label: String?
}

/// Properties of every sort that a struct may have.
@Document
struct Sorts: Equatable {
  enum Mood: String, Codable, Sendable { case calm, unknown }
  enum Payload: Codable, Equatable {
    case none
    case pair(Int, name: String)
  }

  @Key let code: String
  private var secret = 5
  fileprivate(set) var open = "open"
  var watched = 1 { didSet { changes += 1 } }
  var mood = Mood.unknown
  var moods: [Mood] = []
  var payload: Payload = .pair(1, name: "a")
  var text = """
    two "lines"
      of { text
    """
  var nested: [String: [Int]] = [
    "a": [1, -2],  // A comment, with a comma.
    "b": { [3, 4] }(),
  ]
  var forced: String! = nil
  var `default` = -1.5, other: Int = 2
  @Transient var changes = 0
  @Transient var cache: [Int]?
  lazy var slow = 7
  static let shared = 1
  var sum: Int { secret + other }

  init(code: String, secret: Int) {
    self.code = code
    self.secret = secret
  }
}

/// A ``Sorts`` of the day when it had nothing but its key.
@Document(as: "Sorts")
struct OnlyCode { @Key var code: String }

/// Documents inside other types, whose names only the body of those finds.
enum Shop {
  enum Currency: String, Storable, Sendable { case krone, euro }
  enum Number: Int, Storable, DocumentKey { case first, second }

  @EmbeddedDocument
  struct Price: Equatable {
    var amount = Decimal(1)
    var currency = Currency.krone
  }

  @Document(as: "orders")
  fileprivate struct Order: Equatable {
    var number: Number
    var price = Price()
    var prices: [Price]?
    var entityAccessorKey: Number { number }
  }
}

extension Sorts {
  var secretValue: Int { secret }
}

enum ShopOrders {
  /// What comes back of an order that is saved.
  static func roundTrip() throws -> Bool {
    var order = Shop.Order(number: .second, prices: [Shop.Price(amount: 2, currency: .euro)])
    order.price.amount = 3
    return try stored(order) == order
  }

  static var fields: [String] { Shop.Order.schema.fields.map(\.name) }
  static var keyField: String? { Shop.Order.schema.keyField }
}

/// Indexes as attributes.
@Document
struct Indexes {
  var id: Int
  @Indexed var city: String
  @Indexed(unique: true) var email: String?
  @Indexed(descending: true) var order = 0
  @Indexed(unique: true, descending: true) @Stored(as: "labels") var tags: [String] = []
  static let indexes: [Index<Indexes>] = [Index(\.city, \.order)]
}

/// One type, as it was and as it became.
enum Versions {
  @Document(as: "Person") struct First: Equatable {
    var id: Int
    var name: String
    var tel: String
    var gone: Int
  }

  @Document(as: "Person") struct Second: Equatable {
    var id: Int
    @Stored(as: "name") var fullName: String
    @Stored(as: "tel") var phone = ""
    var added = ["x": 1]
    var mood = Sorts.Mood.calm
    var maybe: Geo?
  }
}
