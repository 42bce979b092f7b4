import Foundation
import Larder
import LarderRemote
import LarderSync
import LarderTesting
import Testing

@testable import Bookshop

/// Stars and basket of one reader on two devices, over a server that does what a test says.
@MainActor @Suite(.timeLimit(.minutes(20))) struct SyncServiceTests {
  private let server = InMemoryRemote()

  /// The services of one device that have to do with stars and basket.
  @MainActor private final class Device {
    let catalogue: LarderCatalogue
    let sync: EngineSync
    let books: any Repository<Book, Book>
    let items: any Repository<BasketItem, BasketItem>
    private let following: Follower
    private let seen: Seen

    @MainActor private final class Seen { var statuses: [SyncStatus] = [] }

    init(_ store: Store, _ server: any Remote, clock: ManualClock, trigger: RefreshTrigger) throws {
      let repository = store.repository(of: Book.self)
      books = repository
      items = store.repository(of: BasketItem.self)
      catalogue = LarderCatalogue(
        books: repository, stars: store.repository(of: Rating.self),
        basket: store.repository(of: BasketItem.self), updater: nil, trigger: trigger,
        firstBooks: nil)
      sync = EngineSync(
        engine: try SyncEngine(
          store, remote: server,
          collections: [SyncedCollection(Rating.self), SyncedCollection(BasketItem.self)],
          scopes: ["anna"], account: "anna", interval: .seconds(3600),
          retrying: Backoff(random: { 1 }), trigger: trigger, clock: clock))
      let seen = Seen()
      self.seen = seen
      following = Follower(sync.statuses(), onFailure: { _ in }) { seen.statuses.append($0) }
      catalogue.fill()
      sync.start()
    }

    var status: SyncStatus? { seen.statuses.last }

    func inBasket() throws -> [Book.ID] { try books.fetch(Book.where { $0.isInBasket }).map(\.id) }

    func until(_ condition: @MainActor () throws -> Bool) async rethrows {
      while try !condition(), !Task.isCancelled { await Task.yield() }
    }
  }

  private func withDevices(
    _ body: @MainActor (Device, Device, ManualClock, RefreshTrigger) async throws -> Void
  ) async throws {
    try await withTemporaryStore { first in
      try await withTemporaryStore { second in
        for store in [first, second] {
          try await store.repository(of: Book.self).save([.example("a"), .example("b")])
        }
        let clock = ManualClock()
        let trigger = RefreshTrigger()
        try await body(
          Device(first, server.signedIn(as: "anna"), clock: clock, trigger: trigger),
          Device(second, server.signedIn(as: "anna"), clock: clock, trigger: trigger), clock,
          trigger)
      }
    }
  }

  @Test("stars and basket of one device are those of the other, also when they are taken back")
  func devices() async throws {
    try await withDevices { phone, tablet, _, _ in
      var stars = Stars()
      let follower = Follower(tablet.catalogue.ratings(), onFailure: { _ in }) { stars.apply($0) }
      try await phone.catalogue.rate("a", stars: 4)
      try await phone.catalogue.toggleBasket("b")
      try await tablet.until { try tablet.inBasket() == ["b"] && stars["a"] == 4 }

      try await tablet.catalogue.toggleBasket("b")
      try await tablet.catalogue.rate("a", stars: nil)
      try await phone.until { try phone.inBasket() == [] && phone.status == .synced }

      // The tablet's status may be from before its last change.
      await tablet.until {
        server.documents(in: "anna").isEmpty && tablet.status == .synced && stars["a"] == nil
      }
      withExtendedLifetime(follower) {}
    }
  }

  @Test("without the server everything goes on, what waits is counted, and both catch up later")
  func offline() async throws {
    try await withDevices { phone, tablet, clock, trigger in
      await phone.until { phone.status == .synced && tablet.status == .synced }
      server.script { _, _ in .fails(.unavailable("nobody is there")) }
      try await phone.catalogue.rate("a", stars: 5)
      try await phone.catalogue.toggleBasket("a")
      try await tablet.catalogue.toggleBasket("b")
      try await tablet.catalogue.rate("a", stars: 1)
      #expect(try phone.inBasket() == ["a"])
      await phone.until { phone.status == .offline(2) && tablet.status == .offline(2) }

      server.script(nil)
      trigger.fire()

      for device in [phone, tablet] {
        try await device.until { try device.inBasket() == ["a", "b"] && device.status == .synced }
      }
      #expect(server.documents(in: "anna").count == 3)
      #expect(clock.elapsed == .zero)
    }
  }

  @Test("a book that another device has put into the basket is marked once it is listed here")
  func listedLater() async throws {
    try await withDevices { phone, tablet, _, _ in
      try await phone.books.save(.example("c"))
      try await phone.catalogue.toggleBasket("c")
      await phone.until { phone.status == .synced }
      let shop = ScriptedServer([.example("a"), .example("c")])
      await tablet.until { tablet.status == .synced }
      while server.documents(in: "anna").isEmpty, !Task.isCancelled { await Task.yield() }
      let updater = RemoteUpdater.catalogue(
        from: shop, into: tablet.books, basket: tablet.items,
        limiter: FetchLimiter(clock: ManualClock()))
      while try tablet.items.count() == 0, !Task.isCancelled { await Task.yield() }

      try await updater.sync(.afterNow)

      #expect(try tablet.inBasket() == ["c"])
    }
  }

  @Test("a server that refuses the reader is told apart from one that cannot be reached")
  func refused() async throws {
    server.allow("anna", reading: [], writing: [])
    try await withDevices { phone, _, _, _ in
      try await phone.catalogue.rate("a", stars: 5)

      await phone.until { phone.status == .refused(1) }
    }
  }

  @Test("without a server nothing is said of it")
  func none() async {
    let sync = EngineSync(engine: nil)
    sync.start()

    for await _ in sync.statuses() { Issue.record("a status without a server") }
  }

  @Test(
    "what the reader is told of it",
    arguments: [
      (.synced, "synced"), (.sending(0), "syncing…"), (.sending(2), "2 to send"),
      (.offline(0), "offline"), (.offline(3), "offline, 3 to send"), (.refused(0), "not synced"),
      (.refused(1), "not synced, 1 to send"),
    ] as [(SyncStatus, String)])
  func texts(_ status: SyncStatus, _ text: String) { #expect("\(status)" == text) }
}
