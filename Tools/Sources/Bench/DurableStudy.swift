import CBench
import Foundation
import Larder

/// Durable writes of single documents by tasks, each of which waits for its own; beside them a C loop
/// over LMDB and one over SQLite, which have one writer and no other way than one after the other.
///
/// On a file system in memory a flush costs nothing, and there is nothing to share.
struct DurableStudy {
  let documents: Int
  let rounds: Int
  let folder: ScratchFolder

  private static let loopCount = 400
  /// What a record of ``PlainPlace`` takes, about.
  static let recordByteCount = 80

  /// Seconds for each document.
  func run() async throws -> [Measurement] {
    let workload = Workload(count: 1_000, keys: .ordered)
    var times = Times()
    for round in 0..<rounds {
      let loop = try folder.folder("loop-\(round)")
      let seconds = bench_durable_puts(loop.path, Self.loopCount, Self.recordByteCount)
      loop.remove()
      let sqlite = try sqliteSeconds(workload, round)
      for operation in StudiedOperation.durableWrites {
        times.add(seconds / Double(Self.loopCount), operation, Measurement.limit)
        times.add(sqlite, operation, "sqlite-c")
        times.add(try await saveSeconds(operation, round), operation, "larder")
      }
    }
    return try StudiedOperation.durableWrites.flatMap {
      try times.measurements(of: $0, documents: documents)
    }
  }

  private func sqliteSeconds(_ workload: Workload, _ round: Int) throws -> Double {
    let place = try folder.folder("sqlite-\(round)")
    defer { place.remove() }
    guard let database = bench_sqlite_open(place.path, BENCH_NO_INDEX) else {
      throw WrongResult(description: "no database")
    }
    defer { bench_sqlite_close(database) }
    _ = bench_sqlite_save(database, workload.raw)
    return bench_sqlite_durable_puts(database, workload.raw, Self.loopCount)
      / Double(Self.loopCount)
  }

  private func saveSeconds(_ operation: StudiedOperation, _ round: Int) async throws -> Double {
    let tasks = operation.taskCount ?? 1
    let place = try folder.folder("tasks-\(tasks)-\(round)")
    defer { place.remove() }
    let store = try Store(at: place.url)
    defer { try? store.close() }  // Nothing in it is needed any more.
    let places = store.repository(of: PlainPlace.self)
    try await places.save(PlainPlace(id: -1, order: 0))
    let count = max(40, Self.loopCount / tasks)
    let start = ContinuousClock.now
    try await Self.write(places, tasks: tasks) { $0 < count }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    guard try places.count() == tasks * count + 1 else {
      throw WrongResult(description: "\(operation.rawValue) did not keep every document")
    }
    return seconds / Double(tasks * count)
  }

  /// Has each task save documents of its own one after another, while `goesOn` says so.
  static func write(
    _ places: StoreRepository<PlainPlace>, tasks: Int,
    while goesOn: @escaping @Sendable (Int) -> Bool
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          var number = 0
          while goesOn(number) {
            // In no order, as the loop's are.
            let id = UInt64(number * tasks + task) &* 0x9E37_79B9_7F4A_7C15
            _ = try await places.save(
              PlainPlace(id: Int(truncatingIfNeeded: id >> 1), order: number))
            number += 1
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
