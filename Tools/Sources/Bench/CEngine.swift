import CBench

/// LMDB driven directly from C: the limit.
///
/// It takes part under two names, because there are two ways of saving what is stored already.
final class CEngine: Engine {
  enum Unchanged {
    /// Put every record again; the reference.
    case putAgain
    /// Read first and skip equal bytes. Takes part in ``Operation/saveUnchanged`` only.
    case compare
  }

  let name: String
  private let workload: Workload
  private let folder: ScratchFolder
  private let unchanged: Unchanged
  private var stores: [bench_indexes.RawValue: OpaquePointer] = [:]
  private var fileByteCount = 0.0

  init(_ workload: Workload, in parent: ScratchFolder, unchanged: Unchanged) throws {
    name = unchanged == .putAgain ? "lmdb-c" : "lmdb-c-compare"
    self.workload = workload
    self.unchanged = unchanged
    folder = try parent.folder(name)
  }

  deinit {
    for store in stores.values { bench_store_close(store) }
    folder.remove()
  }

  func run(_ operation: Operation) throws -> Sample? {
    if unchanged == .compare && operation != .saveUnchanged { return nil }
    switch operation {
    case .bulkSave: return try bulkSave(BENCH_NO_INDEX)
    case .bulkSaveIndexed: return try bulkSave(BENCH_TWO_INDEXES)
    case .saveHalfChanged:
      return Sample(bench_save_half_changed(try store(BENCH_TWO_INDEXES), workload.raw))
    case .saveUnchanged:
      let store = try store(BENCH_NO_INDEX)
      let sample = bench_save_unchanged(store, workload.raw, unchanged == .compare)
      return Sample(value: sample.seconds, checksum: bench_store_digest(store))
    case .replaceCity: return Sample(bench_replace_city(try store(BENCH_TWO_INDEXES), workload.raw))
    case .writeSingly:
      let store = try store(BENCH_TWO_INDEXES)
      let sample = bench_write_singly(store, workload.raw)
      return Sample(value: sample.seconds, checksum: bench_store_digest(store))
    case .getByKey: return Sample(bench_get(try store(BENCH_NO_INDEX), workload.raw))
    case .scanDecoded: return Sample(bench_scan_by_key(try store(BENCH_NO_INDEX)))
    case .scanFiltered: return try scan(BENCH_BALANCE_BELOW)
    case .scanFilteredByInteger: return try scan(BENCH_ORDER_BELOW)
    case .scanFilteredByText: return try scan(BENCH_CITY_EQUAL)
    case .textScan: return try scan(BENCH_NAME_HAS)
    case .queryCity: return Sample(bench_query_cities(try store(BENCH_TWO_INDEXES)))
    case .queryCompound: return Sample(bench_query_compound(try store(BENCH_COMPOUND_INDEX)))
    case .topByOrder: return Sample(bench_top_by_order(try store(BENCH_TWO_INDEXES)))
    case .countCity: return Sample(bench_count_cities(try store(BENCH_TWO_INDEXES)))
    case .open: return try open()
    case .fileSize:
      _ = try store(BENCH_TWO_INDEXES)
      return Sample(value: fileByteCount, checksum: 0)
    case .memoryOfSave: return try bulkSave(BENCH_TWO_INDEXES, watchesMemory: true)
    case .memoryOfScan:
      let store = try store(BENCH_NO_INDEX)
      let watched = MemoryWatch.peak { bench_scan_filtered(store, BENCH_BALANCE_BELOW) }
      return Sample(value: watched.bytes, checksum: watched.value.checksum)
    case .sortFirst, .sortAll, .sum, .sumsByCity, .check, .indexBuild, .countPrefix, .countRange,
      .saveMapped,
      .saveMappedShuffled, .saveMappedUnchanged, .memoryOfMappedSave, .memoryOfMappedShuffled:
      return nil
    }
  }

  private func scan(_ condition: bench_condition) throws -> Sample {
    Sample(bench_scan_filtered(try store(BENCH_NO_INDEX), condition))
  }

  /// The store that holds the whole workload, with these indexes.
  private func store(_ indexes: bench_indexes) throws -> OpaquePointer {
    if let store = stores[indexes.rawValue] { return store }
    let folder = try folder.folder("filled-\(indexes.rawValue)")
    let store = try make(in: folder, indexes)
    stores[indexes.rawValue] = store
    _ = bench_save(store, workload.raw, 1)
    if indexes == BENCH_TWO_INDEXES { fileByteCount = Double(bench_store_byte_count(store)) }
    return store
  }

  private func make(in folder: ScratchFolder, _ indexes: bench_indexes) throws -> OpaquePointer {
    guard let store = bench_store_open(folder.path, BENCH_NATURAL, indexes) else {
      throw WrongResult(description: "no store")
    }
    return store
  }

  private func bulkSave(
    _ indexes: bench_indexes, watchesMemory: Bool = false
  ) throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let store = try make(in: folder, indexes)
    defer { bench_store_close(store) }
    let value =
      watchesMemory
      ? MemoryWatch.peak { bench_save(store, workload.raw, 1) }.bytes
      : bench_save(store, workload.raw, 1).seconds
    return Sample(value: value, checksum: bench_store_digest(store))
  }

  private func open() throws -> Sample {
    let copy = try folder.folder("copy")
    defer { copy.remove() }
    _ = try store(BENCH_TWO_INDEXES)
    try copy.copyFiles(from: folder.inner("filled-\(BENCH_TWO_INDEXES.rawValue)"))
    return Sample(bench_open(copy.path, workload.raw))
  }
}

extension Sample {
  init(_ raw: bench_sample) {
    self.init(value: raw.seconds, checksum: raw.checksum)
  }
}
