extension DeclarationReader {
  /// Past an initial value: to a comma, the end of the declaration, or a block of observers.
  ///
  /// - Parameter joinsLines: Whether a line may go on with what is complete: `.map { }` on a line of
  ///   its own.
  mutating func skipExpression(joinsLines: Bool = true) {
    // Whether what was read so far could be all of it.
    var isComplete = false
    while token.kind != .end {
      if isComplete, token.startsLine, !(joinsLines && continuesExpression) { return }
      switch token.kind {
      case .name: isComplete = skipNameInExpression()
      case .number, .string, .regex:
        advance()
        isComplete = true
      case .pound:
        if ["#if", "#elseif", "#else", "#endif"].contains(text(token)) { return }
        skipNameWithArguments()
        isComplete = true
      case .symbol(let symbol):
        switch symbol {
        case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "}"), UInt8(ascii: ")"),
          UInt8(ascii: "]"):
          return
        case UInt8(ascii: "("), UInt8(ascii: "["):
          skipBrackets()
          isComplete = true
        case UInt8(ascii: "{"):
          if isComplete, isObserverBlock(at: place) { return }
          skipBrackets()
          isComplete = true
        case UInt8(ascii: ".") where token(1).kind == .name || token(1).kind == .number:
          advance()
          // Whatever follows the dot is a name: `.default`, `.init`.
          skipNameWithArguments()
          isComplete = true
        default:
          isComplete = skipOperator(isComplete)
        }
      case .end: return
      }
    }
  }

  /// - Returns: Whether an operand ends here.
  private mutating func skipNameInExpression() -> Bool {
    let name = text(token)
    if Self.operatorNames.contains(name) || (Self.prefixNames.contains(name) && isPrefix) {
      advance()
      // `try!`, `as?`
      if token.is("!") || token.is("?"), !token.isSpaced { advance() }
      return false
    }
    skipNameWithArguments()
    return true
  }

  private mutating func skipNameWithArguments() {
    advance()
    guard token.is("<"), !token.isSpaced else { return }
    let first = place
    // `a<b` is a comparison where nothing closes what `<` opens, or an operand follows.
    guard skipGenericArguments() else { return }
    switch token.kind {
    case .name, .number, .string, .regex:
      if !token.startsLine { place = first }
    default: break
    }
  }

  /// Names that an operand must follow.
  private static let operatorNames: Set<String> = [
    "as", "is", "try", "await", "if", "else", "switch", "in", "do", "catch", "repeat",
  ]

  /// Names that are the like only where an operand does follow.
  private static let prefixNames: Set<String> = [
    "any", "some", "each", "unsafe", "copy", "consume", "borrow",
  ]

  private var isPrefix: Bool {
    let next = token(1)
    return next.isSpaced && !next.startsLine
      && (next.beginsOperand && !next.is("{") && !next.is("."))
  }

  /// - Returns: Whether an operand ends here.
  private mutating func skipOperator(_ isComplete: Bool) -> Bool {
    let isSpacedBefore = token.isSpaced
    let first = place
    repeat { advance() } while (token.isOperator || token.is(".")) && !token.isSpaced
    if place == first { advance() }
    let isSpacedAfter = token.isSpaced || !token.beginsOperand
    return isComplete && !isSpacedBefore && isSpacedAfter
  }

  /// Whether the line that begins here goes on with the expression of the line before.
  private var continuesExpression: Bool {
    switch token.kind {
    case .name: ["as", "is", "else", "catch"].contains(text(token))
    case .symbol(let byte): token.isOperator || ".:{\\".utf8.contains(byte)
    default: false
    }
  }
}

extension Token {
  fileprivate var beginsOperand: Bool {
    switch kind {
    case .name, .number, .string, .regex, .pound: true
    case .symbol(let byte): "([{.\\".utf8.contains(byte)
    case .end: false
    }
  }
}
