// MARK: Strings

extension Lexer {
  /// `#"..."#`, `#/.../#` or `#name`.
  mutating func pound() -> Token.Kind {
    var hashes = 0
    while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    if byte(hashes) == UInt8(ascii: "\"") {
      skipString()
      return .string
    }
    if byte(hashes) == UInt8(ascii: "/") {
      skipExtendedRegex(hashes)
      return .regex
    }
    place += max(1, hashes)
    skipName()
    return .pound
  }

  private struct Delimiter {
    let hashes: Int
    let isMultiLine: Bool
    /// Whether it, or a string around it, ends with its line.
    let isOnOneLine: Bool
    /// Open parentheses of the code that is interpolated.
    var parentheses = 0
  }

  /// Skips a string with the strings inside its interpolations, however deep.
  mutating func skipString() {
    var open: [Delimiter] = []
    openString(&open)
    while let string = open.last, place < bytes.count {
      if string.parentheses > 0 { skipCode(in: &open) } else { skipText(of: &open, string) }
    }
  }

  private mutating func openString(_ open: inout [Delimiter]) {
    var hashes = 0
    while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
    place += hashes
    // `#"""#` is a quotation mark.
    let isMultiLine = isNext("\"\"\"") && (hashes == 0 || isLineEmpty(after: 3))
    place += isMultiLine ? 3 : 1
    let isOnOneLine = !isMultiLine || open.last?.isOnOneLine ?? false
    open.append(
      Delimiter(hashes: hashes, isMultiLine: isMultiLine, isOnOneLine: isOnOneLine))
  }

  private func isLineEmpty(after ahead: Int) -> Bool {
    var ahead = ahead
    while byte(ahead) == 0x20 || byte(ahead) == 0x09 { ahead += 1 }
    return byte(ahead) == 0x0A || byte(ahead) == 0x0D
  }

  private mutating func skipText(of open: inout [Delimiter], _ string: Delimiter) {
    func hashesFollow(_ ahead: Int) -> Bool {
      for index in 0..<string.hashes where byte(ahead + index) != UInt8(ascii: "#") {
        return false
      }
      return true
    }
    switch byte() {
    case UInt8(ascii: "\\") where hashesFollow(1):
      place += 1 + string.hashes
      if byte() == UInt8(ascii: "(") { open[open.count - 1].parentheses = 1 }
      place += 1
    case UInt8(ascii: "\"") where string.isMultiLine && isNext("\"\"\""):
      // `""""` ends with its last three.
      var quotes = 3
      while byte(quotes) == UInt8(ascii: "\"") { quotes += 1 }
      let isEnd = hashesFollow(quotes)
      place += quotes
      guard isEnd else { return }
      place += string.hashes
      open.removeLast()
    case UInt8(ascii: "\"") where !string.isMultiLine && hashesFollow(1):
      place += 1 + string.hashes
      open.removeLast()
    case 0x0A where !string.isMultiLine, 0x0D where !string.isMultiLine:
      open.removeAll()  // Not terminated.
    default:
      place += 1
    }
  }

  /// One step through interpolated code.
  private mutating func skipCode(in open: inout [Delimiter]) {
    switch byte() {
    case UInt8(ascii: "("):
      open[open.count - 1].parentheses += 1
      place += 1
    case UInt8(ascii: ")"):
      open[open.count - 1].parentheses -= 1
      place += 1
    case UInt8(ascii: "\""):
      openString(&open)
    case UInt8(ascii: "#"):
      var hashes = 0
      while byte(hashes) == UInt8(ascii: "#") { hashes += 1 }
      if byte(hashes) == UInt8(ascii: "\"") { openString(&open) } else { place += hashes }
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
      skipComment()
    case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/") && open.last?.isOnOneLine == false:
      skipLine()
    default:
      place += 1
    }
  }
}

// MARK: Regular expressions

extension Lexer {
  /// Whether a slash here stands where Swift takes an operator for a prefix: behind white space, or behind
  /// what opens or separates. A line of a `Regex { }` begins so, too.
  var mayBeginRegex: Bool {
    guard let last = tokens.last else { return true }
    // `func /(a: A, b: A) -> A { a.x/b.x }`
    if last.kind == .name,
      ["func", "operator"].contains(String(decoding: bytes[last.start..<last.end], as: UTF8.self))
    {
      return false
    }
    return isSpaced || last.symbol.map { "([{,;:".utf8.contains($0) } ?? false
  }

  /// Skips `/.../` on one line, as Swift tells it from a division.
  mutating func skipRegex() -> Bool {
    guard ![0x20, 0x09, 0x0A, 0x0D, 0].contains(byte(1)) else { return false }
    var ahead = 1
    var brackets = 0
    var classes = 0
    while place + ahead < bytes.count {
      switch byte(ahead) {
      case 0x0A, 0x0D: return false
      case UInt8(ascii: "\\"): ahead += 1
      case UInt8(ascii: "["): classes += 1
      case UInt8(ascii: "]") where classes > 0: classes -= 1
      // In a class of characters they are characters.
      case UInt8(ascii: "(") where classes > 0, UInt8(ascii: ")") where classes > 0: break
      case UInt8(ascii: "("): brackets += 1
      case UInt8(ascii: ")"):
        if brackets == 0 { return false }
        brackets -= 1
      case UInt8(ascii: "/"):
        guard ![0x20, 0x09].contains(byte(ahead - 1)) else { return false }
        place += ahead + 1
        return true
      default: break
      }
      ahead += 1
    }
    return false
  }

  /// Skips `#/.../#`, over several lines too.
  private mutating func skipExtendedRegex(_ hashes: Int) {
    place += hashes + 1
    while place < bytes.count {
      if byte() == UInt8(ascii: "\\") {
        place += 2
      } else if byte() == UInt8(ascii: "/"),
        (1...hashes).allSatisfy({ byte($0) == UInt8(ascii: "#") })
      {
        place += hashes + 1
        return
      } else {
        place += 1
      }
    }
    place = min(place, bytes.count)
  }
}
