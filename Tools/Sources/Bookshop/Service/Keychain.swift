/// Keeps the token, apart from everything else: a store is a cache, which is backed up, inspected and
/// sent along with bug reports.
@MainActor protocol Keychain: AnyObject {
  /// The token; nil where nobody is signed in.
  ///
  /// - Throws: ``KeychainError``.
  func token() throws -> Token?
  /// Keeps a token in the place of the last one, or none any more.
  ///
  /// - Throws: ``KeychainError``; what was kept is kept still.
  func save(_ token: Token?) throws
}

enum KeychainError: Error, Equatable, CustomStringConvertible {
  case readable(byOthers: String)
  case damaged(String)
  case refused(String, reason: String)

  var description: String {
    switch self {
    case .readable(let path): "other users can read \(path). Signing in again replaces it."
    case .damaged(let path): "\(path) holds no token. Signing in again replaces it."
    case .refused(let path, let reason): "\(path): \(reason)"
    }
  }
}
