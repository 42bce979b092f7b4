extension Variable {
  /// The written type, or the one that Swift infers from the initial value where the text alone
  /// shows it: a literal, an array or dictionary of literals, `Type(...)`, `Type.init(...)`,
  /// `Type.member`, `value as Type`. Nil where only the compiler can know.
  public var knownType: String? {
    if let type { return type.text }
    guard let initialValue else { return nil }
    var reader = InferringReader(DeclarationReader(initialValue.text))
    return reader.type()
  }

  /// Whether the type of the initial value is taken from the type that a member belongs to: `Int.max` is an
  /// `Int`, and `IDGenerator.next()` may be anything.
  public var isTypeOfMember: Bool {
    guard type == nil, let initialValue, let knownType else { return false }
    let rest = initialValue.text.dropFirst(knownType.count).drop(while: \.isWhitespace)
    return initialValue.text.hasPrefix(knownType) && rest.first == "."
      && !rest.dropFirst().drop(while: \.isWhitespace).hasPrefix("init")
  }
}

/// Reads the type of a value off its text.
private struct InferringReader {
  private var reader: DeclarationReader

  init(_ reader: DeclarationReader) { self.reader = reader }

  mutating func type() -> String? {
    let first = reader.place
    if let type = value(depth: 0), reader.token.kind == .end { return type }
    reader.place = first
    return castType()
  }

  /// `value as Type` at the end.
  private mutating func castType() -> String? {
    while reader.token.kind != .end {
      if reader.isName(reader.token, "as") {
        reader.advance()
        let first = reader.place
        reader.skipType()
        guard reader.token.kind == .end, reader.place > first else { return nil }
        return reader.fragment(from: first).text
      }
      switch reader.token.kind {
      case .symbol(let byte) where "([{".utf8.contains(byte): reader.skipBrackets()
      default: reader.advance()
      }
    }
    return nil
  }

  private mutating func value(depth: Int) -> String? {
    guard depth < 32 else { return nil }
    switch reader.token.kind {
    case .string:
      reader.advance()
      return "String"
    case .number:
      return number()
    case .name:
      if reader.isName(reader.token, "true") || reader.isName(reader.token, "false") {
        reader.advance()
        return "Bool"
      }
      return named()
    default:
      if reader.token.is("-") || reader.token.is("+"), reader.token(1).kind == .number {
        reader.advance()
        return number()
      }
      return reader.token.is("[") ? collection(depth: depth) : nil
    }
  }

  private mutating func number() -> String {
    let text = reader.text(reader.token)
    reader.advance()
    let isHexadecimal = text.hasPrefix("0x")
    let marks = isHexadecimal ? ".pP" : ".eE"
    return text.contains { marks.contains($0) } ? "Double" : "Int"
  }

  /// `Type(...)`, `A.B<C>.init(...)`, `Type.member`, `Type.member(...)`.
  private mutating func named() -> String? {
    let first = reader.place
    var typeEnd = first
    while reader.token.kind == .name {
      let name = reader.text(reader.token)
      guard name.first?.isUppercase == true else { break }
      reader.advance()
      reader.skipGenericArguments()
      typeEnd = reader.place
      guard reader.token.is("."), reader.token(1).kind == .name else { break }
      reader.advance()
    }
    guard typeEnd > first else { return nil }
    let end = reader.place
    reader.place = typeEnd
    let type = reader.fragment(from: first).text
    reader.place = end
    if reader.token.kind == .name {
      reader.advance()
    } else if end == typeEnd, !reader.token.is("(") {
      return nil
    }
    if reader.token.is("(") { reader.skipBrackets() }
    return type
  }

  /// `[a, b]`, `[a: b]`, `[Type]()`, `[Key: Value]()`.
  private mutating func collection(depth: Int) -> String? {
    let first = reader.place
    let closing = reader.end(ofBracketsAt: first)
    if reader.tokens[min(closing + 1, reader.tokens.count - 1)].is("(") {
      reader.place = closing + 1
      let type = reader.fragment(from: first).text
      reader.skipBrackets()
      return type
    }
    reader.advance()
    var keys: [String] = []
    var values: [String] = []
    while reader.place < closing {
      guard let type = value(depth: depth + 1) else { return nil }
      if reader.token.is(":") {
        reader.advance()
        keys.append(type)
        guard let type = value(depth: depth + 1) else { return nil }
        values.append(type)
      } else {
        values.append(type)
      }
      guard reader.place == closing || reader.token.is(",") else { return nil }
      if reader.token.is(",") { reader.advance() }
    }
    reader.skipClosing(closing)
    guard let value = Self.common(values) else { return nil }
    if keys.isEmpty { return "[\(value)]" }
    guard keys.count == values.count, let key = Self.common(keys) else { return nil }
    return "[\(key): \(value)]"
  }

  private static func common(_ types: [String]) -> String? {
    let distinct = Set(types)
    if distinct == ["Int", "Double"] { return "Double" }
    return distinct.count == 1 ? distinct.first : nil
  }
}

extension DeclarationReader {
  fileprivate mutating func skipClosing(_ closing: Int) {
    place = min(closing + 1, tokens.count - 1)
  }
}
