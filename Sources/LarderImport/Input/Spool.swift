#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A temporary file without a name, which holds what came through a pipe.
struct Spool {
  private(set) var byteCount = 0
  /// Open for reading and writing; the owner of the spool closes it.
  let descriptor: Int32

  /// Copies everything that is left of `source`.
  ///
  /// - Parameter progress: Told how many bytes have been copied; what it throws ends the copying.
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)`` when the source cannot be
  ///   read or the file not be written; what `progress` throws. Nothing is left behind.
  init(_ source: inout ByteSource, _ progress: (Int) throws -> Void) throws {
    descriptor = try Self.unnamedFile(for: source.name)
    do {
      var buffer = [UInt8](repeating: 0, count: ByteSource.chunkByteCount)
      while case let count = try source.read(into: &buffer, at: 0), count > 0 {
        try Self.write(buffer[..<count], to: descriptor, name: source.name)
        byteCount += count
        try progress(byteCount)
      }
    } catch {
      _ = close(descriptor)
      throw error
    }
  }

  private static func unnamedFile(for name: String) throws(ImportError) -> Int32 {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? ""
    var path = Array((folder.isEmpty ? "/tmp" : folder).utf8CString.dropLast())
    path += "/larder-import-XXXXXX".utf8CString
    // Made with mode 0600; the name is taken away before a byte is written.
    let descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw .spooling(name, code: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard unlink(path) == 0 else {
      let code = errno
      _ = close(descriptor)
      throw .spooling(name, code: code)
    }
    return descriptor
  }

  private static func write(
    _ bytes: ArraySlice<UInt8>, to descriptor: Int32, name: String
  ) throws(ImportError) {
    let code = bytes.withUnsafeBytes { SystemWrite.write($0, to: descriptor) }
    guard code == 0 else { throw .spooling(name, code: code) }
  }
}

extension ImportError {
  /// A temporary file that cannot be made, written or read again.
  static func spooling(_ name: String, code: Int32) -> ImportError {
    ImportError(
      .io(code: code), file: name, position: nil,
      found: "\(phrase(code)) at the temporary copy",
      expected: "room for a copy in the folder that TMPDIR names, or /tmp")
  }
}
