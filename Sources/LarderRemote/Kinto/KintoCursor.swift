#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// How far the collections of a bucket are read. As text, it is the cursor that the engine keeps.
struct KintoCursor: Codable, Equatable {
  /// How far one collection is read.
  struct Place: Codable, Equatable {
    /// The `ETag` of the list when its first page was read; nil before it was read to its end, and where there is no
    /// such collection.
    var etag: Int?
    /// Behind which time changes are asked for, apart from the overlap: the `ETag`, or the server's time where that is
    /// earlier. A record from the future would keep all others from being seen.
    var since: Int?
    /// The server's time in seconds when the `ETag` was first seen; nil once the list was read after the overlap, and
    /// nothing that was committed late can be missing.
    var seen: Int?
    /// `last_modified` of the collection itself: another one where it was deleted and made again, which leaves no
    /// tombstones.
    var origin: Int?
    /// Where the next page begins, in the midst of a list.
    var page: Page?
    /// True where it is to be asked before those that have been asked are asked again.
    var waits: Bool?

    var numbers: [Int] {
      [etag, since, seen, page?.from, page?.etag, page?.since, page?.seen].compactMap(\.self)
    }

    /// Kept short: it travels, and is stored, with every page.
    enum CodingKeys: String, CodingKey {
      case etag = "e"
      case since = "s"
      case seen = "t"
      case origin = "o"
      case page = "p"
      case waits = "w"
    }
  }

  /// A list of which more is to come.
  struct Page: Codable, Equatable {
    var token: String
    /// What `_since` is; nil in the first reading of a collection.
    var from: Int?
    /// What the first page had.
    var etag: Int
    var since: Int
    var seen: Int?
  }

  var places: [String: Place] = [:]

  init() {}

  /// Times that are reckoned with: integers of every reader of JSON.
  static let numbers = 0...1 << 53

  /// - Throws: ``RemoteError/cursorExpired`` for a text that is no cursor.
  init(text: String) throws(RemoteError) {
    guard let places = try? JSONDecoder().decode([String: Place].self, from: Data(text.utf8)),
      places.values.allSatisfy({ $0.numbers.allSatisfy(Self.numbers.contains) })
    else { throw .cursorExpired }
    self.places = places
  }

  /// The same for equal cursors.
  func text() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(places), as: UTF8.self)
  }

  /// Whether there is more to read at once.
  var hasMore: Bool { places.values.contains { $0.page != nil || $0.waits == true } }
}
