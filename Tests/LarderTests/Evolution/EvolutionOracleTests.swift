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
    var byUntypedIndex = 0
    /// Documents that have fields of both versions.
    var merged = 0
    var unreadable = 0

    var hasMetAll: Bool {
      merged > 0 && unreadable > 0 && byIndex > 0 && byUntypedIndex > 0 && found > asked / 4
    }
  }

  private func change(
    _ store: Store, _ models: inout [Int: ItemModel], _ version: inout Int,
    using random: inout RandomSource
  ) throws {
    let ids = (0..<12).filter { _ in random.once(in: 3) }
    let (old, new) = (store.repository(of: OlderItem.self), store.repository(of: NewerItem.self))
    let untyped = store.collection("Item")
    switch random.int(0..<7) {
    case 0, 1:
      let items = ids.map { OlderItem(id: $0, using: &random) }
      try old.save(items)
      for item in items { models[item.id, default: ItemModel()].take(item) }
    case 2, 3:
      let items = ids.map { NewerItem(id: $0, using: &random) }
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
    let (old, new) = (store.repository(of: OlderItem.self), store.repository(of: NewerItem.self))
    #expect(
      try Set(store.collection("Item").fetch(DynamicQuery()).compactMap(\.itemID))
        == Set(models.keys))
    for (id, model) in models {
      if model.gone != nil, model.added != nil { tally.merged += 1 }
      let document = try #require(try store.collection("Item").get(.integer(Int64(id))))
      #expect(ItemModel(document) == model, "\(id), \(hint)")
      #expect(try new.get(id) == NewerItem(id: id, model), "\(id), \(hint)")
      if let item = OlderItem(id: id, model) {
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
    let old = models.compactMap { OlderItem(id: $0.key, $0.value) }
    let new = models.map { NewerItem(id: $0.key, $0.value) }
    let small = Int32(number)
    let asked: [((Fields<OlderItem>) -> Filter<OlderItem>, (OlderItem) -> Bool)] = [
      ({ $0.number < small }, { $0.number < small }),
      ({ $0.number == small }, { $0.number == small }),
      ({ $0.name == name && $0.number >= small }, { $0.name == name && $0.number >= small }),
      ({ $0.place.x <= small }, { $0.place.map { $0.x <= small } ?? false }),
      ({ $0.place.inner.a == number }, { $0.place?.inner?.a == number }),
      ({ $0.gone == "was" }, { $0.gone == "was" }),
    ]
    let half = Double(number) + (random.bool() ? 0.5 : 0)
    let askedOfNew: [((Fields<NewerItem>) -> Filter<NewerItem>, (NewerItem) -> Bool)] = [
      ({ $0.number < half }, { $0.number < half }),
      ({ $0.number == half }, { $0.number == half }),
      ({ $0.added == 7 || $0.name < name }, { $0.added == 7 || $0.name < name }),
      ({ $0.place.x > number }, { $0.place.map { $0.x > number } ?? false }),
      ({ $0.place.added == "p" }, { $0.place?.added == "p" }),
      ({ $0.place.inner.a != number }, { $0.place?.inner?.a != number }),
    ]
    let (filter, holds) = random.pick(asked)
    try expect(OlderItem.where(filter), old.filter(holds), old, store, &tally, random.hint)
    let (newFilter, newHolds) = random.pick(askedOfNew)
    try expect(NewerItem.where(newFilter), new.filter(newHolds), new, store, &tally, random.hint)
    try askUntyped(store, models, number, name, half, &tally, using: &random)
  }

  /// Without a type there are no defaults: what a record lacks is nil.
  private func askUntyped(
    _ store: Store, _ models: [(key: Int, value: ItemModel)], _ number: Int, _ name: String,
    _ half: Double, _ tally: inout Tally, using random: inout RandomSource
  ) throws {
    typealias Question = (
      path: String, filter: (DynamicFields) -> DynamicFilter, holds: (ItemModel) -> Bool
    )
    let integer = Value.integer(Int64(number))
    let questions: [Question] = [
      (
        "number", { $0.number < .double(half) },
        { ($0.number.compare(.double(half)) ?? 0) < 0 }
      ),
      ("number", { $0.number == integer }, { $0.number.compare(.integer(Int128(number))) == 0 }),
      ("name", { $0.name == .string(name) }, { $0.name == name }),
      ("gone", { $0.gone == "was" }, { $0.gone == "was" }),
      ("gone", { $0.gone == .null }, { $0.gone == nil }),
      ("added", { $0.added == 7 }, { $0.added == 7 }),
      ("added", { $0.added != 7 }, { $0.added != 7 }),
      ("added", { $0.added >= 7 }, { $0.added.map { $0 >= 7 } ?? false }),
      ("place.added", { $0.place.added == "p" }, { $0.place?.added == "p" }),
      ("place.added", { $0.place.added == .null }, { $0.place?.added == nil }),
      ("place.x", { $0.place.x <= integer }, { $0.place.map { $0.x <= number } ?? false }),
      (
        "place.inner.a", { $0.place.inner.a == integer }, { $0.place?.inner?.a == number }
      ),
      (
        "place.inner.a", { $0.place.inner.a != integer }, { $0.place?.inner?.a != number }
      ),
    ]
    let question = random.pick(questions)
    let answer = models.filter { question.holds($0.value) }.map(\.key)
    var query = DynamicQuery.where(question.filter)
    let hint = "\(query), \(random.hint)"
    let collection = store.collection("Item")
    // A name that nobody has declared is refused.
    let isKnown = try store.read { snapshot in
      guard let binding = snapshot.catalogue.binding(ofCollection: "Item") else { return false }
      return (try? DynamicQuery.where(question.filter).lowered(in: binding.collection)) != nil
    }
    guard isKnown else {
      #expect(models.allSatisfy { !$0.value.has(question.path) }, "\(hint)")
      return
    }
    tally.asked += 1
    if !answer.isEmpty { tally.found += 1 }
    #expect(try collection.fetch(query).compactMap(\.itemID) == answer, "\(hint)")
    #expect(try collection.count(query) == answer.count, "\(hint)")
    let keys = answer.map { $0.withEncodedKey { [UInt8]($0) } }
    query = query.sorted(by: "number")
    let sorted = models.filter { question.holds($0.value) }.sorted { left, right in
      let order = left.value.number.compare(right.value.number) ?? 0
      return order == 0 ? left.key < right.key : order < 0
    }
    #expect(try collection.fetch(query).compactMap(\.itemID) == sorted.map(\.key), "\(hint)")
    try store.read { snapshot in
      let binding = try #require(snapshot.catalogue.binding(ofCollection: "Item"))
      let selection = try DynamicQuery.where(question.filter).lowered(in: binding.collection)
      for plan in try snapshot.everyAnswer(to: selection, binding) {
        #expect(plan.keys == keys, "\(plan.plan), \(hint)")
        if !plan.plan.isScan { tally.byUntypedIndex += 1 }
      }
    }
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
