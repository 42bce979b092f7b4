import Larder
import LarderTesting
import Testing

@testable import LarderSync

/// Tokens that are forgotten while a sync is under way.
@Suite(.timeLimit(.minutes(20))) struct ForgottenTokenTests {
  private typealias Page = Fetched<Delta<[Seller]>>

  private struct Scene {
    let store: Store
    let sellers: StoreRepository<Seller>
    let since: SinceToken
    let asked = Log()

    init(_ store: Store) {
      self.store = store
      sellers = store.repository(of: Seller.self)
      since = SinceToken(named: "sellers", in: store)
    }

    /// - Parameter saved: Called when a page was saved, before the save is over.
    func updater(
      fetch: @escaping @Sendable (String?) async throws -> Page,
      saved: @escaping @Sendable () async throws -> Void = {}
    ) -> RemoteUpdater {
      RemoteUpdater(limiter: FetchLimiter(retrying: nil), since: since) { [asked] token in
        asked.add(token ?? "start")
        return try await fetch(token)
      } save: { [sellers] page, origin in
        let report = try await sellers.save(page, as: origin)
        try await saved()
        return report
      }
    }

    /// - Parameter isElsewhere: Whether the token is forgotten as another process does it.
    func erase(isElsewhere: Bool) async throws {
      try await (isElsewhere ? SinceToken(named: "sellers", in: store) : since).forget()
      _ = try await sellers.delete(Seller.all)
    }

    func ids() throws -> [Int] { try sellers.fetch(Seller.all).map(\.id) }

    /// What a process that begins now would ask with.
    func kept() throws -> String? { try SinceToken(named: "sellers", in: store).current() }
  }

  private static func page(_ ids: ClosedRange<Int>, _ token: String, isLast: Bool = true) -> Page {
    let sellers = ids.map { Seller(id: $0, phone: token, address: "") }
    return .fromRemote(Delta(sellers, token: token, isLast: isLast))
  }

  @Test(
    "a page that was asked for before its token was forgotten is not saved, and all is asked for",
    arguments: [false, true])
  func underWay(isElsewhere: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let updater = scene.updater { token in
        guard token == "a" else { return Self.page(1...3, "a") }
        // The answer is on its way.
        try await scene.erase(isElsewhere: isElsewhere)
        return Self.page(4...4, "b")
      }
      try await updater.sync(.afterNow)

      let status = try await updater.sync(.afterNow)

      #expect(status == .updated)
      #expect(scene.asked.lines == ["start", "a", "start"])
      #expect(try scene.ids() == [1, 2, 3])
      #expect(try scene.kept() == "a")
    }
  }

  @Test(
    "the first page that was asked for before the token was forgotten is not saved, though there was none yet",
    arguments: [false, true])
  func firstPage(isElsewhere: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let updater = scene.updater { [asked = scene.asked] _ in
        guard asked.lines.count == 1 else { return Self.page(1...1, "new user") }
        // The answer is on its way.
        try await scene.erase(isElsewhere: isElsewhere)
        return Self.page(2...4, "old user")
      }

      let status = try await updater.sync(.afterNow)

      #expect(status == .updated)
      #expect(scene.asked.lines == ["start", "start"])
      #expect(try scene.ids() == [1])
      #expect(try scene.kept() == "new user")
    }
  }

  @Test(
    "a sync whose token is forgotten between two pages goes on from the start",
    arguments: [false, true])
  func betweenPages(isElsewhere: Bool) async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let erased = Log()
      let updater = scene.updater { token in
        token == nil ? Self.page(1...2, "a", isLast: false) : Self.page(3...3, "b")
      } saved: {
        guard erased.lines.isEmpty else { return }
        erased.add("now")
        try await scene.erase(isElsewhere: isElsewhere)
      }

      let status = try await updater.sync(.afterNow)

      #expect(status == .updated)
      #expect(scene.asked.lines == ["start", "start", "a"])
      #expect(try scene.ids() == [1, 2, 3])
      #expect(try scene.kept() == "b")
    }
  }

  @Test("the token of a page that changes nothing does not count where it was forgotten meanwhile")
  func unchanged() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      try await scene.sellers.save(Seller.many(2))
      let updater = scene.updater { token in
        if token == "1" { try await scene.since.forget() }
        let number = token.flatMap { Int($0) } ?? 0
        return .fromRemote(Delta(Seller.many(2), token: "\(number + 1)"))
      }

      for _ in 1...3 { #expect(try await updater.sync(.afterNow) == .alreadyCurrent) }

      #expect(scene.asked.lines == ["start", "1", "start"])
    }
  }

  @Test("a save that fails after its token was forgotten does not bring the one before back")
  func failingSave() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      try await scene.updater { _ in Self.page(1...1, "a") }.sync(.afterNow)
      let failing = scene.updater { _ in
        Self.page(2...2, "b")
      } saved: {
        try await scene.since.forget()
        throw Offline()
      }

      await #expect(throws: Offline()) { try await failing.sync(.afterNow) }

      #expect(try scene.since.current() == nil)
      #expect(try scene.kept() == nil)
    }
  }

  @Test("an updater whose token is forgotten with every page gives up, and has saved none")
  func everyPage() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let updater = scene.updater { _ in
        try await scene.since.forget()
        return Self.page(1...1, "a")
      }

      await #expect(throws: SinceToken.Outdated.self) { try await updater.sync(.afterNow) }

      #expect(scene.asked.lines.count == 6)
      let ids = try scene.ids()
      #expect(ids == [])
    }
  }
}
