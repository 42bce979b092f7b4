import Foundation
import Larder
import LarderSync

/// What one change costs a stream of all documents: from before the save to the consumer that holds
/// the next result, while it still shows the one before, as a screen does.
struct StreamStudy {
  let workload: Workload
  let rounds: Int
  let folder: ScratchFolder

  private typealias Contacts = StoreRepository<WatchedContact>

  func run() async throws -> [Measurement] {
    let store = try Store(
      at: folder.folder("stream").url, options: StoreOptions(durability: .volatile))
    defer { try? store.close() }  // Nothing in it is needed any more.
    let contacts = store.repository(of: WatchedContact.self)
    try await contacts.save(workload.contacts.map { WatchedContact(contact: $0) })
    var times = Times()
    for round in 0..<rounds {
      try await differences(contacts, round, &times)
      try await values(contacts, round, &times)
      try await unwatched(contacts, round, &times)
    }
    return try StudiedOperation.streaming.flatMap {
      try times.measurements(of: $0, documents: workload.count)
    }
  }

  private static let changesPerRound = 100

  private var query: Query<WatchedContact> { WatchedContact.all.sorted(by: \.order) }

  private func values(_ contacts: Contacts, _ round: Int, _ times: inout Times) async throws {
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let query = query
    let consumer = Task {
      var shown: Rows<WatchedContact> = []
      for await rows in contacts.stream(query).values {
        arrived.yield(.now)
        shown = rows
      }
      return shown
    }
    try await deliver(contacts, 3 * round, arrivals) { times.add($0, .streamRelevant, "larder") }
    consumer.cancel()
    guard await consumer.value == (try contacts.fetch(query)) else {
      throw WrongResult(description: "larder: the last value is not what a fetch gives")
    }
  }

  /// The same for differences alone: what saving and watching cost, without a result.
  private func differences(_ contacts: Contacts, _ round: Int, _ times: inout Times) async throws {
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let query = query
    let consumer = Task {
      for await _ in contacts.stream(changesOf: query).values { arrived.yield(.now) }
    }
    try await deliver(contacts, 3 * round + 1, arrivals) {
      times.add($0, .streamDifference, "larder")
    }
    consumer.cancel()
    await consumer.value
  }

  /// The same with nobody who listens, until the save returns.
  private func unwatched(_ contacts: Contacts, _ round: Int, _ times: inout Times) async throws {
    for number in numbers(of: 3 * round + 2) {
      try await Task.sleep(for: .milliseconds(1))
      let changed = changed(number)
      let begun = ContinuousClock.now
      try await contacts.save(changed)
      times.add((ContinuousClock.now - begun) / .seconds(1), .streamUnwatched, "larder")
    }
  }

  private func deliver(
    _ contacts: Contacts, _ part: Int, _ arrivals: AsyncStream<ContinuousClock.Instant>,
    _ add: (Double) -> Void
  ) async throws {
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    for number in numbers(of: part) {
      // Time for the consumer to have settled.
      try await Task.sleep(for: .milliseconds(1))
      let changed = changed(number)
      let begun = ContinuousClock.now
      try await contacts.save(changed)
      guard let arrival = await next.next() else { break }
      add((arrival - begun) / .seconds(1))
    }
  }

  private func numbers(of part: Int) -> Range<Int> {
    part * Self.changesPerRound..<(part + 1) * Self.changesPerRound
  }

  /// A change of one document that moves it. Documents that follow one another are far apart, and so are their
  /// new places.
  private func changed(_ number: Int) -> WatchedContact {
    var changed = workload.contacts[(number &* 7_919) % workload.count]
    changed.order = Int64((number &* 104_729) % workload.count)
    changed.phone = "\(number)"
    return WatchedContact(contact: changed)
  }
}
