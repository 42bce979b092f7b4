internal import Larder

/// Shows how far a copy is, and ends it at Control-C.
enum CopyLine {
  /// - Throws: ``Failure`` where it was stopped; what `body` throws.
  static func following<Result>(
    _ body: ((CopyProgress) -> Bool) throws -> Result
  ) throws -> Result {
    Interruption.watch()
    var line = ProgressLine()
    defer { line.clear() }
    do {
      return try body { news in
        let isCopying = news.step == .copying
        line.show(
          isCopying ? "copying" : "checking",
          fraction: Double(news.done) / Double(max(news.total, 1))
        ) { _ in
          isCopying
            ? ["\(Console.grouped(news.done >> 20)) MiB"]
            : ["\(Console.grouped(news.done)) documents"]
        }
        return !Interruption.isWished
      }
    } catch is CancellationError {
      throw Failure("it was stopped; nothing was changed")
    }
  }
}
