import Foundation
import Larder

/// What watching costs: the way from a commit to the consumer, and what those pay who are not
/// concerned.
///
/// Times of one run; compare them with each other and not with those of another machine.
struct WatchStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder

  private static let cities = 100

  /// One line of the table.
  struct Row {
    let name: String
    let spread: Spread
  }

  func run() async throws -> [Row] {
    let store = try Store(
      at: folder.folder("watch-\(documents)").url,
      options: StoreOptions(durability: .volatile))
    defer { try? store.close() }
    let places = store.repository(of: WatchedPlace.self)
    for start in stride(from: 0, to: documents, by: 10_000) {
      try await places.save(
        (start..<min(start + 10_000, documents)).map {
          WatchedPlace(id: $0, city: "city \($0 % Self.cities)", order: ($0 * 7919) % documents)
        })
    }
    var rows: [Row] = []
    try await rows.append(delivery(places))
    for count in [1, 1_000] { try await rows.append(bystanders(places, count, areDistinct: true)) }
    try await rows.append(bystanders(places, 1_000, areDistinct: false))
    try await rows.append(bystanders(places, 10_000, areDistinct: true))
    return rows
  }

  /// From the return of a save to the consumer holding the difference, in microseconds.
  private func delivery(_ places: StoreRepository<WatchedPlace>) async throws -> Row {
    let query = WatchedPlace.where { $0.city == "city 1" }.sorted(by: \.order)
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let consumer = Task {
      for try await _ in places.watch(query) { arrived.yield(.now) }
    }
    var times: [Double] = []
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    for round in 0..<rounds * 100 {
      try await Task.sleep(for: .milliseconds(1))
      try await places.save(WatchedPlace(id: 1, city: "city 1", order: round))
      let saved = ContinuousClock.now
      guard let arrival = await next.next() else { break }
      times.append(microseconds(arrival - saved))
    }
    consumer.cancel()
    return try row("save returned -> consumer has the difference", times)
  }

  /// What a save costs that concerns none of the watchers, beyond one that nobody watches: all of
  /// it, until the last watcher that is concerned has heard of the next, in microseconds.
  private func bystanders(
    _ places: StoreRepository<WatchedPlace>, _ count: Int, areDistinct: Bool
  ) async throws -> Row {
    let (arrivals, arrived) = AsyncStream<Int>.makeStream()
    var next = arrivals.makeAsyncIterator()
    func watch(_ query: Query<WatchedPlace>) -> Task<Void, any Error> {
      Task { for try await change in places.watch(query) { arrived.yield(Int(change.sequence)) } }
    }
    var consumers = (0..<count).map { number in
      watch(
        areDistinct
          ? WatchedPlace.where { $0.city == "elsewhere \(number)" }
          : WatchedPlace.where { $0.order < -1 - number })
    }
    consumers.append(watch(WatchedPlace.where { $0.city == "end" }))
    for _ in consumers { _ = await next.next() }
    let saves = 50
    var times: [Double] = []
    for round in 0..<rounds {
      let start = ContinuousClock.now
      for number in 0..<saves {
        let order = round * saves + number
        try await places.save(WatchedPlace(id: 2, city: "city 2", order: order))
      }
      try await places.save(WatchedPlace(id: -1, city: "end", order: round))
      _ = await next.next()
      times.append(microseconds(ContinuousClock.now - start) / Double(saves))
    }
    for consumer in consumers { consumer.cancel() }
    let kind = areDistinct ? "of distinct cities" : "with ranges"
    return try row("a save beside \(count) watchers \(kind)", times)
  }

  private func row(_ name: String, _ times: [Double]) throws -> Row {
    guard let spread = Spread(times) else {
      throw WrongResult(description: "\(name) was not measured")
    }
    return Row(name: name, spread: spread)
  }

  private func microseconds(_ duration: Duration) -> Double {
    Double(duration.components.attoseconds) / 1e12 + Double(duration.components.seconds) * 1e6
  }

  static func markdown(_ rows: [Row], documents: Int) -> String {
    var text = "| \(documents) documents | median us | least | most |\n|---|---:|---:|---:|\n"
    for row in rows {
      let numbers = [row.spread.median, row.spread.minimum, row.spread.maximum]
        .map { String(format: "%.1f", $0) }
      text += "| \(row.name) | \(numbers.joined(separator: " | ")) |\n"
    }
    return text
  }
}

/// A document small enough for a million of them.
struct WatchedPlace: Document {
  var id: Int
  var city: String
  var order: Int

  var entityAccessorKey: Int { id }

  static let schema = Schema<WatchedPlace>(
    "Place", key: \.id,
    fields: [Field("id", \.id), Field("city", \.city).indexed(), Field("order", \.order)])

  static let indexes: [Index<WatchedPlace>] = [Index(\.city, \.order, name: "city and order")]

  init(id: Int, city: String, order: Int) {
    self.id = id
    self.city = city
    self.order = order
  }

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(city, at: 1)
    record.put(order, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), city: try record.get(1), order: try record.get(2))
  }
}
