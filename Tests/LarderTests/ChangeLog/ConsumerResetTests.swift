import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

/// A consumer that reads the store in its resets counts every document once.
@Suite struct ConsumerResetTests {
  /// Counts parcels, and is saved in the transaction that acknowledges.
  private static func count(_ batch: ChangeBatch, in tx: inout WriteScope) throws {
    var tally = try tx.get(Contact.self, "tally").flatMap { Int($0.city) } ?? 0
    if batch.isReset {
      tally = try tx.count(Parcel.all)
    } else {
      for change in batch.changes {
        if change.kind == .inserted { tally += 1 }
        if change.kind == .deleted { tally -= 1 }
      }
    }
    try tx.save(Contact(id: "tally", city: "\(tally)"))
    try tx.acknowledge(batch)
  }

  private func tally(_ store: Store) throws -> Int? {
    try store.repository(of: Contact.self).get("tally").flatMap { Int($0.city) }
  }

  @Test("what is saved between a reset and its acknowledgement is used once", arguments: [1, 2])
  func resetOnce(iterations: Int) async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save((1...10).map { Parcel(id: $0) })
      var changes = store.changes(for: "tally", in: ["Parcel"]).makeAsyncIterator()
      let reset = try #require(try await changes.next())
      #expect(reset.isReset)
      // Somebody else saves before the reset is used.
      try await parcels.save((11...15).map { Parcel(id: $0) })
      try await store.write { try Self.count(reset, in: &$0) }
      #expect(try tally(store) == 15)
      try await parcels.save(Parcel(id: 16))
      if iterations == 2 {
        changes = store.changes(for: "tally", in: ["Parcel"]).makeAsyncIterator()
      }

      let next = try #require(try await changes.next())
      try await store.write { try Self.count(next, in: &$0) }

      #expect(next.changes.map(\.kind) == [.inserted])
      #expect(try tally(store) == 16)
    }
  }

  @Test("what other writes of its transaction did before it is in a reset, and comes no more")
  func grouped() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save((1...10).map { Parcel(id: $0) })
      try await store.repository(of: Contact.self).save(Contact(id: "tally", city: "0"))
      var changes = store.changes(for: "tally", in: ["Parcel"]).makeAsyncIterator()
      let reset = try #require(try await changes.next())
      var tasks: [Task<Void, any Error>] = []
      try await together(store) { wait in
        tasks.append(Task { try await parcels.save((11...15).map { Parcel(id: $0) }) })
        await wait(1)
        tasks.append(Task { try await store.write { try Self.count(reset, in: &$0) } })
        await wait(2)
        tasks.append(Task { try await parcels.save(Parcel(id: 16)) })
        await wait(3)
      }
      for task in tasks { try await task.value }
      #expect(try tally(store) == 15)

      let next = try #require(try await changes.next())
      try await store.write { try Self.count(next, in: &$0) }

      #expect(try tally(store) == 16)
    }
  }

  @Test("consumers that begin while others write count every document once")
  func busy() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: -1))
      let total = 400
      let writers = (0..<4).map { writer in
        Task {
          for id in 0..<total / 4 { try await parcels.save(Parcel(id: writer * total + id)) }
        }
      }
      for try await batch in store.changes(for: "tally", in: ["Parcel"], batchCount: 20) {
        try await store.write { try Self.count(batch, in: &$0) }
        if try tally(store) ?? 0 > total { break }
      }
      for writer in writers { try await writer.value }
      #expect(try tally(store) == parcels.count())
    }
  }

  @Test("a reset that reads a snapshot is acknowledged at the snapshot, and misses nothing")
  func snapshot() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save((1...10).map { Parcel(id: $0) })
      var changes = store.changes(for: "tally", in: ["Parcel"]).makeAsyncIterator()
      let reset = try #require(try await changes.next())
      try await parcels.save(Parcel(id: 11))
      let sequence = try store.read { snapshot in
        let count = try snapshot.count(Parcel.all)
        #expect(count == 11)
        return snapshot.sequence
      }
      // The reader is slow, and others go on.
      try await parcels.save([Parcel(id: 12), Parcel(id: 13)])
      try await store.write { try $0.acknowledge(reset, readAt: sequence) }

      let next = try #require(try await changes.next())

      #expect(next.changes.map(\.key) == [.integer(12), .integer(13)])
    }
  }

  @Test("a place behind the transaction cannot be acknowledged, and would lose changes")
  func readAhead() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      var changes = store.changes(for: "tally", in: ["Parcel"]).makeAsyncIterator()
      let reset = try #require(try await changes.next())
      try await store.write { try $0.acknowledge(reset, readAt: .max) }
      try await parcels.save(Parcel(id: 1))
      #expect(try await changes.next()?.changes.count == 1)
    }
  }

  @Test("what the body of a reset changes itself comes as a change, as after every batch")
  func own() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      var changes = store.changes(for: "all").makeAsyncIterator()
      let reset = try #require(try await changes.next())
      try await store.write { tx in
        let before = tx.sequence
        try tx.save(Parcel(id: 2))
        #expect(before == 1 && tx.sequence == 2)
        try tx.acknowledge(reset)
      }
      let next = try #require(try await changes.next())
      #expect(next.changes.map(\.sequence) == [2])
    }
  }
}
