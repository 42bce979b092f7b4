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
  private let filled: OpaquePointer

  init(_ workload: Workload, in parent: ScratchFolder, unchanged: Unchanged) throws {
    name = unchanged == .putAgain ? "lmdb-c" : "lmdb-c-compare"
    self.workload = workload
    self.unchanged = unchanged
    folder = try parent.folder(name)
    filled = bench_store_open(try folder.folder("filled").path, BENCH_NATURAL, false)
  }

  deinit {
    bench_store_close(filled)
    folder.remove()
  }

  func fill() {
    _ = bench_save(filled, workload.raw, 1)
  }

  func run(_ operation: Operation) throws -> Sample? {
    if unchanged == .compare && operation != .saveUnchanged { return nil }
    switch operation {
    case .bulkSave: return try bulkSave()
    case .getByKey: return Sample(bench_get(filled, workload.raw))
    case .scanDecoded: return Sample(bench_scan_by_key(filled))
    case .saveUnchanged:
      let sample = bench_save_unchanged(filled, workload.raw, unchanged == .compare)
      return Sample(seconds: sample.seconds, checksum: bench_store_digest(filled))
    }
  }

  private func bulkSave() throws -> Sample {
    let folder = try folder.folder("empty")
    defer { folder.remove() }
    let store = bench_store_open(folder.path, BENCH_NATURAL, false)
    defer { bench_store_close(store) }
    let sample = bench_save(store, workload.raw, 1)
    return Sample(seconds: sample.seconds, checksum: bench_store_digest(store))
  }
}

extension Sample {
  init(_ raw: bench_sample) {
    self.init(seconds: raw.seconds, checksum: raw.checksum)
  }
}
