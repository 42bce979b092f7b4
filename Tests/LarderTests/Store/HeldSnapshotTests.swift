import Foundation
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

@Suite(.timeLimit(.minutes(20))) struct HeldSnapshotTests {
  private let folder = TestFolder()

  /// A clock that a test moves on.
  private final class Clock: Sendable {
    private let time = Locked(ContinuousClock.now)

    func advance(seconds: Double) { time.withLock { $0 = $0 + .seconds(seconds) } }

    func use(in store: Store) {
      store.engine.heldSnapshots.use { [time] in time.withLock { $0 } }
    }
  }

  private let clock = Clock()
  private let events = Locked<[LogEvent]>([])

  private func open(isSilent: Bool = false) throws -> Store {
    var options = StoreOptions()
    if !isSilent { options.log = { [events] event in events.withLock { $0.append(event) } } }
    let store = try Store(at: folder.store, options: options)
    clock.use(in: store)
    try save(1, in: store)
    return store
  }

  private func save(_ number: Int, in store: Store) throws {
    try store.repository(of: Account.self).save(Account(number: number, balance: 0))
  }

  private func told(_ message: String) -> [LogEvent] {
    events.withLock { $0.filter { $0.message == message } }
  }

  private var long: [LogEvent] { told("a snapshot is held long") }

  @Test("a snapshot that is held long is told once, with where it was opened and since when")
  func told() throws {
    let store = try open()
    let first = Date.now
    let line = #line + 1
    try store.read { _ in
      clock.advance(seconds: HeldSnapshots.longSeconds - 1)
      try save(2, in: store)
      #expect(long.isEmpty)
      clock.advance(seconds: 2)
      #expect(long.isEmpty)
      try save(3, in: store)
      try save(4, in: store)
    }
    clock.advance(seconds: 100)
    try save(5, in: store)

    #expect(long.count == 1)
    #expect(long.first?.level == .warning)
    #expect(long.first?.metadata["at"] == "\(#fileID):\(line)")
    #expect(long.first?.metadata["seconds"] == "31.0")
    let since = try #require(long.first?.metadata["since"].flatMap { ISO8601.date(from: $0) })
    // It is logged after 31 seconds by the clock of the test, and the text has whole seconds.
    #expect(since >= first - 32 && since <= Date.now - 30)
    try verifyAndClose(store)
  }

  @Test("a snapshot of this process is told as its own, and never as another's")
  func own() throws {
    let store = try open()
    try store.read { _ in
      for number in 2..<5 {
        clock.advance(seconds: HeldSnapshots.checkSeconds)
        try save(number, in: store)
      }
    }

    #expect(long.count == 1)
    #expect(told("a snapshot of another process is held long").isEmpty)
    try verifyAndClose(store)
  }

  @Test("each of several snapshots is told, also one that lends its documents one by one")
  func several() throws {
    let store = try open()
    let lines = (#line + 1, #line + 2)
    try store.read { _ in
      try store.repository(of: Account.self).forEach { _ in
        clock.advance(seconds: HeldSnapshots.longSeconds)
        try save(2, in: store)
        return true
      }
    }

    let places = Set(long.compactMap { $0.metadata["at"] })
    #expect(places == ["\(#fileID):\(lines.0)", "\(#fileID):\(lines.1)"])
    try verifyAndClose(store)
  }

  @Test("between two batches no snapshot is held")
  func batches() async throws {
    let store = try open()
    let accounts = store.repository(of: Account.self)
    try await accounts.save((2..<20).map { Account(number: $0, balance: 0) })
    var count = 0
    for try await batch in accounts.batches(size: 5) {
      // What the store looks at by itself is soon over.
      #expect(try await eventually { store.engine.environment.gate.runningCount == 0 })
      // As long as the work takes that is done with a batch.
      clock.advance(seconds: 100)
      try save(100 + count, in: store)
      count += batch.count
      if count > 30 { break }
    }

    #expect(count > 18)
    #expect(long.isEmpty)
    try verifyAndClose(store)
  }

  @Test("where nobody listens no snapshot is noted")
  func silent() throws {
    let store = try open(isSilent: true)
    try store.read { _ in
      clock.advance(seconds: 100)
      try save(2, in: store)
    }

    #expect(events.withLock { $0 }.isEmpty)
    try verifyAndClose(store)
  }

  @Test("the slots of readers that died are given back by a write ten minutes after the last time")
  func deadReaders() throws {
    let store = try open()
    let before = try store.engine.environment.statistics().readersInUse
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    let during = try store.engine.environment.statistics().readersInUse
    #expect(during > before)
    reader.kill()

    clock.advance(seconds: HeldSnapshots.checkSeconds - 1)
    try save(2, in: store)
    #expect(try store.engine.environment.statistics().readersInUse == during)
    clock.advance(seconds: 1)
    try save(3, in: store)

    #expect(try store.engine.environment.statistics().readersInUse == before)
    let freed = told("reader slots of processes that died were given back")
    #expect(freed.map { $0.metadata["count"] } == ["\(during - before)"])
    try verifyAndClose(store)
  }

  @Test("a snapshot that another living process holds is told once, with its process")
  func otherProcess() throws {
    let store = try open()
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    func look(_ number: Int) throws -> [LogEvent] {
      clock.advance(seconds: HeldSnapshots.checkSeconds)
      try save(number, in: store)
      return told("a snapshot of another process is held long")
    }

    #expect(try look(2).isEmpty)
    let found = try look(3)

    #expect(found.map(\.level) == [.warning])
    #expect(found.first?.metadata == ["process": "\(reader.id)", "seconds": "600.0"])
    #expect(try look(4).count == 1)
    #expect(long.isEmpty)
    reader.kill()
    try verifyAndClose(store)
  }

  @Test("a snapshot of another process that has ended by the next look is not told")
  func otherProcessThatGoesOn() throws {
    let store = try open()
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    clock.advance(seconds: HeldSnapshots.checkSeconds)
    try save(2, in: store)
    reader.goOn()
    _ = try reader.expect("held")
    // It says so within its snapshot, which ends soon.
    let own = ProcessInfo.processInfo.processIdentifier
    func holds() throws -> Bool {
      try store.engine.environment.readers()
        .contains { $0.processID != own && $0.transactionID != nil }
    }
    for _ in 0..<120_000 where try holds() { usleep(1000) }
    #expect(try !holds())

    clock.advance(seconds: HeldSnapshots.checkSeconds)
    try save(3, in: store)
    clock.advance(seconds: HeldSnapshots.checkSeconds)
    try save(4, in: store)

    #expect(told("a snapshot of another process is held long").isEmpty)
    _ = reader.finish()
    try verifyAndClose(store)
  }

  @Test("a reader that died does not keep a save from the room that there is")
  func deadReaderOnFullMap() throws {
    var options = StoreOptions()
    options.mapByteCount = 1 << 20
    options.log = { [events] event in events.withLock { $0.append(event) } }
    let store = try Store(at: folder.store, options: options)
    clock.use(in: store)
    let accounts = store.repository(of: Account.self)
    try store.declare(Account.self)
    try store.collection("Account").setChangeLog(false)
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    reader.kill()

    // Many times what the map holds, of which little is there at one time.
    let text = String(repeating: "x", count: 20_000)
    for number in 0..<200 {
      try accounts.save(Account(number: 7, balance: number, text: text))
    }

    #expect(told("reader slots of processes that died were given back").count == 1)
    try verifyAndClose(store)
  }

  @Test("a file stops to grow once the slot of a reader that died is given back")
  func growth() throws {
    let store = try open(isSilent: true)
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    reader.kill()
    func grow() throws -> Int {
      let before = try store.statistics().fileByteCount
      for number in 0..<60 {
        let text = String(repeating: "x", count: 20_000)
        try store.repository(of: Account.self)
          .save(Account(number: 7, balance: number, text: text))
      }
      return try store.statistics().fileByteCount - before
    }
    try store.collection("Account").setChangeLog(false)
    let withDead = try grow()
    clock.advance(seconds: HeldSnapshots.checkSeconds)
    try save(2, in: store)
    let without = try grow()

    #expect(withDead > 1_000_000)
    #expect(without < withDead / 10)
    try verifyAndClose(store)
  }
}
