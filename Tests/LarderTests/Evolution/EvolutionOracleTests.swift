import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Documents of two versions of a type, each of which saves and reads what the other has saved.
@Suite struct EvolutionOracleTests {
  @Test("two versions of a type, and none, keep what the others saved, and read it as their own")
  func bothVersions() throws {
    var random = RandomSource()
    var tally = Tally()
    for _ in rounds(repetitions(12), until: { tally.hasMetAll }) {
      try withTemporaryStore { store in
        var models: [Int: ItemModel] = [:]
        var version = 1
        for _ in 0..<12 {
          try change(store, &models, &version, using: &random)
          try readAll(store, models, &tally, random.hint)
          for _ in 0..<6 { try ask(store, models, &tally, using: &random) }
        }
        #expect(try store.check().isSound, "\(random.hint)")
      }
    }
    print("versions: \(tally)")
    #expect(tally.hasMetAll, "\(random.hint)")
  }

  private struct Tally {
    var asked = 0
    var found = 0
    var byIndex = 0
    /// Documents that have fields of both versions.
    var merged = 0
    var unreadable = 0

    var hasMetAll: Bool {
      merged > 0 && unreadable > 0 && byIndex > 0 && found > asked / 4
    }
  }

  private func change(
    _ store: Store, _ models: inout [Int: ItemModel], _ version: inout Int,
    using random: inout RandomSource
  ) throws {
    let ids = (0..<12).filter { _ in random.once(in: 3) }
    let (old, new) = (store.repository(of: OldItem.self), store.repository(of: NewItem.self))
    let untyped = store.collection("Item")
    switch random.int(0..<7) {
    case 0, 1:
      let items = ids.map { OldItem(id: $0, using: &random) }
      try old.save(items)
      for item in items { models[item.id, default: ItemModel()].take(item) }
    case 2, 3:
      let items = ids.map { NewItem(id: $0, using: &random) }
      try new.save(items)
      for item in items { models[item.id, default: ItemModel()].take(item) }
    case 4:
      // Read, changed and saved by a type.
      for id in ids {
        if random.bool() {
          guard var item = try? old.get(id) else { continue }
          item.name += "o"
          try old.save(item)
          models[id]?.take(item)
        } else if var item = try new.get(id) {
          item.name += "n"
          try new.save(item)
          models[id]?.take(item)
        }
      }
    case 5:
      for id in ids {
        guard var document = try untyped.get(.integer(Int64(id))) else { continue }
        document["name"] = .string("untyped")
        try untyped.save([document])
        models[id]?.name = "untyped"
      }
    default:
      guard !models.isEmpty else { return }
      version += 1
      // Of a collection without documents the version is the newest one already.
      let drops = random.bool()
      try untyped.migrate(to: version) { document in
        document["extra"] = .integer(Int64(version))
        if drops { document["gone"] = nil }
      }
      for id in models.keys {
        models[id]?.extra = version
        if drops { models[id]?.gone = nil }
      }
    }
  }

