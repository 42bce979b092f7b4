import Foundation
import LarderTestKit

@testable import Larder

// The documents of ``EvolutionOracleTests``: two versions of one type, and what is stored of both.

// MARK: The types

@Document(as: "Item")
struct OlderItem: Equatable {
  var id: Int
  @Indexed var name: String
  var gone = "was"
  @Indexed var number: Int32
  var place: OlderPlace?
  var deep: OlderPlace??
  var places: [String: OlderPlace] = [:]
  var rows: [OlderPlace] = []
  var coded = OlderCoded()

  static let indexes: [Index<OlderItem>] = [Index(\.place.inner.a), Index(\.place.x)]
}

@EmbeddedDocument
struct OlderPlace: Equatable {
  var x: Int32
  var gone = 1
  var inner: OlderInner?
}

@EmbeddedDocument
struct OlderInner: Equatable {
  var a: Int
  var gone: Int?
}

struct OlderCoded: Codable, Equatable {
  var a = 0
  var gone: Int?
}

@Document(as: "Item")
struct NewerItem: Equatable {
  var id: Int
  @Indexed var name: String
  @Indexed var number: Double
  @Indexed var added = 7
  var place: NewerPlace?
  var deep: NewerPlace??
  var places: [String: NewerPlace] = [:]
  var rows: [NewerPlace] = []
  var coded = NewerCoded()

  static let indexes: [Index<NewerItem>] = [Index(\.place.inner.a), Index(\.place.added)]
}

@EmbeddedDocument
struct NewerPlace: Equatable {
  var x: Int
  var added = "p"
  var inner: NewerInner?
}

@EmbeddedDocument
struct NewerInner: Equatable {
  var a: Int
  var added: Int?
}

struct NewerCoded: Codable, Equatable {
  var a = 0
  var added: Int?
}

// MARK: What is stored

/// A document, with what either version knows of it; nil for what was never saved.
struct ItemModel: Equatable {
  var name = ""
  var number = ExactNumber.integer(0)
  var gone: String?
  var added: Int?
  var place: PlaceModel?
  var deep: PlaceModel??
  var places: [String: PlaceModel] = [:]
  var rows: [PlaceModel] = []
  var coded = CodedModel()
  var extra: Int?

  static let names = ["a", "b", "\u{E9}"]

  mutating func take(_ item: OlderItem) {
    (name, gone, number) = (item.name, item.gone, .integer(Int128(item.number)))
    take(item.place, item.deep, item.places, item.rows, as: PlaceModel.init)
    coded = CodedModel(a: item.coded.a, gone: item.coded.gone)
  }

  mutating func take(_ item: NewerItem) {
    (name, added, number) = (item.name, item.added, .double(item.number))
    take(item.place, item.deep, item.places, item.rows, as: PlaceModel.init)
    coded = CodedModel(a: item.coded.a, added: item.coded.added)
  }

  /// The field of an embedded document that the saving version does not know stays, where there was
  /// one; of elements nobody knows which were there before.
  private mutating func take<Place>(
    _ newPlace: Place?, _ newDeep: Place??, _ newPlaces: [String: Place], _ newRows: [Place],
    as model: (Place, _ over: PlaceModel?) -> PlaceModel
  ) {
    let (place, deep, places) = (self.place, self.deep ?? nil, self.places)
    self.place = newPlace.map { model($0, place) }
    self.deep = newDeep.map { $0.map { model($0, deep) } }
    self.places = Dictionary(
      uniqueKeysWithValues: newPlaces.map { ($0.key, model($0.value, places[$0.key])) })
    rows = newRows.map { model($0, nil) }
  }

  /// A number is the same as an integer and as a double.
  static func == (left: ItemModel, right: ItemModel) -> Bool {
    left.name == right.name && left.number.compare(right.number) == 0 && left.gone == right.gone
      && left.added == right.added && left.place == right.place && left.places == right.places
      && left.deep == right.deep
      && left.rows == right.rows && left.coded == right.coded && left.extra == right.extra
  }
}

struct PlaceModel: Equatable {
  var x: Int
  var gone: Int?
  var added: String?
  var inner: InnerModel?

  init(_ place: OlderPlace, over other: PlaceModel?) {
    (x, gone, added) = (Int(place.x), place.gone, other?.added)
    inner = place.inner.map {
      InnerModel(a: $0.a, gone: $0.gone, added: other?.inner?.added)
    }
  }

  init(_ place: NewerPlace, over other: PlaceModel?) {
    (x, gone, added) = (place.x, other?.gone, place.added)
    inner = place.inner.map {
      InnerModel(a: $0.a, gone: other?.inner?.gone, added: $0.added)
    }
  }
}

struct InnerModel: Equatable {
  var a: Int
  var gone: Int?
  var added: Int?
}

struct CodedModel: Equatable {
  var a = 0
  var gone: Int?
  var added: Int?
}

extension ItemModel {
  /// Whether it has the field at one of these paths.
  func has(_ path: String) -> Bool {
    switch path {
    case "gone": gone != nil
    case "added": added != nil
    case "place.x": place != nil
    case "place.added": place?.added != nil
    case "place.inner.a": place?.inner != nil
    default: true
    }
  }
}

// MARK: As either version reads it

