import Foundation
import LarderLMDB
import LarderTesting
import Testing

@testable import Larder

@Suite struct MigratedIndexesTests {
  /// The entries of an index, and whether queries may use it.
  private func index(
    _ name: String, of collection: String, in store: Store
  ) throws -> (entries: [[UInt8]], isComplete: Bool)? {
    try store.read { snapshot in
      guard
        let index = snapshot.catalogue[collection]?.indexes.first(where: { $0.name == name })
      else { return nil }
      var entries: [[UInt8]] = []
      var cursor = try snapshot.transaction.cursor(in: index.database)
      while try cursor.next() { entries.append([UInt8](cursor.key) + [0xFF] + cursor.value) }
      return (entries, index.isComplete)
    }
  }

  private func finishIndexes(_ store: Store) throws {
    try store.engine.writer.run { while try store.engine.workOnIndex() {} }
  }

  private func oldItems(_ count: Int) -> [OldItem] {
    (0..<count).map { OldItem(id: $0, label: "\($0 * 7 % count)", group: "g\($0 % 5)") }
  }

  private func newItems(_ count: Int) -> [Item] {
    (0..<count).filter { $0 % 10 != 3 }.map {
      Item(id: $0 % 10 == 4 ? $0 + 100_000 : $0, label: $0 * 7 % count, group: "g\($0 % 5)!")
    }.sorted { $0.id < $1.id }
  }

  /// The label becomes a number, the group changes, some are deleted and some are moved.
  private func change(_ item: inout MigratingDocument) throws {
    guard case .string(let label)? = item["label"], case .string(let group)? = item["group"],
      case .integer(let id) = item.key
    else { throw Unexpected() }
    if id % 10 == 3 { return item.delete() }
    if id % 10 == 4 { item["id"] = .integer(id + 100_000) }
    item["label"] = .integer(Int64(label) ?? -1)
    item["group"] = .string(group + "!")
  }

  @Test(
    "after a migration every index has the entries that it would have had from the start",
    arguments: [100, 2300])
  func entries(count: Int) throws {
    try withTemporaryStore { store in
      try store.repository(of: OldItem.self).save(oldItems(count))
      try finishIndexes(store)
      let before = try #require(try index("group", of: "Item", in: store))
      #expect(before.isComplete)
      #expect(throws: MigrationError.self) {
        try store.collection("Item").migrate(to: 2, batchCount: 20) { item in
          if item.key == 71 { throw Unexpected() }
          try change(&item)
        }
      }
      #expect(try index("group", of: "Item", in: store)?.isComplete == true)
      #expect(try index("label", of: "Item", in: store)?.isComplete == false)
      #expect(try index("label", of: "Item", in: store)?.entries.isEmpty == true)
      try finishIndexes(store)
      #expect(try index("label", of: "Item", in: store)?.entries.isEmpty == true)

      try store.collection("Item").migrate(to: 2, batchCount: 20, change)
      #expect(try index("group", of: "Item", in: store)?.isComplete == true)
      // Whether it is built yet or not, queries are right.
      let items = store.repository(of: Item.self)
      let expected = newItems(count)
      #expect(
        try items.fetch(Item.where { $0.label < 20 }) == expected.filter { $0.label < 20 })
      try finishIndexes(store)

