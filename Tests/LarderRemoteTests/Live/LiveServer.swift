import Foundation
import LarderRemote

/// The server of `Tools/test-sync`, which says by the environment where it is. Without it these tests do not
/// run; that script runs them, and fails if they did not.
enum LiveServer {
  static let isThere = address != nil

  static let scopes = ["live-a", "live-b"]

  private static let address = ProcessInfo.processInfo.environment["LARDER_SYNC_URL"]
  static let token = ProcessInfo.processInfo.environment["LARDER_SYNC_TOKEN"] ?? ""

  static func url() throws -> URL {
    struct NotThere: Error {}
    guard let address, let url = URL(string: address) else { throw NotThere() }
    return url
  }

  /// Pushes go as they are, so that the server's own limits are met.
  static let whole = {
    var options = HTTPRemoteOptions()
    options.maximumPushBodyByteCount = .max
    return options
  }()

  static func remote(
    _ options: HTTPRemoteOptions = whole, token: String = token
  ) throws -> HTTPRemote {
    HTTPRemote(url: try url(), options: options) { _ in token }
  }
}
