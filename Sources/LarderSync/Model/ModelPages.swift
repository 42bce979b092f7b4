internal import Larder
internal import Observation

/// How many rows a model shows that loads them page by page.
@MainActor @Observable
final class ModelPages {
  /// How many rows are wanted; nil for all of them.
  private(set) var rowCount: Int?
  @ObservationIgnored private(set) var limit: GrowingLimit?
  @ObservationIgnored private let size: Int?

  /// - Parameter size: Nil for a model that loads everything.
  init(size: Int?) {
    self.size = size
    reset()
  }

  /// Wants one page, for another query.
  func reset() {
    limit = size.map { GrowingLimit(max(1, $0)) }
    rowCount = limit?.count
  }

  /// Wants one page more.
  ///
  /// - Returns: Whether a watcher follows; otherwise the rows are to be read anew.
  func grow() -> Bool {
    guard let limit, let size else { return true }
    let isFollowed = limit.grow(by: max(1, size))
    rowCount = limit.count
    return isFollowed
  }
}
