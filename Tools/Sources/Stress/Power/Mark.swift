import Foundation

/// What a load says between its calls, in the record of what they did to the disk.
///
/// What has begun may be there after a crash; what is done must be.
enum Mark: Codable, Sendable {
  /// The store is opened so that the last commits may be lost, in their order, and nothing else.
  case mayLoseRecent
  case begun(Step)
  case done(writer: Int)
  /// What moves the store as a whole, and changes nothing in it.
  case backupBegun(Int)
  case backupDone(Int)
  case restoreBegun(Int)
  case restoreDone
}

/// The file that a load writes its marks to, each in one system call.
struct MarkFile: Sendable {
  static let name = "marks"

  private let descriptor: Int32

  struct Failed: Error {}

  init(_ path: String) throws {
    descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failed() }
  }

  func put(_ mark: Mark) throws {
    let bytes = [UInt8](try JSONEncoder().encode(mark))
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw Failed() }
  }
}
