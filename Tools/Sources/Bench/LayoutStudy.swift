import CBench
import Foundation

/// Compares two layouts of a collection in LMDB: records under the id itself (natural), or under an
/// internal row number that a key map gives for an id (row).
struct LayoutStudy {
  var documents: Int
  var rounds: Int
  var folder: ScratchFolder

  /// How the workload comes in.
  struct Arrival {
    var name: String
    var keys: Workload.Keys
    var batches: Int

    static let all = [
      Arrival(name: "ordered ids, one batch", keys: .ordered, batches: 1),
      Arrival(name: "shuffled ids, one batch", keys: .shuffled, batches: 1),
      Arrival(name: "shuffled ids, 100 batches", keys: .shuffled, batches: 100),
      Arrival(name: "random 36-byte ids, 100 batches", keys: .random, batches: 100),
    ]
  }

  /// One measured thing, in the unit of its name.
  enum Measure: String, CaseIterable {
    case bulkSave = "save all, no index (ms)"
    case bulkSaveIndexed = "save all, two indexes (ms)"
    case get = "get by key (ns)"
    case scanByKey = "scan in key order (ms)"
    case scanByStorage = "scan in storage order (ms)"
    case query = "query by city (us)"
    case top = "top 20 by order (us)"
    case update = "update 10,000 singly (ms)"
    case upsert = "save batch of 10,000, half changed (ms)"
    case delete = "delete 10,000 singly (ms)"
    case size = "file with two indexes (MB)"
    case written = "written by save all, two indexes (MB)"
  }

  /// All measures of one arrival, by layout.
  struct Row {
    var arrival: Arrival
    var natural: [Measure: Spread]
    var row: [Measure: Spread]
  }

  /// Runs all rounds: in each one, for every arrival, first one layout and then the other.
  ///
  /// - Throws: ``WrongResult`` if a layout returns or keeps something else than the workload.
  func run() throws -> [Row] {
    try Arrival.all.map { arrival in
      let workload = Workload(count: documents, keys: arrival.keys)
      var values: [bench_layout.RawValue: [Measure: [Double]]] = [:]
      for round in 0..<rounds {
        let layouts = [BENCH_NATURAL, BENCH_ROW]
        for layout in round % 2 == 0 ? layouts : layouts.reversed() {
          for (measure, value) in try measure(layout, arrival, workload) {
            values[layout.rawValue, default: [:]][measure, default: []].append(value)
          }
        }
      }
      func spreads(_ layout: bench_layout) -> [Measure: Spread] {
        (values[layout.rawValue] ?? [:]).compactMapValues { Spread($0) }
      }
      return Row(arrival: arrival, natural: spreads(BENCH_NATURAL), row: spreads(BENCH_ROW))
    }
  }

  /// One round of one layout: a store without indexes, then one with two that everything else uses.
  private func measure(
    _ layout: bench_layout, _ arrival: Arrival, _ workload: Workload
  ) throws -> [Measure: Double] {
    var values: [Measure: Double] = [:]
    try withStore(layout, indexed: false) { store in
      values[.bulkSave] = bench_save(store, workload.raw, arrival.batches).seconds * 1e3
      try require(bench_store_digest(store) == workload.expectedAll, .bulkSave)
    }
    try withStore(layout, indexed: true) { store in
      let writtenBefore = bytesWrittenToFiles()
      values[.bulkSaveIndexed] = bench_save(store, workload.raw, arrival.batches).seconds * 1e3
      if let writtenBefore, let writtenAfter = bytesWrittenToFiles() {
        values[.written] = Double(writtenAfter - writtenBefore) / 1e6
      }
      try require(bench_store_digest(store) == workload.expectedAll, .bulkSaveIndexed)
      values[.size] = Double(bench_store_byte_count(store)) / 1e6
      try read(store, workload, into: &values)
      values[.update] = bench_update(store, workload.raw).seconds * 1e3
      try require(bench_store_digest(store) == workload.expectedAfterUpdate, .update)
      values[.upsert] = bench_upsert(store, workload.raw).seconds * 1e3
      try require(bench_store_digest(store) == workload.expectedAfterUpsert, .upsert)
      values[.delete] = bench_delete(store, workload.raw).seconds * 1e3
      try require(bench_store_digest(store) == workload.expectedAfterDelete, .delete)
    }
    return values
  }

  private func read(
    _ store: OpaquePointer, _ workload: Workload, into values: inout [Measure: Double]
  ) throws {
    let get = bench_get(store, workload.raw)
    try require(get.checksum == workload.expectedLookups, .get)
    values[.get] = get.seconds * 1e9 / Double(BENCH_LOOKUP_COUNT)
    // The first scan grows the heap, which would be charged to whichever order comes first.
    _ = bench_scan_by_storage(store)
    let byKey = bench_scan_by_key(store)
    try require(byKey.checksum == workload.expectedAll, .scanByKey)
    values[.scanByKey] = byKey.seconds * 1e3
    let byStorage = bench_scan_by_storage(store)
    try require(byStorage.checksum == workload.expectedAll, .scanByStorage)
    values[.scanByStorage] = byStorage.seconds * 1e3
    let query = bench_query_cities(store)
    try require(query.checksum == workload.expectedCities, .query)
    values[.query] = query.seconds * 1e6 / Double(BENCH_QUERY_COUNT)
    let top = bench_top_by_order(store)
    try require(top.checksum == workload.expectedTop, .top)
    values[.top] = top.seconds * 1e6 / Double(BENCH_TOP_REPETITIONS)
  }

  private func withStore(
    _ layout: bench_layout, indexed: Bool, _ body: (OpaquePointer) throws -> Void
  ) throws {
    let inner = try folder.folder("layout")
    defer { inner.remove() }
    guard
      let store = bench_store_open(inner.path, layout, indexed ? BENCH_TWO_INDEXES : BENCH_NO_INDEX)
    else {
      throw WrongResult(description: "no store")
    }
    defer { bench_store_close(store) }
    try body(store)
  }

  private func require(_ right: Bool, _ measure: Measure) throws {
    guard right else { throw WrongResult(description: "wrong result of: \(measure.rawValue)") }
  }
}
