import Foundation
import Larder

// A seller as three versions of an app know one. `Fixtures/Formats/Writer` wrote the first.

struct FirstSeller: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var phone: String
  var order: Int32
  var rating: Float
  var balance: Int
  var city: String
  var fax: String
  var channel: FirstChannel
  var geo: FirstGeo
  var places: [FirstGeo]
  var tags: Set<String>
  var since: Date
  var rank: String

  static let schema = Schema<FirstSeller>(
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

extension FirstSeller {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), name: try record.get(1), phone: try record.get(2),
      order: try record.get(3), rating: try record.get(4), balance: try record.get(5),
      city: try record.get(6), fax: try record.get(7), channel: try record.get(8),
      geo: try record.get(9), places: try record.get(10), tags: try record.get(11),
      since: try record.get(12), rank: try record.get(13))
  }

  /// The seller with this number, 0 to 19, as it was written.
  init(_ number: Int) {
    self.init(
      id: "seller-\(number < 10 ? "0" : "")\(number)", name: "Seller \(number) Ålesund",
      phone: "+47 \(1000 + number)", order: Int32(number - 10), rating: Float(number) / 4,
      balance: number * 1_000_000_007, city: ["Oslo", "Bergen", "東京"][number % 3],
      fax: "fax \(number)", channel: number % 2 == 0 ? .mail : .phone,
      geo: FirstGeo(lat: Double(number) / 8, lon: -Double(number)),
      places: (0..<number % 3).map { FirstGeo(lat: Double($0), lon: Double(number)) },
      tags: Set(["a", "b", "c"].prefix(number % 4)),
      since: Date(timeIntervalSinceReferenceDate: Double(number) * 86_400.5),
      rank: "\(number * 3)")
  }
}

enum FirstChannel: String, Storable, Sendable { case mail, phone }

struct FirstGeo: EmbeddedDocument, Equatable {
  var lat: Double
  var lon: Double

  static let schema = Schema<FirstGeo>("Geo", fields: [Field("lat", \.lat), Field("lon", \.lon)])

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(lon, at: 1)
  }
}

extension FirstGeo {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(lat: try record.get(0), lon: try record.get(1))
  }
}

/// The second version needs no migration: fields were added, removed (`fax`), renamed (`phone`),
/// made optional (`city`), widened (`order`, `rating`, `balance`); an enum has a case more, and
/// the embedded document two fields more.
struct SecondSeller: Document, Identifiable, Equatable {
  var id: String
  var nick: String?
  var stars: Int
  var name: String
  var telephone: String
  var order: Int
  var rating: Double
  var balance: Double
  var city: String?
  var channel: SecondChannel
  var geo: SecondGeo
  var places: [SecondGeo]
  var tags: Set<String>
  var since: Date
  var rank: String

  static let schema = Schema<SecondSeller>(
    "Seller", key: \.id,
    fields: [
      Field("id", \.id), Field("nick", \.nick), Field("stars", \.stars, default: 3),
      Field("name", \.name), Field("tel", \.telephone), Field("order", \.order),
      Field("rating", \.rating), Field("balance", \.balance), Field("city", \.city),
      Field("channel", \.channel), Field("geo", \.geo), Field("places", \.places),
      Field("tags", \.tags), Field("since", \.since), Field("rank", \.rank),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(nick, at: 1)
    record.put(stars, at: 2)
    record.put(name, at: 3)
    record.put(telephone, at: 4)
    record.put(order, at: 5)
    record.put(rating, at: 6)
    record.put(balance, at: 7)
    record.put(city, at: 8)
    record.put(channel, at: 9)
    record.put(geo, at: 10)
    record.put(places, at: 11)
    record.put(tags, at: 12)
    record.put(since, at: 13)
    record.put(rank, at: 14)
  }
}

extension SecondSeller {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), nick: try record.get(1), stars: try record.get(2),
      name: try record.get(3), telephone: try record.get(4), order: try record.get(5),
      rating: try record.get(6), balance: try record.get(7), city: try record.get(8),
      channel: try record.get(9), geo: try record.get(10), places: try record.get(11),
      tags: try record.get(12), since: try record.get(13), rank: try record.get(14))
  }

  init(_ first: FirstSeller) {
    self.init(
      id: first.id, nick: nil, stars: 3, name: first.name, telephone: first.phone,
      order: Int(first.order), rating: Double(first.rating), balance: Double(first.balance),
      city: first.city, channel: first.channel == .mail ? .mail : .phone,
      geo: SecondGeo(first.geo), places: first.places.map { SecondGeo($0) }, tags: first.tags,
      since: first.since, rank: first.rank)
  }
}

enum SecondChannel: String, Storable, Sendable { case mail, chat, phone }

struct SecondGeo: EmbeddedDocument, Equatable {
  var label: String?
  var lat: Double
  var lon: Double
  var height: Int

  static let schema = Schema<SecondGeo>(
    "Geo",
    fields: [
      Field("label", \.label), Field("lat", \.lat), Field("lon", \.lon),
      Field("height", \.height, default: 0),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(label, at: 0)
    record.put(lat, at: 1)
    record.put(lon, at: 2)
    record.put(height, at: 3)
  }
}

extension SecondGeo {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      label: try record.get(0), lat: try record.get(1), lon: try record.get(2),
      height: try record.get(3))
  }

  init(_ first: FirstGeo) { self.init(label: nil, lat: first.lat, lon: first.lon, height: 0) }
}

/// The third version needs a migration: `rank` is a number, the place is text, and the key has
/// lost its prefix.
struct ThirdSeller: Document, Identifiable, Equatable {
  var id: String
  var name: String
  var rank: Int
  var geo: ThirdGeo
  var stars: Int

  static let schema = Schema<ThirdSeller>(
    "Seller", key: \.id,
    fields: [
      Field("id", \.id), Field("name", \.name), Field("rank", \.rank), Field("geo", \.geo),
      Field("stars", \.stars, default: 3),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(name, at: 1)
    record.put(rank, at: 2)
    record.put(geo, at: 3)
    record.put(stars, at: 4)
  }
}

extension ThirdSeller {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), name: try record.get(1), rank: try record.get(2),
      geo: try record.get(3), stars: try record.get(4))
  }
}

struct ThirdGeo: EmbeddedDocument, Equatable {
  var lat: String
  var lon: Double

  static let schema = Schema<ThirdGeo>("Geo", fields: [Field("lat", \.lat), Field("lon", \.lon)])

  func encode(into record: inout RecordWriter) {
    record.put(lat, at: 0)
    record.put(lon, at: 1)
  }
}

extension ThirdGeo {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(lat: try record.get(0), lon: try record.get(1))
  }
}
