import CBench
import Foundation
import Larder

/// Reads by key while somebody writes or nobody does; and what a bare C loop of reads over another
/// file gets beside the same writer, which shares nothing with it but the machine.
///
/// Rates of one run, measured in turns: compare them with each other.
struct ConcurrencyStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder

  /// One line of the table: something per second, or microseconds.
  struct Row {
    let name: String
    let spread: Spread
    /// What its median is compared with.
    var reference: String?
    var ratio: Double?
  }

  // MARK: Reading

  func run() async throws -> [Row] {
    let store = try Store(at: try folder.folder("reads").url)
    defer { try? store.close() }  // Nothing in it is needed any more.
    let places = store.repository(of: PlainPlace.self)
    try await places.save((0..<documents).map { PlainPlace(id: $0, order: $0) })
    let bare = try BareReader(
      in: try folder.folder("bare-reads"), documents: documents,
      byteCount: DurableStudy.recordByteCount)
    var rates: [String: [Double]] = [:]
    var latencies: [Double] = []
    for _ in 0..<rounds {
      for threads in [1, 2] {
        rates["get-\(threads)-threads", default: []].append(try readRate(places, threads))
        rates["get-c-\(threads)-threads", default: []].append(try bare.rate(threads))
      }
      for tasks in Self.writers {
        // Documents that nobody reads, as fast as the disk takes them.
        let isOver = Flag()
        let writer = Task {
          try await DurableStudy.write(places, tasks: tasks) { _ in !isOver.isSet }
        }
        for threads in [1, 2] {
          let rate = try await Self.off { try readRate(places, threads) }
          rates["get-\(threads)-threads" + Self.beside(tasks), default: []].append(rate)
          let bareRate = try await Self.off { try bare.rate(threads) }
          rates["get-c-\(threads)-threads" + Self.beside(tasks), default: []].append(bareRate)
        }
        if tasks == Self.writers.last { latencies.append(try await Self.off { try p99(places) }) }
        isOver.set()
        try await writer.value
      }
    }
    var rows: [Row] = []
    for name in [1, 2].flatMap({ ["get-\($0)-threads", "get-c-\($0)-threads"] }) {
      rows.append(try row(name, rates[name] ?? [], beside: nil, rates))
      for tasks in Self.writers {
        let busy = name + Self.beside(tasks)
        rows.append(try row(busy, rates[busy] ?? [], beside: name, rates))
      }
    }
    let tasks = Self.writers.last ?? 1
    rows.append(
      try row("get-p99\(Self.beside(tasks))-microseconds", latencies, beside: nil, rates))
    return rows
  }

  /// A writer that writes one document after another, and the full load of many at once.
  private static let writers = [1, 64]

  private static func beside(_ tasks: Int) -> String {
    tasks == 1 ? "-while-one-writes" : "-while-\(tasks)-write"
  }

  /// As many as C's loop, so that neither ends before the scheduler has found its places.
  private static let readCount = 400_000

  /// Documents read by key per second, by all threads together.
  private func readRate(_ places: StoreRepository<PlainPlace>, _ threads: Int) throws -> Double {
    let start = ContinuousClock.now
    let found = Counter()
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      var count = 0
      for number in 0..<Self.readCount {
        let id = (number &* 7919 &+ thread) % documents
        // What is not found is not counted.
        if (try? places.get(id))?.order == id { count += 1 }
      }
      found.add(count)
    }
    guard found.value == threads * Self.readCount else {
      throw WrongResult(description: "reads by key gave \(found.value) documents")
    }
    return Double(threads * Self.readCount) / Self.seconds(since: start)
  }

  /// What 99 of 100 reads do not exceed, in microseconds.
  private func p99(_ places: StoreRepository<PlainPlace>) throws -> Double {
    var times: [Double] = []
    for number in 0..<Self.readCount {
      let start = ContinuousClock.now
      guard try places.get((number &* 7919) % documents) != nil else {
        throw WrongResult(description: "a read by key gave no document")
      }
      times.append(Self.seconds(since: start) * 1e6)
    }
    return times.sorted()[times.count * 99 / 100]
  }

  /// Runs what blocks on a thread of its own.
  private static func off(_ body: @escaping @Sendable () throws -> Double) async throws -> Double {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try body() }) }.start()
    }
  }

  // MARK: Telling

  private func row(
    _ name: String, _ values: [Double], beside reference: String?, _ all: [String: [Double]]
  ) throws -> Row {
    guard let spread = Spread(values) else {
      throw WrongResult(description: "\(name) was not measured")
    }
    var row = Row(name: name, spread: spread)
    if let reference, let other = Spread(all[reference] ?? []) {
      row.reference = reference
      row.ratio = spread.median / other.median
    }
    return row
  }

  fileprivate static func seconds(since start: ContinuousClock.Instant) -> Double {
    let duration = ContinuousClock.now - start
    return Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  static func markdown(_ rows: [Row], documents: Int) -> String {
    var text = "| \(documents) documents | per second | least | most | of |\n"
    text += "|---|---:|---:|---:|---|\n"
    for row in rows {
      let numbers = [row.spread.median, row.spread.minimum, row.spread.maximum]
        .map { String(format: "%.0f", $0) }
      let ratio = row.ratio.flatMap { ratio in
        row.reference.map { String(format: "%.2f of ", ratio) + $0 }
      }
      text += "| \(row.name) | \(numbers.joined(separator: " | ")) | \(ratio ?? "") |\n"
    }
    return text
  }
}

/// Reads by key as C does them, from a file that nobody writes to.
private final class BareReader: @unchecked Sendable {  // Immutable; LMDB's environments are safe.
  private let reader: OpaquePointer
  private let folder: ScratchFolder

  private static let readCount = 400_000

  init(in folder: ScratchFolder, documents: Int, byteCount: Int) throws {
    guard let reader = bench_reader_open(folder.path, documents, byteCount) else {
      throw WrongResult(description: "no bare reader")
    }
    self.reader = reader
    self.folder = folder
  }

  deinit {
    bench_reader_close(reader)
    folder.remove()
  }

  /// Records read by key per second, by all threads together.
  func rate(_ threads: Int) throws -> Double {
    let start = ContinuousClock.now
    let found = Counter()
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
      found.add(bench_reader_get(reader, Self.readCount, thread))
    }
    guard found.value == threads * Self.readCount else {
      throw WrongResult(description: "bare reads by key gave \(found.value) records")
    }
    return Double(threads * Self.readCount) / ConcurrencyStudy.seconds(since: start)
  }
}

/// Something that has happened, seen by all threads.
private final class Flag: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private var value = false

  var isSet: Bool { lock.withLock { value } }

  func set() { lock.withLock { value = true } }
}

/// A number that threads add to.
private final class Counter: @unchecked Sendable {  // Guard: `lock`.
  private let lock = NSLock()
  private var sum = 0

  var value: Int { lock.withLock { sum } }

  func add(_ number: Int) { lock.withLock { sum += number } }
}

/// A document without an index.
struct PlainPlace: Document {
  var id: Int
  var order: Int
  var city = "a city with a name of some length"

  var entityAccessorKey: Int { id }

  static let schema = Schema<PlainPlace>(
    "PlainPlace", key: \.id,
    fields: [Field("id", \.id), Field("order", \.order), Field("city", \.city)])

  init(id: Int, order: Int) {
    self.id = id
    self.order = order
  }

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(order, at: 1)
    record.put(city, at: 2)
  }

  init(from record: borrowing RecordReader) throws(RecordError) {
    id = try record.get(0)
    order = try record.get(1)
    city = try record.get(2)
  }
}
