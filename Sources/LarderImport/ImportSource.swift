#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Where an import takes its bytes from.
public struct ImportSource: Sendable {
  enum Origin: Sendable {
    case path(String)
    case descriptor(Int32)
    case memory([UInt8])
  }

  let origin: Origin
  /// What errors call it.
  public let name: String

  /// The file at `path`; a pipe there is read to its end first.
  public static func file(_ path: String) -> ImportSource {
    ImportSource(origin: .path(path), name: path)
  }

  /// An open descriptor from where it stands, read to its end first; the caller closes it.
  public static func descriptor(_ descriptor: Int32, name: String) -> ImportSource {
    ImportSource(origin: .descriptor(descriptor), name: name)
  }

  /// Standard input.
  public static let standardInput = descriptor(STDIN_FILENO, name: "standard input")

  /// Bytes in memory.
  public static func bytes(_ bytes: [UInt8], name: String) -> ImportSource {
    ImportSource(origin: .memory(bytes), name: name)
  }
}

/// A source that can be read from its beginning more than once.
struct ImportFile: ~Copyable {
  let name: String
  let byteCount: Int
  private let content: Content

  private enum Content {
    case path(Fingerprint)
    /// A temporary file without a name, ours to close.
    case spool(Int32)
    case memory([UInt8])
  }

  /// Opens a source; a pipe is copied to a temporary file.
  ///
  /// - Parameter progress: Told how many bytes have been copied; what it throws ends the copying.
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)``; what `progress` throws.
  init(_ source: ImportSource, progress: (Int) throws -> Void) throws {
    name = source.name
    switch source.origin {
    case .memory(let bytes):
      byteCount = bytes.count
      content = .memory(bytes)
    case .descriptor(let descriptor):
      var bytes = ByteSource(descriptor: descriptor, name: source.name)
      let spool = try Spool(&bytes, progress)
      (byteCount, content) = (spool.byteCount, .spool(spool.descriptor))
    case .path(let path):
      var bytes = try ByteSource(path: path)
      if let count = bytes.totalByteCount, let fingerprint = Fingerprint(path) {
        (byteCount, content) = (count, .path(fingerprint))
      } else {
        let spool = try Spool(&bytes, progress)
        (byteCount, content) = (spool.byteCount, .spool(spool.descriptor))
      }
    }
  }

  deinit {
    // Nothing was promised of a temporary file without a name.
    if case .spool(let descriptor) = content { _ = close(descriptor) }
  }

  /// The bytes from the beginning. One at a time: a temporary file has one position.
  ///
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)``.
  borrowing func bytes() throws(ImportError) -> ByteSource {
    switch content {
    case .path: return try ByteSource(path: name)
    case .memory(let bytes): return ByteSource(bytes: bytes, name: name)
    case .spool(let descriptor):
      guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .spooling(name, code: errno) }
      return ByteSource(descriptor: descriptor, name: name)
    }
  }

  /// Makes sure that the file is the one that was opened, and as it was.
  ///
  /// - Throws: ``ImportError`` when it was written to or replaced.
  borrowing func checkUnchanged() throws(ImportError) {
    guard case .path(let fingerprint) = content, Fingerprint(name) != fingerprint else { return }
    throw ImportError(
      .io(code: ESTALE), file: name, position: nil, found: "that it changed during the import",
      expected: "a file that nobody writes to")
  }
}

/// What tells that a file is the same as before.
private struct Fingerprint: Equatable {
  private let numbers: [Int64]

  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    #if canImport(Glibc)
      let changed = status.st_mtim
    #else
      let changed = status.st_mtimespec
    #endif
    numbers = [
      Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
      Int64(status.st_size), Int64(changed.tv_sec), Int64(changed.tv_nsec),
    ]
  }
}
