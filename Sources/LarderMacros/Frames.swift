#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// Messages between the compiler and this program: 8 bytes of length, little-endian, and JSON.
enum Frames {
  /// No message is nearly that long; a length above it is no length.
  private static let maximumByteCount = 1 << 30

  /// The next message; nil when the compiler has closed the pipe.
  static func receive() -> [UInt8]? {
    guard let header = receive(count: 8) else { return nil }
    let count = header.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard count <= UInt64(maximumByteCount) else { return nil }
    return receive(count: Int(count))
  }

  /// - Returns: False when the compiler no longer listens.
  static func send(_ message: [UInt8]) -> Bool {
    let count = UInt64(message.count)
    var frame = (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + message
    return frame.withUnsafeMutableBytes { transfer($0) { write(STDOUT_FILENO, $0, $1) } }
  }

  private static func receive(count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    let isWhole = bytes.withUnsafeMutableBytes { transfer($0) { read(STDIN_FILENO, $0, $1) } }
    return isWhole ? bytes : nil
  }

  /// Calls `step` until all bytes went through.
  private static func transfer(
    _ bytes: UnsafeMutableRawBufferPointer, _ step: (UnsafeMutableRawPointer, Int) -> Int
  ) -> Bool {
    var rest = bytes[...]
    while let start = UnsafeMutableRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
      let count = step(start, rest.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
