import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Closures that read in every way that there is, against the same closures run again after each
/// change. A read that is not noted leaves a result behind that is out of date.
@Suite(.timeLimit(.minutes(20))) struct SnapshotWatchOracleTests {
  @Document(as: "Book")
  struct Book: Identifiable, Equatable {
    var id: Int
    @Indexed var author: String?
    var pages = 0
    var others: [Int] = []
  }

  @Document(as: "Author")
  struct Author: Identifiable, Equatable {
    var id: String
    var favorite = 0
  }

  struct Mapped: EntityMapper {
    func convert(_ entity: Book) -> Int? { entity.pages < 90 ? entity.pages : nil }
    func newEntity(for model: Int) -> Book { Book(id: model) }
    func update(_ entity: inout Book, by model: Int) { entity.pages = model }
    func entityAccessorKey(_ model: Int) -> Int { model }
  }

  /// One way to read, as text.
  struct Way: CustomTestStringConvertible {
    let testDescription: String
    let read: @Sendable (borrowing Snapshot) throws -> String

    init(
      _ description: String, _ read: @escaping @Sendable (borrowing Snapshot) throws -> String
    ) {
      testDescription = description
      self.read = read
    }
  }

  private static let long = Book.where { $0.pages > 50 }

  static let ways: [Way] = [
    Way("get") { "\(try $0.get(Book.self, 3) as Any)" },
    Way("get keys") { "\(try $0.get(Book.self, keys: [3, 1, 5]))" },
    Way("get keys, skipping") {
      "\(try $0.get(Book.self, keys: [3, 1], skippingUnreadable: { _ in }))"
    },
    Way("fetch") { "\(try $0.fetch(long))" },
    Way("fetch some, sorted") { "\(try $0.fetch(long.sorted(by: \.pages).offset(1).limit(2)))" },
    Way("fetch, skipping") { "\(try $0.fetch(long.skippingUnreadable { _ in }))" },
    Way("count") { "\(try $0.count(long))" },
    Way("count all") { "\(try $0.count(Book.all))" },
    Way("page") { snapshot in
      let first = try snapshot.page(Book.all.sorted(by: \.pages).limit(2))
      let second = try first.next.map {
        try snapshot.page(Book.all.sorted(by: \.pages).limit(2), after: $0)
      }
      return "\(first.models) \(second?.models ?? [])"
    },
    Way("sum") { "\(try $0.aggregate(.sum(\.pages), of: long))" },
    Way("counts by") { "\(try $0.aggregate(.counts(by: \.author), of: Book.all))" },
    Way("max by an index") { "\(try $0.aggregate(.max(\.author), of: Book.all) as Any)" },
    Way("keys") { "\(try $0.aggregate(.keys(), of: long))" },
    Way("documents") { snapshot in
      let documents = try snapshot.documents(Book.self, keys: [2, 4, 40])
      return "\(documents.sorted { $0.key < $1.key })"
    },
    Way("including one") { snapshot in
      "\(try snapshot.fetch(Author.all, including: \.favorite, of: Book.self))"
    },
    Way("including one that may be nil") { snapshot in
      "\(try snapshot.fetch(long, including: \.author, of: Author.self))"
    },
    Way("including several") { snapshot in
      "\(try snapshot.fetch(long, including: \.others, of: Book.self))"
    },
    Way("collecting") { snapshot in
      "\(try snapshot.fetch(Author.all, collecting: long, by: \.author))"
    },
    Way("view") { "\(try $0.view(Book.self, 3) { try $0.decoded().pages } as Any)" },
    Way("views") { snapshot in
      var pages: [Int] = []
      try snapshot.forEachView(long) { view in
        pages.append(try view.decoded().pages)
        return pages.count < 3
      }
      return "\(pages)"
    },
    Way("for each") { snapshot in
      var ids: [Int] = []
      try snapshot.forEach(long) { book in
        ids.append(book.id)
        return true
      }
      return "\(ids)"
    },
    Way("for each, skipping") { snapshot in
      var ids: [Int] = []
      try snapshot.forEach(long.skippingUnreadable { _ in }) { book in
        ids.append(book.id)
        return true
      }
      return "\(ids)"
    },
    Way("get a model") { "\(try $0.get(3, mappedBy: Mapped()) as Any)" },
    Way("fetch models") { "\(try $0.fetch(long, mappedBy: Mapped()))" },
    Way("count models") { "\(try $0.count(long, mappedBy: Mapped()))" },
    Way("page of models") { "\(try $0.page(long.limit(2), mappedBy: Mapped()).models)" },
    Way("through the protocol") { try Self.generic($0) },
    Way("explain") { "\(try long.explain(in: $0).matchedCount)" },
  ]

  private static func generic(_ reading: borrowing some Reading & ~Copyable) throws -> String {
    "\(try reading.get(Book.self, 3) as Any) \(try reading.fetch(long)) \(try reading.count(long))"
  }

  private static func change(_ tx: inout WriteScope, using random: inout RandomSource) throws {
    let id = random.int(0..<12)
    switch random.int(0..<12) {
    case 0: try tx.delete(Book.self, id)
    case 1: try tx.delete(Book.where { $0.pages > 95 })
    case 2: try tx.delete(Author.self, "\(id % 4)")
    case 3, 4: try tx.save(Author(id: "\(id % 4)", favorite: random.int(0..<12)))
    case 5 where random.once(in: 4): try tx.eraseAllData(of: Book.self)
    default:
      let book = Book(
        id: id, author: random.bool() ? "\(random.int(0..<4))" : nil, pages: random.int(0..<100),
        others: [random.int(0..<12), random.int(0..<12)])
      try tx.save(book)
    }
  }

  @Test("every way to read is followed", arguments: ways)
  func followed(_ way: Way) async throws {
    let random = Locked(RandomSource())
    let hint = Comment(rawValue: random.withLock { $0.hint })
    try await withTemporaryStore { store in
      var results = store.watch(way.read).makeAsyncIterator()
      var last = try await results.next()
      for _ in 0..<repetitions(60) {
        try await store.write { tx in
          try random.withLock { random in
            for _ in 0..<random.int(1..<4) { try Self.change(&tx, using: &random) }
          }
        }
        let expected = try store.read(way.read)
        // One that is never told of waits until the suite's time is over.
        while last != expected { last = try await results.next() }
        try #require(last == expected, hint)
      }
    }
  }
}
