import Foundation
import LarderLMDB
import LarderRemote
import LarderTestKit

/// The server of `Tools/kinto`, of which the environment says where it is: `LARDER_KINTO_URL`, and
/// `LARDER_KINTO_AUTHORIZATION`. Without it these tests do not run.
enum LiveKinto {
  static let isThere = address != nil

  private static let address = ProcessInfo.processInfo.environment["LARDER_KINTO_URL"]
  static let authorization =
    ProcessInfo.processInfo.environment["LARDER_KINTO_AUTHORIZATION"] ?? ""

  /// A bucket that nobody has.
  static func newScope() -> String { "larder live \(UUID().uuidString.lowercased().prefix(8))" }

  static func url() throws -> URL {
    struct NotThere: Error {}
    guard let address, let url = URL(string: address) else { throw NotThere() }
    return url
  }

  static func remote(
    _ collections: [String], overlap: Duration = .zero
  ) throws -> KintoRemote {
    var options = KintoRemoteOptions()
    options.overlap = overlap
    return KintoRemote(url: try url(), collections: collections, options: options) { _ in
      authorization
    }
  }

  /// Sends a request as another client of Kinto does; the status.
  @discardableResult
  static func send(
    _ method: String, _ path: String, _ body: String? = nil
  ) throws -> Int {
    let curl = Process()
    curl.executableURL = URL(filePath: "/usr/bin/env")
    curl.arguments =
      [
        "curl", "--silent", "--output", "/dev/null", "--write-out", "%{http_code}", "-X", method,
        "-H", "Content-Type: application/json", "-H", "Authorization: \(authorization)",
        try url().absoluteString + path,
      ] + (body.map { ["-d", $0] } ?? [])
    let pipe = Pipe()
    curl.standardOutput = pipe
    try curl.run()
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    curl.waitUntilExit()
    return Int(String(decoding: data, as: UTF8.self)) ?? 0
  }
}

/// Another remote whose answers get lost now and then, after what was asked is done.
final class ForgetfulRemote: Remote {
  private let remote: any Remote
  private let random: Locked<RandomSource>
  private let fair = Locked(false)

  init(_ remote: any Remote, seed: UInt64) {
    self.remote = remote
    random = Locked(RandomSource(seed: seed))
  }

  var isFair: Bool {
    get { fair.withLock { $0 } }
    set { fair.withLock { $0 = newValue } }
  }

  private func loseAnswer() throws {
    guard !isFair, random.withLock({ $0.once(in: 3) }) else { return }
    throw RemoteError.unavailable("the answer got lost")
  }

  func facts() async throws -> RemoteFacts { try await remote.facts() }

  func pull(_ request: PullRequest) async throws -> PullAnswer {
    let answer = try await remote.pull(request)
    try loseAnswer()
    return answer
  }

  func push(_ request: PushRequest) async throws -> [PushResult] {
    let results = try await remote.push(request)
    try loseAnswer()
    return results
  }

  func count(_ scope: String) async throws -> Int? { try await remote.count(scope) }
}
