internal import Foundation
internal import Larder
internal import LarderSync

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

enum ServerError: Error, Equatable, CustomStringConvertible {
  /// With the header field `Retry-After`, if there was one.
  case status(Int, retryAfter: String? = nil)
  case unreachable(String)
  case rubbish(String)

  var description: String {
    switch self {
    case .status(let code, _): "The shop's server answers \(code). The books are as they were."
    case .unreachable(let reason):
      "The shop's server cannot be reached (\(reason)). The books are as they were."
    case .rubbish(let reason):
      "What the shop's server sent is no catalogue (\(reason)). The books are as they were."
    }
  }
}

extension ServerError: RetryAdvising {
  var retryAdvice: RetryAdvice {
    switch self {
    case .status(let code, let retryAfter): RetryAdvice(httpStatus: code, retryAfter: retryAfter)
    case .unreachable, .rubbish: .backoff
    }
  }
}

/// A catalogue as it came over the wire.
struct CataloguePage: Sendable {
  let data: Data
  /// What the server calls this version of it, to be asked about next time.
  var version: String?
}

/// Where the catalogue comes from.
protocol CatalogueServer: Sendable {
  /// - Throws: ``ServerError``.
  func fetch() async throws -> Fetched<CataloguePage>
  /// Told that a page was saved, so that the next fetch may ask for what is newer.
  func noteSaved(_ page: CataloguePage) async
}

/// A file that a web server gives.
actor HTTPCatalogueServer: CatalogueServer {
  private let url: URL
  private let session: URLSession
  private var savedVersion: String?

  /// - Parameter timeoutSeconds: How long the server may be silent.
  init(url: URL, timeoutSeconds: Double) {
    self.url = url
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = timeoutSeconds
    // The store is the cache.
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  func fetch() async throws -> Fetched<CataloguePage> {
    var request = URLRequest(url: url)
    if let savedVersion { request.setValue(savedVersion, forHTTPHeaderField: "If-Modified-Since") }
    let (data, response): (Data, URLResponse)
    do {
      (data, response) = try await session.data(for: request)
    } catch {
      throw ServerError.unreachable(Self.reason(error))
    }
    guard let response = response as? HTTPURLResponse else {
      throw ServerError.unreachable("it does not speak HTTP")
    }
    switch response.statusCode {
    case 200:
      let version = response.value(forHTTPHeaderField: "Last-Modified")
      return .fromRemote(CataloguePage(data: data, version: version))
    case 304: return .prefetched
    case let code:
      throw ServerError.status(
        code, retryAfter: response.value(forHTTPHeaderField: "Retry-After"))
    }
  }

  func noteSaved(_ page: CataloguePage) { savedVersion = page.version }

  /// Foundation's errors of the network say everything twice, and the code in the middle.
  private static func reason(_ error: any Error) -> String {
    switch (error as? URLError)?.code {
    case .timedOut: "it does not answer"
    case .cannotConnectToHost, .cannotFindHost: "nobody is there"
    case .networkConnectionLost: "the connection broke"
    case let code?: "error \(code.rawValue)"
    case nil: "\(error)"
    }
  }
}

extension RemoteUpdater {
  /// Brings a server's catalogue into a repository. What the server no longer has goes, except for
  /// books in the basket.
  static func catalogue(
    from server: any CatalogueServer, into books: any Repository<Book, Book>,
    basket: any Repository<BasketItem, BasketItem>, limiter: FetchLimiter
  ) -> RemoteUpdater {
    RemoteUpdater(limiter: limiter) {
      try await server.fetch()
    } decode: { page in
      (page: page, books: try Listing.decode(page.data).map(Book.init))
    } save: { decoded, origin in
      let items = Set(try basket.fetch(BasketItem.all).map(\.book))
      let listed = decoded.books.map { book in
        var book = book
        // One that another device has put into the basket before it was listed here.
        book.isInBasket = items.contains(book.id)
        return book
      }
      let report = try await books.save(
        listed, clearBeforeSaving: Book.where { !$0.isInBasket }, onConflict: .refresh,
        as: origin)
      // The basket may have changed since it was read.
      try await BasketMarks(books: books, items: basket).update()
      // Not before: a page that could not be saved has to come again.
      await server.noteSaved(decoded.page)
      return report
    }
  }
}

extension Listing {
  /// - Throws: ``ServerError/rubbish(_:)``.
  static func decode(_ data: Data) throws -> [Listing] {
    let listings: [Listing]
    do {
      listings = try JSONDecoder().decode([Listing].self, from: data)
    } catch DecodingError.keyNotFound(let key, _) {
      throw ServerError.rubbish("a book has no \(key.stringValue)")
    } catch DecodingError.typeMismatch(_, let context) {
      let path = context.codingPath.map(\.stringValue).joined(separator: ".")
      throw ServerError.rubbish("\(path.isEmpty ? "it" : path) is of another kind")
    } catch {
      throw ServerError.rubbish("it is no JSON")
    }
    // A shop without a book has lost its list; it would empty every device.
    guard !listings.isEmpty else { throw ServerError.rubbish("it has no books") }
    guard listings.allSatisfy({ (1...255).contains($0.id.utf8.count) }) else {
      throw ServerError.rubbish("a book has no id that can be one")
    }
    // The prices of a basket are added up, and the sum must not overflow.
    guard listings.allSatisfy({ (0...100_000_000).contains($0.price) }) else {
      throw ServerError.rubbish("a book has no price that can be one")
    }
    return listings
  }
}
