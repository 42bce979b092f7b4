import CBench
import Foundation
import Larder

/// What watching costs: the way from a commit to the consumer, beside SQLite that runs its query
/// again, and what a save pays for watchers that it does not concern.
struct WatchStudy {
  let workload: Workload
  let rounds: Int
  let folder: ScratchFolder

  private typealias Contacts = StoreRepository<WatchedContact>

  func run() async throws -> [Measurement] {
    // Nothing is flushed: the disk's moods stay out of it.
    let store = try Store(
      at: folder.folder("watch").url, options: StoreOptions(durability: .volatile))
    defer { try? store.close() }  // Nothing in it is needed any more.
    let contacts = store.repository(of: WatchedContact.self)
    try await contacts.save(workload.contacts.map { WatchedContact(contact: $0) })
    var times = Times()
    for _ in 0..<rounds {
      try await deliver(contacts, &times)
      try await stand(contacts, &times)
      let awake = try await WakeStudy(folder: store.folder).p99(contacts)
      times.add(awake, .watchAcrossProcesses, "larder")
    }
    try rerun(&times)
    #if PEERS
      try await GRDBEngine.watch(
        workload, changes: Self.changesPerRound * rounds, in: folder
      ) { times.add($0, .watchRelevant, "grdb") }
    #endif
    return try StudiedOperation.watching.flatMap {
      try times.measurements(of: $0, documents: workload.count)
    }
  }

  private var page: [Contact] { workload.page }
  private static let changesPerRound = 100

  private var query: Query<WatchedContact> {
    WatchedContact.where { $0.city == workload.cities[0] }.sorted(by: \.order)
  }

  // MARK: The change that concerns

  private func deliver(_ contacts: Contacts, _ times: inout Times) async throws {
    var changed = page[0]
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let query = query
    let consumer = Task {
      var list: [WatchedContact] = []
      for try await change in contacts.watch(query) {
        arrived.yield(.now)
        list.apply(change)
      }
      return list
    }
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    for number in 0..<Self.changesPerRound {
      // Time for the consumer to have settled. It may hear of a change before the save returns.
      try await Task.sleep(for: .milliseconds(1))
      changed.order = Int64(number)
      let begun = ContinuousClock.now
      try await contacts.save(WatchedContact(contact: changed))
      guard let arrival = await next.next() else { break }
      times.add(Self.seconds(from: begun, to: arrival), .watchRelevant, "larder")
    }
    consumer.cancel()
    guard try await consumer.value == contacts.fetch(query) else {
      throw WrongResult(description: "larder: the watched list is not what a fetch gives")
    }
  }

  private func rerun(_ times: inout Times) throws {
    let place = try folder.folder("sqlite")
    guard let database = bench_sqlite_open(place.path, BENCH_COMPOUND_INDEX) else {
      throw WrongResult(description: "no database")
    }
    defer {
      bench_sqlite_close(database)
      place.remove()
    }
    _ = bench_sqlite_save(database, workload.raw)
    for number in 0..<min(rounds, 20) * 10 {
      var expected = page
      expected[0].order = Int64(number)
      let result = bench_sqlite_rerun(database, workload.raw, Int64(number))
      guard result.count == page.count,
        result.checksum == expected.reduce(0, { $0 &+ $1.glance })
      else { throw WrongResult(description: "sqlite-c: the query gave other rows") }
      times.add(result.seconds_with_save, .watchRelevant, "sqlite-c")
    }
  }

  // MARK: The change that does not

  /// Saves that concern none of those who watch. Their difference to a save beside nobody is often nothing
  /// that can be measured, so that each save stands in the table as it is.
  private func stand(_ contacts: Contacts, _ times: inout Times) async throws {
    func distinct(_ number: Int) -> Query<WatchedContact> {
      WatchedContact.where { $0.city == "elsewhere \(number)" }
    }
    func ranges(_ number: Int) -> Query<WatchedContact> {
      WatchedContact.where { $0.order < Int64.min + Int64(number) }
    }
    let kinds: [(StudiedOperation, Int, (Int) -> Query<WatchedContact>)] = [
      (.watchNone, 0, distinct), (.watchIrrelevant, 1_000, ranges),
      (.watchDistinct, 1_000, distinct), (.watchIdle, 10_000, distinct),
    ]
    for (operation, count, query) in kinds {
      times.add(try await save(contacts, besides: count, query), operation, "larder")
    }
  }

  /// Seconds of a save beside so many watchers, until one that is concerned by the last has heard.
  private func save(
    _ contacts: Contacts, besides count: Int, _ query: (Int) -> Query<WatchedContact>
  ) async throws -> Double {
    let (arrivals, arrived) = AsyncStream<Void>.makeStream()
    var next = arrivals.makeAsyncIterator()
    func watch(_ query: Query<WatchedContact>) -> Task<Void, any Error> {
      Task { for try await _ in contacts.watch(query) { arrived.yield() } }
    }
    let consumers =
      (0..<count).map { watch(query($0)) } + [watch(WatchedContact.where { $0.city == "the end" })]
    for _ in consumers { await next.next() }
    defer { for consumer in consumers { consumer.cancel() } }
    var changed = page[1]
    var last = page[2]
    last.id = "the end"
    last.city = "the end"
    let saves = 200
    let start = ContinuousClock.now
    for number in 0..<saves {
      changed.order = Int64(number)
      try await contacts.save(WatchedContact(contact: changed))
    }
    last.order = Int64(DispatchTime.now().uptimeNanoseconds)
    try await contacts.save(WatchedContact(contact: last))
    await next.next()
    return Self.seconds(from: start, to: .now) / Double(saves + 1)
  }

  private static func seconds(
    from start: ContinuousClock.Instant, to end: ContinuousClock.Instant
  ) -> Double {
    (end - start) / .seconds(1)
  }
}

/// A contact with the indexes that the queries which are watched want.
struct WatchedContact: ContactWithIndexes, Equatable {
  var contact: Contact

  static let schema = Schema<Self>("Contact", key: \.id, fields: fields())
  static let indexes: [Index<Self>] = [Index(\.city, \.order), Index(\.order)]
}