      #expect(try items.fetch(Item.all) == expected)
      #expect(
        try items.fetch(Item.where { $0.label >= 50 }.sorted(by: \.label)).map(\.label)
          == expected.map(\.label).filter { $0 >= 50 }.sorted())
      #expect(
        try items.fetch(Item.where { $0.group == "g1!" }) == expected.filter { $0.group == "g1!" })
      try withTemporaryStore { fresh in
        try fresh.repository(of: Item.self).save(expected)
        try finishIndexes(fresh)
        for name in ["label", "group", "group,-label"] {
          let found = try #require(try index(name, of: "Item", in: store))
          #expect(found.isComplete, "\(name)")
          #expect(try found.entries == index(name, of: "Item", in: fresh)?.entries, "\(name)")
        }
      }
      try items.save(Item(id: 5, label: -1, group: "x"))
      #expect(try items.fetch(Item.where { $0.label < 0 }).map(\.id) == [5])
    }
  }

  @Test("a unique index refuses a batch that breaks it, which is left as it was")
  func unique() throws {
    try withTemporaryStore { store in
      let codes = store.repository(of: Coded.self)
      try codes.save((0..<10).map { Coded(id: $0, code: "c\($0)") })
      let dynamic = store.collection("Coded")

      let error = storeError {
        try dynamic.migrate(to: 2, batchCount: 3) { if $0.key == 7 { $0["code"] = "c1" } }
      }
      guard case .uniqueViolation? = error else {
        Issue.record("it was \(String(describing: error))")
        return
      }

      #expect(try dynamic.documents().map { $0["code"] } == (0..<10).map { .string("c\($0)") })
      #expect(try dynamic.version() == 1)
      // Inside a batch documents may swap their values.
      try dynamic.migrate(to: 2, batchCount: 3) { document in
        if document.key == 6 { document["code"] = "c7" }
        if document.key == 7 { document["code"] = "c6" }
      }
      #expect(try codes.fetch(Coded.where { $0.code == "c6" }).map(\.id) == [7])
      #expect(throws: StoreError.self) { try codes.save(Coded(id: 99, code: "c7")) }
    }
  }

  @Test(
    "documents exchange values of a unique index whatever a batch has; two that end up with one are found",
    arguments: [true, false])
  func exchangedValues(areUnique: Bool) throws {
    try withTemporaryStore { store in
      let codes = store.repository(of: Coded.self)
      try codes.save((0..<10).map { Coded(id: $0, code: "c\($0)") })
      let dynamic = store.collection("Coded")

      try dynamic.migrate(to: 2, batchCount: 3) { document in
        guard case .integer(let id)? = document["id"] else { return }
        document["code"] = .string(id == 9 && !areUnique ? "c1" : "c\(id + 1)")
      }
      try finishIndexes(store)

      let index = try #require(try dynamic.indexes().first)
      if areUnique {
        #expect(index.state == .complete)
      } else if case .failed(let reason) = index.state {
        #expect(reason.contains("c1"))
      } else {
        Issue.record("it is \(index.state)")
      }
      #expect(
        try codes.fetch(Coded.where { $0.code == "c1" }).map(\.id) == (areUnique ? [0] : [0, 9]))
      #expect(throws: StoreError.self) { try codes.save(Coded(id: 99, code: "c5")) }
      #expect(try store.check().isSound)
    }
  }

  @Test(
    "documents exchange values of a unique index whatever their keys are",
    arguments: [KeyKind.string, .integer, .unsigned, .uuid])
  func exchangedValues(keys kind: KeyKind) throws {
    func key(_ number: Int) -> Value {
      switch kind {
      // In order, and with what is quoted otherwise in errors.
      case .string: .string("\(number) \"\\\n\t\u{1}\u{7f}é\u{e000}")
      case .integer: .integer(Int64(number))
      case .unsigned: .unsigned(UInt64(Int64.max) + 1 + UInt64(number))
      case .uuid:
        .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(number))))
      }
    }
    try withTemporaryStore { store in
      let codes = store.collection("Codes")
      try codes.save(
        (0..<10).map { ["id": key($0), "code": .string("c\($0)"), "number": .integer(Int64($0))] },
        keyField: "id")
      try codes.createIndex(on: "code", unique: true)
      #expect(try codes.keyKind() == kind)

      try codes.migrate(to: 2, batchCount: 3) { document in
        guard case .integer(let number)? = document["number"] else { return }
        document["code"] = .string("c\(number + 1)")
      }
      try finishIndexes(store)

      #expect(try codes.indexes().first?.state == .complete)
      #expect(try codes.documents().map { $0["code"] } == (1...10).map { .string("c\($0)") })
      #expect(try store.check().isSound)
    }
  }

  @Test("a collection that is renamed takes its indexes along")
  func renamed() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldItem.self).save(oldItems(1500))
      try finishIndexes(store)
      let before = try index("label", of: "Item", in: store)

      _ = try store.write { try $0.rename(store.collection("Item"), to: "Moved") }
      try finishIndexes(store)

      #expect(try index("label", of: "Item", in: store) == nil)
      let after = try #require(try index("label", of: "Moved", in: store))
      #expect(after.isComplete)
      #expect(after.entries == before?.entries)
      try store.collection("Moved").save([["id": 7000, "label": "new", "group": "g"]])
      #expect(try index("label", of: "Moved", in: store)?.entries.count == 1501)
      #expect(try store.repository(of: OldItem.self).fetch(OldItem.all).isEmpty)
    }
  }

  @Test("queries and indexes without a type know the fields as a migration left them")
  func withoutType() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldItem.self).save(oldItems(100))
      let items = store.collection("Item")
      try items.migrate(to: 2, change)

      try items.createIndex(on: "label")

      let query = DynamicQuery.where { $0.label < 14 && $0.label >= 7 }.sorted(by: "label")
      let expected = newItems(100).filter { (7..<14).contains($0.label) }
      #expect(
        try items.fetch(query).map { $0["id"] }
          == expected.sorted { $0.label < $1.label }.map { .integer(Int64($0.id)) })
      #expect(try items.explain(query).examinedCount == expected.count && !expected.isEmpty)
    }
  }
}

private struct OldItem: Document, Identifiable, Equatable {
  var id: Int
  var label: String
  var group: String

  static let schema = Schema<OldItem>(
    "Item", key: \.id,
    fields: [
      Field("id", \.id), Field("label", \.label).indexed(), Field("group", \.group).indexed(),
    ])
  static let indexes: [Index<OldItem>] = [Index(.ascending(\.group), .descending(\.label))]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(label, at: 1)
    record.put(group, at: 2)
  }
}

extension OldItem {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), label: try record.get(1), group: try record.get(2))
  }
}

private struct Item: Document, Identifiable, Equatable {
  var id: Int
  var label: Int
  var group: String

  static let schema = Schema<Item>(
    "Item", key: \.id,
    fields: [
      Field("id", \.id), Field("label", \.label).indexed(), Field("group", \.group).indexed(),
    ])
  static let indexes: [Index<Item>] = [Index(.ascending(\.group), .descending(\.label))]

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(label, at: 1)
    record.put(group, at: 2)
  }
}

extension Item {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), label: try record.get(1), group: try record.get(2))
  }
}

private struct Coded: Document, Identifiable, Equatable {
  var id: Int
  var code: String

  static let schema = Schema<Coded>(
    "Coded", key: \.id, fields: [Field("id", \.id), Field("code", \.code).indexed(unique: true)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(code, at: 1)
  }
}

extension Coded {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), code: try record.get(1))
  }
}
