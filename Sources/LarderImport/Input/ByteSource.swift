#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The bytes of an import, in order: from a file, a descriptor or memory.
///
/// It cannot be copied: a reader takes it over, and a file is closed when its reader is let go.
package struct ByteSource: ~Copyable, Sendable {
  /// What errors call the source: the path as given, or a name such as `standard input`.
  package let name: String

  /// How many bytes there are in all, for progress; `nil` when only the end will tell (a pipe).
  package let totalByteCount: Int?

  /// How many bytes have been handed out so far.
  package private(set) var consumedByteCount = 0

  private let origin: Origin

  private enum Origin {
    case descriptor(Int32, isOurs: Bool)
    /// Memory; the sizes are those of successive reads, over and over.
    case memory([UInt8], pieceByteCounts: [Int])
    case compressed(any Decompressor)
    /// Lines that were read before, for one of several threads.
    case part(LinePart)
  }

  /// Told how many bytes come.
  var meter: ReadMeter?

  /// How many bytes there are and ever will be; nil where a file or a pipe may have more.
  var memoryByteCount: Int? {
    switch origin {
    case .memory(let bytes, _): bytes.count
    case .part(let part): part.failure == nil ? part.end : nil
    default: nil
    }
  }

  /// The largest read.
  static let chunkByteCount = 64 << 10

  /// Opens the file at `path` for reading; pipes and devices are read as they come.
  ///
  /// - Throws: ``ImportError`` of kind ``ImportError/Kind/io(code:)`` when the file cannot be
  ///   opened or is a folder. Nothing stays open.
  package init(path: String) throws(ImportError) {
    guard !path.utf8.contains(0) else {
      throw .cannotOpen(path, code: EINVAL)
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .cannotOpen(path, code: errno)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      _ = close(descriptor)
      throw .cannotOpen(path, code: code)
    }
    guard status.st_mode & S_IFMT != S_IFDIR else {
      _ = close(descriptor)
      throw .cannotOpen(path, code: EISDIR)
    }
    name = path
    totalByteCount = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    origin = .descriptor(descriptor, isOurs: true)
  }

  /// Reads an open descriptor from where it stands; the caller keeps it and closes it.
  package init(descriptor: Int32, name: String = "standard input") {
    self.name = name
    totalByteCount = nil
    origin = .descriptor(descriptor, isOurs: false)
  }

  /// Reads bytes in memory.
  package init(bytes: [UInt8], name: String) {
    self.init(bytes: bytes, name: name, pieceByteCounts: [Self.chunkByteCount])
  }

  /// Reads bytes in memory, in pieces of the given sizes, over and over; for tests of readers.
  package init(bytes: [UInt8], name: String, pieceByteCounts: [Int]) {
    self.name = name
    totalByteCount = bytes.count
    origin = .memory(bytes, pieceByteCounts: pieceByteCounts)
  }

  /// Reads the text of a compressed file.
  package init(decompressing decompressor: any Decompressor, name: String) {
    self.name = name
    totalByteCount = nil
    origin = .compressed(decompressor)
  }

  /// Reads some of the lines of a file, and counts as if it had read those before.
  init(_ part: LinePart) {
    name = part.file
    totalByteCount = nil
    origin = .part(part)
    consumedByteCount = part.start.offset
  }

  deinit {
    // A close after reading has nothing to tell: no byte of ours can be lost by it.
    if case .descriptor(let descriptor, isOurs: true) = origin { _ = close(descriptor) }
  }

  private var readCount = 0

  /// Reads behind the bytes of `buffer` as many as there is room for, and says how many came; 0 at
  /// the end.
  ///
  /// - Throws: ``ImportError`` without a position, of kind ``ImportError/Kind/io(code:)``, or as a
  ///   ``Decompressor`` does. The buffer is unchanged.
  mutating func read(into buffer: inout Slab<UInt8>) throws(ImportError) -> Int {
    let room = UnsafeMutableRawBufferPointer(
      start: buffer.base + buffer.count, count: buffer.capacity - buffer.count)
    let count = try read(into: room)
    buffer.count += count
    return count
  }

  /// Reads into `buffer` from `index` on, and says how many bytes came; 0 at the end.
  ///
  /// - Throws: ``ImportError`` without a position, of kind ``ImportError/Kind/io(code:)``, or as a
  ///   ``Decompressor`` does. The buffer is unchanged.
  package mutating func read(into buffer: inout [UInt8], at index: Int) throws(ImportError) -> Int {
    let outcome = buffer.withUnsafeMutableBytes { bytes in
      Result { () throws(ImportError) in
        try read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[index...]))
      }
    }
    return try outcome.get()
  }

  private mutating func read(
    into room: UnsafeMutableRawBufferPointer
  ) throws(ImportError) -> Int {
    let most = min(room.count, Self.chunkByteCount)
    let count: Int
    switch origin {
    case .descriptor(let descriptor, _):
      count = try readDescriptor(
        descriptor, into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
    case .memory(let bytes, let pieceByteCounts):
      let piece = pieceByteCounts[readCount % pieceByteCounts.count]
      count = min(most, piece, bytes.count - consumedByteCount)
      let end = consumedByteCount + count
      bytes.withUnsafeBytes { room.copyMemory(from: .init(rebasing: $0[consumedByteCount..<end])) }
    case .part(let part):
      count = part.copyBytes(
        from: consumedByteCount, to: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
      if count == 0, let failure = part.failure { throw failure }
    case .compressed(let decompressor):
      count = try decompressor.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<most]))
    }
    meter?.add(count)
    readCount += 1
    consumedByteCount += count
    return count
  }

  private func readDescriptor(
    _ descriptor: Int32, into room: UnsafeMutableRawBufferPointer
  ) throws(ImportError) -> Int {
    while true {
      let count = platformRead(descriptor, room)
      if count >= 0 { return count }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        // Somebody else made the shared descriptor non-blocking: wait for it.
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&poller, 1, -1)
      case let code: throw .cannotRead(name, code: code)
      }
    }
  }
}

private func platformRead(_ descriptor: Int32, _ room: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, room.baseAddress, room.count)
}

extension ImportError {
  /// A URL of another scheme than `file`, whose path is somewhere else on this machine.
  static func notOnDisk(_ url: String) -> ImportError {
    ImportError(
      .io(code: EPROTONOSUPPORT), file: url, position: nil, found: "a URL of the network",
      expected: "the URL of a file")
  }

  fileprivate static func cannotOpen(_ path: String, code: Int32) -> ImportError {
    ImportError(
      .io(code: code), file: path, position: nil, found: phrase(code),
      expected: "a file that can be opened for reading")
  }

  fileprivate static func cannotRead(_ name: String, code: Int32) -> ImportError {
    ImportError(
      .io(code: code), file: name, position: nil, found: phrase(code),
      expected: "more bytes or the end of the file")
  }

  static func phrase(_ code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return "\"\(String(cString: text))\" (error \(code))"
  }
}
