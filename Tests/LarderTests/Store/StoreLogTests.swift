import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite struct StoreLogTests {
  private let folder = TestFolder()

  /// What a store has told.
  private final class Events: Sendable {
    private let events = Locked<[LogEvent]>([])

    var options: StoreOptions {
      var options = StoreOptions()
      options.log = { [events] event in events.withLock { $0.append(event) } }
      return options
    }

    /// Without the writes that were slow, which they may be at any time.
    var all: [LogEvent] { events.withLock { $0.filter { $0.message != "a write was slow" } } }

    func named(_ message: String) -> [LogEvent] {
      events.withLock { $0.filter { $0.message == message } }
    }
  }

  @Test("a store is silent by default, and then no words are made")
  func silent() throws {
    let store = try Store(at: folder.store)
    var isAsked = false

    func ask() -> String {
      isAsked = true
      return ""
    }
    store.engine.log.tell(.error, ask(), ["": ask()])

    #expect(!isAsked)
    #expect(!store.engine.log.isActive)
    try verifyAndClose(store)
  }

  @Test("opening, the first save of a type and a migration are told, each with its figures")
  func told() throws {
    let events = Events()
    let store = try Store(at: folder.store, options: events.options)
    #expect(events.all.map(\.message) == ["the store is open"])
    #expect(events.all[0].metadata["collections"] == "0")
    #expect(events.all[0].metadata["freedReaders"] == "0")
    #expect(Double(events.all[0].metadata["seconds"] ?? "") != nil)
    #expect(events.all[0].level == .info)

    let numbers = try store.numbers(25)
    #expect(events.named("the catalogue has changed").count == 1)
    #expect(events.all.last?.metadata["collections"] == "1")
    try numbers.save([["id": 7, "text": "7", "changes": 0]])
    #expect(events.all.count == 2)

    #expect(throws: MigrationError.self) {
      try numbers.migrate(to: 2, batchCount: 10) { number in
        if number.key == 15 { throw Unexpected() }
        try convert(&number)
      }
    }
    try numbers.migrate(to: 2, batchCount: 10, convert)
    #expect(events.named("a migration has stopped").map(\.level) == [.error])
    #expect(
      events.named("a batch was migrated").map { $0.metadata["done"] } == ["10", "20"])
    #expect(
      events.named("a migration is finished").map(\.metadata) == [
        ["collection": "Number", "version": "2", "done": "25", "total": "25", "deleted": "0"]
      ])
    #expect("\(events.named("a migration has stopped")[0])".hasPrefix("error: a migration has"))
    try verifyAndClose(store)
  }

  @Test("a damaged record is told, its key and what is in it at the level of debug only")
  func damage() throws {
    let store = try Store(at: folder.store)
    try store.repository(of: Contact.self).save(Contact(id: "secret-key"))
    try store.close()
    try withEnvironment(folder.store) { environment in
      let database = try #require(
        try environment.database(named: "documents/Contact", create: false))
      try flip(in: environment, database, key: Array("secret-key".utf8), at: -10)
    }
    let events = Events()
    let again = try Store(at: folder.store, options: events.options)

    #expect(throws: StoreError.self) {
      try again.repository(of: Contact.self).get("secret-key")
    }

    let told = events.named("a record cannot be read")
    #expect(told.map(\.level) == [.error, .debug])
    #expect(told[0].metadata == ["collection": "Contact"])
    #expect(told[1].metadata["key"] == "\"secret-key\"")
    #expect(events.all.allSatisfy { $0.level == .debug || !"\($0)".contains("secret") })
    try again.close()
  }

  @Test("a write that takes long is told, with how many documents it changed")
  func slow() throws {
    let events = Events()
    let store = try Store(at: folder.store, options: events.options)
    let contacts = store.repository(of: Contact.self)
    try contacts.save(Contact(id: "a"))

    try store.write { tx in
      try tx.save([Contact(id: "b"), Contact(id: "c")])
      usleep(UInt32(StoreLog.slowWriteSeconds * 1_100_000))
    }

    let slow = events.named("a write was slow").filter { $0.metadata["changes"] == "2" }
    #expect(slow.count == 1)
    #expect(slow.first?.level == .warning)
    #expect(Double(slow.first?.metadata["seconds"] ?? "") ?? 0 > StoreLog.slowWriteSeconds)
    try verifyAndClose(store)
  }

  @Test("readers that died are told when a store is opened")
  func freedReaders() throws {
    try Store(at: folder.store).close()
    // Whoever opens a store that nobody has open begins a new table of readers.
    let living = try OtherProcess("hold-reader", folder.store)
    _ = try living.expect("holding")
    let reader = try OtherProcess("hold-reader", folder.store)
    _ = try reader.expect("holding")
    reader.kill()
    let events = Events()

    let store = try Store(at: folder.store, options: events.options)

    #expect(events.all[0].level == .warning)
    #expect(events.all[0].metadata["freedReaders"] == "1")
    try verifyAndClose(store)
  }

  @Test("stores of one folder are one, whatever their logs, and each is told while it is open")
  func several() throws {
    let (events, others) = (Events(), Events())
    let store = try Store(at: folder.store, options: events.options)
    let other = try Store(at: folder.store, options: others.options)
    let silent = try Store(at: folder.store)
    #expect(store.engine === other.engine)
    #expect(events.options == others.options)
    #expect(events.options == StoreOptions())
    #expect(events.options != StoreOptions(durability: .volatile))
    #expect(events.named("the store is open").count == 1)

    try silent.declare(Contact.self)
    try other.close()
    try store.declare(Everything.self)

    #expect(events.named("the catalogue has changed").count == 2)
    #expect(others.named("the catalogue has changed").count == 1)
    try silent.close()
    try verifyAndClose(store)
    #expect(!store.engine.log.isActive)
  }

  @Test("levels are in their order")
  func levels() {
    #expect(LogEvent.Level.allCases.sorted() == [.debug, .info, .warning, .error])
  }
}