  private func readAll(
    _ store: Store, _ models: [Int: ItemModel], _ tally: inout Tally, _ hint: String
  ) throws {
    let (old, new) = (store.repository(of: OldItem.self), store.repository(of: NewItem.self))
    #expect(
      try Set(store.collection("Item").fetch(DynamicQuery()).compactMap(\.id)) == Set(models.keys))
    for (id, model) in models {
      if model.gone != nil, model.added != nil { tally.merged += 1 }
      let document = try #require(try store.collection("Item").get(.integer(Int64(id))))
      #expect(ItemModel(document) == model, "\(id), \(hint)")
      #expect(try new.get(id) == NewItem(id: id, model), "\(id), \(hint)")
      if let item = OldItem(id: id, model) {
        #expect(try old.get(id) == item, "\(id), \(hint)")
      } else {
        #expect(throws: StoreError.self, "\(id), \(hint)") { try old.get(id) }
        tally.unreadable += 1
      }
    }
  }

  private func ask(
    _ store: Store, _ models: [Int: ItemModel], _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    let number = random.int(-3..<4)
    let name = random.pick(ItemModel.names)
    let models = models.sorted { $0.key < $1.key }
    let old = models.compactMap { OldItem(id: $0.key, $0.value) }
    let new = models.map { NewItem(id: $0.key, $0.value) }
    let small = Int32(number)
    let asked: [((Fields<OldItem>) -> Filter<OldItem>, (OldItem) -> Bool)] = [
      ({ $0.number < small }, { $0.number < small }),
      ({ $0.number == small }, { $0.number == small }),
      ({ $0.name == name && $0.number >= small }, { $0.name == name && $0.number >= small }),
      ({ $0.place.x <= small }, { $0.place.map { $0.x <= small } ?? false }),
      ({ $0.place.inner.a == number }, { $0.place?.inner?.a == number }),
      ({ $0.gone == "was" }, { $0.gone == "was" }),
    ]
    let half = Double(number) + (random.bool() ? 0.5 : 0)
    let askedOfNew: [((Fields<NewItem>) -> Filter<NewItem>, (NewItem) -> Bool)] = [
      ({ $0.number < half }, { $0.number < half }),
      ({ $0.number == half }, { $0.number == half }),
      ({ $0.added == 7 || $0.name < name }, { $0.added == 7 || $0.name < name }),
      ({ $0.place.x > number }, { $0.place.map { $0.x > number } ?? false }),
      ({ $0.place.added == "p" }, { $0.place?.added == "p" }),
      ({ $0.place.inner.a != number }, { $0.place?.inner?.a != number }),
    ]
    let (filter, holds) = random.pick(asked)
    try expect(OldItem.where(filter), old.filter(holds), old, store, &tally, random.hint)
    let (newFilter, newHolds) = random.pick(askedOfNew)
    try expect(NewItem.where(newFilter), new.filter(newHolds), new, store, &tally, random.hint)
  }

  /// - Parameter readable: All documents that the type can read.
  private func expect<Item: Document & Equatable>(
    _ query: Query<Item>, _ answer: [Item], _ readable: [Item], _ store: Store,
    _ tally: inout Tally, _ hint: String
  ) throws where Item.Key == Int {
    let hint = "\(query), \(hint)"
    tally.asked += 1
    if !answer.isEmpty { tally.found += 1 }
    let found = try store.repository(of: Item.self).fetch(query.skippingUnreadable { _ in })
    #expect(found == answer, "\(hint)")
    let memory = InMemoryRepository(of: Item.self)
    try memory.save(readable)
    #expect(try memory.fetch(query) == answer, "\(hint)")
    let keys = Set(readable.map(\.entityAccessorKey))
    try store.read { snapshot in
      guard let binding = try snapshot.catalogue.binding(of: Item.self) else { return }
      for plan in try snapshot.everyAnswer(to: query.selection, binding) {
        // What the type cannot read is found or not; whoever reads it learns of it.
        let found = plan.keys.compactMap { $0.withUnsafeBytes { Int(encodedKey: $0) } }
          .filter(keys.contains)
        #expect(found == answer.map(\.entityAccessorKey), "\(plan.plan), \(hint)")
        if !plan.plan.isScan { tally.byIndex += 1 }
      }
    }
  }
}

// MARK: The types

@Document(as: "Item")
private struct OldItem: Equatable {
  var id: Int
  @Indexed var name: String
  var gone = "was"
  @Indexed var number: Int32
  var place: OldPlace?
  var deep: OldPlace??
  var places: [String: OldPlace] = [:]
  var rows: [OldPlace] = []
  var coded = OldCoded()

  static let indexes: [Index<OldItem>] = [Index(\.place.inner.a), Index(\.place.x)]
}

@EmbeddedDocument
private struct OldPlace: Equatable {
  var x: Int32
  var gone = 1
  var inner: OldInner?
}

@EmbeddedDocument
private struct OldInner: Equatable {
  var a: Int
  var gone: Int?
}

private struct OldCoded: Codable, Equatable {
  var a = 0
  var gone: Int?
}

@Document(as: "Item")
private struct NewItem: Equatable {
  var id: Int
  @Indexed var name: String
  @Indexed var number: Double
  @Indexed var added = 7
  var place: NewPlace?
  var deep: NewPlace??
  var places: [String: NewPlace] = [:]
  var rows: [NewPlace] = []
  var coded = NewCoded()

  static let indexes: [Index<NewItem>] = [Index(\.place.inner.a), Index(\.place.added)]
}

@EmbeddedDocument
private struct NewPlace: Equatable {
  var x: Int
  var added = "p"
  var inner: NewInner?
}

@EmbeddedDocument
private struct NewInner: Equatable {
  var a: Int
  var added: Int?
}

private struct NewCoded: Codable, Equatable {
  var a = 0
  var added: Int?
}

// MARK: What is stored

/// A document, with what either version knows of it; nil for what was never saved.
private struct ItemModel: Equatable {
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

  mutating func take(_ item: OldItem) {
    (name, gone, number) = (item.name, item.gone, .integer(Int128(item.number)))
    take(item.place, item.deep, item.places, item.rows, as: PlaceModel.init)
    coded = CodedModel(a: item.coded.a, gone: item.coded.gone)
  }

