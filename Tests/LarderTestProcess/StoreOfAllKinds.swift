import Foundation
import Larder
import LarderLMDB

// A store that has something of everything that the page "On disk" describes: `Tools/check-format`
// reads it with a decoder that was written from that page alone.

enum StoreOfAllKinds {
  static func make(at folder: String) throws {
    let store = try Store(at: folder)
    let kinds = store.repository(of: Kinds.self)
    try kinds.save((0..<300).map(Kinds.init))
    // Packs with records as they were, of updates and of deletions.
    try kinds.save((0..<40).map { Kinds($0 + 7, id: $0) })
    try kinds.delete(keys: Array(200..<220))
    try keys(store)
    try untyped(store)
    try unlogged(store)
    try twins(store)
    try moved(store)
    try consume(store)
    try store.write { try $0.setNote("fetch/kinds", to: [1, 2, 3, 4, 5, 6, 7, 8]) }
    try synced(store)
    try halfMigrated(store)
    try store.migrate(to: 2) { _ in }
    guard try store.check().isSound else { TestProcess.fail("the store is not sound") }
    try store.close()
  }

  private static func keys(_ store: Store) throws {
    try store.repository(of: Keyed<Int>.self).save([.min, -1, 0, 1, .max].map(Keyed.init))
    try store.repository(of: Keyed<UInt64>.self).save([0, 1, .max].map(Keyed.init))
    try store.repository(of: Keyed<String>.self).save(Kinds.texts[1..<9].map(Keyed.init))
    try store.repository(of: Keyed<UUID>.self).save((0..<5).map { Keyed(Kinds.uuid($0)) })
  }

  /// Integers in a field that became one of doubles, fields that only some documents have.
  private static func untyped(_ store: Store) throws {
    let documents = store.collection("untyped")
    try documents.save(
      (0..<20).map { ["id": .string("\($0)"), "n": .integer(1 << (3 * $0))] }, keyField: "id")
    try documents.createIndex(on: "n")
    try documents.save(
      [
        ["id": "a", "n": 0.5, "list": ["x", "y"]],
        ["id": "b", "inner": .document(["x": 1, "y": .array([.null, "z"])])],
      ], keyField: "id")
  }

  private static func unlogged(_ store: Store) throws {
    let documents = store.collection("unlogged")
    try documents.save([["id": 1, "text": "x"]], keyField: "id")
    try documents.setChangeLog(false)
    try documents.save([["id": 2, "text": "y"]], keyField: "id")
  }

  /// A unique index over documents that were there before it, two of which have the same value.
  private static func twins(_ store: Store) throws {
    try store.collection("Twin").save(
      [["id": 1, "mail": "a"], ["id": 2, "mail": "a"]], keyField: "id")
    try store.repository(of: Twin.self).save(Twin(id: 3, mail: "b"))
  }

  /// Documents from before an embedded document with an initial value was added, and indexes over the
  /// fields of that one: the first definition of version 3.
  private static func moved(_ store: Store) throws {
    try store.collection("Moved").save((0..<9).map { ["id": .integer($0)] }, keyField: "id")
    let typed = store.repository(of: Moved.self)
    try typed.save([Moved(id: 9), Moved(id: 10, at: Place(name: "there", height: -1, marks: [7]))])
    try store.collection("Moved").buildIndexes()
    guard try typed.count(Moved.where { $0.at.name == "here" && $0.at.height == 2.5 }) == 10
    else { TestProcess.fail("the initial value is not found") }
  }

  private static func consume(_ store: Store) throws {
    let isDone = DispatchSemaphore(value: 0)
    Task.detached {
      do {
        for try await batch in store.changes(for: "kinds") {
          try await store.write { try $0.acknowledge(batch) }
          break
        }
      } catch {
        TestProcess.fail("\(error)")
      }
      isDone.signal()
    }
    isDone.wait()
  }

