import Foundation
import LarderTesting
import Testing

@testable import Larder

/// `URLComponents` makes a URL whose text is empty, and no URL can be made of that text again.
@Suite struct EmptyURLTests {
  private let empty: URL

  init() throws {
    empty = try #require(URLComponents().url)
    try #require(empty.absoluteString.isEmpty && URL(string: "") == nil)
  }

  private static let reason = RecordError.invalid("a URL without any text cannot be stored")

  /// That a document is refused for the value of a field, and nothing is kept.
  private func expectRefusal<Entity: Document & Identifiable>(
    of document: Entity, at field: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws where Entity.Key == String {
    try withTemporaryStore { store in
      let repository = store.repository(of: Entity.self)
      let collection = Entity.schema.name
      #expect(
        throws: StoreError.unwritable(
          collection: collection, key: "\"a\"", reason: .field(field, Self.reason)),
        sourceLocation: sourceLocation
      ) { try repository.save([document]) }
      let count = try repository.count()
      #expect(count == 0, sourceLocation: sourceLocation)
    }
  }

  @Test("a URL without any text is refused with its field, wherever it is in it")
  func fields() throws {
    try expectRefusal(of: One(empty), at: "value")
    try expectRefusal(of: One<URL?>(empty), at: "value")
    try expectRefusal(of: One([empty]), at: "value")
    try expectRefusal(of: One(["home": empty]), at: "value")
    try expectRefusal(of: One(Coded(empty)), at: "value")
  }

  @Test("of fields that are put in another order than they are declared in the right one is named")
  func order() throws {
    try expectRefusal(of: Links(id: "a", first: empty), at: "first")
    try expectRefusal(of: Links(id: "a", second: empty), at: "second")
    try expectRefusal(of: Links(id: "a", third: empty), at: "third")
  }

  @Test("in a plain type it is refused with the coding path")
  func plain() throws {
    try withTemporaryStore { store in
      let bookmarks = store.repository(of: Bookmark.self)
      try bookmarks.save(Bookmark(id: "b"))
      func refusal(_ reason: RecordError) -> StoreError {
        .unwritable(collection: "Bookmark", key: "\"a\"", reason: reason)
      }

      #expect(throws: refusal(.field("link", Self.reason))) {
        try bookmarks.save(Bookmark(id: "a", link: empty))
      }
      #expect(throws: refusal(.field("others", Self.reason))) {
        try bookmarks.save(Bookmark(id: "a", others: [empty]))
      }
      #expect(throws: refusal(.field("inner", .field("link", Self.reason)))) {
        try bookmarks.save(Bookmark(id: "a", inner: .init(link: empty)))
      }
      #expect(throws: refusal(.field("single", Self.reason))) {
        try bookmarks.save(Bookmark(id: "a", single: .init(link: empty)))
      }
      #expect(try bookmarks.fetch(bookmarks.all) == [Bookmark(id: "b")])
    }
  }

  @Test("a document without a type is refused, too")
  func dynamic() throws {
    try withTemporaryStore { store in
      let pages = store.collection("Page")
      #expect(
        throws: StoreError.unwritable(
          collection: "Page", key: "\"a\"", reason: .field("link", Self.reason))
      ) { try pages.save([["id": "a", "link": .url(empty)]], keyField: "id") }
      let count = try pages.count()
      #expect(count == 0)
    }
  }
}

/// Puts its fields in an order of its own, and one of them by way of its `Codable`.
private struct Links: Document, Identifiable {
  var id: String
  var first: URL?
  var second: URL?
  var third: URL?

  static let schema = Schema<Links>(
    "Links", key: \.id,
    fields: [
      Field("id", \.id), Field("first", \.first), Field("second", \.second),
      Field("third", coding: \.third),
    ])

  func encode(into record: inout RecordWriter) {
    record.put(coding: third, at: 3)
    record.put(id, at: 0)
    record.put(second, at: 2)
    record.put(first, at: 1)
  }
}

extension Links {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(
      id: try record.get(0), first: try record.get(1), second: try record.get(2),
      third: try record.get(coding: 3))
  }
}

private struct Bookmark: Codable, Identifiable, Sendable, Equatable {
  struct Inner: Codable, Sendable, Equatable { var link: URL }

  /// Encodes itself as the URL alone.
  struct Single: Codable, Sendable, Equatable {
    var link: URL

    init(link: URL) { self.link = link }

    init(from decoder: any Decoder) throws {
      link = try decoder.singleValueContainer().decode(URL.self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(link)
    }
  }

  var id: String
  var link: URL?
  var others: [URL] = []
  var inner: Inner?
  var single: Single?
}
