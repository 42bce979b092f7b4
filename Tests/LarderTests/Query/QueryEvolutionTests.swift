import Foundation
import Larder
import LarderTesting
import Testing

/// Queries of a type whose records another version of it wrote.
@Suite struct QueryEvolutionTests {
  private func withOldReadings<Result>(
    _ old: [OldReading], _ body: (StoreRepository<Reading>) throws -> Result
  ) throws -> Result {
    try withTemporaryStore { store in
      try store.repository(of: OldReading.self).save(old)
      return try body(store.repository(of: Reading.self))
    }
  }

  @Test("a field that a record lacks has its declared default in a filter and in a sort")
  func defaults() throws {
    try withOldReadings([OldReading(id: 1), OldReading(id: 2)]) { readings in
      try readings.save(Reading(id: 3, level: -1, unit: "F", tags: []))

      #expect(try readings.fetch(Reading.where { $0.level == 7 }).map(\.id) == [1, 2])
      #expect(try readings.fetch(Reading.where { $0.unit.hasPrefix("C") }).map(\.id) == [1, 2])
      #expect(try readings.fetch(Reading.where { $0.tags.contains("new") }).map(\.id) == [1, 2])
      #expect(try readings.fetch(Reading.where { $0.probe.depth == 4 }).map(\.id) == [1, 2, 3])
      #expect(try readings.fetch(Reading.where { !$0.isGood }).map(\.id) == [])
      #expect(try readings.fetch(Reading.all.sorted(by: \.level)).map(\.id) == [3, 1, 2])
      #expect(try readings.count(Reading.where { $0.unit.isIn(["C"]) }) == 2)
    }
  }

  @Test("an optional field that a record lacks is nil in a filter and in a sort")
  func optionals() throws {
    try withOldReadings([OldReading(id: 1)]) { readings in
      try readings.save(Reading(id: 0, note: "a", backup: Probe(depth: 2)))

      #expect(try readings.fetch(Reading.where { $0.note == nil }).map(\.id) == [1])
      #expect(try readings.fetch(Reading.where { $0.note != "a" }).map(\.id) == [1])
      #expect(try readings.fetch(Reading.where { $0.backup.isNil() }).map(\.id) == [1])
      #expect(try readings.fetch(Reading.where { $0.backup.depth > 1 }).map(\.id) == [0])
      #expect(try readings.fetch(Reading.where { $0.backup.depth == nil }).map(\.id) == [1])
      #expect(try readings.fetch(Reading.all.sorted(by: \.note)).map(\.id) == [1, 0])
    }
  }

  @Test("a required field that a record lacks is an error that names key and field")
  func required() throws {
    try withTemporaryStore { store in
      try store.repository(of: OldReading.self).save(OldReading(id: 5))
      let readings = store.repository(of: StrictReading.self)
      let error = StoreError.damagedRecord(
        collection: "Reading", key: "5", reason: .field("serial", .missing))

      #expect(throws: error) { try readings.count(StrictReading.where { $0.serial == "x" }) }
      #expect(throws: error) { try readings.fetch(StrictReading.where { $0.serial != "x" }) }
      #expect(throws: error) { try readings.delete(StrictReading.where { $0.serial == "x" }) }
      #expect(throws: error) { try readings.fetch(StrictReading.all.sorted(by: \.serial)) }
      #expect(throws: error) {
        try readings.save([], clearBeforeSaving: StrictReading.where { $0.serial == "x" })
      }
      #expect(try readings.count(StrictReading.where { $0.value > 0 }) == 0)
    }
  }

  @Test("a number that was stored in another width is compared as the type reads it")
  func widened() throws {
    let large = 1 << 53
    let old = [
      OldReading(id: 1, value: 0.1, total: large), OldReading(id: 2, value: 2, total: large + 2),
      OldReading(id: 3, value: .nan, total: 0, counts: [large]),
    ]
    try withOldReadings(old) { readings in
      let read = try readings.fetch(Reading.all)
      try readings.save(Reading(id: 4, value: 0.1, total: Double(large)))

      #expect(read.map(\.total) == [Double(large), Double(large + 2), 0])
      #expect(read[0].value == 0.1 as Float)
      #expect(try readings.fetch(Reading.where { $0.value == 0.1 }).map(\.id) == [1, 4])
      #expect(
        try readings.fetch(Reading.where { $0.value.isIn([0.1, 2]) }).map(\.id) == [1, 2, 4])
      #expect(
        try readings.fetch(Reading.where { $0.total == Double(large) }).map(\.id) == [1, 4])
      #expect(
        try readings.fetch(Reading.where { $0.counts.contains(Double(large)) }).map(\.id) == [3])
      #expect(
        try readings.fetch(Reading.all.sorted(by: \.total, .reverse)).map(\.id) == [2, 1, 4, 3])
      #expect(
        try readings.fetch(Reading.all.sorted(by: \.value)).map(\.id) == [1, 4, 2, 3])
    }
  }
}

