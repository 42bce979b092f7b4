/// The bytes of one run, taken from the front. Behind the end there are zeros and nothing.
///
/// An input is what the fuzzer can change usefully: checksums are put behind its parts later, so
/// that they do not stop everything.
struct FuzzInput {
  private var bytes: UnsafeRawBufferPointer

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isEmpty: Bool { bytes.isEmpty }

  mutating func byte() -> UInt8 {
    guard let first = bytes.first else { return 0 }
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
    return first
  }

  /// Bytes behind their number, two bytes, little-endian; all that is left where that is less.
  mutating func part() -> UnsafeRawBufferPointer {
    let count = Int(byte()) | Int(byte()) << 8
    let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
    bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst(count))
    return part
  }

  mutating func rest() -> UnsafeRawBufferPointer {
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes.suffix(0)) }
    return bytes
  }

  /// What ``part()`` takes apart.
  static func encoded(part: [UInt8]) -> [UInt8] {
    [UInt8(part.count & 0xFF), UInt8(part.count >> 8)] + part
  }
}

extension UnsafeRawBufferPointer {
  /// Lends a copy that ends where its memory does, so that the address sanitizer sees every read
  /// behind it.
  func withExactCopy<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: Swift.max(count, 1), alignment: 1)
    defer { copy.deallocate() }
    copy.copyMemory(from: self)
    return try body(UnsafeRawBufferPointer(rebasing: copy[..<count]))
  }
}

/// Ends the run: what is promised does not hold.
func broken(_ promise: String) -> Never { fatalError("broken: \(promise)") }
