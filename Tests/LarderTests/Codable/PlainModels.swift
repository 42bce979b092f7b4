import Foundation
import LarderTestKit

@testable import Larder

/// A plain type as an app has it.
struct PlainNote: Codable, Identifiable, Sendable, Equatable {
  struct Place: Codable, Sendable, Equatable, Hashable {
    var lat: Double
    var lon: Double
    var label: String?
  }

  var id: String
  var title: String
  var city: String?
  var order = 0
  var tags: [String] = []
  var isDone = false
  var createdAt = Date(timeIntervalSinceReferenceDate: 0)
  var place: Place?
  var stops: [Place] = []
}

/// The same by hand, in the same collection.
struct PlainNoteDocument: Document, Identifiable, Equatable {
  struct Place: EmbeddedDocument, Equatable {
    var lat: Double
    var lon: Double
    var label: String?

    static let schema = Schema<Place>(
      "Place", fields: [Field("lat", \.lat), Field("lon", \.lon), Field("label", \.label)])

    func encode(into record: inout RecordWriter) {
      record.put(lat, at: 0)
      record.put(lon, at: 1)
      record.put(label, at: 2)
    }
  }

  var id: String
  var title: String
  var city: String?
  var order = 0
  var tags: [String] = []
  var isDone = false
  var createdAt = Date(timeIntervalSinceReferenceDate: 0)
  var place: Place?
  var stops: [Place] = []

  static let schema = Schema<PlainNoteDocument>(
    "PlainNote", key: \.id,
    fields: [
      Field("id", \.id), Field("title", \.title), Field("city", \.city), Field("order", \.order),
      Field("tags", \.tags), Field("isDone", \.isDone), Field("createdAt", \.createdAt),
      Field("place", \.place), Field("stops", \.stops),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(title, at: 1)
    record.put(city, at: 2)
    record.put(order, at: 3)
    record.put(tags, at: 4)
    record.put(isDone, at: 5)
    record.put(createdAt, at: 6)
    record.put(place, at: 7)
    record.put(stops, at: 8)
  }
}

extension PlainNoteDocument.Place {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(lat: try record.get(0), lon: try record.get(1), label: try record.get(2))
  }
}

extension PlainNoteDocument {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), title: try record.get(1), city: try record.get(2),
      order: try record.get(3), tags: try record.get(4), isDone: try record.get(5),
      createdAt: try record.get(6), place: try record.get(7), stops: try record.get(8))
  }

  init(_ note: PlainNote) {
    func place(_ place: PlainNote.Place) -> Place {
      Place(lat: place.lat, lon: place.lon, label: place.label)
    }
    self.init(
      id: note.id, title: note.title, city: note.city, order: note.order, tags: note.tags,
      isDone: note.isDone, createdAt: note.createdAt, place: note.place.map(place),
      stops: note.stops.map(place))
  }
}

extension RandomSource {
  mutating func note(_ id: String) -> PlainNote {
    PlainNote(
      id: id, title: text(), city: bool() ? text(upTo: 3) : nil, order: int(-3..<9),
      tags: array(0..<4) { $0.text(upTo: 2) }, isDone: bool(),
      createdAt: Date(timeIntervalSinceReferenceDate: Double(integer()) / 16),
      place: bool() ? place() : nil, stops: array(0..<4) { $0.place() })
  }

  mutating func place() -> PlainNote.Place {
    PlainNote.Place(
      lat: Double(int(-90..<90)), lon: Double(int(0..<9)), label: bool() ? text() : nil)
  }
}

/// A plain type with all that `Codable` can do, in places of every kind.
struct RichPlain: Codable, Identifiable, Equatable {
  enum Genre: String, Codable, Hashable, CodingKeyRepresentable, CaseIterable {
    case crime, poetry
  }

  var id: UUID
  var rich: RichValue
  var maybe: RichValue?
  var list: [RichValue.Point]
  var holes: [RichValue.Point?]
  var grid: [[RichValue.Point]]
  var set: Set<RichValue.Point>
  var byName: [String: RichValue.Channel]
  var byNumber: [Int: RichValue.Point]
  var byGenre: [Genre: RichValue.Point]
  var byID: [UUID: [String]]
  var levels: Int??
  var deepLevels: RichValue.Point??
  var channel: RichValue.Channel
  var tree: RichValue.Tree
  var genre: Genre
  var genres: [Genre]
  var trimmed: Trimmed
}

extension RichPlain: @unchecked Sendable {}  // The tests change no tree.

/// Encodes itself as a single value.
struct Trimmed: Codable, Equatable, Hashable {
  var text: String

  init(_ text: String) { self.text = text }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension RandomSource {
  mutating func richPlain() -> RichPlain {
    func dictionary<Key: Hashable, Value>(_ pairs: [(Key, Value)]) -> [Key: Value] {
      Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }
    let rich = richValue()
    let points = richValue().points
    let channels = array(1..<3) { $0.richValue().channel }
    let genres = RichPlain.Genre.allCases
    return RichPlain(
      id: uuid(), rich: rich, maybe: bool() ? richValue() : nil, list: rich.points,
      holes: points.map { bool() ? $0 : nil }, grid: [points, [], rich.points],
      set: Set(points), byName: dictionary(channels.map { (text(), $0) }),
      byNumber: dictionary(points.map { (int(-200..<200), $0) }),
      byGenre: dictionary(points.map { (genres[int(0..<2)], $0) }),
      byID: dictionary(array(0..<3) { ($0.uuid(), ["a"]) }),
      levels: [Int??.none, .some(nil), 5][int(0..<3)],
      deepLevels: points.first.map { bool() ? .some(.some($0)) : .some(nil) } ?? nil,
      channel: rich.channel, tree: rich.tree, genre: genres[int(0..<2)],
      genres: genres.shuffled(using: &self),
      trimmed: Trimmed(text()))
  }
}

/// Its key is computed, and often equal to a field.
struct PlainTown: Codable, Identifiable, Equatable {
  var id: String { name.replacing(" ", with: "-") }
  var name: String
}

/// The same.
struct PlainTag: Codable, Identifiable, Equatable {
  var id: String { String(text.prefix(8)) }
  var text: String
}

struct PlainCity: Codable, Identifiable, Equatable {
  var id: String
}

/// Its key takes few values.
struct PlainShirt: Codable, Identifiable, Equatable {
  enum Size: String, Codable, DocumentKey {
    case small, large
  }

  var id: Size
}

/// Makes another key of some that it is given, and stores it.
struct PlainTrimmed: Codable, Identifiable, Equatable {
  var id: String

  init(id: String) { self.id = String(id.prefix(40)).replacing(" ", with: "") }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(id: try container.decode(String.self, forKey: .id))
  }
}
