import Foundation
import Larder
import LarderRemote
import LarderTestKit
import LarderTesting
import Testing

/// The same collection before and behind a migration that turns text into a number.
private enum Before {
  @Document(as: "Shelf") struct Shelf: Equatable {
    var id: String
    var name = ""
    var place = ""
  }
}

private enum After {
  @Document(as: "Shelf") struct Shelf: Equatable {
    var id: String
    var name = ""
    var place = 0
  }
}

/// What an earlier version of the app has sent, in the form of this one.
@Sendable private func upgrade(_ shelf: inout DynamicDocument) throws {
  guard case .string(let text)? = shelf["place"] else { return }
  guard let place = Int64(text) else { throw NoPlace(text: text) }
  shelf["place"] = .integer(place)
}

private struct NoPlace: Error, CustomStringConvertible {
  let text: String
  var description: String { "no place is called \(text)" }
}

@Suite(
  "edits that meet versions which a migration has made unreadable", .timeLimit(.minutes(20)))
struct EngineMigrationTests {
  private let server = InMemoryRemote()
  private let key = RemoteKey("Shelf", "a")

  /// A client that was migrated with an edit which is not sent yet. Where `name` is given, the document was changed on the
  /// server meanwhile.
  private func migratedDesk(_ name: String?) async throws -> SyncDesk {
    _ = server.put(
      key, RemoteDocument(#"{"id":"a","name":"old","place":"7"}"#), in: "all")
    let old = try SyncDesk(server, collections: [SyncedCollection(Before.Shelf.self)])
    try await old.sync()
    try await old.store.repository(of: Before.Shelf.self)
      .save(Before.Shelf(id: "a", name: "phone", place: "7"))
    if let name {
      _ = server.put(
        key, RemoteDocument(#"{"id":"a","name":"\#(name)","place":"7"}"#), in: "all")
    }
    try await old.store.migrate(After.Shelf.self, to: 2) { shelf in
      if case .string(let text)? = shelf["place"] { shelf["place"] = .integer(Int64(text) ?? 0) }
    }
    return try SyncDesk(
      server, store: old.store, collections: [SyncedCollection(After.Shelf.self)])
  }

  private var there: String? {
    server.version(of: key)?.document.map { String(decoding: $0.json, as: UTF8.self) }
  }

  private func name(on desk: SyncDesk) throws -> String? {
    try desk.store.repository(of: After.Shelf.self).get("a")?.name
  }

  @Test("one that was set aside can be sent over the server's version")
  func overwritten() async throws {
    let desk = try await migratedDesk("tablet")
    try await desk.sync()
    #expect(try desk.engine.rejected().map(\.code) == ["refused"])
    #expect(try desk.engine.refused().map(\.key) == [key])

    await #expect(throws: SyncError.self) { try await desk.engine.settle(key, as: .there) }
    try await desk.engine.settle(key, as: .here)
    try await desk.sync()

    #expect(try desk.engine.pending().isEmpty && desk.engine.refused().isEmpty)
    #expect(try name(on: desk) == "phone")
    #expect(there == #"{"id": "a", "name": "phone", "place": 7}"#)
    try desk.close()
  }

  @Test(
    "and it can be taken back, also before it is sent: the document stays, and what the server has is listed",
    arguments: [true, false])
  func discarded(isConflict: Bool) async throws {
    let desk = try await migratedDesk(isConflict ? "tablet" : nil)
    if isConflict { try await desk.sync() }

    try await desk.engine.discard(key)
    try await desk.sync()

    #expect(try desk.engine.pending().isEmpty && desk.engine.rejected().isEmpty)
    #expect(try desk.engine.refused().map(\.key) == [key])
    #expect(try name(on: desk) == "phone")
    #expect(there?.contains(isConflict ? "tablet" : "old") == true)

    // Once it can be read, it comes.
    _ = server.put(key, RemoteDocument(#"{"id":"a","name":"newest","place":8}"#), in: "all")
    try await desk.sync()
    #expect(try desk.engine.refused().isEmpty)
    #expect(try name(on: desk) == "newest")
    try desk.close()
  }
}

@Suite(
  "documents of earlier versions of an app that are upgraded as they come", .timeLimit(.minutes(20))
)
struct EngineUpgradeTests {
  private let server = InMemoryRemote()
  private let key = RemoteKey("Shelf", "a")

  private func put(_ json: String) { _ = server.put(key, RemoteDocument(json), in: "all") }

  private func desk(_ store: Store? = nil, on remote: (any Remote)? = nil) throws -> SyncDesk {
    try SyncDesk(
      remote ?? server, store: store,
      collections: [SyncedCollection(After.Shelf.self, upgrade: upgrade)])
  }

  private func shelf(on desk: SyncDesk) throws -> After.Shelf? {
    try desk.store.repository(of: After.Shelf.self).get("a")
  }

  private var there: String? {
    server.version(of: key)?.document.map { String(decoding: $0.json, as: UTF8.self) }
  }

  @Test("a new device has them in its own form, and sends nothing; an edit goes up in that form")
  func pulled() async throws {
    let old = #"{"id":"a","name":"old","place":"7"}"#
    put(old)
    let desk = try desk()
    try await desk.sync()
    #expect(try shelf(on: desk) == After.Shelf(id: "a", name: "old", place: 7))
    #expect(try desk.engine.pending().isEmpty && desk.engine.refused().isEmpty)
    #expect(there == old)

    try await desk.store.repository(of: After.Shelf.self)
      .save(After.Shelf(id: "a", name: "new", place: 7))
    try await desk.sync()
    #expect(there == #"{"id": "a", "name": "new", "place": 7}"#)
    try desk.close()
  }

  @Test("so has one whose documents nobody has declared")
  func untyped() async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let desk = try SyncDesk(
      server, collections: [SyncedCollection("Shelf", keyField: "id", upgrade: upgrade)])
    try await desk.sync()
    #expect(try desk.store.collection("Shelf").get("a")?["place"] == 7)
    try desk.close()
  }

  @Test(
    "an edit that was made before the update is merged with what an older app has changed meanwhile",
    arguments: [false, true])
  func merged(isSent: Bool) async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let old = try SyncDesk(server, collections: [SyncedCollection(Before.Shelf.self)])
    try await old.sync()
    try await old.store.repository(of: Before.Shelf.self)
      .save(Before.Shelf(id: "a", name: "phone", place: "7"))
    if !isSent { put(#"{"id":"a","name":"old","place":"9"}"#) }
    try await old.store.migrate(After.Shelf.self, to: 2) { try upgrade(&$0.document) }

    // Where it is sent first, the server answers with a version that nobody has pulled.
    let server = server
    let key = key
    let didPut = Flag()
    let remote = ClosureRemote {
      try await server.pull($0)
    } push: { request in
      if isSent, !didPut.isSet {
        didPut.set()
        _ = server.put(
          key, RemoteDocument(#"{"id":"a","name":"old","place":"9"}"#), in: "all")
      }
      return try await server.push(request)
    }
    let desk = try desk(old.store, on: remote)
    try await desk.sync()
    try await desk.sync()

    #expect(try desk.engine.pending().isEmpty && desk.engine.rejected().isEmpty)
    #expect(try shelf(on: desk) == After.Shelf(id: "a", name: "phone", place: 9))
    #expect(there == #"{"id": "a", "name": "phone", "place": 9}"#)
    try desk.close()
  }

  @Test("and what it began with comes back in the new form when it is discarded")
  func discarded() async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let old = try SyncDesk(server, collections: [SyncedCollection(Before.Shelf.self)])
    try await old.sync()
    try await old.store.repository(of: Before.Shelf.self)
      .save(Before.Shelf(id: "a", name: "phone", place: "8"))
    try await old.store.migrate(After.Shelf.self, to: 2) { try upgrade(&$0.document) }

    let desk = try desk(old.store)
    try await desk.engine.discard(key)
    #expect(try shelf(on: desk) == After.Shelf(id: "a", name: "old", place: 7))
    #expect(try desk.engine.pending().isEmpty && desk.engine.refused().isEmpty)
    try desk.close()
  }

  @Test("documents that an engine without it refused come in; one for which it throws is refused")
  func refused() async throws {
    put(#"{"id":"a","name":"old","place":"seven"}"#)
    _ = server.put(
      RemoteKey("Shelf", "b"), RemoteDocument(#"{"id":"b","name":"b","place":"twelve"}"#),
      in: "all")
    let before = try SyncDesk(server, collections: [SyncedCollection(After.Shelf.self)])
    try await before.sync()
    #expect(try before.engine.refused().count == 2)

    let desk = try SyncDesk(
      server, store: before.store,
      collections: [
        SyncedCollection(
          After.Shelf.self,
          upgrade: { shelf in
            if shelf["place"] == "seven" { shelf["place"] = 7 }
            try upgrade(&shelf)
          })
      ])
    try await desk.sync()
    #expect(try shelf(on: desk) == After.Shelf(id: "a", name: "old", place: 7))
    #expect(
      try desk.engine.refused().map { "\($0.reason)" }
        == ["Shelf/b could not be upgraded: no place is called twelve"])
    try desk.close()
  }

  @Test("one that is given another key is refused")
  func moved() async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let desk = try SyncDesk(
      server,
      collections: [SyncedCollection(After.Shelf.self, upgrade: { $0["id"] = "z" })])
    try await desk.sync()
    #expect(try desk.engine.refused().map(\.key) == [key])
    #expect(try desk.store.repository(of: After.Shelf.self).count() == 0)
    try desk.close()
  }

  @Test(
    "an edit that waits for somebody beside a version which cannot be upgraded can be sent over it")
  func unsettled() async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let asking = SyncedCollection(Before.Shelf.self, resolver: { _ in .ask })
    let old = try SyncDesk(server, collections: [asking])
    try await old.sync()
    try await old.store.repository(of: Before.Shelf.self)
      .save(Before.Shelf(id: "a", name: "phone", place: "7"))
    put(#"{"id":"a","name":"tablet","place":"nowhere"}"#)
    try await old.sync()
    #expect(try old.engine.conflicts().count == 1)
    try await old.store.migrate(After.Shelf.self, to: 2) { shelf in
      if shelf["place"] == "7" { shelf["place"] = 7 }
    }

    let desk = try desk(old.store)
    try await desk.sync()
    #expect(try desk.engine.conflicts().map(\.there?["place"]) == ["nowhere"])
    await #expect(throws: SyncError.self) { try await desk.engine.settle(key, as: .there) }
    try await desk.engine.settle(key, as: .here)
    try await desk.sync()
    #expect(there == #"{"id": "a", "name": "phone", "place": 7}"#)
    #expect(try desk.engine.pending().isEmpty && desk.engine.conflicts().isEmpty)
    try desk.close()
  }

  @Test(
    "an edit that was accepted before such a version came is answered, and keeps nobody from syncing"
  )
  func accepted() async throws {
    put(#"{"id":"a","name":"old","place":"7"}"#)
    let server = server
    let old = try SyncDesk(server, collections: [SyncedCollection(Before.Shelf.self)])
    try await old.sync()
    let silent = ClosureRemote {
      try await server.pull($0)
    } push: { request in
      _ = try await server.push(request)
      throw RemoteError.unavailable("the answer is lost")
    }
    let lost = try SyncDesk(
      silent, store: old.store, collections: [SyncedCollection(Before.Shelf.self)])
    try await lost.store.repository(of: Before.Shelf.self)
      .save(Before.Shelf(id: "a", name: "phone", place: "7"))
    try? await lost.sync()
    put(#"{"id":"a","name":"tablet","place":"nowhere"}"#)
    try? await lost.sync()
    #expect(try lost.engine.pending().map(\.status) == [.sent])
    try await lost.store.migrate(After.Shelf.self, to: 2) { shelf in
      if shelf["place"] == "7" { shelf["place"] = 7 }
    }

    let desk = try desk(lost.store)
    _ = server.put(
      RemoteKey("Shelf", "b"), RemoteDocument(#"{"id":"b","name":"b","place":"1"}"#), in: "all")
    try await desk.sync()
    try await desk.sync()
    #expect(try desk.engine.pending().isEmpty)
    #expect(try desk.engine.refused().map(\.key) == [key])
    #expect(try desk.store.repository(of: After.Shelf.self).get("b")?.place == 1)
    #expect(try shelf(on: desk)?.name == "phone")
    try desk.close()
  }
}
