import Foundation
import Larder
import LarderSync
import LarderTesting
import Testing

/// The article's updater tests, by their meaning: what reaches the remote, the decoder and the
/// store in each case. That nothing was saved is read from the store's transactions.
@Suite(.timeLimit(.minutes(20))) struct RemoteUpdaterTests {
  private let page = Seller.many(2)

  private struct Scene {
    let store: Store
    let remote = ScriptedRemote<Data>()
    let decoder: RecordingDecoder<Data, [Seller]>
    let limiter = FetchLimiter(retrying: nil)
    let updater: RemoteUpdater
    let saves = Log()

    init(_ store: Store, decoding result: Result<[Seller], any Error>) {
      self.store = store
      decoder = RecordingDecoder(result)
      let sellers = store.repository(of: Seller.self)
      updater = RemoteUpdater(limiter: limiter, fetch: remote.fetch, decode: decoder.decode) {
        [saves] page, origin in
        saves.add("\(page.count)")
        return try await sellers.save(page, clearBeforeSaving: Seller.all, as: origin)
      }
    }

    /// Syncs, and answers the request that this makes.
    func sync(_ answer: ScriptedRemote<Data>.Answer) async throws -> UpdateStatus {
      let count = remote.requestCount
      async let status = updater.sync()
      await remote.waitForRequests(count + 1)
      #expect(limiter.isFetching)
      remote.answer(answer)
      return try await status
    }
  }

  @Test("what was pulled is of the origin sync: those who ignore that hear of nothing")
  func origin() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(3))
      let token = try store.changeToken()

      #expect(try await scene.sync(.success(.fromRemote(Data()))) == .updated)

      #expect(try store.history(since: token).changes.map(\.origin) == [.sync])
      #expect(try store.history(since: token, origins: [.local, .imported]).changes.isEmpty)
    }
  }

  @Test("while a fetch is under way a sync is skipped: no request, nothing saved")
  func inProgress() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let before = try store.lastTransaction()
      let first = Task { try await scene.updater.sync() }
      await scene.remote.waitForRequests(1)

      #expect(try await scene.updater.sync() == .skipped)

      #expect(scene.remote.requestCount == 1)
      #expect(scene.decoder.contents.isEmpty)
      #expect(scene.saves.lines.isEmpty)
      #expect(scene.limiter.isFetching)
      #expect(try store.lastTransaction() == before)
      scene.remote.answer(.success(.prefetched))
      #expect(try await first.value == .alreadyCurrent)
    }
  }

  @Test("a remote with nothing new leaves everything as it is, and the next sync may come")
  func prefetched() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let before = try store.lastTransaction()

      #expect(try await scene.sync(.success(.prefetched)) == .alreadyCurrent)

      #expect(scene.decoder.contents.isEmpty)
      #expect(scene.saves.lines.isEmpty)
      #expect(try store.lastTransaction() == before)
      #expect(!scene.limiter.isFetching)
    }
  }

  @Test("a remote that fails is thrown, saves nothing, and the next sync may come")
  func failure() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let before = try store.lastTransaction()

      await #expect(throws: Offline()) { try await scene.sync(.failure(Offline())) }

      #expect(scene.decoder.contents.isEmpty)
      #expect(scene.saves.lines.isEmpty)
      #expect(try store.lastTransaction() == before)
      #expect(!scene.limiter.isFetching)
      #expect(try await scene.sync(.success(.fromRemote(Data([1])))) == .updated)
    }
  }

  @Test("what a remote answers is decoded and saved in one transaction")
  func updated() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller(id: 9, phone: "9", address: "gone"))
      let before = try store.lastTransaction()

      #expect(try await scene.sync(.success(.fromRemote(Data([1, 2])))) == .updated)

      #expect(scene.decoder.contents == [Data([1, 2])])
      #expect(try sellers.fetch(Seller.byOrder) == page)
      #expect(try store.lastTransaction() == before + 1)
      #expect(!scene.limiter.isFetching)
    }
  }

  @Test("an answer that cannot be decoded is thrown and saves nothing")
  func undecodable() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .failure(Offline(number: 7)))
      let before = try store.lastTransaction()

      await #expect(throws: Offline(number: 7)) {
        try await scene.sync(.success(.fromRemote(Data())))
      }

      #expect(scene.saves.lines.isEmpty)
      #expect(try store.lastTransaction() == before)
      #expect(!scene.limiter.isFetching)
    }
  }

  @Test("an answer that changes nothing writes nothing, and is already current")
  func unchanged() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      #expect(try await scene.sync(.success(.fromRemote(Data()))) == .updated)
      let before = try store.lastTransaction()

      #expect(try await scene.sync(.success(.fromRemote(Data()))) == .alreadyCurrent)

      #expect(scene.saves.lines.count == 2)
      #expect(try store.lastTransaction() == before)
    }
  }

  @Test("with a named limiter, too, a sync that finds nothing writes nothing")
  func unchangedNamed() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      try await sellers.save(page)
      let remote = ScriptedRemote { _ in .success(.fromRemote(page)) }
      let limiter = FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store)
      let updater = RemoteUpdater(limiter: limiter, fetch: remote.fetch) {
        try await sellers.save($0, clearBeforeSaving: Seller.all, as: $1)
      }
      let silent = RemoteUpdater(
        limiter: FetchLimiter(minimumInterval: .seconds(900), named: "silent", in: store),
        fetch: ScriptedRemote<[Seller]> { _ in .success(.prefetched) }.fetch
      ) { try await sellers.save($0, as: $1) }
      let before = try store.lastTransaction()

      for updater in [updater, silent] {
        #expect(try await updater.sync() == .alreadyCurrent)
        #expect(try await updater.sync() == .skipped)
      }

      #expect(try store.lastTransaction() == before)
      #expect(remote.requestCount == 1)
    }
  }

  @Test(
    "the time of a success is noted in the transaction of its save",
    arguments: ["async", "sync", "plain", "write", "any"])
  func noted(kind: String) async throws {
    struct Note: Codable, Identifiable, Sendable, Equatable {
      var id: Int
      var text: String
    }
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let anySellers: any Repository<Seller, Seller> = sellers
      let plain = store.repository(of: Note.self)
      let page = page
      try await sellers.save(Seller.many(1))
      try await plain.save(Note(id: 0, text: ""))
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      func limiter() -> FetchLimiter {
        FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store, clock: clock)
      }
      @Sendable func synchronously(_ page: [Seller], _ origin: ChangeOrigin) throws -> SaveReport {
        try sellers.save(page, as: origin)
      }
      let updater = RemoteUpdater(
        limiter: limiter(), fetch: ScriptedRemote { _ in .success(.fromRemote(page)) }.fetch
      ) { page, origin in
        switch kind {
        case "async": try await sellers.save(page, as: origin)
        case "sync": try synchronously(page, origin)
        case "plain": try await plain.save(page.map { Note(id: $0.id, text: "x") }, as: origin)
        case "write": try await store.write(as: origin) { try $0.save(page) }
        default: try await anySellers.save(page, clearBeforeSaving: Seller.all, as: origin)
        }
      }
      let before = try store.lastTransaction()

      #expect(try await updater.sync() == .updated)

      #expect(try store.lastTransaction() == before + 1)
      #expect(try limiter().lastSuccess() == clock.date)
      #expect(try await limiter().run { .updated } == .skipped)
    }
  }

  @Test(
    "what is saved elsewhere, or as something else, has its success noted after it",
    arguments: [true, false])
  func notedAfter(isElsewhere: Bool) async throws {
    try await withTemporaryStore { store in
      let inMemory = InMemoryRepository(of: Seller.self)
      let sellers = store.repository(of: Seller.self)
      let page = page
      try await sellers.save(Seller.many(1))
      let before = try store.lastTransaction()
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      func limiter() -> FetchLimiter {
        FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store, clock: clock)
      }
      let remote = ScriptedRemote { _ in .success(.fromRemote(page)) }
      let updater = RemoteUpdater(limiter: limiter(), fetch: remote.fetch) { page, origin in
        isElsewhere
          ? try await inMemory.save(page, as: origin) : try await sellers.save(page, as: .local)
      }

      #expect(try await updater.sync() == .updated)

      #expect(try limiter().lastSuccess() == clock.date)
      #expect(try store.lastTransaction() == before + (isElsewhere ? 1 : 2))
    }
  }

  @Test("a save that fails notes no success, also if it has kept something", arguments: [0, 1, 2])
  func notNoted(savesBefore: Int) async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      let clock = ManualClock(date: Date(timeIntervalSinceReferenceDate: 8e8))
      func limiter() -> FetchLimiter {
        FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store, clock: clock)
      }
      let first = clock.date
      _ = try await limiter().run { .updated }
      clock.advance(by: .seconds(1_000))
      let updater = RemoteUpdater(
        limiter: limiter(), fetch: ScriptedRemote { _ in .success(.fromRemote(page)) }.fetch
      ) { page, origin in
        for model in page.prefix(savesBefore) { try await sellers.save(model, as: origin) }
        return try await sellers.save(page, clearBeforeSaving: Seller.all.limit(1), as: origin)
      }

      await #expect(throws: StoreError.self) { try await updater.sync() }

      #expect(try limiter().lastSuccess() == first)
      let count = try sellers.count()
      #expect(count == savesBefore)
    }
  }

  @Test("writes that share the transaction of a sync's save do not take its note along")
  func othersBeside() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      try await sellers.save(page)
      let limiter = FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store)
      let updater = RemoteUpdater(
        limiter: limiter, fetch: ScriptedRemote { _ in .success(.fromRemote(page)) }.fetch
      ) { page, origin in
        // Nothing new in what was pulled, beside edits that are.
        async let edits: Void = {
          for number in 10..<20 {
            try await sellers.save(Seller(id: number, phone: "", address: ""))
          }
        }()
        let report = try await sellers.save(page, as: origin)
        try await edits
        return report
      }

      #expect(try await updater.sync() == .alreadyCurrent)

      let other = FetchLimiter(minimumInterval: .seconds(900), named: "sellers", in: store)
      #expect(try other.lastSuccess() == nil)
      #expect(try limiter.lastSuccess() != nil)
    }
  }

  @Test("a save that fails is thrown, and keeps nothing")
  func unsaved() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      let remote = ScriptedRemote { _ in .success(.fromRemote(page)) }
      let updater = RemoteUpdater(fetch: remote.fetch) {
        try await sellers.save($0, clearBeforeSaving: Seller.all.limit(1), as: $1)
      }

      await #expect(throws: StoreError.self) { try await updater.sync() }

      let count = try sellers.count()
      #expect(count == 0)
    }
  }

  @Test("a fetch that was called off saves nothing, even if its answer has come")
  func calledOff() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      let limiter = FetchLimiter()
      let saves = Log()
      let updater = RemoteUpdater(limiter: limiter) {
        // What the signing out of a user does while the answer is on its way.
        limiter.cancel()
        return .fromRemote(page)
      } save: { page, origin in
        saves.add("\(page.count)")
        return try await sellers.save(page, as: origin)
      }

      await #expect(throws: CancellationError.self) { try await updater.sync() }
      await settle { !limiter.isFetching }

      #expect(saves.lines.isEmpty)
      let count = try sellers.count()
      #expect(count == 0)
    }
  }

  @Test("sync(joining:) shares the outcome of the sync that runs")
  func joining() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store, decoding: .success(page))
      let first = Task { try await scene.updater.sync() }
      await scene.remote.waitForRequests(1)
      let second = Task { try await scene.updater.sync(joining: true) }
      await settle { scene.limiter.waiterCount == 2 }

      scene.remote.answer(.success(.fromRemote(Data())))

      let statuses = try await [first.value, second.value]
      #expect(statuses == [.updated, .updated])
      #expect(scene.remote.requestCount == 1)
    }
  }

  @Test("each request is logged once, with what became of it; what was sent only for debugging")
  func logging() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let page = page
      let log = Log()
      let remote = ScriptedRemote<[Seller]> { request in
        switch request {
        case 1: .failure(Offline(number: 5))
        case 2: .success(.prefetched)
        default: .success(.fromRemote(page))
        }
      }
      let updater = RemoteUpdater(
        limiter: FetchLimiter(retrying: nil), log: { log.add("\($0)") }, fetch: remote.fetch
      ) {
        try await sellers.save($0, as: $1)
      }

      for _ in 1...4 {
        // The first one fails.
        _ = try? await updater.sync()
      }

      #expect(
        log.lines == [
          "warning: a sync has failed error=Offline",
          "debug: a sync has failed reason=offline 5",
          "debug: the remote has nothing new",
          "info: what the remote has was saved "
            + "report=2 inserted, 0 updated, 0 unchanged, 0 deleted",
          "debug: what the remote has was saved "
            + "report=0 inserted, 0 updated, 2 unchanged, 0 deleted",
        ])
      let count = try sellers.count()
      #expect(count == 2)
    }
  }

  // MARK: A source and a repository

  @Test("the models of a source are saved as a pull, and what it has no more is cleared")
  func source() async throws {
    try await withTemporaryStore { store in
      let sellers: any Repository<Seller, Seller> = store.repository(of: Seller.self)
      try await sellers.save(Seller(id: 9, phone: "9", address: "gone"))
      let token = try store.changeToken()
      let page = page
      let updater = RemoteUpdater(sellers, clearBeforeSaving: Seller.all) { page }

      #expect(try await updater.sync() == .updated)
      #expect(try await updater.sync(.afterNow) == .alreadyCurrent)

      let rows = try sellers.fetch(Seller.byOrder)
      #expect(rows == page)
      #expect(try store.history(since: token).changes.allSatisfy { $0.origin == .sync })
    }
  }

  @Test("a source that fails clears nothing, and one that may not overwrite adds only what is new")
  func sourcePolicies() async throws {
    let sellers: any Repository<Seller, Seller> = InMemoryRepository(of: Seller.self)
    let own = Seller(id: 0, phone: "mine", address: "")
    try await sellers.save(own)
    let page = page
    let failing = RemoteUpdater(sellers, clearBeforeSaving: Seller.all) { throw Offline() }
    await #expect(throws: Offline()) { try await failing.sync() }
    #expect(try sellers.fetch(Seller.all) == [own])

    let adding = RemoteUpdater(sellers, onConflict: .keepExisting) { page }
    try await adding.sync()

    #expect(try sellers.fetch(Seller.all) == [own, page[1]])
  }
}
