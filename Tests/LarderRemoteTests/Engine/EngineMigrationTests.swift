import Foundation
import Larder
import LarderRemote
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
