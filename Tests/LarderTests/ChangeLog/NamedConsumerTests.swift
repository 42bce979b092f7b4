import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite struct NamedConsumerTests {
  private typealias Changes = WatchSequence<ChangeBatch>.AsyncIterator

  /// A clock of leases that a test moves on.
  private final class Clock: Sendable {
    private let time = Locked(1_000_000.0)
    var now: Double { time.withLock { $0 } }

    init(of store: Store) { store.engine.leaseClock.use { [time] in time.withLock { $0 } } }

    func advance(seconds: Double) { time.withLock { $0 += seconds } }
  }

  private func keys(_ batch: ChangeBatch?) -> [Int] {
    batch?.changes.compactMap { change in
      if case .integer(let number) = change.key { Int(number) } else { nil }
    } ?? []
  }

  /// Sets when the lease of the consumer ends, in seconds since the reference date.
  private static func setEnd(_ seconds: Double, in tx: inout WriteScope) throws {
    let consumers = tx.consumers
    let database = try #require(consumers)
    var record = try #require(try tx.transaction.consumer("index", in: database))
    record.until = seconds
    try tx.put(record, "index", in: database)
  }

  private func next(_ changes: inout Changes) async throws -> ChangeBatch {
    try #require(try await changes.next())
  }

  @Test("a new consumer begins with a reset, and then gets each change once, in order")
  func beginning() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: 1))
      var changes = store.changes(for: "index").makeAsyncIterator()

      let first = try await next(&changes)
      #expect(first.isReset && first.changes.isEmpty)
      try await store.write { try $0.acknowledge(first) }
      try await parcels.save([Parcel(id: 2), Parcel(id: 3)])
      try await parcels.save(Parcel(id: 2, shelf: 7))
      try await parcels.delete(keys: [1])

      let second = try await next(&changes)
      #expect(!second.isReset)
      #expect(keys(second) == [2, 3, 2, 1])
      #expect(second.changes.map(\.kind) == [.inserted, .inserted, .updated, .deleted])
      #expect(second.changes.map(\.old?["shelf"]) == [nil, nil, .integer(0), .integer(0)])
      #expect(second.changes.allSatisfy { $0.collection == "Parcel" && $0.origin == .local })
    }
  }

  @Test(
    "what was saved behind the snapshot that was read for a reset comes, also from before the reset"
  )
  func earlierSnapshot() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: 1))
      let early = try store.read { $0.sequence }
      try await parcels.save(Parcel(id: 2))
      var changes = store.changes(for: "index").makeAsyncIterator()
      let reset = try await next(&changes)
      #expect(reset.isReset && reset.token.sequence > early)

      try await store.write { try $0.acknowledge(reset, readAt: early) }
      try await parcels.save(Parcel(id: 3))

      let batch = try await next(&changes)
      #expect(!batch.isReset)
      #expect(keys(batch) == [2, 3])
      try await store.write { try $0.acknowledge(batch) }
      try await parcels.save(Parcel(id: 4))
      #expect(keys(try await next(&changes)) == [4])
    }
  }

  @Test("a reset that is not acknowledged goes on behind its own place")
  func unacknowledgedReset() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: 1))
      var changes = store.changes(for: "index").makeAsyncIterator()
      #expect(try await next(&changes).isReset)

      try await parcels.save(Parcel(id: 2))

      #expect(keys(try await next(&changes)) == [2])
    }
  }

  @Test("a consumer that has acknowledged all that concerns it keeps nothing, however others save")
  func passing() async throws {
    try await withTemporaryStore { store in
      let (parcels, notes) = (store.repository(of: Parcel.self), store.repository(of: Note.self))
      try await parcels.save(Parcel(id: 1))
      let consuming = Task { () -> ChangeBatch? in
        for try await batch in store.changes(for: "index", in: ["Parcel"], batchCount: 5) {
          try await store.write { try $0.acknowledge(batch) }
          if keys(batch).contains(3) { return batch }
        }
        return nil
      }
      func isPassed(_ count: UInt64) throws -> Bool {
        guard let consumers = store.engine.consumers else { return false }
        let head = try store.statistics().sequence
        return try store.read { snapshot in
          let record = try snapshot.transaction.consumer("index", in: consumers)
          return try (record?.position(in: snapshot.transaction.timeline()?.id) ?? 0) + count
            >= head
        }
      }
      #expect(try await eventually { try isPassed(0) })
      try await parcels.save(Parcel(id: 2))
      #expect(try await eventually { try isPassed(0) })
      // One by one: each of them wakes the consumer.
      for number in 0..<40 {
        try await notes.save(Note(id: "\(number)", nonce: "n", batchCount: 1))
        try await Task.sleep(for: .milliseconds(1))
      }

      // Five more are not worth a write.
      #expect(try await eventually { try isPassed(5) })
      try await parcels.save(Parcel(id: 3))
      let last = try await consuming.value
      #expect(last?.isReset == false)
    }
  }

  @Test("what is acknowledged does not come again, what is not does")
  func resuming() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      do {
        var changes = store.changes(for: "index").makeAsyncIterator()
        let reset = try await next(&changes)
        try await store.write { try $0.acknowledge(reset) }
        try await parcels.save(Parcel(id: 1))
        let batch = try await next(&changes)
        try await store.write { try $0.acknowledge(batch) }
        try await parcels.save(Parcel(id: 2))
        #expect(keys(try await next(&changes)) == [2])
      }
      var changes = store.changes(for: "index").makeAsyncIterator()
      #expect(keys(try await next(&changes)) == [2])
    }
  }

  @Test("an acknowledgement is kept with its transaction, or undone with it")
  func exactlyOnce() async throws {
    struct GivenUp: Error {}
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      let contacts = store.repository(of: Contact.self)
      do {
        var changes = store.changes(for: "index", in: ["Parcel"]).makeAsyncIterator()
        let reset = try await next(&changes)
        try await store.write { try $0.acknowledge(reset) }
        try await parcels.save(Parcel(id: 1))
        let batch = try await next(&changes)
        await #expect(throws: GivenUp.self) {
          try await store.write { tx in
            try tx.save(Contact(id: "index", city: "\(batch.changes.count)"))
            try tx.acknowledge(batch)
            throw GivenUp()
          }
        }
        #expect(try contacts.get("index") == nil)
      }
      do {
        var changes = store.changes(for: "index", in: ["Parcel"]).makeAsyncIterator()
        let batch = try await next(&changes)
        #expect(keys(batch) == [1])
        try await store.write { tx in
          try tx.save(Contact(id: "index", city: "\(batch.changes.count)"))
          try tx.acknowledge(batch)
        }
      }
      try await parcels.save(Parcel(id: 2))
      var changes = store.changes(for: "index", in: ["Parcel"]).makeAsyncIterator()
      #expect(keys(try await next(&changes)) == [2])
      #expect(try contacts.get("index")?.city == "1")
    }
  }

  @Test("two iterations do not consume under one name, and who was replaced cannot acknowledge")
  func lease() async throws {
    try await withTemporaryStore { store in
      let clock = Clock(of: store)
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      var first = store.changes(for: "index").makeAsyncIterator()
      let batch = try await next(&first)
      clock.advance(seconds: ConsumerLease.seconds - 1)
      var second = store.changes(for: "index", busyTimeout: .seconds(0)).makeAsyncIterator()
      await #expect(throws: StoreError.consumerBusy(name: "index", timeLeft: .seconds(1))) {
        _ = try await second.next()
      }

      // The first has not asked for as long as a lease lasts.
      clock.advance(seconds: 1)
      var third = store.changes(for: "index").makeAsyncIterator()
      #expect(try await next(&third).isReset)
      await #expect(throws: StoreError.consumerLost(name: "index")) {
        try await store.write { tx in
          try tx.save(Parcel(id: 2))
          // Even where the body swallows it, nothing is kept.
          try? tx.acknowledge(batch)
        }
      }
      #expect(try store.repository(of: Parcel.self).count() == 1)
      // An iteration that is let go of gives its lease back.
      withExtendedLifetime(first) {}
    }
  }

  @Test("a lease that is renewed while another waits for its turn is held against the other")
  func renewedMeanwhile() async throws {
    try await withTemporaryStore { store in
      let clock = Clock(of: store)
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      var first = store.changes(for: "index").makeAsyncIterator()
      _ = try await next(&first)
      var renewal: Task<Void, any Error>?
      var second: Task<Bool, any Error>?
      try await together(store) { wait in
        renewal = Task {
          try await store.write { try Self.setEnd(clock.now + ConsumerLease.seconds, in: &$0) }
        }
        await wait(1)
        second = Task {
          var changes = store.changes(for: "index", busyTimeout: .seconds(0)).makeAsyncIterator()
          do {
            return try await changes.next() == nil
          } catch StoreError.consumerBusy(name: "index", _) {
            return true
          }
        }
        await wait(2)
        // The renewed lease ends later than any that was taken when the second began to wait.
        clock.advance(seconds: ConsumerLease.seconds + 5)
      }
      try await renewal?.value

      let isHeld = try await second?.value
      #expect(isHeld == true, "the lease was taken over")
      withExtendedLifetime(first) {}
    }
  }

  @Test(
    "who was replaced and comes back late is not given what another has used",
    arguments: [false, true])
  func comesBackLate(isRemoved: Bool) async throws {
    try await withTemporaryStore { store in
      let clock = Clock(of: store)
      let parcels = store.repository(of: Parcel.self)
      var slow = store.changes(for: "index").makeAsyncIterator()
      let reset = try await next(&slow)
      try await store.write { try $0.acknowledge(reset) }
      try await parcels.save(Parcel(id: 1))
      let early = try await next(&slow)
      // It has not asked for so long that its lease has ended.
      clock.advance(seconds: ConsumerLease.seconds)
      try await parcels.save(Parcel(id: 2))
      do {
        var other = store.changes(for: "index").makeAsyncIterator()
        let batch = try await next(&other)
        #expect(keys(batch) == [1, 2])
        try await store.write { try $0.acknowledge(batch) }
      }
      if isRemoved { #expect(try await store.removeConsumer("index")) }
      await #expect(throws: StoreError.consumerLost(name: "index")) { _ = try await slow.next() }
      await #expect(throws: StoreError.consumerLost(name: "index")) {
        try await store.write { try $0.acknowledge(early) }
      }
    }
  }

  @Test("a lease is held until it ends, also where the clock was set back a little")
  func leaseTime() {
    var record = ConsumerRecord(maximumLag: 1)
    record.until = 1_000
    let start = record.until - ConsumerLease.seconds
    #expect(record.secondsHeld(against: 2, now: start) == nil)
    record.holder = 1
    #expect(record.secondsHeld(against: 1, now: start) == nil)
    #expect(record.secondsHeld(against: 2, now: start) == ConsumerLease.seconds)
    #expect(record.secondsHeld(against: 2, now: start - 5) == ConsumerLease.seconds + 5)
    #expect(record.secondsHeld(against: 2, now: record.until - 1) == 1)
    #expect(record.secondsHeld(against: 2, now: record.until) == nil)
    // Of a clock that was a year ahead.
    #expect(record.secondsHeld(against: 2, now: start - 365 * 86_400) == nil)
  }

  @Test("the log keeps what a consumer waits for, until it is too far behind")
  func pinning() async throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 64 << 10
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-consumer-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(at: folder, options: options)
    let parcels = store.repository(of: Parcel.self)
    func consume() async throws -> ChangeBatch {
      var changes = store.changes(for: "index", maximumLag: 2_000).makeAsyncIterator()
      return try await next(&changes)
    }
    do {
      var changes = store.changes(for: "index", maximumLag: 2_000).makeAsyncIterator()
      let reset = try await next(&changes)
      try await store.write { try $0.acknowledge(reset) }
    }
    let note = String(repeating: "long ", count: 100)
    for round in 0..<15 {
      try await parcels.save((0..<100).map { Parcel(id: $0, note: "\(round) \(note)") })
    }
    let kept = try await consume()
    #expect(!kept.isReset)
    #expect(kept.changes.first?.sequence == 1)

    for round in 0..<40 {
      try await parcels.save((0..<100).map { Parcel(id: $0, note: "again \(round) \(note)") })
    }
    #expect(try await consume().isReset)
    try store.close()
  }

  @Test("who lets go of an iteration can begin the next at once, however often")
  func oneAfterAnother() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Parcel.self).save(Parcel(id: 1))
      for _ in 0..<300 {
        var changes = store.changes(for: "index").makeAsyncIterator()
        #expect(try await next(&changes).isReset)
      }
    }
  }

  @Test("a lease that the disk did not let be given back keeps nobody of this process away")
  func notGivenBack() async throws {
    let folder = TestFolder()
    let path = folder.store
    let isFailing = Locked(false)
    _ = CallFaults.watch(path) { call in
      call == .commit && isFailing.withLock { $0 } ? EIO : nil
    }
    defer { CallFaults.stopWatching(path) }
    let store = try Store(at: path)
    let parcels = store.repository(of: Parcel.self)
    try await parcels.save(Parcel(id: 1))
    do {
      var changes = store.changes(for: "index").makeAsyncIterator()
      #expect(try await next(&changes).isReset)
      isFailing.withLock { $0 = true }
    }
    await #expect(throws: StoreError.self) { try await parcels.save(Parcel(id: 2)) }
    isFailing.withLock { $0 = false }

    var changes = store.changes(for: "index").makeAsyncIterator()
    #expect(try await next(&changes).isReset)
    try store.close()
  }

  @Test("a position of one's own resumes, and one that is gone or foreign begins with a reset")
  func tokens() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save([Parcel(id: 1), Parcel(id: 2)])
      let token = try store.changeToken()
      try await parcels.save([Parcel(id: 3), Parcel(id: 4)])

      var changes = store.changes(after: token, batchCount: 1).makeAsyncIterator()
      #expect(keys(try await changes.next()) == [3])
      let stored = try JSONEncoder().encode(try await next(&changes).token)
      try await parcels.save(Parcel(id: 5))
      let again = try JSONDecoder().decode(ChangeToken.self, from: stored)
      changes = store.changes(after: again).makeAsyncIterator()
      #expect(keys(try await changes.next()) == [5])

      let foreign = try Store.temporary()
      changes = foreign.changes(after: token).makeAsyncIterator()
      #expect(try await next(&changes).isReset)
      try foreign.close()
    }
  }

  @Test("without a position changes begin with what is saved once there is an iterator")
  func fromNowOn() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: 1))
      var changes = store.changes(after: nil).makeAsyncIterator()
      try await parcels.save(Parcel(id: 2))

      #expect(keys(try await changes.next()) == [2])
    }
  }

  @Test("history from the beginning is a reset once the log has pruned any of it")
  func prunedHistory() throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 16 << 10
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-history-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(at: folder, options: options)
    let parcels = store.repository(of: Parcel.self)
    try parcels.save([Parcel(id: 1), Parcel(id: 2)])
    #expect(try store.history().changes.count == 2)

    for round in 0..<300 { try parcels.save((0..<20).map { Parcel(id: round * 20 + $0) }) }
    let token = try store.changeToken()
    try parcels.save(Parcel(id: 7000))

    let whole = try store.history()
    #expect(whole.isReset && whole.changes.isEmpty)
    #expect(keys(try store.history(since: token)) == [7000])
    try store.close()
  }

  @Test("history is filtered by collection and origin, and limited")
  func history() throws {
    try withTemporaryStore { store in
      try store.write { tx in try tx.save(Parcel(id: 1)) }
      try store.write(as: .sync) { tx in
        try tx.save([Parcel(id: 2), Parcel(id: 3)])
        try tx.save(Contact(id: "a", city: "Oslo"))
      }

      #expect(keys(try store.history(in: ["Parcel"])) == [1, 2, 3])
      #expect(keys(try store.history(in: ["Parcel"], origins: [.sync])) == [2, 3])
      let first = try store.history(limit: 2)
      #expect(keys(first) == [1, 2])
      #expect(keys(try store.history(since: first.token, in: ["Parcel"])) == [3])
      #expect(try store.history(origins: [.expiry]).changes.isEmpty)
    }
  }

  @Test("a consumer that is removed is forgotten, and a damaged one begins anew")
  func removing() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try await parcels.save(Parcel(id: 1))
      #expect(try await !store.removeConsumer("index"))
      for round in 0..<2 {
        var changes = store.changes(for: "index").makeAsyncIterator()
        let batch = try await next(&changes)
        #expect(batch.isReset)
        try await store.write { try $0.acknowledge(batch) }
        if round == 0 {
          #expect(try await store.removeConsumer("index"))
        }
      }
      try await store.write { tx in
        let consumers = tx.consumers
        let database = try #require(consumers)
        try [UInt8]("index".utf8).withUnsafeBytes { name in
          try tx.transaction.put(name, for: name, in: database)
        }
        tx.hasWrittenMore = true
      }
      var changes = store.changes(for: "index").makeAsyncIterator()
      #expect(try await next(&changes).isReset)
      var nameless = store.changes(for: "").makeAsyncIterator()
      await #expect(throws: StoreError.consumerName("")) { _ = try await nameless.next() }
    }
  }

  @Test("a first consumer that could not be made known is made known by the next one")
  func announced() async throws {
    try await withTemporaryStore { store in
      try await store.repository(of: Contact.self).save(Contact(id: "a", city: "Oslo"))
      let path = store.engine.environment.folder
      // What comes after the database, which has a transaction of its own.
      _ = try store.engine.madeDatabase(named: Layout.consumersName)
      let version = store.engine.catalogue.version
      _ = CallFaults.watch(path) { $0 == .commit ? EIO : nil }
      var first = store.changes(for: "index").makeAsyncIterator()
      await #expect(throws: StoreError.self) { _ = try await first.next() }
      CallFaults.stopWatching(path)

      var second = store.changes(for: "index").makeAsyncIterator()
      _ = try await second.next()

      #expect(store.engine.catalogue.version > version)
    }
  }
}
