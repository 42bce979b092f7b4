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
    try await deliver(contacts, &times)
    return try StudiedOperation.streaming.flatMap {
      try times.measurements(of: $0, documents: workload.count)
    }
  }

  private func deliver(_ contacts: Contacts, _ times: inout Times) async throws {
    let query = WatchedContact.all.sorted(by: \.order)
    let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
    let consumer = Task {
      var shown: Rows<WatchedContact> = []
      for await rows in contacts.stream(query).values {
        arrived.yield(.now)
        shown = rows
      }
      return shown
    }
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    for number in 0..<rounds * 100 {
      // Time for the consumer to have settled.
      try await Task.sleep(for: .milliseconds(1))
      // Far apart, and each to another place.
      var changed = workload.contacts[(number &* 7_919) % workload.count]
      changed.order = Int64((number &* 104_729) % workload.count)
      changed.phone = "\(number)"
      let begun = ContinuousClock.now
      try await contacts.save(WatchedContact(contact: changed))
      guard let arrival = await next.next() else { break }
      times.add((arrival - begun) / .seconds(1), .streamRelevant, "larder")
    }
    consumer.cancel()
    guard await consumer.value == (try contacts.fetch(query)) else {
      throw WrongResult(description: "larder: the last value is not what a fetch gives")
    }
  }
}
