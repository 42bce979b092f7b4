import Foundation
import Larder

// The lines of the article on space.

@Document
struct Article: Identifiable, Equatable {
  var id: Int
  var title = ""
  var fetchedAt: Date
}

extension Article {
  static let ageing: [Ageing<Article>] = [
    .expires(after: .seconds(30 * 86_400), since: \.fetchedAt),
    .keepNewest(10_000, by: \.fetchedAt),
    .keepNewest(byteCount: 50 << 20, by: \.fetchedAt),
  ]
}

enum SpaceExample {
  static func open(_ folder: URL) throws -> Store {
    var options = StoreOptions()
    options.quotaByteCount = 200 << 20
    let store = try Store(at: folder, options: options)
    return store
  }

  static func evict(_ store: Store) async throws -> Int {
    let count = try await store.evict(Article.self)
    return count
  }

  static func compact(_ store: Store) async throws -> CompactionReport {
    let report = try await store.compact { progress in
      print(progress.completed, "of", progress.total ?? 0)
    }
    print(report.freedByteCount)
    return report
  }

  static func backUp(_ store: Store, to backups: URL) async throws {
    try await store.backup(to: backups.appending(path: "monday"))
  }

  static func restore(from backups: URL, to folder: URL) async throws -> Int {
    let restored = try await Store.restore(from: backups.appending(path: "monday"), to: folder)
    print(restored.documentCount)
    return restored.documentCount
  }
}
