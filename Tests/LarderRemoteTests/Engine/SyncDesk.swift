import Foundation
import Larder
import LarderRemote
import LarderSync
import LarderTesting

/// A store with an engine, for tests that look at one client.
struct SyncDesk {
  let store: Store
  let engine: SyncEngine

  init(
    _ server: any Remote, store: Store? = nil,
    collections: [SyncedCollection] = [SyncedCollection(Card.self, rules: Card.rules)],
    scopes: [String] = ["all"], account: String = "me",
    options: SyncEngine.Options = SyncEngine.Options(), clock: any SyncClock = ManualClock()
  ) throws {
    self.store = try store ?? Store.temporary()
    engine = try SyncEngine(
      self.store, remote: server, collections: collections, scopes: scopes, account: account,
      interval: .zero, retrying: Backoff(), options: options, clock: clock)
  }

  var cards: StoreRepository<Card> { store.repository(of: Card.self) }

  func sync() async throws { try await engine.sync(.afterNow) }

  func titles() throws -> [String] {
    try cards.fetch(Card.all.sorted(by: \.id)).map { "\($0.id) \($0.title)" }
  }

  func close() throws { try verifyAndClose(store) }
}

extension RemoteDocument {
  /// A document of an object's text.
  init(_ text: String) { self.init(json: Data(text.utf8)) }

  /// A card as others write it.
  static func card(_ id: String, _ title: String, count: Int = 0) -> RemoteDocument {
    RemoteDocument(
      #"{"id":"\#(id)","title":"\#(title)","count":\#(count),"tags":[],"spot":{"x":0,"y":0}}"#)
  }
}

extension RemoteKey {
  static func card(_ id: String) -> RemoteKey { RemoteKey("Card", id) }
}
