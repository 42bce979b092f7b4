import Larder
import LarderSync
import Observation

/// What the screen of the reading list shows and does.
///
/// It knows neither where articles are kept nor where they come from: tests give it a repository in memory
/// and an updater that answers as they say.
@MainActor @Observable
public final class ReadingListModel {
  /// The articles, which follow the repository; errors and the state of the refresh, too.
  public let list: QueryModel<Article, Article>
  /// For a badge.
  public var unreadCount: Int { count.value }
  /// Why the last change of the user failed.
  public private(set) var failure: (any Error)?
  /// What the search field holds.
  public var searchText = "" {
    didSet { list.query = Self.query(searchText) }
  }

  private let articles: any Repository<Article, Article>
  private let count: StreamModel<Query<Article>, Int>

  public init(_ articles: any Repository<Article, Article>, refreshedBy updater: any Updater) {
    self.articles = articles
    list = QueryModel(articles, Self.query(""), pageSize: 50, refreshedBy: updater)
    count = StreamModel(Article.where { !$0.isRead }, initially: 0) { query in
      EventStream(articles.watchCount(query))
    }
  }

  /// Called when the screen appears.
  public func start() {
    list.start()
    count.start()
  }

  /// The list changes when the repository has changed, so there is nothing to update here.
  public func markRead(_ article: Article) async {
    do {
      // It is nil where a refresh has taken the article off the list meanwhile, and there is nothing to mark.
      _ = try await articles.update(article.id) { $0.isRead = true }
      failure = nil
    } catch {
      failure = error
    }
  }

  private static func query(_ text: String) -> Query<Article> {
    let text = text.lowercased()
    let found = text.isEmpty ? Article.all : Article.where { $0.title.lowercased().contains(text) }
    return found.sorted(by: \.savedAt, .reverse)
  }
}