  /// Entries of the outbox with every part that there is.
  private static func synced(_ store: Store) throws {
    try store.repository(of: Synced.self).save((0..<6).map { Synced(id: "\($0)", text: "old") })
    try store.prepareOutbox()
    let name = Synced.schema.name
    let base: [UInt8] = [0, 1, 3] + "r7".utf8
    try store.write(as: .sync) { tx in
      try tx.setSynced(name, true)
      try tx.setSyncNote("account", to: Array("é".utf8))
      try tx.setSyncNote("scope/0", to: Array(#"{"scope":"all"}"#.utf8))
      for id in 0..<5 { try tx.setBase(name, Array("\(id)".utf8), to: base) }
    }
    let synced = store.repository(of: Synced.self)
    try synced.save((0..<4).map { Synced(id: "\($0)", text: "new") } + [Synced(id: "made")])
    try synced.delete(keys: ["4"])
    try store.write(as: .sync) { tx in
      for id in ["1", "4", "made"] {
        guard var entry = try tx.outboxEntry(name, Array(id.utf8)) else { continue }
        entry.flight = OutboxEntry.Flight(
          mutation: Kinds.uuid(7), destination: id == "made" ? nil : [0, 1])
        entry.attemptCount = 2
        try tx.setOutboxEntry(name, Array(id.utf8), to: entry)
      }
      guard var held = try tx.outboxEntry(name, Array("2".utf8)) else { return }
      held.newer = OutboxEntry.Version(base: base, record: held.shadow)
      held.hold = OutboxEntry.Hold(code: "", reason: "")
      try tx.setOutboxEntry(name, Array("2".utf8), to: held)
      guard var refused = try tx.outboxEntry(name, Array("3".utf8)) else { return }
      refused.newer = OutboxEntry.Version(base: base, record: nil)
      refused.hold = OutboxEntry.Hold(code: "no", reason: "not this one: é")
      try tx.setOutboxEntry(name, Array("3".utf8), to: refused)
    }
    // Edited since it was sent, and changed otherwise.
    try store.write(as: .sync) { try $0.save(Synced(id: "made", text: "changed")) }
    try synced.save([Synced(id: "1", text: "newer"), Synced(id: "4", text: "again")])
    try store.collection("Erased").save([["id": 1]], keyField: "id")
    try store.write(as: .sync) { try $0.setSynced("Erased", true) }
    try store.write { _ = try $0.eraseAllData(of: store.collection("Erased")) }
  }

  /// 1,000 of 1,003 documents are of version 2, whose `n` is an integer.
  private static func halfMigrated(_ store: Store) throws {
    struct Stop: Error {}
    let counts = store.collection("Count")
    try counts.save(
      (0..<1003).map { ["id": .integer($0), "n": .string("\($0 % 10)")] }, keyField: "id")
    try counts.createIndex(on: "n")
    do {
      try counts.migrate(to: 2) { count in
        guard case .string(let text)? = count["n"], count.key != 1001 else { throw Stop() }
        count["n"] = .integer(Int64(text) ?? -1)
      }
    } catch is MigrationError {}
  }
}

@Document
struct Kinds {
  var id: Int
  @Indexed var small: Int8
  @Indexed(descending: true) var large: UInt64
  @Indexed var single: Float
  @Indexed var double: Double
  @Indexed var isOn: Bool
  @Indexed @Searchable(weight: 3) var text: String
  @Indexed var data: Data
  @Indexed var date: Date
  @Indexed(unique: true) var uuid: UUID
  @Indexed var url: URL
  @Indexed(descending: true) var decimal: Decimal
  @Indexed var maybe: Int?
  var twice: Int??
  @Indexed @Searchable var texts: [String]
  var rows: [[Double]?]
  @Indexed var numbers: Set<Int>
  var counts: [String: Int]
  var places: [UUID: Place]
  @Indexed var color: Color
  var place: Place?
  var state: State

  static let indexes: [Index<Kinds>] = [
    Index(\.place.name, \.small), Index(.ascending(\.text), .descending(\.double)),
    Index(\.place.marks),
    Index(\.double, where: { $0.isOn && $0.small > 0 }),
  ]

  enum Color: String, Storable, CaseIterable { case red, green }
  enum State: Codable { case open, closed(at: Date, by: UUID) }
}

@EmbeddedDocument
struct Place {
  var name: String?
  var height = 0.5
  var marks: [Int] = []
}

extension Kinds {
  static let texts =
    [
      "", "a", "e\u{301}", "\u{E9}", "\u{1112}\u{1161}\u{11AB}", "a\u{0}b", "😀", "東京",
      "q\u{323}\u{307}",
    ]
    + [250, 251, 400].map { String(repeating: "x", count: $0) + "\($0)" }
    + [String(repeating: "\u{0}", count: 300)]

  static func uuid(_ number: Int) -> UUID {
    UUID(uuidString: "00000000-0000-4000-8000-" + String(100_000_000_000 + number)) ?? UUID()
  }

  /// Another document for each number.
  init(_ number: Int) { self.init(number, id: number) }

  init(_ number: Int, id: Int) {
    let doubles = [
      0, -0.0, 1, -2.5, .infinity, .nan, Double.leastNonzeroMagnitude, 9_007_199_254_740_992, 1e300,
    ]
    let decimals = ["0", "1.50", "-0.001", "1200", "-99999999999999999999.5", "NaN"]
    func pick<Element>(_ elements: [Element]) -> Element { elements[number % elements.count] }
    self.init(
      id: id, small: Int8(truncatingIfNeeded: number), large: UInt64.max >> UInt64(number % 64),
      single: Float(pick(doubles)), double: pick(doubles) * Double(number / 20 + 1),
      isOn: number % 3 == 0, text: pick(Self.texts) + "\(number / 30)",
      data: Data((0..<number).map { UInt8(truncatingIfNeeded: $0 % 3) }),
      date: Date(timeIntervalSinceReferenceDate: pick(doubles) + Double(number) * 86_400.001),
      uuid: Self.uuid(number == id ? number : 1_000 + number),
      url: URL(filePath: "/é/\(number)"), decimal: Decimal(string: pick(decimals)) ?? 0,
      maybe: number % 4 == 0 ? nil : -number * 1_000_003,
      twice: pick([.none, .some(nil), .some(number)]),
      texts: Array(Self.texts.dropFirst(number % 17).prefix(3)) + Self.texts.prefix(number % 2),
      rows: [nil, [], [0.5, Double(number)]], numbers: Set((0..<number % 4).map { $0 * 70_000 }),
      counts: ["é": 1, "\(number)": 2],
      places: number % 5 == 0 ? [Self.uuid(number): Place(name: "x")] : [:],
      color: pick(Color.allCases),
      place: pick([nil, Place(name: nil), Place(name: "n\(number)", marks: [1, 2, 1])]),
      state: number % 2 == 0
        ? .open : .closed(at: Date(timeIntervalSinceReferenceDate: 0.5), by: Self.uuid(number)))
  }
}

@Document
struct Synced {
  var id: String
  var text = ""
}

@Document
struct Moved {
  var id: Int
  var at = Place(name: "here", height: 2.5, marks: [3, 4])

  static let indexes: [Index<Moved>] = [
    Index(\.at.name, \.id), Index(.descending(\.at.height)),
  ]
}

@Document
struct Twin {
  var id: Int
  @Indexed(unique: true) var mail: String
}

/// A document whose key is of any kind: the collection is called after the kind.
struct Keyed<Key: DocumentKey & Storable & Sendable>: Document {
  var key: Key

  var entityAccessorKey: Key { key }

  init(_ key: Key) { self.key = key }

  static var schema: Schema<Keyed> {
    Schema("Keyed \(Key.keyKind)", key: \.key, fields: [Field("key", \.key)])
  }

  func encode(into record: inout RecordWriter) { record.put(key, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { key = try record.get(0) }
}
