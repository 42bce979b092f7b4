import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document(as: "News") struct OldNews: Equatable {
  var id: Int
  @Indexed var date: Date
  static let ageing: [Ageing<OldNews>] = [
    .expires(after: .seconds(60), since: \.date), .keepNewest(3, by: \.date),
  ]
}

@Document(as: "News") struct KeptNews: Equatable {
  var id: Int
  @Indexed var date: Date
}

@Document struct PostedLocker: Equatable {
  var id: Int
  @Indexed(unique: true) var slug: String
}

@Suite(.timeLimit(.minutes(20))) struct MailboxTests {
  let folder = TestFolder()
  private var mailbox: Mailbox { Mailbox(at: folder.url.appending(path: "mailbox")) }

  @Test("letters are merged in the order in which they were posted, once, and removed")
  func merged() async throws {
    let store = try Store(at: folder.store)
    let chores = store.repository(of: Chore.self)
    try mailbox.post([Chore(id: 1, room: "hall", text: "first"), Chore(id: 2, room: "hall")])
    try mailbox.post([Chore(id: 1, room: "hall", text: "second")], [Room(id: "hall")])
    #expect(try mailbox.letters().count == 2)

    let report = try await store.collect(Chore.self, Room.self, from: mailbox)

    #expect(report.merged.count == 2)
    #expect(report.saves.inserted == 3)
    #expect(try chores.get(1)?.text == "second")
    #expect(try store.repository(of: Room.self).count() == 1)
    #expect(try mailbox.letters().isEmpty)
    let again = try await store.collect(Chore.self, Room.self, from: mailbox)
    #expect(again.merged.isEmpty)
    #expect(try store.repository(of: LetterNote.self).count() == 0)
    try verifyAndClose(store)
  }

  /// Leaves a letter that was merged, as a process does that was killed before it removed it. Its document is
  /// deleted, so that it shows where the letter is merged again.
  private func leaveLetter(in store: Store) async throws {
    let letter = try mailbox.post([Chore(id: 1, room: "hall")])
    let bytes = try contents(of: mailbox.file(of: letter))
    try await store.collect(Chore.self, from: mailbox)
    try await store.repository(of: Chore.self).delete(keys: [1])
    try replaceContents(of: mailbox.file(of: letter), by: bytes)
  }

  @Test("a letter that stayed behind its commit is not merged again")
  func stayed() async throws {
    let store = try Store(at: folder.store)
    let chores = store.repository(of: Chore.self)
    try await leaveLetter(in: store)

    let report = try await store.collect(Chore.self, from: mailbox)

    #expect(report.merged.isEmpty)
    #expect(try chores.count() == 0)
    #expect(try mailbox.letters().isEmpty)
    try await store.collect(Chore.self, from: mailbox)
    #expect(try store.repository(of: LetterNote.self).count() == 0)
    try verifyAndClose(store)
  }

  @Test("a folder that cannot be read says so, and the notes of its letters are kept")
  func unreadableFolder() async throws {
    let store = try Store(at: folder.store)
    let chores = store.repository(of: Chore.self)
    try await leaveLetter(in: store)
    let aside = folder.url.appending(path: "aside")
    try FileManager.default.moveItem(at: mailbox.folder, to: aside)
    // A link to itself: what is behind it is neither there nor absent.
    try FileManager.default.createSymbolicLink(
      at: mailbox.folder, withDestinationURL: mailbox.folder)

    #expect(throws: StoreError.self) { try mailbox.letters() }
    #expect(throws: StoreError.self) { try mailbox.post([Chore(id: 2, room: "hall")]) }
    await #expect(throws: StoreError.self) { try await store.collect(Chore.self, from: mailbox) }

    try FileManager.default.removeItem(at: mailbox.folder)
    try FileManager.default.moveItem(at: aside, to: mailbox.folder)
    #expect(try await store.collect(Chore.self, from: mailbox).merged.isEmpty)
    #expect(try chores.count() == 0)
    try verifyAndClose(store)
  }

  @Test("letters with other types, and those that cannot be read, wait and keep nobody else")
  func waiting() throws {
    let store = try Store(at: folder.store)
    let foreign = try mailbox.post([Room(id: "hall")], [Chore(id: 5, room: "hall")])
    let broken = try mailbox.post([Chore(id: 6, room: "hall")])
    try replaceContents(of: mailbox.file(of: broken), by: Data(repeating: 7, count: 5000))
    let good = try mailbox.post([Chore(id: 7, room: "hall")])

    let report = try store.collect(Chore.self, from: mailbox)

    #expect(report.merged == [good])
    #expect(report.foreign == [foreign])
    #expect(report.unreadable.keys.sorted() == [broken])
    #expect("\(try #require(report.unreadable[broken]))".contains(mailbox.file(of: broken)))
    #expect(try store.repository(of: Chore.self).fetch(Chore.all).map(\.id) == [7])
    #expect(try mailbox.letters() == [foreign, broken])
    #expect(try store.collect(Chore.self, Room.self, from: mailbox).merged == [foreign])
    try verifyAndClose(store)
  }

  @Test("a letter with a damaged page waits, and is named by its file")
  func damagedPage() throws {
    let store = try Store(at: folder.store)
    let id = try mailbox.post((0..<2000).map { Chore(id: $0, room: "hall") })
    var bytes = try contents(of: mailbox.file(of: id))
    for place in 3 * 4096..<4 * 4096 { bytes[place] = 0 }
    try replaceContents(of: mailbox.file(of: id), by: bytes)

    let report = try store.collect(Chore.self, from: mailbox)

    guard case .damagedPublication(mailbox.file(of: id), _)? = report.unreadable[id] as? StoreError
    else {
      Issue.record("\(report)")
      return
    }
    #expect(try mailbox.letters() == [id])
    try mailbox.remove(id)
    try verifyAndClose(store)
  }

  @Test("a letter that is refused waits, says why and keeps nobody else, until it is removed")
  func refused() throws {
    let store = try Store(at: folder.store)
    let lockers = store.repository(of: PostedLocker.self)
    try lockers.save(PostedLocker(id: 1, slug: "a"))
    let bad = try mailbox.post([PostedLocker(id: 2, slug: "b"), PostedLocker(id: 3, slug: "a")])
    let good = try mailbox.post([PostedLocker(id: 4, slug: "d")])

    for expected in [[good], []] {
      let report = try store.collect(PostedLocker.self, from: mailbox)
      #expect(report.merged == expected)
      #expect(report.saves.inserted == expected.count)
      #expect(Array(report.refused.keys) == [bad])
      #expect("\(report.refused[bad], default: "none")".contains("slug"))
      #expect(try mailbox.letters() == [bad])
      #expect(try lockers.fetch(PostedLocker.all).map(\.id) == [1, 4])
    }
    try lockers.delete(keys: [1])
    #expect(try store.collect(PostedLocker.self, from: mailbox).merged == [bad])
    try mailbox.post([PostedLocker(id: 9, slug: "a")])
    let given = try #require(try store.collect(PostedLocker.self, from: mailbox).refused.keys.first)
    try mailbox.remove(given)
    try mailbox.remove(given)
    #expect(try mailbox.letters().isEmpty)
    #expect(try lockers.fetch(PostedLocker.all).map(\.id) == [2, 3, 4])
    try verifyAndClose(store)
  }

  @Test("a letter that there is no room for waits, and keeps nobody else")
  func tooLarge() throws {
    var options = StoreOptions()
    options.quotaByteCount = 1 << 20
    let store = try Store(at: folder.store, options: options)
    let first = try mailbox.post([PostedLocker(id: 1, slug: "a")])
    let large = try mailbox.post([
      PostedLocker(id: 2, slug: String(repeating: "b", count: 2 << 20))
    ])
    let last = try mailbox.post([PostedLocker(id: 3, slug: "c")])

    let report = try store.collect(PostedLocker.self, from: mailbox)

    #expect(report.merged == [first, last])
    #expect(report.saves.inserted == 2)
    guard case StoreError.full? = report.refused[large] else {
      Issue.record("refused were \(report.refused)")
      return
    }
    #expect(try mailbox.letters() == [large])
    // Where there is room for none, it is the store that is full.
    #expect(throws: StoreError.self) { try store.collect(PostedLocker.self, from: mailbox) }
    #expect(try mailbox.letters() == [large])
    let small = try mailbox.post([PostedLocker(id: 4, slug: "d")])
    #expect(try store.collect(PostedLocker.self, from: mailbox).merged == [small])
    #expect(try store.repository(of: PostedLocker.self).count() == 3)
    try verifyAndClose(store)
  }

  @Test("neither a letter nor a publication loses what the rules of its types call too old")
  func old() throws {
    let store = try Store(at: folder.store)
    let old = (1...9).map { OldNews(id: $0, date: Date(timeIntervalSince1970: Double($0))) }
    try mailbox.post(old)

    // Here the type has no such rules.
    let report = try store.collect(KeptNews.self, from: mailbox)

    #expect(report.saves.inserted == 9)
    #expect(try store.repository(of: KeptNews.self).count() == 9)
    let target = folder.url.appending(path: "published")
    #expect(try store.publish(OldNews.all, to: target).documentCount == 9)
    let published = try Store(published: target)
    #expect(try published.repository(of: OldNews.self).fetch(OldNews.all) == old)
    try published.close()
    try verifyAndClose(store)
  }

  @Test("a failed merge keeps every letter, and saves nothing")
  func failed() throws {
    let store = try Store(at: folder.store)
    try mailbox.post([Chore(id: 1, room: "hall")])
    let reading = try Store(at: folder.path + "/other")
    try reading.close()
    let readOnly = try Store(at: folder.path + "/other", options: StoreOptions(isReadOnly: true))

    #expect(storeError { try readOnly.collect(Chore.self, from: mailbox) } == .readOnly)

    #expect(try mailbox.letters().count == 1)
    #expect(try store.collect(Chore.self, from: mailbox).merged.count == 1)
    try readOnly.close()
    try verifyAndClose(store)
  }

  @Test("several that collect at once merge each letter once")
  func atOnce() async throws {
    let store = try Store(at: folder.store)
    for number in 0..<20 { try mailbox.post([Chore(id: number, room: "hall")]) }
    let mailbox = mailbox

    let reports = try await withThrowingTaskGroup(of: MailboxReport.self) { group in
      for _ in 0..<4 {
        group.addTask { try await store.collect(Chore.self, from: mailbox) }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    #expect(reports.flatMap(\.merged).count == 20)
    #expect(Set(reports.flatMap(\.merged)).count == 20)
    #expect(try store.repository(of: Chore.self).count() == 20)
    #expect(try mailbox.letters().isEmpty)
    try verifyAndClose(store)
  }
}
