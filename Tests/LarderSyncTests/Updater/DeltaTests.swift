import Foundation
import Larder
import LarderTesting
import Testing

@testable import LarderSync

@Suite(.timeLimit(.minutes(20))) struct DeltaTests {
  private typealias Page = Fetched<Delta<[Seller]>>

  /// A remote with a script of pages, by the token with which they are asked for.
  private struct Scene {
    let store: Store
    let sellers: StoreRepository<Seller>
    let since: SinceToken
    let limiter: FetchLimiter
    let updater: RemoteUpdater
    let asked = Log()

    init(
      _ store: Store, clock: ManualClock = ManualClock(),
      answer: @escaping @Sendable (String?) throws -> Page
    ) {
      self.store = store
      let sellers = store.repository(of: Seller.self)
      self.sellers = sellers
      since = SinceToken(named: "sellers", in: store)
      limiter = FetchLimiter(
        minimumInterval: .seconds(900), named: "sellers", in: store, retrying: nil, clock: clock)
      updater = RemoteUpdater(limiter: limiter, since: since) { [asked] token in
        asked.add(token ?? "start")
        return try answer(token)
      } save: { page, origin in
        try await sellers.save(page, as: origin)
      }
    }

    func sync() async throws -> UpdateStatus { try await updater.sync(.afterNow) }

    /// What a process that begins now would ask with.
    func kept() throws -> String? { try SinceToken(named: "sellers", in: store).current() }
  }

  private static func page(_ ids: ClosedRange<Int>, _ token: String, isLast: Bool = true) -> Page {
    let sellers = ids.map { Seller(id: $0, phone: token, address: "") }
    return .fromRemote(Delta(sellers, token: token, isLast: isLast))
  }

  @Test(
    "a token is kept whatever it begins with",
    arguments: ["\0", "\0abc", "\u{1}", "\u{1}\0", "", "é"])
  func anyToken(_ text: String) async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store) { token in
        token == nil ? Self.page(1...1, text, isLast: false) : .prefetched
      }
      _ = try await scene.sync()
      #expect(try scene.kept() == text)
      try await scene.since.forget()
      #expect(try scene.kept() == nil)
    }
  }

  @Test(
    "pages are asked for in turn and saved as they come, each with its token, in one transaction")
  func pages() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store) { token in
        switch token {
        case nil: Self.page(1...2, "a", isLast: false)
        case "a": Self.page(3...4, "b", isLast: false)
        case "b": Self.page(5...5, "c")
        default: .prefetched
        }
      }
      try await scene.sellers.save(Seller(id: 9, phone: "", address: ""))
      let before = try store.lastTransaction()

      #expect(try await scene.sync() == .updated)

      #expect(try scene.sellers.fetch(Seller.all).map(\.id) == [1, 2, 3, 4, 5, 9])
      // The note of the limiter is in the last one.
      #expect(try store.lastTransaction() == before + 3)
      #expect(try scene.kept() == "c")
      #expect(try scene.limiter.lastSuccess() != nil)
      #expect(try await scene.sync() == .alreadyCurrent)
      #expect(scene.asked.lines == ["start", "a", "b", "c"])
      #expect(try store.lastTransaction() == before + 3)
    }
  }

  @Test("what breaks off keeps the pages that were saved, and goes on from there")
  func brokenOff() async throws {
    try await withTemporaryStore { store in
      let isBroken = Log()
      let scene = Scene(store) { token in
        switch token {
        case nil: return Self.page(1...2, "a", isLast: false)
        case "a" where isBroken.lines.isEmpty:
          isBroken.add("now")
          throw Offline()
        default: return Self.page(3...3, "b")
        }
      }

      await #expect(throws: Offline()) { try await scene.sync() }
      #expect(try scene.kept() == "a")
      let count = try scene.sellers.count()
      #expect(count == 2)
      #expect(try scene.limiter.lastSuccess() == nil)
      let status = try await scene.sync()

      #expect(status == .updated)
      #expect(scene.asked.lines == ["start", "a", "a"])
      #expect(try scene.kept() == "b")
    }
  }

  @Test("a page that changes nothing writes nothing; its token counts as long as the process runs")
  func unchanged() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store) { token in
        let number = token.flatMap { Int($0) } ?? 0
        return .fromRemote(Delta(Seller.many(2), token: "\(number + 1)"))
      }
      #expect(try await scene.sync() == .updated)
      let before = try store.lastTransaction()

      for _ in 1...3 { #expect(try await scene.sync() == .alreadyCurrent) }

      #expect(try store.lastTransaction() == before)
      #expect(scene.asked.lines == ["start", "1", "2", "3"])
      #expect(try scene.kept() == "1")
    }
  }

  @Test("a token that the remote knows no more is forgotten, and everything is asked for, once")
  func expired() async throws {
    try await withTemporaryStore { store in
      let isOld = Log()
      let scene = Scene(store) { token in
        if token == "old" {
          isOld.add("yes")
          throw DeltaError.tokenExpired
        }
        return Self.page(1...2, isOld.lines.isEmpty ? "old" : "new")
      }
      let first = try await scene.sync()
      let second = try await scene.sync()

      #expect([first, second] == [.updated, .updated])
      #expect(scene.asked.lines == ["start", "old", "start"])
      #expect(try scene.kept() == "new")
      let never = Scene(store) { _ in throw DeltaError.tokenExpired }
      await #expect(throws: DeltaError.tokenExpired) { try await never.sync() }
      #expect(never.asked.lines == ["new", "start"])
    }
  }

  @Test("a remote that knows none of the tokens that it gives is asked for everything once a sync")
  func neverKnown() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store) { token in
        if token != nil { throw DeltaError.tokenExpired }
        return Self.page(1...2, "a", isLast: false)
      }

      for _ in 1...2 {
        await #expect(throws: DeltaError.tokenExpired) { try await scene.sync() }
      }

      #expect(scene.asked.lines == ["start", "a", "start", "a", "a", "start", "a"])
    }
  }

  @Test("a save that fails keeps neither page nor token, also if it has kept something")
  func unsaved() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let since = SinceToken(named: "sellers", in: store)
      let first = RemoteUpdater(limiter: FetchLimiter(retrying: nil), since: since) { _ in
        Self.page(1...1, "a")
      } save: {
        try await sellers.save($0, as: $1)
      }
      try await first.sync()
      let failing = RemoteUpdater(limiter: FetchLimiter(retrying: nil), since: since) { _ in
        Self.page(2...3, "b")
      } save: { page, origin in
        try await sellers.save(page[0], as: origin)
        throw Offline()
      }

      await #expect(throws: Offline()) { try await failing.sync() }

      #expect(try since.current() == "a")
      #expect(try SinceToken(named: "sellers", in: store).current() == "a")
    }
  }

  @Test("a token that is too long, and a remote that goes in circles, are errors")
  func bad() async throws {
    try await withTemporaryStore { store in
      let long = Scene(store) { _ in Self.page(1...1, String(repeating: "t", count: 257)) }
      await #expect(throws: DeltaError.tokenTooLong(byteCount: 257)) { try await long.sync() }
      // With the byte in front that it is kept with.
      let escaped = Scene(store) { _ in
        Self.page(1...1, "\0" + String(repeating: "t", count: 255))
      }
      await #expect(throws: DeltaError.self) { try await escaped.sync() }
      let count = try long.sellers.count()
      #expect(count == 0)

      let circle = Scene(store) { _ in Self.page(1...1, "a", isLast: false) }
      await #expect(throws: DeltaError.noProgress(token: "a")) { try await circle.sync() }
      #expect(circle.asked.lines == ["start", "a"])

      let longest = String(repeating: "é", count: 128)
      let fitting = Scene(store) { _ in Self.page(2...2, longest) }
      #expect(try await fitting.sync() == .updated)
      #expect(try fitting.kept() == longest)
    }
  }

  @Test("a token that was forgotten, here or elsewhere, is asked with no more")
  func forgetting() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store) { token in Self.page(1...1, token == nil ? "a" : "b") }
      #expect(try await scene.sync() == .updated)
      try await scene.since.forget()
      #expect(try await scene.sync() == .alreadyCurrent)
      #expect(try await scene.sync() == .updated)

      try await SinceToken(named: "sellers", in: store).forget()
      _ = try await scene.sync()

      #expect(scene.asked.lines == ["start", "start", "a", "start"])
    }
  }

  @Test("every page comes as a value to whoever watches")
  func watched() async throws {
    try await withTemporaryStore { store in
      let remote = ScriptedRemote<Delta<[Seller]>>()
      let sellers = store.repository(of: Seller.self)
      let updater = RemoteUpdater(since: SinceToken(named: "sellers", in: store)) { _ in
        try await remote.fetch()
      } save: {
        try await sellers.save($0, as: $1)
      }
      let screen = EventRecorder(sellers.stream(Seller.all, refreshedBy: updater))

      await remote.waitForRequests(1)
      remote.answer(.success(Self.page(1...2, "a", isLast: false)))
      await screen.waitForEvent { $0.value?.count == 2 }
      await remote.waitForRequests(2)
      remote.answer(.success(Self.page(3...3, "b")))

      await screen.waitForEvent { $0.value?.count == 3 }
    }
  }
}
