internal import Larder

/// Shows how far a copy is, and ends it at Control-C.
enum CopyLine {
  /// - Throws: ``Failure`` where it was stopped; what `body` throws.
  static func following<Result>(
    _ body: ((StoreProgress) throws -> Void) throws -> Result
  ) throws -> Result {
    Interruption.watch()
    var line = ProgressLine()
    defer { line.clear() }
    do {
      return try body { news in
        let isCopying = news.phase == .copying
        line.show(isCopying ? "copying" : "checking", fraction: news.fraction) { _ in
          isCopying
            ? ["\(Console.grouped(news.completed >> 20)) MiB"]
            : ["\(Console.grouped(news.completed)) documents"]
        }
        try Interruption.check()
      }
    } catch is CancellationError {
      throw Failure("it was stopped; nothing was changed")
    }
  }
}
