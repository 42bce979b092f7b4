import Foundation
import LarderLMDB
import LarderRemote
import LarderTesting
import Testing

@testable import Larder

@Document struct Parcel: Equatable {
  var id: UUID
  var title = ""
}

@Document struct Lot: Equatable {
  var id: Int
  var title = ""
}

/// Keys of a remote that no document here can have, or that are spelt otherwise than they are sent from here.
@Suite("keys of a remote that do not fit", .timeLimit(.minutes(20))) struct EngineKeyTests {
  private let server = InMemoryRemote()

  @Test(
    "a document whose key is too long is refused, and keeps no pull from going on",
    arguments: [256, 505, 65_536, 100_000])
  func long(_ byteCount: Int) async throws {
    let id = String(repeating: "k", count: byteCount)
    for id in ["a", id, "b"] { server.put(.card(id), .card(id, "t"), in: "all") }
    let desk = try SyncDesk(server)

    try await desk.sync()

    #expect(try desk.titles() == ["a t", "b t"])
    #expect(try desk.engine.refused().map(\.key) == [.card(id)])
    server.remove(.card(id))
    server.put(.card("b"), .card("b", "new"), in: "all")
    try await desk.sync()
    #expect(try desk.titles() == ["a t", "b new"])
    #expect(try desk.engine.refused() == [])
    try desk.close()
  }

  @Test("documents of collections whose names no store can have are passed over")
  func collections() async throws {
    for name in ["", String(repeating: "n", count: 100_000)] {
      server.put(RemoteKey(name, "k"), RemoteDocument(#"{"id":"k"}"#), in: "all")
    }
    server.put(.card("a"), .card("a", "t"), in: "all")
    let desk = try SyncDesk(server)

    try await desk.sync()

    #expect(try desk.titles() == ["a t"])
    #expect(try desk.engine.refused() == [])
    try desk.close()
  }

  @Test(
    "a document under a key that would be sent in another spelling is refused, which is told",
    arguments: [
      ("Card", "e\u{301}", "\u{E9}"), ("Lot", "007", "7"), ("Lot", "+7", "7"), ("Lot", "-0", "0"),
      (
        "Parcel", "6F9619FF-8B86-D011-B42D-00C04FC964FF", "6f9619ff-8b86-d011-b42d-00c04fc964ff"
      ),
    ] as [(String, String, String)])
  func spelling(_ collection: String, _ key: String, _ sent: String) async throws {
    let name = RemoteKey(collection, key)
    server.put(name, RemoteDocument(#"{"title":"t"}"#), in: "all")
    let desk = try SyncDesk(
      server,
      collections: [
        SyncedCollection(Card.self), SyncedCollection(Lot.self), SyncedCollection(Parcel.self),
      ])

    try await desk.sync()

    let refused = try desk.engine.refused()
    #expect(refused.map { Array($0.key.key.utf8) } == [Array(key.utf8)])
    #expect(refused.first?.reason.contains("sent as `\(sent)`") == true)
    #expect(try desk.store.collection(collection).count() == 0)
    server.remove(name)
    try await desk.sync()
    #expect(try desk.engine.refused() == [])
    try desk.close()
  }

  @Test(
    "where nothing is sent from here, a document comes under whatever spelling",
    arguments: [("Lot", "007"), ("Parcel", "6F9619FF-8B86-D011-B42D-00C04FC964FF")])
  func spellingDown(_ collection: String, _ key: String) async throws {
    let name = RemoteKey(collection, key)
    server.put(name, RemoteDocument(#"{"title":"t"}"#), in: "all")
    let desk = try SyncDesk(
      server,
      collections: [
        SyncedCollection(Lot.self, direction: .down),
        SyncedCollection(Parcel.self, direction: .down),
      ])

    try await desk.sync()

    #expect(try desk.engine.refused() == [])
    #expect(try desk.store.collection(collection).count() == 1)
    server.remove(name)
    try await desk.sync()
    #expect(try desk.store.collection(collection).count() == 0)
    try desk.close()
  }

  @Test("documents whose keys are spelt otherwise cost no transactions of their own")
  func manySpellings() async throws {
    func transactionCount(_ spell: (UUID) -> String) async throws -> UInt64 {
      let server = InMemoryRemote()
      for _ in 0..<50 {
        let id = UUID()
        let document = RemoteDocument(#"{"id":"\#(id)","title":"t"}"#)
        server.put(RemoteKey("Parcel", spell(id)), document, in: "all")
      }
      let desk = try SyncDesk(server, collections: [SyncedCollection(Parcel.self)])
      let before = try desk.store.engine.environment.beginRead().id
      try await desk.sync()
      let after = try desk.store.engine.environment.beginRead().id
      try desk.close()
      return UInt64(after - before)
    }

    let usual = try await transactionCount { $0.uuidString.lowercased() }

    #expect(try await transactionCount { $0.uuidString } <= usual)
  }

  @Test("two spellings of a key are two documents there, and what becomes of one concerns one")
  func twoSpellings() async throws {
    let id = UUID()
    let sent = RemoteKey("Parcel", id.uuidString.lowercased())
    let other = RemoteKey("Parcel", id.uuidString)
    for name in [sent, other] {
      server.put(name, RemoteDocument(#"{"id":"\#(id)","title":"\#(name.key)"}"#), in: "all")
    }
    var options = SyncEngine.Options()
    options.auditInterval = 1
    let desk = try SyncDesk(
      server, collections: [SyncedCollection(Parcel.self)], options: options)
    let parcels = desk.store.repository(of: Parcel.self)

    for _ in 0..<4 { try await desk.sync() }

    #expect(try parcels.fetch(Parcel.all).map(\.title) == [sent.key])
    #expect(try desk.engine.refused().map(\.key) == [other])
    server.remove(other)
    for _ in 0..<4 { try await desk.sync() }
    #expect(try parcels.fetch(Parcel.all).map(\.title) == [sent.key])
    #expect(try desk.engine.refused() == [])
    // Both were counted, so that nothing was loaded anew.
    let beginnings = server.recordedCalls.count { call in
      if case .pull(let request) = call { request.cursor == nil } else { false }
    }
    #expect(beginnings == 1)
    try desk.close()
  }
}
