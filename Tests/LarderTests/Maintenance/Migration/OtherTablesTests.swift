import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document(as: "TakenPerson")
private struct TakenPerson: Equatable {
  var id: Int
  var a: Int
  var b: Int
}

@Document(as: "TakenDraft")
private struct TakenDraft: Equatable {
  var id: Int
  var b: Int
  var a: Int
}

@Document(as: "TakenKey")
private struct TextKeyed: Equatable {
  var id: String
  var n: Int
}

@Document(as: "TakenKey")
private struct NumberKeyed: Equatable {
  var id: Int
  var n: Int
}

@Document(as: "TakenEntry")
private struct TextEntry: Equatable {
  var id: Int
  @Indexed(unique: true) var u: String
}

@Document(as: "TakenEntry")
private struct NumberEntry: Equatable {
  var id: Int
  @Indexed(unique: true) var u: Int
}

@Suite("collections that are described in another way from some moment on")
struct OtherTablesTests {
  @Test("a watched list has what is stored once another collection takes the name")
  func renamed() async throws {
    let store = try Store.temporary()
    let persons = store.repository(of: TakenPerson.self)
    try await persons.save((0..<5).map { TakenPerson(id: $0, a: 1, b: 100) })
    try await store.repository(of: TakenDraft.self)
      .save((0..<5).map { TakenDraft(id: $0 + 10, b: 7, a: 2) })
    let start = try store.changeToken()
    var rows = Rows<TakenPerson>()
    var watch = persons.watch(TakenPerson.where { $0.a < 50 }).makeAsyncIterator()
    rows.apply(try #require(await watch.next()))
    #expect(rows.count == 5)

    try await store.migrate(to: 2) { tx in
      _ = try tx.delete(keys: (0..<5).map { .integer($0) }, in: store.collection("TakenPerson"))
      _ = try tx.rename(store.collection("TakenDraft"), to: "TakenPerson")
    }

    rows.apply(try #require(await watch.next()))
    #expect(Array(rows) == (10..<15).map { TakenPerson(id: $0, a: 2, b: 7) })
    #expect(try store.history(since: start).isReset, "what it had would be read wrongly")
    try await persons.save(TakenPerson(id: 50, a: 3, b: 3))
    rows.apply(try #require(await watch.next()))
    #expect(rows.map(\.id) == [10, 11, 12, 13, 14, 50])
    try verifyAndClose(store)
  }

  @Test("history does not tell of keys of another kind")
  func otherKeys() async throws {
    let store = try Store.temporary()
    let texts = store.repository(of: TextKeyed.self)
    try await store.repository(of: TakenPerson.self).save(TakenPerson(id: 1, a: 1, b: 1))
    let before = try store.changeToken()
    try await texts.save(TextKeyed(id: "ab", n: 3))
    let saved = try store.changeToken()
    try await texts.delete(TextKeyed.all)
    #expect(try store.history(since: saved).changes.map(\.key) == [.string("ab")])

    try await store.repository(of: NumberKeyed.self).save(NumberKeyed(id: 7, n: 1))

    for token in [before, saved] { #expect(try store.history(since: token).isReset) }
    let now = try store.changeToken()
    #expect(try store.history(since: now).changes.isEmpty)
    // The first type of a collection that never had a document forgets nothing.
    try store.declare([TextEntry.self])
    #expect(try !store.history(since: now).isReset)
    try verifyAndClose(store)
  }

  @Test("indexes that wait for the end of a migration are not built anew before")
  func rebuilt() async throws {
    struct Stop: Error {}
    let store = try Store.temporary()
    try await store.repository(of: TextEntry.self)
      .save((0..<2500).map { TextEntry(id: $0, u: "\($0)") })
    let body: @Sendable (inout MigratingDocument) throws -> Void = { document in
      if case .string(let text)? = document["u"] { document["u"] = .integer(Int64(text) ?? -1) }
    }
    await #expect(throws: (any Error).self) {
      try await store.migrate(NumberEntry.self, to: 2, progress: { _ in throw Stop() }, body)
    }
    let entries = store.collection("TakenEntry")
    let before = try entries.indexes()

    #expect(throws: StoreError.unfinishedMigration(collection: "TakenEntry", version: 2)) {
      try entries.rebuildIndexes()
    }

    #expect(try entries.indexes() == before)
    try await store.migrate(NumberEntry.self, to: 2, body)
    try await entries.buildIndexes()
    let numbers = store.repository(of: NumberEntry.self)
    #expect(try numbers.count(NumberEntry.where { $0.u == 2000 }) == 1)
    try verifyAndClose(store)
  }
}
