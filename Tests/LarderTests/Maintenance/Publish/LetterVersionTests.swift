import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document(as: "PostedMemo")
private struct OlderMemo: Equatable {
  @EmbeddedDocument
  struct Place: Equatable {
    var city: String
  }

  var id: Int
  var text: String
  var note: String?
  var place = Place(city: "a")
}

@Document(as: "PostedMemo")
private struct NewerMemo: Equatable {
  @EmbeddedDocument
  struct Place: Equatable {
    var city: String
    var street: String?
  }

  var id: Int
  var text: String
  var note: String?
  var place = Place(city: "a")
  var stars = 0
  var tags: [String]?
}

@Document(as: "PostedShare")
private struct OlderShare: Equatable {
  var owner: String
  var number: Int

  var entityAccessorKey: String { "\(owner)/\(number)" }
}

@Document(as: "PostedShare")
private struct NewerShare: Equatable {
  var owner: String
  var number: Int
  var price: Double?

  var entityAccessorKey: String { "\(owner)/\(number)" }
}

@Suite("letters between versions of an app")
struct LetterVersionTests {
  private let folder = TestFolder()
  private var mailbox: Mailbox { Mailbox(at: folder.url.appending(path: "mailbox")) }

  @Test("a letter of an older version leaves the fields that it does not know")
  func older() async throws {
    let store = try Store(at: folder.store)
    let memos = store.repository(of: NewerMemo.self)
    let stored = NewerMemo(
      id: 1, text: "before", note: "n", place: .init(city: "b", street: "s"), stars: 5,
      tags: ["t"])
    try await memos.save(stored)
    try mailbox.post([
      OlderMemo(id: 1, text: "after", place: .init(city: "c")), OlderMemo(id: 2, text: "new"),
    ])

    let report = try await store.collect(NewerMemo.self, from: mailbox)

    #expect(report.merged.count == 1 && report.saves.updated == 1 && report.saves.inserted == 1)
    var expected = stored
    expected.text = "after"
    // That it knows, and had none.
    expected.note = nil
    expected.place.city = "c"
    #expect(try memos.fetch(NewerMemo.all) == [expected, NewerMemo(id: 2, text: "new")])
    #expect(try mailbox.letters().isEmpty)
    try verifyAndClose(store)
  }

  @Test("a letter of a newer version is saved whole")
  func newer() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: OlderMemo.self).save(OlderMemo(id: 1, text: "before"))
    let posted = NewerMemo(
      id: 1, text: "after", place: .init(city: "c", street: "s"), stars: 4, tags: ["u"])
    try mailbox.post([posted], [NewerShare(owner: "o", number: 1, price: 2.5)])

    let report = try await store.collect(OlderMemo.self, OlderShare.self, from: mailbox)

    #expect(report.merged.count == 1 && report.refused.isEmpty && report.unreadable.isEmpty)
    #expect(try store.repository(of: NewerMemo.self).get(1) == posted)
    let shares = store.repository(of: NewerShare.self)
    #expect(try shares.get("o/1") == NewerShare(owner: "o", number: 1, price: 2.5))
    try mailbox.post([OlderShare(owner: "o", number: 1)])
    try await store.collect(NewerShare.self, from: mailbox)
    #expect(try shares.get("o/1")?.price == 2.5)
    try verifyAndClose(store)
  }

  @Test("a letter for documents that are being migrated waits, and keeps nobody else")
  func migrating() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: OlderMemo.self)
      .save((0..<1500).map { OlderMemo(id: $0, text: "t") })
    _ = try? await store.migrate(
      OlderMemo.self, to: 2, progress: { _ in throw CancellationError() }
    ) { $0["text"] = "u" }
    let good = try mailbox.post([OlderShare(owner: "o", number: 1)])
    let waiting = try mailbox.post([OlderMemo(id: 5, text: "posted")])

    let report = try await store.collect(OlderMemo.self, OlderShare.self, from: mailbox)

    #expect(report.merged == [good])
    #expect(Array(report.refused.keys) == [waiting])
    try await store.migrate(OlderMemo.self, to: 2) { $0["text"] = "u" }
    #expect(
      try await store.collect(OlderMemo.self, OlderShare.self, from: mailbox).merged == [waiting])
    try verifyAndClose(store)
  }
}
