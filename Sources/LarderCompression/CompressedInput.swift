internal import LarderImport

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// A chunk of a compressed file, and the place in the file.
struct CompressedInput: ~Copyable {
  private var source: ByteSource
  private var buffer = [UInt8](repeating: 0, count: 64 << 10)
  private var next = 0
  private var end = 0
  private var isSourceAtEnd = false
  /// Bytes of the file before ``buffer``.
  private var base = 0

  init(_ source: consuming ByteSource) { self.source = source }

  /// Whether everything is read.
  ///
  /// - Throws: ``LarderImport/ImportError`` when the file cannot be read.
  mutating func isEmpty() throws(ImportError) -> Bool {
    guard next == end, !isSourceAtEnd else { return next == end }
    base += end
    (next, end) = (0, 0)
    end = try source.read(into: &buffer, at: 0)
    isSourceAtEnd = end == 0
    return end == 0
  }

  /// The next byte; nil at the end.
  mutating func peek() throws(ImportError) -> UInt8? { try isEmpty() ? nil : buffer[next] }

  /// Moves over the byte that was peeked at.
  mutating func skip() { next += 1 }

  /// Lends the bytes that are there, and moves over as many as `body` says it took.
  mutating func take<Result>(
    _ body: (UnsafeBufferPointer<UInt8>) -> (result: Result, count: Int)
  ) -> Result {
    let (result, count) = buffer.withUnsafeBufferPointer { bytes in
      body(UnsafeBufferPointer(rebasing: bytes[next..<end]))
    }
    next += count
    return result
  }

  // MARK: Errors

  /// A refusal of what stands at the next byte.
  func error(found: String, expected: String) -> ImportError {
    let offset = base + next
    return ImportError(
      .compression(offset: offset), file: source.name, position: nil,
      found: "\(found) at byte \(offset) of the compressed file", expected: expected)
  }

  func cutOff(_ part: String) -> ImportError {
    error(found: "the end of the file inside of \(part)", expected: "the whole file; it is cut off")
  }

  func damaged(_ what: String) -> ImportError {
    error(found: what, expected: "the file as it was made; it is damaged")
  }

  func noMemory() -> ImportError {
    ImportError(
      .io(code: ENOMEM), file: source.name, position: nil, found: "too little memory to decompress",
      expected: "memory for the window of the compressed file")
  }
}
