import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// Every code path that changes a store, crossed with every fact that holds for changes.
@Suite(.timeLimit(.minutes(20))) struct CorridorTests {
  private let folder = TestFolder()

  @Test(
    "whatever changes a store", arguments: CorridorPath.all, CorridorFact.allCases)
  func holds(_ path: CorridorPath, _ fact: CorridorFact) async throws {
    if let reason = path.without[fact] {
      #expect(!reason.isEmpty)
      return
    }
    switch fact {
    case .quota: try await quota(path)
    case .reserve: try await reserve(path)
    case .growth: try await growth(path)
    case .packs: try await packs(path)
    case .origin: try await origin(path)
    case .watchers: try await watchers(path)
    case .ageing: try await ageing(path)
    case .undone: try await undone(path)
    }
  }

  // MARK: Stores

  /// A store with documents, and with what the path needs.
  private func store(
    for path: CorridorPath, quota: Int? = nil, map: Int? = nil
  ) throws -> Store {
    var options = StoreOptions(durability: .volatile)
    options.quotaByteCount = quota
    options.mapByteCount = map
    let store = try Store(at: folder.store, options: options)
    try store.repository(of: KeptCargo.self).save(CorridorPath.documents)
    try path.prepare(store)
    return store
  }

  /// Saves other documents as long as `isOpen`, and until there is no room; returns how many.
  private func fill(_ store: Store, while isOpen: () throws -> Bool = { true }) throws -> Int {
    var count = 0
    while try isOpen() {
      let accounts = (count..<count + 50).map {
        Account(number: $0, balance: 0, text: String(repeating: "x", count: 200))
      }
      do {
        try store.repository(of: Account.self).save(accounts)
      } catch StoreError.full {
        break
      }
      count += 50
    }
    return count
  }

  /// Runs the path, which may find that there is no room.
  private func runWhereFull(_ path: CorridorPath, _ store: Store) async throws {
    do { try await path.run(store) } catch StoreError.full {}
    try waitForBackground(store)
  }

  /// Waits for a step that is left to the background.
  private func waitForBackground(_ store: Store) throws { try store.settle() }

  private func workOnIndexes(_ store: Store) throws {
    try store.engine.writer.run { while try store.engine.workOnIndex() {} }
  }

  // MARK: Facts

  private func quota(_ path: CorridorPath) async throws {
    let quota = 4 << 20
    let store = try store(for: path, quota: quota)
    _ = try fill(store)

    for _ in 0..<3 { try await runWhereFull(path, store) }

    // For what the log has of what was deleted or replaced.
    let reserve = StoreOptions().reserveByteCount
    let limit = quota + (path.isDeleting ? reserve : reserve / 2)
    #expect(try store.statistics().usedByteCount <= limit)
    try verifyAndClose(store)
  }

  private func reserve(_ path: CorridorPath) async throws {
    let store = try store(for: path, map: 6 << 20)
    let count = try fill(store)

    for _ in 0..<3 { try await runWhereFull(path, store) }

    let statistics = try store.statistics()
    if !path.isDeleting {
      let limit = statistics.quotaByteCount + StoreOptions().reserveByteCount / 2
      #expect(statistics.usedByteCount <= limit)
    }
    for start in stride(from: 0, to: count, by: 50) {
      try await store.repository(of: Account.self).delete(keys: Array(start..<start + 50))
    }
    for name in try store.collectionNames() {
      let collection = store.collection(name)
      let keys = try collection.documents().compactMap { $0["id"] }
      for start in stride(from: 0, to: keys.count, by: 50) {
        try collection.delete(keys: Array(keys[start..<min(start + 50, keys.count)]))
      }
      #expect(try collection.documents().isEmpty)
    }
    try verifyAndClose(store)
  }

  private func growth(_ path: CorridorPath) async throws {
    let store = try store(for: path, quota: 256 << 20, map: 1 << 20)
    _ = try fill(store) {
      let statistics = try store.statistics()
      return statistics.fileByteCount < statistics.mapByteCount - (96 << 10)
    }
    let before = try store.statistics().mapByteCount

    try await path.run(store)

    #expect(try store.statistics().mapByteCount > before)
    try verifyAndClose(store)
  }

  private func packs(_ path: CorridorPath) async throws {
    let store = try store(for: path)
    let first = try store.read { $0.sequence } + 1

    try await path.run(store)

    var sizes: [Int] = []
    try forEachPack(store, from: first) { _, byteCount in sizes.append(byteCount) }
    #expect(!sizes.isEmpty)
    #expect(sizes.allSatisfy { $0 < ChangePackBuilder.largestByteCount + 1_000 }, "\(sizes)")
    try verifyAndClose(store)
  }

  private func origin(_ path: CorridorPath) async throws {
    let store = try store(for: path)
    let first = try store.read { $0.sequence } + 1

    try await path.run(store)

    var origins: Set<ChangeOrigin> = []
    try forEachPack(store, from: first) { header, _ in origins.insert(header.origin) }
    #expect(origins == [path.origin])
    try verifyAndClose(store)
  }

  private func forEachPack(
    _ store: Store, from first: UInt64, _ body: (ChangePackHeader, Int) -> Void
  ) throws {
    let log = try #require(try store.engine.changeLog())
    try store.read { snapshot in
      var cursor = try snapshot.transaction.cursor(in: log)
      while try cursor.next() {
        let sequence = UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self))
        if sequence < first { continue }
        body(try ChangePackReader(cursor.value, firstSequence: sequence).header, cursor.value.count)
      }
    }
  }

  private func watchers(_ path: CorridorPath) async throws {
    let store = try store(for: path)
    var changes = store.repository(of: KeptCargo.self).watch(KeptCargo.all).makeAsyncIterator()
    _ = try await changes.next()

    try await path.run(store)

    // A watcher that nobody tells waits until the suite's time is over.
    #expect(try await changes.next() != nil)
    try verifyAndClose(store)
  }

  private func ageing(_ path: CorridorPath) async throws {
    let store = try store(for: path)
    let old = (20_000..<20_005).map { KeptCargo(Cargo(id: $0, text: "", since: .distantPast)) }
    try await store.repository(of: KeptCargo.self).save(old)
    // The rule's index, without which nothing is looked for in a large collection.
    try store.declare(Cargo.self)
    try await store.collection("Cargo").buildIndexes()

    try await path.run(store)

    #expect(try store.repository(of: KeptCargo.self).get(keys: old.map(\.id)) == [])
    try verifyAndClose(store)
  }

  private func undone(_ path: CorridorPath) async throws {
    let store = try store(for: path)
    try workOnIndexes(store)
    let before = try CallFaultTests.Contents(of: store)
    let indexes = try store.collection("Cargo").indexes()
    let environment = store.engine.environment.folder
    let isCommitting = Locked(false)
    _ = CallFaults.watch(environment) { call in
      guard call == .commit else { return nil }
      isCommitting.withLock { $0 = true }
      return EIO
    }

    await #expect(throws: StoreError.self) { try await path.run(store) }

    CallFaults.stopWatching(environment)
    #expect(isCommitting.withLock { $0 })
    #expect(try CallFaultTests.Contents(of: store) == before)
    #expect(try store.collection("Cargo").indexes() == indexes)
    try verifyAndClose(store)
  }
}
