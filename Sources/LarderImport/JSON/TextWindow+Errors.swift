// How a window tells what it sees. Nothing here runs unless an import fails.

extension TextWindow {
  /// A refusal of `kind` at `position`, or where the window stands.
  @inline(never)
  func error(
    _ kind: ImportError.Kind, at position: TextPosition? = nil, found: String, expected: String
  ) -> ImportError {
    ImportError(
      kind, file: source.name, position: position ?? self.position, found: found,
      expected: expected)
  }

  /// A refusal of more than a limit allows of something that begins at `position`.
  @inline(never)
  func error(
    _ limit: ImportError.Limit, _ most: Int, of things: String, at position: TextPosition
  ) -> ImportError {
    error(
      .limit(limit), at: position, found: "more than \(most) \(things)",
      expected: "at most \(most) (\(limit.rawValue))")
  }

  /// A refusal of what stands at `next`.
  ///
  /// When that cannot be read, the error of reading it is returned instead.
  @inline(never)
  mutating func unexpected(_ expected: String) -> ImportError {
    do {
      guard let byte = try peek() else {
        return error(.syntax, found: "the end of the file", expected: expected)
      }
      switch byte {
      case 0x0A:
        return error(.syntax, found: "the end of the line", expected: expected)
      case 0x80...:
        return try unexpectedScalar(expected)
      case 0x41...0x5A, 0x61...0x7A:
        return error(.syntax, found: quoted(word()), expected: expected)
      default:
        let scalar = Unicode.Scalar(byte)
        let found = isPrintable(scalar) ? "`\(scalar)`" : phrase(scalar)
        return error(.syntax, found: found, expected: expected)
      }
    } catch {
      return error
    }
  }

  /// The ASCII letters from `next` on, at most 16.
  private mutating func word() -> String {
    // Letters that cannot be read are missing in a message that is thrown anyway.
    _ = try? has(16)
    let letters = buffer[next..<min(end, next + 16)].prefix {
      (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
    }
    return String(decoding: letters, as: UTF8.self)
  }

  private mutating func unexpectedScalar(_ expected: String) throws(ImportError) -> ImportError {
    _ = try has(4)
    guard let count = scalarByteCount(at: next) else { return try notUTF8() }
    let text = String(decoding: buffer[next..<next + count], as: UTF8.self)
    let scalar = text.unicodeScalars.first ?? "\u{FFFD}"
    let sight = isPrintable(scalar) ? "`\(scalar)` (\(phrase(scalar)))" : phrase(scalar)
    return error(.syntax, found: sight, expected: expected)
  }

  /// A refusal of the bytes at `next`, which are no scalar in UTF-8.
  mutating func notUTF8() throws(ImportError) -> ImportError {
    _ = try has(4)
    var bytes = "byte"
    for index in next..<min(end, next + 4) {
      // What follows a broken sequence is not part of it.
      if index > next, buffer[index] & 0xC0 != 0x80 { break }
      bytes += " " + hexadecimal(buffer[index], digits: 2)
    }
    return error(.encoding, found: "\(bytes), which is not UTF-8", expected: "UTF-8")
  }

  private func phrase(_ scalar: Unicode.Scalar) -> String {
    "U+" + hexadecimal(scalar.value, digits: 4)
  }
}

private func hexadecimal(_ value: some BinaryInteger, digits: Int) -> String {
  let text = String(value, radix: 16, uppercase: true)
  return String(repeating: "0", count: max(0, digits - text.count)) + text
}
