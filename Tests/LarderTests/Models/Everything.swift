import Foundation
import Larder

// The fuzzers compile this file with a source of random numbers of their own.
#if canImport(LarderTestKit)
  import LarderTestKit
#endif

enum Channel: String, Storable, Sendable, CaseIterable { case mail, phone, unknown }
enum Rank: Int8, Storable, Sendable, CaseIterable { case low = -1, high = 100 }

/// A document with a field of every kind.
struct Everything: Document, Identifiable, Equatable {
  var id: Int
  var small: Int8
  var large: UInt64
  var single: Float
  var double: Double
  var isOn: Bool
  var text: String
  var data: Data
  var date: Date
  var uuid: UUID
  var url: URL
  var decimal: Decimal
  var maybe: Int?
  var twice: Int??
  var texts: [String]
  var rows: [[Double]?]
  var numbers: Set<Int>
  var counts: [String: Int]
  var places: [Int: Geo]
  var channel: Channel
  var ranks: [Rank]
  var geo: Geo?
  var nodes: [Node]

  static let schema = Schema<Everything>(
    "Everything", key: \.id,
    fields: [
      Field("id", \.id), Field("small", \.small), Field("large", \.large),
      Field("single", \.single), Field("double", \.double), Field("isOn", \.isOn),
      Field("text", \.text), Field("data", \.data), Field("date", \.date), Field("uuid", \.uuid),
      Field("url", \.url), Field("decimal", \.decimal), Field("maybe", \.maybe),
      Field("twice", \.twice), Field("texts", \.texts), Field("rows", \.rows),
      Field("numbers", \.numbers), Field("counts", \.counts), Field("places", \.places),
      Field("channel", \.channel), Field("ranks", \.ranks), Field("geo", \.geo),
      Field("nodes", \.nodes),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(small, at: 1)
    record.put(large, at: 2)
    record.put(single, at: 3)
    record.put(double, at: 4)
    record.put(isOn, at: 5)
    record.put(text, at: 6)
    record.put(data, at: 7)
    record.put(date, at: 8)
    record.put(uuid, at: 9)
    record.put(url, at: 10)
    record.put(decimal, at: 11)
    record.put(maybe, at: 12)
    record.put(twice, at: 13)
    record.put(texts, at: 14)
    record.put(rows, at: 15)
    record.put(numbers, at: 16)
    record.put(counts, at: 17)
    record.put(places, at: 18)
    record.put(channel, at: 19)
    record.put(ranks, at: 20)
    record.put(geo, at: 21)
    record.put(nodes, at: 22)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    small = try record.get(1)
    large = try record.get(2)
    single = try record.get(3)
    double = try record.get(4)
    isOn = try record.get(5)
    text = try record.get(6)
    data = try record.get(7)
    date = try record.get(8)
    uuid = try record.get(9)
    url = try record.get(10)
    decimal = try record.get(11)
    maybe = try record.get(12)
    twice = try record.get(13)
    texts = try record.get(14)
    rows = try record.get(15)
    numbers = try record.get(16)
    counts = try record.get(17)
    places = try record.get(18)
    channel = try record.get(19)
    ranks = try record.get(20)
    geo = try record.get(21)
    nodes = try record.get(22)
  }
}

extension Everything {
  /// Random fields.
  init(id: Int, _ random: inout RandomSource) {
    self.id = id
    small = Int8(truncatingIfNeeded: random.integer())
    large = UInt64(bitPattern: random.integer())
    single = Float(random.double())
    double = random.double()
    isOn = random.bool()
    text = random.text()
    data = random.data()
    date = Date(timeIntervalSinceReferenceDate: random.double())
    uuid = random.uuid()
    url = random.url()
    decimal = random.decimal()
    maybe = random.bool() ? Int(random.integer()) : nil
    twice = random.pick([.none, .some(nil), .some(random.int(0..<100))])
    texts = random.array(0..<20) { $0.text() }
    rows = random.array(0..<4) { $0.bool() ? $0.array(0..<5) { $0.double() } : nil }
    numbers = Set(random.array(0..<20) { Int($0.integer()) })
    counts = [:]
    for _ in 0..<random.int(0..<20) { counts[random.text(upTo: 4)] = random.int(0..<9) }
    places = [:]
    for _ in 0..<random.int(0..<3) { places[random.int(0..<300)] = Geo(&random) }
    channel = Channel.allCases.randomElement(using: &random) ?? .unknown
    ranks = random.array(0..<3) { Rank.allCases.randomElement(using: &$0) ?? .low }
    geo = random.bool() ? Geo(&random) : nil
    nodes = random.array(0..<3) { Node(depth: $0.int(1..<6)) }
  }
}

extension Geo {
  init(_ random: inout RandomSource) {
    self.init(
      lat: random.double(), lon: random.double(), label: random.bool() ? random.text() : nil)
  }
}
