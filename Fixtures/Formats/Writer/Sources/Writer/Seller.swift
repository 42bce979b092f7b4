import Foundation
import Larder

/// A seller as the first version of an app knows one. Later versions of the type stand in
/// `Tests/LarderTests/Evolution`; this one is never changed.
struct Seller: Document, Identifiable {
  var id: String
  var name: String
  var phone: String
  var order: Int32
  var rating: Float
  var balance: Int
  var city: String
  var fax: String
  var channel: Channel
  var geo: Geo
  var places: [Geo]
  var tags: Set<String>
  var since: Date
  var rank: String

  static let schema = Schema<Seller>(
    "Seller", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("tel", \.phone), Field("order", \.order),
      Field("rating", \.rating), Field("balance", \.balance), Field("city", \.city),
      Field("fax", \.fax), Field("channel", \.channel), Field("geo", \.geo),
      Field("places", \.places), Field("tags", \.tags), Field("since", \.since),
      Field("rank", \.rank),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(phone, at: 2)
    record.put(order, at: 3)
    record.put(rating, at: 4)
    record.put(balance, at: 5)
    record.put(city, at: 6)
    record.put(fax, at: 7)
    record.put(channel, at: 8)
    record.put(geo, at: 9)
    record.put(places, at: 10)
    record.put(tags, at: 11)
    record.put(since, at: 12)
    record.put(rank, at: 13)
  }
}

extension Seller {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), name: try record.get(1), phone: try record.get(2),
      order: try record.get(3), rating: try record.get(4), balance: try record.get(5),
      city: try record.get(6), fax: try record.get(7), channel: try record.get(8),
      geo: try record.get(9), places: try record.get(10), tags: try record.get(11),
      since: try record.get(12), rank: try record.get(13))
  }

  /// The seller with this number, 0 to 19.
  init(_ number: Int) {
    self.init(
      id: "seller-\(number < 10 ? "0" : "")\(number)", name: "Seller \(number) Ålesund",
      phone: "+47 \(1000 + number)", order: Int32(number - 10), rating: Float(number) / 4,
      balance: number * 1_000_000_007, city: ["Oslo", "Bergen", "東京"][number % 3],
      fax: "fax \(number)", channel: number % 2 == 0 ? .mail : .phone,
      geo: Geo(lat: Double(number) / 8, lon: -Double(number)),
      places: (0..<number % 3).map { Geo(lat: Double($0), lon: Double(number)) },
      tags: Set(["a", "b", "c"].prefix(number % 4)),
      since: Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.5),
      rank: "\(number * 3)")
  }
}

enum Channel: String, Storable, Sendable { case mail, phone }

struct Geo: EmbeddedDocument {
  var lat: Double
  var lon: Double

  static let schema = Schema<Geo>("Geo", fields: [Field("lat", \.lat), Field("lon", \.lon)])

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(lon, at: 1)
  }
}

extension Geo {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(lat: try record.get(0), lon: try record.get(1))
  }
}