  mutating func take(_ item: NewItem) {
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

private struct PlaceModel: Equatable {
  var x: Int
  var gone: Int?
  var added: String?
  var inner: InnerModel?

  init(_ place: OldPlace, over other: PlaceModel?) {
    (x, gone, added) = (Int(place.x), place.gone, other?.added)
    inner = place.inner.map {
      InnerModel(a: $0.a, gone: $0.gone, added: other?.inner?.added)
    }
  }

  init(_ place: NewPlace, over other: PlaceModel?) {
    (x, gone, added) = (place.x, other?.gone, place.added)
    inner = place.inner.map {
      InnerModel(a: $0.a, gone: other?.inner?.gone, added: $0.added)
    }
  }
}

private struct InnerModel: Equatable {
  var a: Int
  var gone: Int?
  var added: Int?
}

private struct CodedModel: Equatable {
  var a = 0
  var gone: Int?
  var added: Int?
}

// MARK: As either version reads it

extension OldItem {
  init?(id: Int, _ model: ItemModel) {
    guard let number = Int32.read(model.number),
      ([model.place, model.deep ?? nil].compactMap(\.self) + model.places.values + model.rows)
        .allSatisfy({ Int32(exactly: $0.x) != nil })
    else { return nil }
    self.init(
      id: id, name: model.name, gone: model.gone ?? "was", number: number,
      place: model.place.map(OldPlace.init), deep: model.deep.map { $0.map(OldPlace.init) },
      places: model.places.mapValues(OldPlace.init),
      rows: model.rows.map(OldPlace.init), coded: OldCoded(a: model.coded.a, gone: model.coded.gone)
    )
  }

  init(id: Int, using random: inout RandomSource) {
    self.init(
      id: id, name: random.pick(ItemModel.names), gone: random.pick(["was", "is"]),
      number: Int32(random.int(-3..<4)),
      place: random.once(in: 3) ? nil : OldPlace(using: &random),
      deep: random.pick([.none, .some(nil), .some(OldPlace(using: &random))]),
      places: random.places { OldPlace(using: &$0) },
      rows: random.array(0..<3) { OldPlace(using: &$0) },
      coded: OldCoded(a: random.int(0..<9), gone: random.bool() ? 3 : nil))
  }
}

extension OldPlace {
  init(_ model: PlaceModel) {
    self.init(
      x: Int32(truncatingIfNeeded: model.x), gone: model.gone ?? 1,
      inner: model.inner.map { OldInner(a: $0.a, gone: $0.gone) })
  }

  init(using random: inout RandomSource) {
    self.init(
      x: Int32(random.int(-3..<4)), gone: random.int(1..<4),
      inner: random.bool() ? OldInner(a: random.int(-3..<4), gone: random.bool() ? 2 : nil) : nil)
  }
}

extension NewItem {
  init(id: Int, _ model: ItemModel) {
    self.init(
      id: id, name: model.name, number: Double.read(model.number) ?? .nan, added: model.added ?? 7,
      place: model.place.map(NewPlace.init), deep: model.deep.map { $0.map(NewPlace.init) },
      places: model.places.mapValues(NewPlace.init),
      rows: model.rows.map(NewPlace.init),
      coded: NewCoded(a: model.coded.a, added: model.coded.added))
  }

  init(id: Int, using random: inout RandomSource) {
    self.init(
      id: id, name: random.pick(ItemModel.names),
      number: Double(random.int(-3..<4)) + random.pick([0, 0, 0, 0.5, 0x1p40]),
      added: random.int(6..<9), place: random.once(in: 3) ? nil : NewPlace(using: &random),
      deep: random.pick([.none, .some(nil), .some(NewPlace(using: &random))]),
      places: random.places { NewPlace(using: &$0) },
      rows: random.array(0..<3) { NewPlace(using: &$0) },
      coded: NewCoded(a: random.int(0..<9), added: random.bool() ? 4 : nil))
  }
}

extension NewPlace {
  init(_ model: PlaceModel) {
    self.init(
      x: model.x, added: model.added ?? "p",
      inner: model.inner.map { NewInner(a: $0.a, added: $0.added) })
  }

  init(using random: inout RandomSource) {
    self.init(
      x: random.int(-3..<4) + (random.once(in: 8) ? 1 << 40 : 0), added: random.pick(["p", "q"]),
      inner: random.bool() ? NewInner(a: random.int(-3..<4), added: random.bool() ? 5 : nil) : nil)
  }
}

extension RandomSource {
  /// Up to three, by their names.
  fileprivate mutating func places<Place>(
    _ make: (inout RandomSource) -> Place
  ) -> [String: Place] {
    var places: [String: Place] = [:]
    for name in ["x", "y", "z"].prefix(int(0..<4)) { places[name] = make(&self) }
    return places
  }
}

// MARK: As it is without a type

extension DynamicDocument {
  fileprivate var id: Int? { self["id"].flatMap(\.int) }
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
  fileprivate init(x: Int, gone: Int?, added: String?, inner: InnerModel?) {
    (self.x, self.gone, self.added, self.inner) = (x, gone, added, inner)
  }
}

extension ItemModel {
  fileprivate init(_ document: DynamicDocument) {
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
