import Larder
import LarderTesting
import Testing

@testable import LarderSync

@Suite(.timeLimit(.minutes(20))) struct UpdaterFamilyTests {
  private struct Scene: Sendable {
    let clock = ManualClock()
    let requests = Log()
    let family: UpdaterFamily<Int>

    /// Sellers below zero cannot be had.
    init(_ store: Store) {
      let sellers = store.repository(of: Seller.self)
      family = UpdaterFamily { [clock] _ in
        FetchLimiter(minimumInterval: .seconds(60), retrying: .longest, clock: clock)
      } updater: { [requests] id, limiter in
        RemoteUpdater(sellers, limiter: limiter) {
          requests.add("\(id)")
          if id < 0 { throw Offline(number: id) }
          return [Seller(id: id, phone: "\(id)", address: "")]
        }
      }
    }
  }

  @Test("each key is refreshed by itself, and its screens share requests, interval and failure")
  func keys() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let (one, two, lost) = (scene.family[1], scene.family[2], scene.family[-1])

      for updater in [one, two, scene.family[1], scene.family[2]] { try await updater.sync() }
      for updater in [lost, scene.family[-1]] {
        await #expect(throws: Offline(number: -1)) { try await updater.sync() }
      }

      #expect(scene.requests.lines == ["1", "2", "-1"])
      let ids = try store.repository(of: Seller.self).fetch(Seller.all).map(\.id)
      #expect(ids == [1, 2])
      #expect(one.limiter === scene.family[1].limiter && one.limiter !== two.limiter)
    }
  }

  @Test("a key that nobody uses is remembered until its interval or its pause is over")
  func remembering() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      for key in 1...1_000 { try await scene.family[key].sync() }
      #expect(scene.family.count == 1_000)
      #expect(try await scene.family[7].sync() == .skipped)

      scene.clock.advance(by: .seconds(60))
      for key in 1_001...2_100 { try await scene.family[key].sync() }

      // Those of before are gone, as others have come in such number.
      #expect(scene.family.count == 1_100)
      #expect(try await scene.family[7].sync() == .alreadyCurrent)
    }
  }

  @Test("a key that is in use stays, however long its interval has been over")
  func inUse() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let held = scene.family[1]
      try await held.sync()
      weak let dropped = scene.family[2].limiter
      for round in 1...20 {
        scene.clock.advance(by: .seconds(60))
        for key in 1...100 { try await scene.family[round * 1_000 + key].sync() }
      }

      #expect(scene.family[1].limiter === held.limiter)
      #expect(dropped == nil)
      #expect(scene.family.count <= 300)
    }
  }

  @Test("a screen of one key hears nothing of another key's failure")
  func streams() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let sellers = store.repository(of: Seller.self)
      let lost = EventRecorder(
        sellers.stream(Seller.where { $0.id == -1 }, refreshedBy: scene.family[-1]))
      let found = EventRecorder(
        sellers.stream(Seller.where { $0.id == 1 }, refreshedBy: scene.family[1]))

      await lost.waitForErrors(1)
      await found.waitForValues(2)

      #expect(found.errors.isEmpty)
      #expect(lost.values == [[]])
    }
  }

  @Test("callers of one key at once share its limiter")
  func together() async throws {
    try await withTemporaryStore { store in
      let scene = Scene(store)
      let limiters = await withTaskGroup(of: ObjectIdentifier.self) { group in
        let held = scene.family[1]
        for _ in 0..<1_000 {
          group.addTask { ObjectIdentifier(scene.family[1].limiter) }
        }
        var limiters: Set<ObjectIdentifier> = [ObjectIdentifier(held.limiter)]
        for await limiter in group { limiters.insert(limiter) }
        return limiters
      }
      #expect(limiters.count == 1)
    }
  }
}
