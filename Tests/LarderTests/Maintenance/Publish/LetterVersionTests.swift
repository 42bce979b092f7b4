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

@Document(as: "PostedFile")
private struct OlderFile: Equatable {
  var id: Int
}

@Document(as: "PostedFile")
private struct NewerFile: Equatable {
  @EmbeddedDocument
  struct Size: Equatable {
    var bytes: UInt64
    var parts: [UInt64] = []
    var inner: [Size] = []
  }

  struct Point: Codable, Equatable {
    var x: Int
    var name: String
  }

  var id: Int
  var size = Size(bytes: 0)
  var sizes: [String: Size]?
  var hash: UInt64 = 0
  var share: Float?
  var point: Point?
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

  @Test("what only a newer version knows keeps its kinds")
  func newerKinds() async throws {
    let store = try Store(at: folder.store)
    let small = NewerFile(
      id: 1, size: .init(bytes: 7, parts: [1], inner: [.init(bytes: 2)]),
      sizes: ["a": .init(bytes: 3)], hash: 5, share: 1, point: .init(x: 1, name: "p"))
    let large = NewerFile(
      id: 2, size: .init(bytes: .max, parts: [.max]), hash: .max, share: 0.5)
    for posted in [small, large] {
      try mailbox.post([posted])

      let report = try await store.collect(OlderFile.self, from: mailbox)

      #expect(report.merged.count == 1, "\(report)")
    }
    try store.close()
    // The app that knows them comes, and finds them as if it had saved them.
    let updated = try Store(at: folder.store)
    try updated.declare(NewerFile.self)
    let files = updated.repository(of: NewerFile.self)
    #expect(try files.fetch(NewerFile.all) == [small, large])
    #expect(try await files.save([small, large]).unchanged == 2)
    #expect(try files.count(NewerFile.where { $0.size.bytes > 7 }) == 1)
    try verifyAndClose(updated)
  }

  @Test("a letter for documents that are being migrated waits, and keeps nobody else")
  func migrating() async throws {
    let store = try Store(at: folder.store)
    try await store.repository(of: OlderMemo.self)
      .save((0..<1500).map { OlderMemo(id: $0, text: "t") })
    _ = try? await store.migrate(
      OlderMemo.self, to: 2,
      progress: { if $0.phase == .migrating { throw CancellationError() } }
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
