import Dispatch
import LarderTesting
import Testing

@testable import Larder

/// Changes of indexes, and of what is kept beside documents, by tasks.
@Suite(.timeLimit(.minutes(20))) struct AsyncIndexTests {
  private func withParcels(_ body: (Store) async throws -> Void) async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Parcel.self).save(
        (0..<5_000).map {
          Parcel(id: $0, code: "c\($0)", shelf: $0 % 100, labels: ["l\($0 % 50)"])
        })
      try await body(store)
    }
  }

  @Test("a task can rebuild, wait for and drop indexes, and switch the change log")
  func changes() async throws {
    try await withParcels { store in
      let parcels = store.collection("Parcel")
      try await parcels.rebuildIndexes { #expect($0.phase == .indexing) }
      #expect(try parcels.indexes().allSatisfy { $0.state == .complete })
      #expect(try Parcel.where { $0.shelf == 7 }.explain(in: store).matchedCount == 50)
      #expect(try store.check().isSound)

      try parcels.createIndex(on: "code", name: "another")
      try await parcels.buildIndexes()
      #expect(try parcels.indexes().allSatisfy { $0.state == .complete })
      #expect(try await parcels.dropIndex("another"))
      #expect(try await !parcels.dropIndex("another"))

      try await parcels.setChangeLog(false)
      #expect(try parcels.hasChangeLog() == false)
      try await parcels.setChangeLog(true)
      #expect(try parcels.hasChangeLog() == true)
      await #expect(throws: StoreError.noCollection("none")) {
        try await store.collection("none").setChangeLog(true)
      }
      #expect(try await !store.removeConsumer("nobody"))
    }
  }

  @Test("a task that is cancelled does not wait for the write of somebody else", arguments: 0..<4)
  func cancelled(operation: Int) async throws {
    try await withParcels { store in
      let parcels = store.collection("Parcel")
      let gate = DispatchSemaphore(value: 0)
      await withCheckedContinuation { hasBegun in
        DispatchQueue.global().async {
          try? store.write { _ in
            hasBegun.resume()
            gate.wait()
          }
        }
      }
      let task = Task {
        switch operation {
        case 0: try await parcels.rebuildIndexes()
        case 1: _ = try await parcels.dropIndex("shelf")
        case 2: try await parcels.setChangeLog(false)
        default: _ = try await store.removeConsumer("nobody")
        }
      }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      gate.signal()

      #expect(try parcels.indexes().contains { $0.name == "shelf" })
      #expect(try parcels.hasChangeLog() == true)
      try await parcels.rebuildIndexes()
      #expect(try store.check().isSound)
    }
  }

  @Test("what progress throws ends a task's waiting, and the building goes on")
  func stopped() async throws {
    struct Stop: Error {}
    try await withParcels { store in
      let parcels = store.collection("Parcel")
      do {
        try await parcels.rebuildIndexes { _ in throw Stop() }
      } catch is Stop {
        // Where the background has built them all before, nobody is told.
      }
      try await parcels.buildIndexes()
      #expect(try parcels.indexes().allSatisfy { $0.state == .complete })
      #expect(try store.check().isSound)
    }
  }
}