extension OlderItem {
  init?(id: Int, _ model: ItemModel) {
    guard let number = Int32.read(model.number),
      ([model.place, model.deep ?? nil].compactMap(\.self) + model.places.values + model.rows)
        .allSatisfy({ Int32(exactly: $0.x) != nil })
    else { return nil }
    self.init(
      id: id, name: model.name, gone: model.gone ?? "was", number: number,
      place: model.place.map(OlderPlace.init), deep: model.deep.map { $0.map(OlderPlace.init) },
      places: model.places.mapValues(OlderPlace.init),
      rows: model.rows.map(OlderPlace.init),
      coded: OlderCoded(a: model.coded.a, gone: model.coded.gone)
    )
  }

  init(id: Int, using random: inout RandomSource) {
    self.init(
      id: id, name: random.pick(ItemModel.names), gone: random.pick(["was", "is"]),
      number: Int32(random.int(-3..<4)),
      place: random.once(in: 3) ? nil : OlderPlace(using: &random),
      deep: random.pick([.none, .some(nil), .some(OlderPlace(using: &random))]),
      places: random.places { OlderPlace(using: &$0) },
      rows: random.array(0..<3) { OlderPlace(using: &$0) },
      coded: OlderCoded(a: random.int(0..<9), gone: random.bool() ? 3 : nil))
  }
}

extension OlderPlace {
  init(_ model: PlaceModel) {
    self.init(
      x: Int32(truncatingIfNeeded: model.x), gone: model.gone ?? 1,
      inner: model.inner.map { OlderInner(a: $0.a, gone: $0.gone) })
  }

  init(using random: inout RandomSource) {
    self.init(
      x: Int32(random.int(-3..<4)), gone: random.int(1..<4),
      inner: random.bool() ? OlderInner(a: random.int(-3..<4), gone: random.bool() ? 2 : nil) : nil)
  }
}

extension NewerItem {
  init(id: Int, _ model: ItemModel) {
    self.init(
      id: id, name: model.name, number: Double.read(model.number) ?? .nan, added: model.added ?? 7,
      place: model.place.map(NewerPlace.init), deep: model.deep.map { $0.map(NewerPlace.init) },
      places: model.places.mapValues(NewerPlace.init),
      rows: model.rows.map(NewerPlace.init),
      coded: NewerCoded(a: model.coded.a, added: model.coded.added))
  }

  init(id: Int, using random: inout RandomSource) {
    self.init(
      id: id, name: random.pick(ItemModel.names),
      number: Double(random.int(-3..<4)) + random.pick([0, 0, 0, 0.5, 0x1p40]),
      added: random.int(6..<9), place: random.once(in: 3) ? nil : NewerPlace(using: &random),
      deep: random.pick([.none, .some(nil), .some(NewerPlace(using: &random))]),
      places: random.places { NewerPlace(using: &$0) },
      rows: random.array(0..<3) { NewerPlace(using: &$0) },
      coded: NewerCoded(a: random.int(0..<9), added: random.bool() ? 4 : nil))
  }
}

extension NewerPlace {
  init(_ model: PlaceModel) {
    self.init(
      x: model.x, added: model.added ?? "p",
      inner: model.inner.map { NewerInner(a: $0.a, added: $0.added) })
  }

  init(using random: inout RandomSource) {
    self.init(
      x: random.int(-3..<4) + (random.once(in: 8) ? 1 << 40 : 0), added: random.pick(["p", "q"]),
      inner: random.bool() ? NewerInner(a: random.int(-3..<4), added: random.bool() ? 5 : nil) : nil
    )
  }
}

extension RandomSource {
  /// Up to three, by their names.
  mutating func places<Place>(
    _ make: (inout RandomSource) -> Place
  ) -> [String: Place] {
    var places: [String: Place] = [:]
    for name in ["x", "y", "z"].prefix(int(0..<4)) { places[name] = make(&self) }
    return places
  }
}

// MARK: As it is without a type

extension DynamicDocument {
  var itemID: Int? { self["id"].flatMap(\.int) }
}

extension Value {
  fileprivate var int: Int? { if case .integer(let value) = self { Int(value) } else { nil } }
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  fileprivate var place: PlaceModel? {
    guard case .document(let document) = self, let x = document["x"]?.int else { return nil }
    var inner: InnerModel?
    if case .document(let found)? = document["inner"], let a = found["a"]?.int {
      inner = InnerModel(a: a, gone: found["gone"]?.int, added: found["added"]?.int)
    }
    return PlaceModel(
      x: x, gone: document["gone"]?.int, added: document["added"]?.text, inner: inner)
  }
}

extension PlaceModel {
  init(x: Int, gone: Int?, added: String?, inner: InnerModel?) {
    (self.x, self.gone, self.added, self.inner) = (x, gone, added, inner)
  }
}

extension ItemModel {
  init(_ document: DynamicDocument) {
    name = document["name"]?.text ?? "?"
    switch document["number"] {
    case .integer(let value): number = .integer(Int128(value))
    case .double(let value): number = .double(value)
    default: number = .double(.nan)
    }
    (gone, added) = (document["gone"]?.text, document["added"]?.int)
    (extra, place) = (document["extra"]?.int, document["place"]?.place)
    // An optional in an optional is an array of one.
    if case .array(let level)? = document["deep"] { deep = .some(level.first?.place) }
    if case .dictionary(let pairs)? = document["places"] {
      for (key, value) in pairs { places[key.text ?? "?"] = value.place }
    }
    if case .array(let values)? = document["rows"] { rows = values.compactMap(\.place) }
    if case .dictionary(let pairs)? = document["coded"] {
      coded = CodedModel(
        a: pairs["a"]?.int ?? -1, gone: pairs["gone"]?.int, added: pairs["added"]?.int)
    }
  }
}
