import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

/// What an app does in bad weather, with what is left behind counted at the end: watchers, and with
/// them the tasks that hold them; calls of the updater; requests; read transactions.
@Suite(.serialized, .timeLimit(.minutes(20))) struct StreamStressTests {
  /// Nothing watches, syncs, asks or reads any more.
  private func expectNothingLeft(
    _ store: Store, _ updater: RecordingUpdater? = nil, readers: Int
  ) async throws {
    await settle { !store.hasWatchers }
    #expect(!store.hasWatchers)
    if let updater {
      await settle { updater.runningCount == 0 }
      #expect(updater.runningCount == 0)
    }
    // Those at rest in the pool are kept for the next reads.
    let count = try store.statistics().readerCount
    #expect(count <= max(readers, 16), "\(count) readers, \(readers) before")
  }

  @Test("1,000 syncs that fail leave every stream alive, with each failure told once")
  func failing() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(1))
      let readers = try store.statistics().readerCount
      let updater = RecordingUpdater(nil)
      let stream = sellers.stream(Seller.byOrder, refreshedBy: updater)
      var recorders: [EventRecorder<Rows<Seller>>] = []
      for number in 1...1_000 {
        let recorder = EventRecorder(stream)
        await updater.waitForCalls(number)
        updater.finish(.failure(Offline(number: number)))
        await recorder.waitForEvents(2)
        // Every tenth stays to the end.
        if number % 10 == 0 { recorders.append(recorder) }
      }

      try await sellers.save(Seller.many(2))

      for (place, recorder) in recorders.enumerated() {
        await recorder.waitForEvents(3)
        #expect(
          recorder.events == [
            .value(Rows(Seller.many(1))), .failure(Offline(number: (place + 1) * 10)),
            .value(Rows(Seller.many(2))),
          ])
        #expect(!recorder.isFinished)
      }
      #expect(updater.callCount == 1_000)
      recorders = []
      try await expectNothingLeft(store, updater, readers: readers)
    }
  }

  @Test("a remote that comes and goes 100 times a second is asked as often as the interval allows")
  func flapping() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let readers = try store.statistics().readerCount
      let clock = ManualClock()
      // Up in the first half of each hundredth, down in the second.
      let remote = ScriptedRemote<[Seller]> { [clock] request in
        let isUp = clock.elapsed.components.attoseconds / 5_000_000_000_000_000 % 2 == 0
        return isUp
          ? .success(.fromRemote([Seller(id: 1, phone: "\(request)", address: "")]))
          : .failure(Offline(number: request))
      }
      let limiter = FetchLimiter(
        minimumInterval: .seconds(1), named: "sellers", in: store, retrying: nil, clock: clock)
      let updater = RemoteUpdater(limiter: limiter, fetch: remote.fetch) {
        try await sellers.save($0, as: $1)
      }
      let recorder = EventRecorder(sellers.stream(Seller.all))
      await recorder.waitForEvents(1)

      // Ten seconds; somebody looks every 5 ms, and begins when it is down.
      clock.advance(by: .milliseconds(5))
      var expected = 0
      var last: Int?
      var outcomes: [String: Int] = [:]
      for tick in 1...2_000 {
        let isDue = last.map { tick - $0 >= 200 } ?? true
        if isDue { expected += 1 }
        if isDue, tick % 2 == 0 { last = tick }
        let outcome: String
        do {
          outcome = "\(try await updater.sync())"
        } catch {
          outcome = "\(type(of: error))"
        }
        outcomes[outcome, default: 0] += 1
        clock.advance(by: .milliseconds(5))
      }

      #expect(remote.requestCount == expected)
      #expect(outcomes["updated"] == 10)
      #expect(outcomes["Offline"] == expected - 10)
      #expect(outcomes["skipped"] == 2_000 - expected)
      let newest = "\(expected)"
      await recorder.waitForEvent { $0.value?.first?.phone == newest }
      #expect(recorder.errors.isEmpty && !recorder.isFinished)
      #expect(remote.openRequestCount == 0)
      recorder.cancel()
      try await expectNothingLeft(store, readers: readers)
    }
  }

  @Test("streams whose sync fails and succeeds in turn all end with what is stored")
  func turns() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let readers = try store.statistics().readerCount
      let remote = ScriptedRemote<[Seller]> { request in
        request % 2 == 0
          ? .success(.fromRemote(Seller.many(request))) : .failure(Offline(number: request))
      }
      let updater = RemoteUpdater(fetch: remote.fetch) { try await sellers.save($0, as: $1) }
      let recorders = (0..<20).map { _ in
        EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
      }
      for _ in 0..<200 {
        // Half of them fail; those who wait are told elsewhere.
        _ = try? await updater.sync(.afterNow)
      }
      try await sellers.save(Seller.many(1_000))

      for recorder in recorders { await recorder.waitForEvent { $0.value?.count == 1_000 } }

      for recorder in recorders {
        #expect(recorder.values.last == Rows(Seller.many(1_000)))
        // Every second request has failed, and each failure is told once.
        #expect(recorder.errors.count <= (remote.requestCount + 1) / 2)
        recorder.cancel()
      }
      await settle { !updater.limiter.isFetching }
      #expect(remote.openRequestCount == 0)
      try await expectNothingLeft(store, readers: readers)
    }
  }

  @Test("closing the store under 200 streams ends them all, while syncs run and writes come")
  func closing() async throws {
    let store = try Store.temporary()
    let sellers = store.repository(of: Seller.self)
    let updater = RecordingUpdater(nil)
    let recorders = (0..<200).map { _ in
      EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
    }
    let writing = Task {
      for number in 1... {
        try await sellers.save(Seller(id: number, phone: "", address: ""))
      }
    }
    await updater.waitForCalls(100)

    // Waits for reads and writes that run: it would throw if any of them stayed.
    try store.close(timeout: .seconds(300))

    for recorder in recorders {
      await recorder.waitForEnd()
      #expect(recorder.events.last == .failure(StoreError.closed))
      #expect(recorder.errors.count == 1)
    }
    await #expect(throws: StoreError.closed) { try await writing.value }
    await settle { updater.runningCount == 0 }
    await settle { !store.hasWatchers }
  }

  @Test("1,000 streams hear of every change, and leave nothing behind, whoever ends them")
  func thousand() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(3))
      let readers = try store.statistics().readerCount
      let updater = RecordingUpdater(nil)
      for round in 1...3 {
        let recorders = (0..<1_000).map { _ in
          EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
        }
        await updater.waitForCalls(round * 1_000)
        for _ in 0..<500 { updater.finish(.failure(Offline())) }
        await updater.waitForEnds((round - 1) * 1_000 + 500)
        let page = Seller.many(3 + round)
        try await sellers.save(page)

        for recorder in recorders { await recorder.waitForEvent { $0.value == Rows(page) } }

        await settle { recorders.reduce(0) { $0 + $1.errors.count } == 500 }
        #expect(!recorders.contains { $0.isFinished || $0.errors.count > 1 })
        // All reads are over: what is in use is what rests in the pool.
        #expect(try store.statistics().readerCount <= max(readers, 16))
        for recorder in recorders { recorder.cancel() }
        for recorder in recorders { await recorder.waitForEnd() }
        try await expectNothingLeft(store, updater, readers: readers)
      }
    }
  }

  @Test("streams that are begun and left at once leave nothing behind")
  func hasty() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let readers = try store.statistics().readerCount
      let updater = RecordingUpdater(nil)
      await withDiscardingTaskGroup { group in
        for number in 0..<1_000 {
          let stream = sellers.stream(Seller.byOrder, refreshedBy: updater)
          group.addTask {
            let task = Task {
              for await _ in stream where number % 3 == 0 { break }
            }
            if number % 2 == 0 { await Task.yield() }
            if number % 3 != 0 { task.cancel() }
            await task.value
          }
        }
      }

      try await expectNothingLeft(store, updater, readers: readers)
    }
  }
}
