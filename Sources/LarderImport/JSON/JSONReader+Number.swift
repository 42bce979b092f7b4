extension JSONReader {
  /// The number whose first byte, a digit or `-`, is the next.
  mutating func number() throws(ImportError) -> JSONValue {
    let count = try numberByteCount()
    let range = text.next..<text.next + count
    let outcome = text.buffer.withUnsafeBufferPointer { buffer in
      NumberText.read(UnsafeBufferPointer(rebasing: buffer[range]))
    }
    switch outcome {
    case .success(let value):
      text.next = range.upperBound
      return value
    case .failure(let fault):
      text.next += fault.index
      throw text.unexpected(fault.expected)
    }
  }

  /// How many bytes from `next` on can belong to a number; they are all in sight then.
  private mutating func numberByteCount() throws(ImportError) -> Int {
    var count = 0
    while true {
      var index = text.next + count
      while index < text.end, isNumberByte(text.buffer[index]) { index += 1 }
      count = index - text.next
      guard count <= limits.numberByteCount else {
        throw text.error(
          .numberByteCount, limits.numberByteCount, of: "bytes in a number", at: position)
      }
      // Sliding moves `next`, so the end is told by the count.
      guard index == text.end, try text.more() else { return count }
    }
  }
}

@inline(__always)
private func isNumberByte(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
    UInt8(ascii: "."), UInt8(ascii: "E"), UInt8(ascii: "e"):
    true
  default: false
  }
}
