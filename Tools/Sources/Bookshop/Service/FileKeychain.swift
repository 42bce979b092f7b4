internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// A keychain for systems without one: a file that only its owner can read, in a folder that only its
/// owner can enter.
///
/// The file has mode 600 from the moment that it is created. A new token is written to a file of its
/// own, which takes the old one's place by being renamed: whoever reads sees the old token or the new
/// one, and so does the next run of an app that was killed.
final class FileKeychain: Keychain {
  private let folder: String
  private var file: String { folder + "/token" }

  /// - Parameter folder: Made, with mode 700, when the first token is saved.
  init(folder: String) { self.folder = folder }

  func token() throws -> Token? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.failure(errno, file)
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var status = stat()
    try Self.check(fstat(descriptor, &status), file)
    guard status.st_mode & 0o077 == 0 else { throw KeychainError.readable(byOthers: file) }
    let data = try handle.readToEnd() ?? Data()
    do {
      return try JSONDecoder().decode(Token.self, from: data)
    } catch {
      throw KeychainError.damaged(file)
    }
  }

  func save(_ token: Token?) throws {
    if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Self.failure(errno, folder) }
    let place = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)
    guard place >= 0 else { throw Self.failure(errno, folder) }
    defer { close(place) }
    // One terminal at a time. The lock ends with the descriptor, and with the process.
    try Self.check(flock(place, LOCK_EX), folder)
    let draft = file + ".new"
    // A killed run has left it behind.
    try Self.delete(draft)
    if let token {
      try Self.write(JSONEncoder().encode(token), to: draft)
      try Self.check(rename(draft, file), file)
    } else {
      try Self.delete(file)
    }
    try Self.check(fsync(place), folder)
  }

  /// Writes a new file, which is on the disk when this returns.
  private static func write(_ data: Data, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw failure(errno, path) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: data)
    try handle.synchronize()
    try handle.close()
  }

  /// Deletes a file, if there is one.
  private static func delete(_ path: String) throws {
    if unlink(path) != 0, errno != ENOENT { throw failure(errno, path) }
  }

  private static func check(_ result: Int32, _ path: String) throws {
    if result != 0 { throw failure(errno, path) }
  }

  private static func failure(_ code: Int32, _ path: String) -> KeychainError {
    .refused(path, reason: String(cString: strerror(code)))
  }
}
