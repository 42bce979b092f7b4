/// Cuts Swift source into tokens. Any bytes give tokens: what no compiler would accept is cut
/// somehow, in time linear in its length, and without recursion.
struct Lexer {
  let bytes: [UInt8]
  var place = 0
  private var startsLine = true
  private(set) var isSpaced = true
  private(set) var tokens: [Token] = []

  static func tokens(of bytes: [UInt8]) -> [Token] {
    var lexer = Lexer(bytes: bytes)
    lexer.run()
    return lexer.tokens
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
    tokens.reserveCapacity(bytes.count / 4 + 1)
  }

  private mutating func run() {
    skipTrivia()
    while place < bytes.count {
      let start = place
      let kind = next()
      place = min(max(place, start + 1), bytes.count)
      append(kind, from: start)
      skipTrivia()
    }
    append(.end, from: place)
  }

  private mutating func append(_ kind: Token.Kind, from start: Int) {
    tokens.append(
      Token(kind: kind, start: start, end: place, startsLine: startsLine, isSpaced: isSpaced))
    startsLine = false
    isSpaced = false
  }

  func byte(_ ahead: Int = 0) -> UInt8 {
    place + ahead < bytes.count ? bytes[place + ahead] : 0
  }

  func isNext(_ text: StaticString) -> Bool {
    guard place + text.utf8CodeUnitCount <= bytes.count else { return false }
    for index in 0..<text.utf8CodeUnitCount
    where bytes[place + index] != text.utf8Start[index] { return false }
    return true
  }

  private mutating func next() -> Token.Kind {
    let first = byte()
    switch first {
    case UInt8(ascii: "\""):
      skipString()
      return .string
    case UInt8(ascii: "#"):
      return pound()
    case UInt8(ascii: "`"):
      skipBackticks()
      return .name
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      skipNumber()
      return .number
    case UInt8(ascii: "/") where mayBeginRegex && skipRegex():
      return .regex
    default:
      if isNameByte(first) {
        if first < 0x80 || !skipForeignOperator() {
          skipName()
          return .name
        }
        return .symbol(Token.foreignOperator)
      }
      place += 1
      return .symbol(first)
    }
  }
}

// MARK: White space and comments

extension Lexer {
  private mutating func skipTrivia() {
    while place < bytes.count {
      switch byte() {
      case 0x0A, 0x0D:
        startsLine = true
        place += 1
      case 0x20, 0x09, 0x0B, 0x0C, 0x00:
        place += 1
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "/"):
        skipLine()
      case UInt8(ascii: "/") where byte(1) == UInt8(ascii: "*"):
        if skipComment() { startsLine = true }
      default:
        return
      }
      isSpaced = true
    }
    isSpaced = true
  }

  /// Up to the end of the line.
  mutating func skipLine() {
    while place < bytes.count, byte() != 0x0A, byte() != 0x0D { place += 1 }
  }

  /// - Returns: Whether a line ends in the comment.
  @discardableResult mutating func skipComment() -> Bool {
    var depth = 0
    var hasLines = false
    repeat {
      if isNext("/*") {
        depth += 1
        place += 2
      } else if isNext("*/") {
        depth -= 1
        place += 2
      } else {
        if byte() == 0x0A { hasLines = true }
        place += 1
      }
    } while depth > 0 && place < bytes.count
    return hasLines
  }
}

// MARK: Names and numbers

extension Lexer {
  private func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }

  mutating func skipName() {
    while place < bytes.count, isNameByte(byte()) {
      if byte() >= 0x80, foreignOperatorLength > 0 { return }
      place += 1
    }
  }

  private mutating func skipBackticks() {
    place += 1
    while place < bytes.count, byte() != UInt8(ascii: "`"), byte() != 0x0A { place += 1 }
    if byte() == UInt8(ascii: "`") { place += 1 }
  }

  private mutating func skipNumber() {
    let isHexadecimal = isNext("0x")
    var last: UInt8 = 0
    while place < bytes.count {
      let next = byte()
      if isNameByte(next), next < 0x80 {
        last = next | 0x20
      } else if next == UInt8(ascii: "."), (0x30...0x39).contains(byte(1)) {
        last = next
      } else if next == UInt8(ascii: "-") || next == UInt8(ascii: "+"),
        last == (isHexadecimal ? UInt8(ascii: "p") : UInt8(ascii: "e"))
      {
        last = next
      } else {
        return
      }
      place += 1
    }
  }

  /// How many bytes the operator character here has, which is not ASCII; 0 where there is none.
  private var foreignOperatorLength: Int {
    let length = byte() >= 0xF0 ? 4 : byte() >= 0xE0 ? 3 : 2
    guard byte() >= 0xC2, length < 4, place + length <= bytes.count else { return 0 }
    let scalar = bytes[place + 1..<place + length].reduce(
      UInt32(byte()) & (length == 2 ? 0x1F : 0x0F)
    ) { $0 << 6 | UInt32($1) & 0x3F }
    switch scalar {
    case 0xA1...0xA7, 0xA9, 0xAB, 0xAC, 0xAE, 0xB0, 0xB1, 0xB6, 0xBB, 0xBF, 0xD7, 0xF7,
      0x2016, 0x2017, 0x2020...0x2027, 0x2030...0x203E, 0x2041...0x2053, 0x2055...0x205E,
      0x2190...0x23FF, 0x2500...0x2775, 0x2794...0x2BFF, 0x2E00...0x2E7F, 0x3001...0x3003,
      0x3008...0x3020, 0x3030:
      return length
    default: return 0
    }
  }

  private mutating func skipForeignOperator() -> Bool {
    let length = foreignOperatorLength
    place += length
    return length > 0
  }
}
