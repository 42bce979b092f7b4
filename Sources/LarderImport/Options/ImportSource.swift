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
  /// As it stands there: compressed, where it is.
  let byteCount: Int
  private let content: Content
  private let decompressor: (any Decompressor.Type)?
  private let mostByteCount: Int
  private let meter = ReadMeter()

  private enum Content {
    case path(Fingerprint)
    /// A temporary file without a name, ours to close.
    case spool(Int32)
    case memory([UInt8])

    static func opened(
      _ source: ImportSource, _ progress: (Int) throws -> Void
    ) throws -> (Content, byteCount: Int) {
      var bytes: ByteSource
      switch source.origin {
      case .memory(let bytes): return (.memory(bytes), bytes.count)
      case .descriptor(let descriptor):
        bytes = ByteSource(descriptor: descriptor, name: source.name)
      case .path(let path):
        bytes = try ByteSource(path: path)
        if let count = bytes.totalByteCount, let fingerprint = Fingerprint(path) {
          return (.path(fingerprint), count)
        }
      }
      let spool = try Spool(&bytes, progress)
      return (.spool(spool.descriptor), spool.byteCount)
    }

    /// The bytes as they stand there, from the beginning.
    func bytes(_ name: String) throws(ImportError) -> ByteSource {
      switch self {
      case .path: return try ByteSource(path: name)
      case .memory(let bytes): return ByteSource(bytes: bytes, name: name)
      case .spool(let descriptor):
        guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw .spooling(name, code: errno) }
        return ByteSource(descriptor: descriptor, name: name)
      }
    }

    /// The one that knows the content by its first bytes, if there is one.
    func decompressor(
      _ name: String, among all: [any Decompressor.Type]
    ) throws(ImportError) -> (any Decompressor.Type)? {
      guard !all.isEmpty else { return nil }
      var bytes = try bytes(name)
      var head = [UInt8](repeating: 0, count: 4)
      var count = 0
      while count < head.count {
        let more = try bytes.read(into: &head, at: count)
        if more == 0 { break }
        count += more
      }
      return all.first { $0.recognizes(Array(head[..<count])) }
    }

    func close() {
      // Nothing was promised of a temporary file without a name.
      if case .spool(let descriptor) = self { _ = closeDescriptor(descriptor) }
    }
  }

  /// Opens a source; a pipe is copied to a temporary file, as it comes.
  ///
  /// - Parameter progress: Told how many bytes have been copied; what it throws ends the copying.
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)``; what `progress` throws.
  init(_ source: ImportSource, _ options: ImportOptions, progress: (Int) throws -> Void) throws {
    let (content, byteCount) = try Content.opened(source, progress)
    let decompressor: (any Decompressor.Type)?
    do throws(ImportError) {
      decompressor = try content.decompressor(source.name, among: options.decompressors)
    } catch {
      content.close()
      throw error
    }
    name = source.name
    self.byteCount = byteCount
    self.content = content
    self.decompressor = decompressor
    mostByteCount = max(options.limits.documentByteCount, options.csv.limits.rowByteCount)
  }

  deinit { content.close() }

  /// How much of the file has been read, from 0 to 1.
  ///
  /// - Parameter textByteCount: Bytes of its text that have been read.
  borrowing func fractionRead(_ textByteCount: Int) -> Double {
    guard byteCount > 0 else { return 1 }
    return Double(decompressor == nil ? textByteCount : meter.value) / Double(byteCount)
  }

  /// The text from the beginning. One at a time: a temporary file has one position.
  ///
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)``.
  borrowing func bytes() throws(ImportError) -> ByteSource {
    var bytes = try content.bytes(name)
    guard let decompressor else { return bytes }
    meter.reset()
    bytes.meter = meter
    return ByteSource(
      decompressing: decompressor.init(bytes, mostByteCount: mostByteCount), name: name)
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

private func closeDescriptor(_ descriptor: Int32) -> Int32 { close(descriptor) }
