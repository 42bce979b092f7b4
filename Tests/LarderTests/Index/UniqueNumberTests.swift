import Foundation
import Larder
import LarderTesting
import Testing

/// What equals what in a unique index of numbers, in a store and in memory.
@Suite struct UniqueNumberTests {
  struct Gauge: Document, Identifiable {
    var id: Int
    var value: Double = 1
    var level: Float?
    var made = Date(timeIntervalSinceReferenceDate: 0)
    var price: Decimal?

    static let schema = Schema<Gauge>(
      "Gauge", key: \.id,
      fields: [
        Field("id", \.id), Field("value", \.value), Field("level", \.level), Field("made", \.made),
        Field("price", \.price),
      ])

    static let indexes: [Index<Gauge>] = [
      Index(\.value, unique: true), Index(.descending(\.level), unique: true),
      Index(\.made, \.value, unique: true), Index(\.price, unique: true),
    ]

    func encode(into record: inout RecordWriter) {
      record.put(id, at: 0)
      record.put(value, at: 1)
      record.put(level, at: 2)
      record.put(made, at: 3)
      record.put(price, at: 4)
    }
  }

  private func withBoth(_ body: (any Repository<Gauge, Gauge>) throws -> Void) throws {
    try body(InMemoryRepository(of: Gauge.self))
    try withTemporaryStore { try body($0.repository(of: Gauge.self)) }
  }

  @Test("NaN equals nothing, as in Swift, so that several documents may have it")
  func notANumber() throws {
    try withBoth { gauges in
      let never = Date(timeIntervalSinceReferenceDate: .nan)
      try gauges.save([
        Gauge(id: 1, value: .nan, level: .nan), Gauge(id: 2, value: -.nan, level: .nan),
        Gauge(id: 3, value: 3, made: never), Gauge(id: 4, value: 4, made: never),
      ])
      try gauges.save([Gauge(id: 5, value: .nan, level: -.nan)])

      #expect(try gauges.count() == 5)
      #expect(try gauges.count(Gauge.where { $0.value == .nan }) == 0)
    }
  }

  @Test("-0.0 equals 0.0, and of decimals NaN equals NaN")
  func equal() throws {
    try withBoth { gauges in
      try gauges.save([Gauge(id: 1, value: 0, price: .nan)])

      #expect(throws: StoreError.self) { try gauges.save([Gauge(id: 2, value: -0.0)]) }
      #expect(throws: StoreError.self) { try gauges.save([Gauge(id: 3, value: 3, price: .nan)]) }
      #expect(try gauges.count() == 1)
    }
  }
}

extension UniqueNumberTests.Gauge {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), value: try record.get(1), level: try record.get(2),
      made: try record.get(3), price: try record.get(4))
  }
}
