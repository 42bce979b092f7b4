import Foundation
import Larder
import LarderSync
import LarderTesting
import ReadingList
import Testing

@MainActor @Suite(.timeLimit(.minutes(20))) struct ReadingListModelTests {
  private struct Offline: Error {}

  private let articles = InMemoryRepository(of: Article.self)
  private let old = Article(id: 1, title: "Bread", savedAt: Date(timeIntervalSince1970: 1))
  private let new = Article(id: 2, title: "Rye bread", savedAt: Date(timeIntervalSince1970: 2))

  @Test("what is stored is shown while the server has not answered, the newest first")
  func offline() async throws {
    try await articles.save([old, new])
    let silent = RecordingUpdater(nil)
    let model = ReadingListModel(articles, refreshedBy: silent)

    model.start()
    await waitUntil { model.list.isLoaded && model.list.isRefreshing }

    #expect(model.list.rows == [new, old])
    // The list shows the refresh before the updater is called.
    await silent.waitForCalls(1)
    #expect(silent.finish(.success(.alreadyCurrent)))
    await waitUntil { !model.list.isRefreshing }
  }

  @Test("a refresh that fails is an error, and leaves the list as it is")
  func failure() async throws {
    try await articles.save(old)
    let model = ReadingListModel(articles, refreshedBy: RecordingUpdater(.failure(Offline())))

    model.start()
    await waitUntil { model.list.lastError != nil && model.list.isLoaded }

    #expect(model.list.rows == [old])
  }

  @Test("an article that is read leaves the badge and stays in the list")
  func reading() async throws {
    try await articles.save([old, new])
    let model = ReadingListModel(articles, refreshedBy: RecordingUpdater())
    model.start()
    await waitUntil { model.unreadCount == 2 }

    await model.markRead(old)
    await waitUntil { model.unreadCount == 1 }

    await waitUntil { model.list.rows.last?.isRead == true }
    #expect(model.list.rows.map(\.id) == [2, 1])
    #expect(model.failure == nil)
  }

  @Test("the list shows what the search field asks for")
  func searching() async throws {
    try await articles.save([old, new])
    let model = ReadingListModel(articles, refreshedBy: RecordingUpdater())
    model.start()
    await waitUntil { model.list.rows.count == 2 }

    model.searchText = "RYE"
    await waitUntil { model.list.rows.count == 1 }

    #expect(model.list.rows == [new])
  }

  @Test("a refresh takes the server's list and keeps what the user has read")
  func refreshing() async throws {
    try await withTemporaryStore { store in
      let stored = store.repository(of: Article.self)
      let gone = Article(id: 3, title: "Cake", savedAt: old.savedAt)
      try await stored.save([old, gone])
      try await stored.update(1) { $0.isRead = true }
      let page = [Article(id: 1, title: "Bread, revised", savedAt: old.savedAt), new]
      let updater = RemoteUpdater.articles(in: stored, limiter: FetchLimiter()) { page }

      #expect(try await updater.sync() == .updated)

      #expect(try stored.fetch(Article.all).map(\.title) == ["Bread, revised", "Rye bread"])
      #expect(try stored.fetch(Article.all).map(\.isRead) == [true, false])
    }
  }
}
