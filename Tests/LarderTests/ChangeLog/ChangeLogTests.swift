import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct ChangeLogTests {
  /// A change as a test sees it.
  struct Seen: Equatable {
    var sequence: UInt64
    var kind: ChangeKind
    var key: Int?
    var old: Parcel?
  }

  private func changes(
    in store: Store, after sequence: UInt64
  ) throws -> (seen: [Seen], isComplete: Bool) {
    let log = try #require(
      try store.engine.environment.database(named: Layout.changesName, create: false))
    return try store.read { snapshot in
      let binding = try snapshot.catalogue.binding(of: Parcel.self)
      var seen: [Seen] = []
      let isComplete = try snapshot.transaction.forEachChange(
        after: sequence, head: snapshot.sequence, in: log
      ) { header, change in
        #expect(header.collection == "Parcel")
        var key: Int?
        if case .integer(let number)? = KeyKind.integer.value(of: change.key) { key = Int(number) }
        var old: Parcel?
        if !change.old.isEmpty, let binding {
          old = try binding.reading(change.old, key: change.key) { try Parcel(from: $0) }
        }
        seen.append(Seen(sequence: change.sequence, kind: change.kind, key: key, old: old))
        return true
      }
      return (seen, isComplete)
    }
  }

  @Test("the log has each change once, in order, with the document as it was")
  func model() throws {
    var random = RandomSource()
    for _ in 0..<20 {
      try withTemporaryStore { store in
        let parcels = store.repository(of: Parcel.self)
        try parcels.save(Parcel(id: -1))
        var model = [-1: Parcel(id: -1)]
        var last: UInt64 = 1
        for step in 0..<40 {
          let before = model
          try change(parcels, &model, step, using: &random)
          let (seen, isComplete) = try changes(in: store, after: last)
          var replayed = before
          for (place, change) in seen.enumerated() {
            #expect(change.sequence == last + UInt64(place) + 1)
            guard let key = change.key else {
              #expect(change.kind == .erased)
              replayed = [:]
              continue
            }
            #expect(change.old == (change.kind == .inserted ? nil : before[key]))
            #expect((before[key] == nil) == (change.kind == .inserted), "\(random.hint)")
            replayed[key] = change.kind == .deleted ? nil : model[key]
          }
          try #require(isComplete)
          try #require(replayed == model, "step \(step), \(random.hint)")
          last += UInt64(seen.count)
          #expect(try store.read { $0.sequence } == last)
        }
        // All of it again, from the start.
        #expect(try changes(in: store, after: 0).seen.count == Int(last))
      }
    }
  }

  private func change(
    _ parcels: StoreRepository<Parcel>, _ model: inout [Int: Parcel], _ step: Int,
    using random: inout RandomSource
  ) throws {
    let batch = (0..<random.int(0..<30)).map { _ in
      Parcel(id: random.int(0..<50), shelf: random.int(0..<3), note: "\(step / 3)")
    }
    switch random.int(0..<6) {
    case 0:
      let shelf = random.int(0..<3)
      try parcels.save(batch, clearBeforeSaving: Parcel.where { $0.shelf == shelf })
      let saved = Set(batch.map(\.id))
      model = model.filter { $0.value.shelf != shelf || saved.contains($0.key) }
      for parcel in batch { model[parcel.id] = parcel }
    case 1:
      let keys = batch.map(\.id)
      try parcels.delete(keys: keys)
      for key in keys { model[key] = nil }
    case 2 where random.once(in: 4):
      try parcels.eraseAllData()
      model = [:]
    case 3:
      // A save that its body gives up leaves nothing in the log.
      struct GivenUp: Error {}
      #expect(throws: GivenUp.self) {
        try parcels.store.write { tx in
          try tx.save(batch)
          throw GivenUp()
        }
      }
    default:
      try parcels.save(batch)
      for parcel in batch { model[parcel.id] = parcel }
    }
  }

  @Test("a save that changes nothing is not in the log")
  func unchanged() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save([Parcel(id: 1), Parcel(id: 2)])
      try parcels.save([Parcel(id: 1), Parcel(id: 2)])

      let seen = try changes(in: store, after: 0).seen
      #expect(seen.map(\.key) == [1, 2])
    }
  }

  @Test("many changes are many packs, none much larger than it may be")
  func packs() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      let many = (0..<20_000).map { Parcel(id: $0, note: "a") }
      try parcels.save(many)
      try parcels.save(many.shuffled().map { Parcel(id: $0.id, note: "b") })

      let seen = try changes(in: store, after: 5).seen
      #expect(seen.count == 39_995)
      #expect(seen.allSatisfy { $0.kind == ($0.sequence <= 20_000 ? .inserted : .updated) })
      let log = try #require(
        try store.engine.environment.database(named: Layout.changesName, create: false))
      try store.read { snapshot in
        var cursor = try snapshot.transaction.cursor(in: log)
        while try cursor.next() {
          #expect(cursor.value.count < ChangePackBuilder.largestByteCount + 1_000)
        }
      }
    }
  }

  @Test("many deletes by key are many packs, none much larger than it may be")
  func packsOfDeletes() throws {
    try withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try parcels.save((0..<20_000).map { Parcel(id: $0, note: "a") })

      try parcels.delete(keys: Array(0..<20_000))

      let seen = try changes(in: store, after: 20_000).seen
      #expect(seen.count == 20_000)
      #expect(seen.allSatisfy { $0.kind == .deleted })
      let log = try #require(
        try store.engine.environment.database(named: Layout.changesName, create: false))
      try store.read { snapshot in
        var cursor = try snapshot.transaction.cursor(in: log)
        while try cursor.next() {
          #expect(cursor.value.count < ChangePackBuilder.largestByteCount + 1_000)
        }
      }
    }
  }

  @Test("old changes go, a few at a time, and what was pruned is said to be gone")
  func pruned() throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 256 << 10
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-pruned-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(at: folder, options: options)
    let parcels = store.repository(of: Parcel.self)
    for round in 0..<200 {
      try parcels.save((0..<100).map { Parcel(id: $0, note: "round \(round)") })
    }

    let log = try #require(
      try store.engine.environment.database(named: Layout.changesName, create: false))
    let (byteCount, first) = try store.read { snapshot in
      (
        try snapshot.transaction.statistics(of: log).byteCount,
        try snapshot.transaction.withCursor(in: log) { cursor in
          try cursor.first()
            ? UInt64(bigEndian: cursor.key.loadUnaligned(as: UInt64.self)) : nil
        }
      )
    }
    #expect(byteCount < 512 << 10)
    let oldest = try #require(first)
    #expect(oldest > 1)
    #expect(try !changes(in: store, after: 0).isComplete)
    #expect(try changes(in: store, after: oldest - 1).isComplete)
    #expect(try changes(in: store, after: oldest - 1).seen.first?.sequence == oldest)
    try store.close()
  }

  @Test("a refused save in a transaction leaves no trace in the log, and no gap")
  func refused() throws {
    try withTemporaryStore { store in
      try store.write { tx in
        try tx.save([Parcel(id: 1, code: "a")])
        #expect(throws: StoreError.self) { try tx.save([Parcel(id: 2, code: "a")]) }
        try tx.save([Parcel(id: 3, code: "c")])
      }

      let (seen, isComplete) = try changes(in: store, after: 0)
      #expect(isComplete)
      #expect(seen.map(\.key) == [1, 3])
    }
  }

  @Test("a damaged pack is an error, not a wrong change")
  func damaged() throws {
    var random = RandomSource()
    var builder = ChangePackBuilder(
      collection: "Parcel", origin: .local, writer: 1, time: 2)
    let key: [UInt8] = [1, 2, 3]
    key.withUnsafeBytes { key in
      builder.append(.inserted, key: key)
      builder.append(.updated, key: key, old: key)
    }
    var bytes: [UInt8] = []
    builder.seal(firstSequence: 7) { bytes = [UInt8]($0) }

    for _ in 0..<5_000 {
      var wrong = bytes
      wrong[random.int(0..<wrong.count)] ^= UInt8(1 << random.int(0..<8))
      if random.once(in: 4) { wrong.removeLast(random.int(1..<wrong.count)) }
      #expect(throws: RecordError.self) {
        _ = try wrong.withUnsafeBytes { try ChangePackReader($0, firstSequence: 7) }
      }
    }
    #expect(throws: RecordError.self) {
      _ = try bytes.withUnsafeBytes { try ChangePackReader($0, firstSequence: 8) }
    }
  }
}
