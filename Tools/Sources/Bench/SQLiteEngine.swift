import CBench

/// SQLite driven directly from C: what an app would use otherwise, without any layer above it.
final class SQLiteEngine: Engine {
  let name = "sqlite-c"
  private let workload: Workload
  private let folder: ScratchFolder
  private var databases: [bench_indexes.RawValue: OpaquePointer] = [:]
  private var fileByteCount = 0.0

  init(_ workload: Workload, in parent: ScratchFolder) throws {
    self.workload = workload
    folder = try parent.folder(name)
  }

  deinit {
    for database in databases.values { bench_sqlite_close(database) }
    folder.remove()
  }

  func run(_ operation: Operation) throws -> Sample? {
    switch operation {
    case .bulkSave: return try bulkSave(BENCH_NO_INDEX)
    case .bulkSaveIndexed: return try bulkSave(BENCH_TWO_INDEXES)
    case .saveHalfChanged:
      return Sample(bench_sqlite_save_half_changed(try database(BENCH_TWO_INDEXES), workload.raw))
    case .saveUnchanged:
      let database = try database(BENCH_NO_INDEX)
      let sample = bench_sqlite_save_unchanged(database, workload.raw)
      return Sample(value: sample.seconds, checksum: bench_sqlite_digest(database))
    case .replaceCity:
      return Sample(bench_sqlite_replace_city(try database(BENCH_TWO_INDEXES), workload.raw))
    case .writeSingly:
      let database = try database(BENCH_TWO_INDEXES)
      let sample = bench_sqlite_write_singly(database, workload.raw)
      return Sample(value: sample.seconds, checksum: bench_sqlite_digest(database))
    case .getByKey: return Sample(bench_sqlite_get(try database(BENCH_NO_INDEX), workload.raw))
    case .scanDecoded: return Sample(bench_sqlite_scan(try database(BENCH_NO_INDEX), workload.raw))
    case .scanFiltered: return Sample(bench_sqlite_scan_filtered(try database(BENCH_NO_INDEX)))
    case .scanFilteredByInteger, .scanFilteredByText: return nil
    case .textScan: return Sample(bench_sqlite_scan_names(try database(BENCH_NO_INDEX)))
    case .sortFirst: return Sample(bench_sqlite_first_names(try database(BENCH_NO_INDEX)))
    case .sortAll:
      return Sample(bench_sqlite_sort_names(try database(BENCH_NO_INDEX), workload.raw))
    case .sum: return Sample(bench_sqlite_sum(try database(BENCH_NO_INDEX)))
    case .sumsByCity: return Sample(bench_sqlite_sums_by_city(try database(BENCH_NO_INDEX)))
    case .check: return Sample(bench_sqlite_check(try database(BENCH_TWO_INDEXES)))
    case .indexBuild: return Sample(bench_sqlite_build_index(try database(BENCH_NO_INDEX)))
    case .countPrefix, .countRange:
      return Sample(bench_sqlite_count_prefix(try database(BENCH_TWO_INDEXES)))
    case .queryCity: return Sample(bench_sqlite_query_cities(try database(BENCH_TWO_INDEXES)))
    case .queryCompound:
      return Sample(bench_sqlite_query_compound(try database(BENCH_COMPOUND_INDEX)))
    case .topByOrder: return Sample(bench_sqlite_top_by_order(try database(BENCH_TWO_INDEXES)))
    case .countCity: return Sample(bench_sqlite_count_cities(try database(BENCH_TWO_INDEXES)))
    case .open: return try open()
    case .fileSize:
      _ = try database(BENCH_TWO_INDEXES)
      return Sample(value: fileByteCount, checksum: 0)
    case .memoryOfSave: return try bulkSave(BENCH_TWO_INDEXES, watchesMemory: true)
    case .memoryOfScan:
      let database = try database(BENCH_NO_INDEX)
      let watched = MemoryWatch.peak { bench_sqlite_scan_filtered(database) }
      return Sample(value: watched.bytes, checksum: watched.value.checksum)
    case .saveMapped, .saveMappedShuffled, .saveMappedUnchanged, .memoryOfMappedSave,
      .memoryOfMappedShuffled:
      return nil
    }
  }

  /// The database that holds the whole workload, with these indexes.
  private func database(_ indexes: bench_indexes) throws -> OpaquePointer {
    if let database = databases[indexes.rawValue] { return database }
    let folder = try folder.folder("filled-\(indexes.rawValue)")
    let database = try make(in: folder, indexes)
    databases[indexes.rawValue] = database
    _ = bench_sqlite_save(database, workload.raw)
    if indexes == BENCH_TWO_INDEXES { fileByteCount = Double(bench_sqlite_byte_count(database)) }
    return database
  }

  private func make(in folder: ScratchFolder, _ indexes: bench_indexes) throws -> OpaquePointer {
    guard let database = bench_sqlite_open(folder.path, indexes) else {
      throw WrongResult(description: "no database")
    }
    return database
  }

  private func bulkSave(
    _ indexes: bench_indexes, watchesMemory: Bool = false
  ) throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let database = try make(in: folder, indexes)
    defer { bench_sqlite_close(database) }
    let value =
      watchesMemory
      ? MemoryWatch.peak { bench_sqlite_save(database, workload.raw) }.bytes
      : bench_sqlite_save(database, workload.raw).seconds
    return Sample(value: value, checksum: bench_sqlite_digest(database))
  }

  private func open() throws -> Sample {
    let copy = try folder.folder("copy")
    defer { copy.remove() }
    _ = bench_sqlite_byte_count(try database(BENCH_TWO_INDEXES))  // Empties the log.
    try copy.copyFiles(from: folder.inner("filled-\(BENCH_TWO_INDEXES.rawValue)"))
    return Sample(bench_sqlite_time_open(copy.path, workload.raw))
  }
}
