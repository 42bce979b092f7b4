import Larder
import LarderSync

extension RemoteUpdater {
  /// Takes the articles of a server in place of those that are stored, and leaves alone what the user has read.
  ///
  /// - Parameter download: Everything that is on the user's list.
  public static func articles(
    in articles: any Repository<Article, Article>, limiter: FetchLimiter,
    download: @escaping @Sendable () async throws -> [Article]
  ) -> RemoteUpdater {
    RemoteUpdater(limiter: limiter) {
      .fromRemote(try await download())
    } decode: {
      $0
    } save: { page, origin in
      try await articles.save(
        page, clearBeforeSaving: Article.all,
        onConflict: .merge { stored, new in
          var merged = new
          merged.isRead = stored.isRead
          return merged
        }, as: origin)
    }
  }
}
