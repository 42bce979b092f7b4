import Foundation
import Larder

/// A document that is let go of by its date, and that the same collection has in other forms.
struct Cargo: Document, Identifiable, Equatable {
  var id: Int
  var place: Int
  var text: String
  var since: Date

  init(id: Int, place: Int = 0, text: String, since: Date = .now) {
    self.id = id
    self.place = place
    self.text = text
    self.since = since
  }

  static let schema = Schema<Cargo>(
    "Cargo", key: \.id,
    fields: [
      Field("id", \.id), Field("place", \.place), Field("text", \.text), Field("since", \.since),
    ])

  static let ageing: [Ageing<Cargo>] = [
    .expires(after: .seconds(86_400 * 365 * 100), since: \.since)
  ]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(place, at: 1)
    record.put(text, at: 2)
    record.put(since, at: 3)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), place: try record.get(1), text: try record.get(2),
      since: try record.get(3))
  }
}

/// The same without a rule: what is old comes into a store by it.
struct KeptCargo: Document, Identifiable, Equatable {
  var cargo: Cargo
  var id: Int { cargo.id }

  static let schema = Schema<KeptCargo>(
    "Cargo", key: \.cargo.id,
    fields: [
      Field("id", \.cargo.id), Field("place", \.cargo.place), Field("text", \.cargo.text),
      Field("since", \.cargo.since),
    ])

  init(_ cargo: Cargo) { self.cargo = cargo }
  func encode(into record: inout RecordWriter) { cargo.encode(into: &record) }
  init(from record: borrowing RecordReader) throws(RecordError) { cargo = try Cargo(from: record) }
}

/// What an older version of the app knows of it; also as a plain type.
struct ShortCargo: Document, Identifiable, Equatable, Codable {
  var id: Int
  var text: String

  static let schema = Schema<ShortCargo>(
    "Cargo", key: \.id, fields: [Field("id", \.id), Field("text", \.text)])

  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(text, at: 1)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), text: try record.get(1))
  }
}

/// The same as a plain type.
struct PlainCargo: Codable, Identifiable, Equatable {
  var id: Int
  var place: Int
  var text: String
  var since: Date
}

/// A type that no store has before.
@Document
struct NewCargo: Identifiable {
  var id: Int
  @Indexed var place = 0
}

/// What an app works with that maps it.
struct Freight: Sendable, Equatable {
  var id: Int
  var text: String
}

struct FreightMapper: EntityMapper {
  func convert(_ entity: Cargo) -> Freight? { Freight(id: entity.id, text: entity.text) }
  func newEntity(for model: Freight) -> Cargo { Cargo(id: model.id, text: model.text) }
  func update(_ entity: inout Cargo, by model: Freight) { entity.text = model.text }
  func entityAccessorKey(_ model: Freight) -> Int { model.id }
}
