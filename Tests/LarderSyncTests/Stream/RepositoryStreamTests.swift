import Larder
import LarderSync
import LarderTesting
import Testing

@Suite(.timeLimit(.minutes(20))) struct RepositoryStreamTests {
  private let page = Seller.many(3)

  // MARK: The article's

  @Test("with a sync that succeeds a stream has one element, what is stored, and has synced")
  func success() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let updater = RecordingUpdater(.success(.alreadyCurrent))
      let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))

      await recorder.waitForEvents(1)
      await updater.waitForEnds(1)
      // What a second event would have come before.
      try await sellers.save(Seller.many(4))
      await recorder.waitForEvents(2)

      #expect(recorder.events == [.value(Rows(page)), .value(Rows(Seller.many(4)))])
      #expect(updater.timings == [.joining])
    }
  }

  @Test("a sync that fails is an event beside the data")
  func failure() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let updater = RecordingUpdater(.failure(Offline()))
      let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))

      await recorder.waitForEvents(2)

      #expect(recorder.events == [.value(Rows(page)), .failure(Offline())])
      #expect(updater.callCount == 1)
      try await sellers.save(Seller.many(4))
      await recorder.waitForEvents(3)
      #expect(recorder.events.last == .value(Rows(Seller.many(4))))
      #expect(!recorder.isFinished)
    }
  }

  // MARK: Any repository

  @Test(
    "every repository streams, also behind an abstraction",
    arguments: ["store", "mapped", "memory", "mapped in memory"])
  func anyRepository(kind: String) async throws {
    try await withTemporaryStore { store in
      let mapper = SellerMapper()
      let repository: any Repository<Seller, Seller> =
        switch kind {
        case "store": store.repository(of: Seller.self)
        case "mapped": store.repository(of: Seller.self, mappedBy: mapper)
        case "memory": InMemoryRepository(of: Seller.self)
        default: InMemoryRepository(of: Seller.self, mappedBy: mapper)
        }
      try await repository.save(page)
      let updater = RecordingUpdater(.failure(Offline()))
      let recorder = EventRecorder(repository.stream(Seller.byOrder, refreshedBy: updater))
      let changes = EventRecorder(repository.stream(changesOf: Seller.byOrder))

      await recorder.waitForEvents(2)
      await changes.waitForEvents(1)
      try await repository.save(Seller.many(4))
      await recorder.waitForEvents(3)
      await changes.waitForEvents(2)

      #expect(
        recorder.events == [.value(Rows(page)), .failure(Offline()), .value(Rows(Seller.many(4)))])
      var list: [Seller] = []
      for change in changes.values { list.apply(change) }
      #expect(list == Seller.many(4))
      guard case .update(let difference)? = changes.values.last else {
        Issue.record("expected an update")
        return
      }
      #expect(difference.insertions.map(\.offset) == [3])
    }
  }

  @Test("a plain Codable type streams as documents do")
  func codable() async throws {
    struct Note: Codable, Identifiable, Sendable, Equatable {
      var id: Int
      var text: String
    }
    try await withTemporaryStore { store in
      let notes = store.repository(of: Note.self)
      let recorder = EventRecorder(notes.stream(notes.all))

      await recorder.waitForEvents(1)
      try await notes.save(Note(id: 1, text: "one"))
      await recorder.waitForEvents(2)

      #expect(recorder.values == [[], [Note(id: 1, text: "one")]])
    }
  }

  // MARK: Order

  @Test("what is stored comes before the updater is asked, however long that takes")
  func storedFirst() async throws {
    let watch = WatchFeed<[Seller]>()
    let updater = RecordingUpdater(.failure(Offline()))
    let recorder = EventRecorder(EventStream(watch.sequence, updater, clock: ManualClock()))

    await watch.waitForLooks(1)
    #expect(updater.callCount == 0)
    watch.give(.success(page))
    await updater.waitForEnds(1)
    await recorder.waitForEvents(2)
    await watch.waitForLooks(2)
    watch.give(.success([]))
    await recorder.waitForEvents(3)

    #expect(recorder.events == [.value(page), .failure(Offline()), .value([])])
    #expect(updater.callCount == 1)
  }

  @Test("what a sync saves comes as a value, because the repository has changed")
  func saved() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let remote = ScriptedRemote<[Seller]> { _ in .success(.fromRemote(Seller.many(3))) }
      let updater = RemoteUpdater(fetch: remote.fetch) { try await sellers.save($0, as: $1) }
      let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))

      await recorder.waitForValues(2)

      #expect(recorder.values == [[], Rows(page)])
    }
  }

  @Test("a sync that finds nothing new wakes nobody")
  func nothingNew() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let before = try store.lastTransaction()
      let remote = ScriptedRemote<[Seller]> {
        $0 == 1 ? .success(.prefetched) : .success(.fromRemote(Seller.many(3)))
      }
      let updater = RemoteUpdater(fetch: remote.fetch) {
        try await sellers.save($0, clearBeforeSaving: Seller.all, as: $1)
      }
      let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
      await recorder.waitForValues(1)
      await remote.waitForEnds(1)

      #expect(try await updater.sync(.afterNow) == .alreadyCurrent)

      #expect(try store.lastTransaction() == before)
      try await sellers.save(Seller.many(4))
      await recorder.waitForValues(2)
      #expect(recorder.values == [Rows(page), Rows(Seller.many(4))])
    }
  }

  // MARK: Consumers

  @Test("every iteration is its own: it watches and syncs, and ends alone")
  func several() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(page)
      let updater = RecordingUpdater(nil)
      let stream = sellers.stream(Seller.byOrder, refreshedBy: updater)
      let recorders = (0..<3).map { _ in EventRecorder(stream) }
      for recorder in recorders { await recorder.waitForEvents(1) }
      await updater.waitForCalls(3)

      recorders[0].cancel()
      await recorders[0].waitForEnd()
      await updater.waitForEnds(1)
      updater.finish(.failure(Offline(number: 1)))
      updater.finish(.failure(Offline(number: 2)))
      for recorder in recorders[1...] { await recorder.waitForEvents(2) }
      try await sellers.save(Seller.many(4))
      for recorder in recorders[1...] { await recorder.waitForEvents(3) }

      #expect(recorders[0].events == [.value(Rows(page))])
      #expect(Set(recorders[1...].flatMap(\.errors).map { "\($0)" }) == ["offline 1", "offline 2"])
      for recorder in recorders[1...] {
        #expect(recorder.events.last == .value(Rows(Seller.many(4))))
        #expect(!recorder.isFinished)
      }
    }
  }

  @Test("leaving the loop ends the watching and the waiting for a sync")
  func leaving() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let updater = RecordingUpdater(nil)
      for await event in sellers.stream(Seller.byOrder, refreshedBy: updater) {
        #expect(event == .value([]))
        await updater.waitForCalls(1)
        break
      }

      await updater.waitForEnds(1)
      await settle { !store.hasWatchers }

      #expect(updater.runningCount == 0)
    }
  }

  @Test("a sync that one stream began goes on when this one is left")
  func flightGoesOn() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let remote = ScriptedRemote<[Seller]>()
      let updater = RemoteUpdater(fetch: remote.fetch) { try await sellers.save($0, as: $1) }
      let stream = sellers.stream(Seller.byOrder, refreshedBy: updater)
      let first = EventRecorder(stream)
      await remote.waitForRequests(1)
      let second = EventRecorder(stream)
      await second.waitForValues(1)

      first.cancel()
      await first.waitForEnd()
      remote.answer(.success(.fromRemote(page)))
      await second.waitForValues(2)

      #expect(second.values == [[], Rows(page)])
      #expect(remote.requestCount == 1)
    }
  }

  @Test("a cancelled sync is nobody's failure")
  func cancelled() async throws {
    let sellers = InMemoryRepository(of: Seller.self)
    let updater = RecordingUpdater(.failure(CancellationError()))
    let recorder = EventRecorder(sellers.stream(Seller.byOrder, refreshedBy: updater))
    await recorder.waitForEvents(1)
    await updater.waitForEnds(1)

    try await sellers.save(page)
    await recorder.waitForEvents(2)

    #expect(recorder.events == [.value([]), .value(Rows(page))])
  }

  @Test("a consumer that is slow gets one value with everything in it")
  func slow() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      var events = sellers.stream(Seller.byOrder).makeAsyncIterator()
      #expect(await events.next() == .value([]))

      for seller in Seller.many(50) { try await sellers.save(seller) }

      #expect(await events.next() == .value(Rows(Seller.many(50))))
    }
  }

  @Test("changes of an origin that is ignored wait for the next value")
  func ignoring() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let recorder = EventRecorder(sellers.stream(Seller.byOrder, ignoring: [.sync]))
      await recorder.waitForEvents(1)

      let pulled = page[0]
      try await sellers.save(pulled, as: .sync)
      try await sellers.save(page[1])
      await recorder.waitForEvents(2)

      #expect(recorder.values == [[], Rows(page[..<2])])
    }
  }
}

/// Nothing is mapped, but by way of a mapper.
struct SellerMapper: EntityMapper {
  func convert(_ entity: Seller) -> Seller? { entity }
  func newEntity(for model: Seller) -> Seller { model }
  func update(_ entity: inout Seller, by model: Seller) { entity = model }
  func entityAccessorKey(_ model: Seller) -> Int { model.id }
}
