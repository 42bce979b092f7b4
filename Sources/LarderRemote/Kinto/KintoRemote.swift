internal import LarderImport
internal import LarderLMDB
internal import LarderSync

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A remote that is a Kinto server: <doc:Kinto>.
///
/// ```swift
/// let remote = KintoRemote(
///   url: URL(string: "https://kinto.example.org/v1")!, collections: ["Note", "Folder"]
/// ) { _ in
///   KintoRemote.basic(user: "anna", password: password)
/// }
/// ```
/// A scope is a bucket, and each collection of Larder is a collection of that bucket. The documents are records, with
/// their fields as members, which other clients of Kinto read and write. The scope `default` is each user's own bucket.
///
/// Every call throws ``RemoteError``, or what the closure for credentials throws, or `CancellationError`. All requests
/// are batches: `POST` to `batch`.
public struct KintoRemote: Remote {
  /// A name that no collection can have: what the bucket's collection is called that knows of deletions.
  static let deletions = "larder-deletions"

  let collections: [String]
  let options: KintoRemoteOptions
  private let http: HTTPRemote
  fileprivate let state = Locked(State())

  fileprivate struct State {
    var mostCalls = 25
    var rest = KintoRest()
  }

  /// A remote at an address of Kinto. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - url: The address of the API, which ends in `/v1`, with `https` or `http`.
  ///   - collections: The names of all collections that an engine syncs through it. An edit of another one is rejected.
  ///   - options: Limits and choices.
  ///   - credentials: Gives the whole value of `Authorization` for each request, such as ``basic(user:password:)`` or
  ///     `Bearer …`. After a 401 it is asked once more, as with ``HTTPRemote/Credentials``.
  public init(
    url: URL, collections: [String], options: KintoRemoteOptions = KintoRemoteOptions(),
    credentials: @escaping HTTPRemote.Credentials
  ) {
    precondition(
      !collections.contains(Self.deletions), "`\(Self.deletions)` is kept for what was deleted")
    self.collections = Set(collections).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    self.options = options
    http = HTTPRemote(
      url: url, options: options.http, scheme: nil, credentials: credentials)
  }

  /// The value of `Authorization` for a user with a password, as Kinto's accounts want it.
  public static func basic(user: String, password: String) -> String {
    "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }

  /// What the server's root says.
  ///
  /// - Throws: ``RemoteError/gone(_:)`` where it speaks another version of Kinto's API than 1.
  public func facts() async throws -> RemoteFacts {
    // Without the slash Kinto answers with another address, which behind a proxy has another scheme.
    let base = try http.address("")
    let root = base.path.hasSuffix("/") ? base : base.appending(path: "/")
    let answer = try await http.send(HTTPRequest(url: root))
    let reader = try AnswerReader(answer, "the root of Kinto")
    let version = try reader.text(of: "http_api_version", in: reader.root, byteCount: 1...100)
    guard version.split(separator: ".").first == "1" else {
      throw RemoteError.gone("it speaks version \(version) of Kinto's API, and this app version 1")
    }
    // Zero means without a limit.
    let most = reader.root["settings"]?["batch_max_requests"]?.integer ?? 25
    state.withLock { $0.mostCalls = most > 0 ? min(most, 100) : 100 }
    var facts = RemoteFacts()
    facts.hasCount = true
    facts.hasGaps = true
    return facts
  }

  /// How many records a scope has in all collections; nil while a change is younger than the overlap.
  public func count(_ scope: String) async throws -> Int? {
    let bucket = try bucket(scope)
    var (count, isSettled) = (0, true)
    for names in parts(collections, of: mostCalls) {
      let calls = try names.map {
        KintoCall(method: "HEAD", path: try bucket.records($0))
      }
      let batch = try await send(calls)
      for reply in batch.replies where reply.status != 404 {
        guard reply.status == 200, let total = reply.totalCount else { throw reply.error }
        count += total
        if options.overlap > .zero, let etag = reply.etag,
          etag / 1000 > batch.time - Int(options.overlap.components.seconds) - 1
        {
          isSettled = false
        }
      }
    }
    return isSettled ? count : nil
  }
}

extension KintoRemote {
  /// Requests in one batch at most.
  var mostCalls: Int { state.withLock { $0.mostCalls } }

  func parts<Element>(_ elements: [Element], of count: Int) -> [[Element]] {
    stride(from: 0, to: elements.count, by: count).map { Array(elements[$0...].prefix(count)) }
  }

  /// - Throws: ``RemoteError/forbidden(_:)`` for a name that no bucket can have.
  func bucket(_ scope: String) throws(RemoteError) -> KintoBucket {
    guard let id = KintoName.id(scope), id.utf8.count <= 800 else {
      throw .forbidden("the scope \(scope.prefix(100)) is too long to be the name of a bucket")
    }
    return KintoBucket(id: id)
  }

  /// Sends requests in one batch.
  func send(_ calls: [KintoCall]) async throws -> KintoBatch {
    if let pause = state.withLock({ $0.rest.remaining(at: .now) }) {
      throw RemoteError.unavailable("it has asked to be left alone", retryAfter: pause)
    }
    let request = HTTPRequest(url: try http.address("batch"), body: KintoCall.body(of: calls))
    let answer = try await http.send(request)
    let batch = try self.batch(answer, calls)
    // The batch itself is for everybody.
    guard batch.replies.contains(where: { $0.status == 401 }),
      let again = try await http.send(request, insteadOf: answer.token)
    else { return batch }
    return try self.batch(again, calls)
  }

  private func batch(_ answer: HTTPAnswer, _ calls: [KintoCall]) throws -> KintoBatch {
    if let seconds = answer.backoff.flatMap({ Int($0) }), seconds > 0 {
      state.withLock { $0.rest.begin(.seconds(min(seconds, 86_400)), at: .now) }
    }
    // A server that says no date is reckoned with by this device's clock: no more than how often something is read
    // depends on it.
    let date = answer.date.flatMap { RetryAdvice.httpDate($0) } ?? .now
    return try KintoBatch(answer, to: calls, time: Int(date.timeIntervalSince1970))
  }
}

/// Addresses within a bucket.
struct KintoBucket: Sendable {
  let id: String

  var path: String { "/buckets/\(id)" }

  /// - Throws: ``RemoteError/malformed(_:)`` for a name that no collection can have.
  func collection(_ name: String) throws(RemoteError) -> String {
    guard let id = Self.collectionID(name) else {
      throw .malformed("\(name.prefix(100)) is too long to be the name of a collection of Kinto")
    }
    return "\(path)/collections/\(id)"
  }

  func records(_ name: String) throws(RemoteError) -> String { try collection(name) + "/records" }

  /// Short enough to stand in an id together with that of a record.
  static func collectionID(_ name: String) -> String? {
    KintoName.id(name).flatMap { $0.utf8.count <= 200 ? $0 : nil }
  }
}
