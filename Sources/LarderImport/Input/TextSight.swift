// What stands somewhere in a text, as errors say it. Nothing here runs unless an import fails.

/// How many bytes from a place on ``sight(of:)`` looks at, by the first of them.
func sightByteCount(_ byte: UInt8) -> Int {
  switch byte {
  case 0x41...0x5A, 0x61...0x7A: 16
  case 0x80...: 4
  default: 1
  }
}

/// What a text has where it goes on with `bytes`, and what that tells; nil if that is not UTF-8.
func sight(of bytes: [UInt8]) -> (found: String, reason: ImportError.Reason?)? {
  guard let byte = bytes.first else { return ("the end of the file", nil) }
  switch byte {
  case 0x0A: return ("the end of the line", .endOfLine)
  case 0x41...0x5A, 0x61...0x7A:
    let word = bytes.prefix { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    return (quoted(String(decoding: word, as: UTF8.self)), .text)
  case 0x80...:
    let scalar = bytes.prefix(scalarByteCount(of: byte))
    guard let text = String(validating: scalar, as: UTF8.self),
      let scalar = text.unicodeScalars.first
    else { return nil }
    return isPrintable(scalar) ? ("`\(scalar)` (\(phrase(scalar)))", .text) : (phrase(scalar), nil)
  default:
    let scalar = Unicode.Scalar(byte)
    guard isPrintable(scalar) else { return (phrase(scalar), nil) }
    return ("`\(scalar)`", scalar == "{" || scalar == "[" ? nil : .text)
  }
}

/// Bytes that are no scalar in UTF-8, with as many of the next as seem to be part of it.
func brokenSight(of bytes: [UInt8]) -> String {
  var text = "byte"
  for (index, byte) in bytes.prefix(4).enumerated() {
    // What follows a broken sequence is not part of it.
    if index > 0, byte & 0xC0 != 0x80 { break }
    text += " " + hexadecimal(byte, digits: 2)
  }
  return "\(text), which is not UTF-8"
}

/// Whether three bytes at the beginning of a file only say that it is UTF-8.
func isByteOrderMark(_ bytes: some Sequence<UInt8>) -> Bool {
  bytes.elementsEqual([0xEF, 0xBB, 0xBF])
}

/// What a text is that begins with `bytes`, behind a byte order mark, if it is not UTF-8, and what to do
/// about it.
func foreignEncoding(
  of bytes: [UInt8]
) -> (found: String, expected: String, reason: ImportError.Reason?)? {
  if isByteOrderMark(bytes.prefix(3)) { return ("a byte order mark", "one at most", nil) }
  let compressed: [[UInt8]] = [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD]]
  if compressed.contains(where: bytes.starts(with:)) {
    return (
      "what looks like gzip or zstd", "text; decompress it, or import it with `larder import`",
      nil
    )
  }
  // No text of ours begins with NUL or has it as second byte.
  let wide: [[UInt8]] = [[0xFE, 0xFF], [0xFF, 0xFE]]
  guard wide.contains(where: bytes.starts(with:)) || bytes.prefix(2).contains(0) else { return nil }
  return ("what looks like UTF-16 or UTF-32", "UTF-8; convert the file", .wideText)
}

/// How many bytes a scalar has that begins with `byte`; 1 if none does.
func scalarByteCount(of byte: UInt8) -> Int {
  switch byte {
  case 0xC2...0xDF: 2
  case 0xE0...0xEF: 3
  case 0xF0...0xF4: 4
  default: 1
  }
}

private func phrase(_ scalar: Unicode.Scalar) -> String {
  "U+" + hexadecimal(scalar.value, digits: 4)
}

private func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
  let text = String(value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, digits - text.count)) + text
}
