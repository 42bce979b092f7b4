import Foundation
import Larder

/// How long a change of another process is on its way: this program once more, which saves, and says
/// when each of its saves returned. The clock is the machine's, and so the same for both.
struct WakeStudy {
  let folder: URL

  private static let changes = 100

  /// Seconds from a save's return to the consumer, for the slowest but one of a hundred changes.
  func p99(_ contacts: StoreRepository<WatchedContact>) async throws -> Double {
    let (arrivals, arrived) = AsyncStream<(last: Int64, nanoseconds: UInt64)>.makeStream()
    let query = WatchedContact.where { $0.city == Self.city }
    let consumer = Task {
      var list: [WatchedContact] = []
      for try await change in contacts.watch(query) {
        let moment = Self.nanoseconds()
        list.apply(change)
        arrived.yield((list.first?.order ?? -1, moment))
      }
    }
    defer { consumer.cancel() }
    var next = arrivals.makeAsyncIterator()
    _ = await next.next()
    let returned = try await Self.runWriter(in: folder)
    // A step may hold several changes: then it is when each of them was heard of.
    var heard: [UInt64] = []
    while heard.count < Self.changes, let arrival = await next.next() {
      while heard.count <= arrival.last { heard.append(arrival.nanoseconds) }
    }
    try await contacts.delete(query)
    // What was heard before the save had returned took no time.
    let ways = zip(returned, heard).map { Double($1 > $0 ? $1 - $0 : 0) / 1e9 }
    return ways.sorted()[Self.changes * 99 / 100 - 1]
  }

  /// Runs the other process to its end, and gives the moments at which its saves returned.
  private static func runWriter(in folder: URL) async throws -> [UInt64] {
    let writer = Process()
    writer.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    writer.arguments = ["save-for-watchers", folder.path]
    let output = Pipe()
    writer.standardOutput = output
    await withCheckedContinuation { continuation in
      writer.terminationHandler = { _ in continuation.resume() }
      do { try writer.run() } catch { continuation.resume() }
    }
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    let returned = String(decoding: text, as: UTF8.self).split(separator: "\n")
      .compactMap { UInt64($0) }
    guard returned.count == changes else {
      throw WrongResult(description: "another process could not save what is watched")
    }
    return returned
  }

  /// What the other process does.
  static func save(in folder: String) throws {
    let store = try Store(
      at: URL(fileURLWithPath: folder, isDirectory: true),
      options: StoreOptions(durability: .volatile))
    let contacts = store.repository(of: WatchedContact.self)
    var lines: [UInt64] = []
    for number in 0..<changes {
      usleep(3_000)  // Time for the consumer to have settled.
      try contacts.save(WatchedContact(contact: contact(number)))
      lines.append(nanoseconds())
    }
    try store.close()
    print(lines.map(String.init).joined(separator: "\n"))
  }

  private static let city = "another process"

  private static func contact(_ number: Int) -> Contact {
    Contact(
      id: "another process", name: "", phone: "", address: "", city: city, order: Int64(number),
      balance: 0, updatedAt: 0, tags: [], active: false, geo: nil)
  }

  private static func nanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