/// What the first version of the type stored.
private struct OldReading: Document, Identifiable {
  var id: Int
  var value = 0.0
  var total = 0
  var counts: [Int] = []

  init(id: Int, value: Double = 0, total: Int = 0, counts: [Int] = []) {
    self.id = id
    self.value = value
    self.total = total
    self.counts = counts
  }

  static let schema = Schema<OldReading>(
    "Reading", key: \.id,
    fields: [
      Field("id", \.id), Field("value", \.value), Field("total", \.total),
      Field("counts", \.counts),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(value, at: 1)
    record.put(total, at: 2)
    record.put(counts, at: 3)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    value = try record.get(1)
    total = try record.get(2)
    counts = try record.get(3)
  }
}

/// The second version: wider and narrower numbers, new fields with defaults.
private struct Reading: Document, Identifiable {
  var id: Int
  var value: Float
  var total: Double
  var counts: [Double]
  var level: Int
  var unit: String
  var tags: [String]
  var isGood: Bool
  var note: String?
  var probe: Probe
  var backup: Probe?

  init(
    id: Int, value: Float = 0, total: Double = 0, level: Int = 7, unit: String = "C",
    tags: [String] = ["new"], note: String? = nil, backup: Probe? = nil
  ) {
    self.id = id
    self.value = value
    self.total = total
    counts = []
    self.level = level
    self.unit = unit
    self.tags = tags
    isGood = true
    self.note = note
    probe = Probe(depth: 4)
    self.backup = backup
  }

  static let schema = Schema<Reading>(
    "Reading", key: \.id,
    fields: [
      Field("id", \.id), Field("value", \.value), Field("total", \.total),
      Field("counts", \.counts), Field("level", \.level, default: 7),
      Field("unit", \.unit, default: "C"), Field("tags", \.tags, default: ["new"]),
      Field("good", \.isGood, default: true), Field("note", \.note),
      Field("probe", \.probe, default: Probe(depth: 4)), Field("backup", \.backup),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(value, at: 1)
    record.put(total, at: 2)
    record.put(counts, at: 3)
    record.put(level, at: 4)
    record.put(unit, at: 5)
    record.put(tags, at: 6)
    record.put(isGood, at: 7)
    record.put(note, at: 8)
    record.put(probe, at: 9)
    record.put(backup, at: 10)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    value = try record.get(1)
    total = try record.get(2)
    counts = try record.get(3)
    level = try record.get(4)
    unit = try record.get(5)
    tags = try record.get(6)
    isGood = try record.get(7)
    note = try record.get(8)
    probe = try record.get(9)
    backup = try record.get(10)
  }
}

private struct Probe: EmbeddedDocument {
  var depth: Int

  init(depth: Int) { self.depth = depth }

  static let schema = Schema<Probe>("Probe", fields: [Field("depth", \.depth)])

  func encode(into record: inout RecordWriter) { record.put(depth, at: 0) }

  init(from record: borrowing RecordReader) throws(RecordError) { depth = try record.get(0) }
}

/// A version with a field that no older record can have.
private struct StrictReading: Document, Identifiable {
  var id: Int
  var value: Double
  var serial: String

  static let schema = Schema<StrictReading>(
    "Reading", key: \.id,
    fields: [Field("id", \.id), Field("value", \.value), Field("serial", \.serial)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(value, at: 1)
    record.put(serial, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    value = try record.get(1)
    serial = try record.get(2)
  }
}
