import Foundation
import LarderLMDB
import LarderTestKit
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

/// What is published here: with an index, and another type beside it.
@Document
struct Chore: Equatable {
  var id: Int
  @Indexed var room: String
  var text = ""
}

@Document
struct Room: Equatable {
  var id: String
}

@Suite(.timeLimit(.minutes(20))) struct PublishTests {
  let folder = TestFolder()
  private var published: URL { folder.url.appending(path: "published") }

  private func store(_ count: Int = 200) throws -> Store {
    let store = try Store(at: folder.store)
    try store.repository(of: Chore.self).save(
      (0..<count).map { Chore(id: $0, room: $0.isMultiple(of: 2) ? "kitchen" : "hall") })
    try store.repository(of: Room.self).save([Room(id: "hall"), Room(id: "kitchen")])
    return store
  }

  @Test("what queries find is published with its indexes, and read without a lock file")
  func isPublished() throws {
    let store = try store()
    let kitchen = Chore.where { $0.room == "kitchen" }.sorted(by: \.id).limit(30)

    let report = try store.publish(kitchen, Room.all, to: published)

    #expect(report.documentCount == 32)
    #expect(try contents(of: path("data.mdb")).count == report.byteCount)
    let reader = try Store(published: published)
    #expect(
      try reader.repository(of: Chore.self).fetch(Chore.all)
        == store.repository(of: Chore.self).fetch(kitchen))
    #expect(try reader.repository(of: Room.self).count() == 2)
    let found = Chore.where { $0.room == "kitchen" }
    #expect(try reader.repository(of: Chore.self).count(found) == 30)
    #expect(try found.explain(in: reader).description.contains("room"))
    #expect(
      storeError { try reader.repository(of: Room.self).save(Room(id: "attic")) } == .readOnly)
    #expect(try names() == ["data.mdb", "larder.published"])
    #expect(try reader.newerPublication() == nil)
    try reader.close()
    #expect(try names() == ["data.mdb", "larder.published"])
    try verifyAndClose(store)
  }

  private func path(_ name: String) -> String {
    published.appending(path: name).path(percentEncoded: false)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: published.path(percentEncoded: false)
    ).sorted()
  }

  @Test("who has a publication open reads on in it, and sees the newer one when asked to")
  func newer() async throws {
    let store = try store()
    try await store.publish(Chore.all, to: published)
    let reader = try Store(published: published)
    let chores = reader.repository(of: Chore.self)
    let second = try Store(published: published)

    try await store.repository(of: Chore.self).delete(Chore.where { $0.id >= 10 })
    try await store.publish(Chore.all, to: published)

    #expect(try chores.count() == 200)
    let newer = try #require(try reader.newerPublication())
    #expect(try newer.repository(of: Chore.self).count() == 10)
    #expect(try chores.fetch(Chore.all).count == 200)
    #expect(try newer.newerPublication() == nil)
    try reader.close()
    #expect(try second.repository(of: Chore.self).count() == 200)
    try second.close()
    try newer.close()
    try verifyAndClose(store)
  }

  @Test("nothing is published over a store that is written to, nor such a store read as published")
  func refused() throws {
    let store = try store()

    let over = storeError { try store.publish(Chore.all, to: URL(filePath: folder.store)) }
    let asPublished = storeError { _ = try Store(published: URL(filePath: folder.store)) }
    let missing = storeError { _ = try Store(published: published) }

    guard case .notAStore? = over, case .storage(let inUse)? = asPublished,
      case .storage(let none)? = missing
    else {
      Issue.record("\(String(describing: (over, asPublished, missing)))")
      return
    }
    #expect(inUse.code == .inUse)
    #expect(none.code == .missing)
    #expect(!FileManager.default.fileExists(atPath: path("")))
    try verifyAndClose(store)
  }

  @Test("a damaged publication is refused when it is opened")
  func damaged() throws {
    let store = try store(2000)
    try store.publish(Chore.all, to: published)
    var bytes = try contents(of: path("data.mdb"))
    for place in 3 * 4096..<4 * 4096 { bytes[place] = 0 }
    try replaceContents(of: path("data.mdb"), by: bytes)

    let error = storeError { _ = try Store(published: published) }

    guard case .damagedPublication(let place, _)? = error else {
      Issue.record("thrown was \(String(describing: error))")
      return
    }
    #expect(place == published.path(percentEncoded: false))
    try store.publish(Chore.all, to: published)
    #expect(try Store(published: published).repository(of: Chore.self).count() == 2000)
    try verifyAndClose(store)
  }

  @Test("a folder for publications is opened as such only, and goes on taking them")
  func openedAsStore() throws {
    let store = try store()
    try store.publish(Chore.all, to: published)

    for isReadOnly in [false, true] {
      let error = storeError {
        _ = try Store(at: published, options: StoreOptions(isReadOnly: isReadOnly))
      }
      guard case .notAStore(_, let reason)? = error else {
        Issue.record("thrown was \(String(describing: error))")
        continue
      }
      #expect(reason.contains("Store(published:)"))
    }
    #expect(Store.isPublished(at: published.path(percentEncoded: false)))
    let before = try contents(of: path("data.mdb"))
    let backup = folder.url.appending(path: "backup")
    try store.backup(to: backup)
    #expect(storeError { _ = try Store.quarantine(at: published) } != nil)
    #expect(storeError { _ = try Store.restore(from: backup, to: published) } != nil)
    #expect(try contents(of: path("data.mdb")) == before)
    let restored = folder.url.appending(path: "restored")
    #expect(try Store.restore(from: published, to: restored).documentCount == 200)
    #expect(try names() == ["data.mdb", "larder.published"])
    try store.publish(Chore.where { $0.room == "kitchen" }, to: published)

    #expect(try Store(published: published).repository(of: Chore.self).count() == 100)
    #expect(try names() == ["data.mdb", "larder.published"])
    try verifyAndClose(store)
  }

  @Test("what a publisher left that was killed is removed after an hour, and no sooner")
  func leftovers() throws {
    let store = try store()
    try store.publish(Chore.all, to: published)
    for (name, age) in [(".larder-old", 7200.0), (".larder-new", 60)] {
      try Data("half".utf8).write(to: published.appending(path: name))
      try FileManager.default.setAttributes(
        [.modificationDate: Date.now.addingTimeInterval(-age)], ofItemAtPath: path(name))
    }

    try store.publish(Chore.all, to: published)

    #expect(try names() == [".larder-new", "data.mdb", "larder.published"])
    try verifyAndClose(store)
  }
}
