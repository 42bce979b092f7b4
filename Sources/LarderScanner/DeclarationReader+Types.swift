extension DeclarationReader {
  /// Past a type: `any A & B`, `[String: Int]?`, `Result<A, B>.Type`, `(A) async throws -> B`.
  mutating func skipType() {
    while token.kind != .end {
      skipTypePrefix()
      let first = place
      if token.is("(") || token.is("[") {
        skipBrackets()
      } else if token.kind == .name {
        advance()
        if token.is("<") { skipGenericArguments() }
      } else {
        return
      }
      skipTypePostfix()
      skipEffects()
      if token.is("&") {
        advance()
      } else if token.is("-"), token(1).is(">") {
        advance()
        advance()
      } else {
        return
      }
      if place == first { return }
    }
  }

  private mutating func skipTypePrefix() {
    while true {
      if token.is("@") {
        _ = readAttribute(inType: true)
      } else if token.is("~") {
        advance()
      } else if token.kind == .name, Self.typePrefixes.contains(text(token)),
        token(1).kind == .name || token(1).is("(") || token(1).is("[") || token(1).is("@")
          || token(1).is("~"), !token(1).startsLine
      {
        advance()
        if token.is("("), isName(tokens[place - 1], "nonisolated") { skipBrackets() }
      } else {
        return
      }
    }
  }

  private static let typePrefixes: Set<String> = [
    "any", "some", "inout", "borrowing", "consuming", "sending", "isolated", "each", "repeat",
    "nonisolated", "__owned", "__shared",
  ]

  private mutating func skipTypePostfix() {
    while true {
      if (token.is("?") || token.is("!")) && !token.isSpaced {
        advance()
      } else if token.is("."), token(1).kind == .name {
        advance()
        advance()
        if token.is("<") { skipGenericArguments() }
      } else {
        return
      }
    }
  }

  /// `async throws(E)` in front of an arrow.
  private mutating func skipEffects() {
    let first = place
    while token.kind == .name, ["async", "throws", "rethrows"].contains(text(token)) {
      advance()
      if token.is("("), isName(tokens[place - 1], "throws") { skipBrackets() }
    }
    if place > first, !(token.is("-") && token(1).is(">")) { place = first }
  }

  /// Past `<...>`, where it is one: otherwise stays.
  @discardableResult mutating func skipGenericArguments() -> Bool {
    if let end = angles[place] {
      place = end ?? place
      return end != nil
    }
    let first = place
    var open: [Int] = []
    while token.kind != .end {
      if token.is("<") {
        open.append(place)
        advance()
      } else if token.is("-"), token(1).is(">") {
        advance()
        advance()
      } else if token.is(">") {
        advance()
        if let start = open.popLast() { angles[start] = .some(place) }
        if open.isEmpty { return true }
      } else if token.is("(") || token.is("[") {
        skipBrackets()
      } else if isInGenericArguments {
        advance()
      } else {
        break
      }
    }
    for start in open { angles[start] = .some(nil) }
    place = first
    return false
  }

  private var isInGenericArguments: Bool {
    switch token.kind {
    case .name, .number: true
    case .symbol(let byte): ".,:?!&~@=".utf8.contains(byte)
    default: false
    }
  }
}
