extension Declaration {
  /// Reads the first declaration in `source`.
  ///
  /// Never fails: what is not Swift gives a declaration of kind `other`, or one whose members are
  /// `unreadable`. Takes time linear in the length of the text.
  public init(reading source: String) {
    var reader = DeclarationReader(source)
    self = reader.read()
  }
}

/// Walks through the tokens of a declaration.
struct DeclarationReader {
  let bytes: [UInt8]
  let tokens: [Token]
  /// For each token that is an opening bracket the place of what closes it.
  private let partners: [Int]
  var place = 0
  /// For each `<` that was tried the place behind what closes it, or nil: tried once, so that many
  /// which nothing closes cost no square of their number.
  var angles: [Int: Int?] = [:]
  var result = Declaration()

  init(_ source: String) {
    bytes = Array(source.utf8)
    tokens = Lexer.tokens(of: bytes)
    partners = Self.partners(tokens)
  }

  var token: Token { tokens[place] }

  func token(_ ahead: Int) -> Token { tokens[min(place + ahead, tokens.count - 1)] }

  func text(_ token: Token) -> String { text(token.start, token.end) }

  func text(_ start: Int, _ end: Int) -> String {
    String(decoding: bytes[start..<max(start, end)], as: UTF8.self)
  }

  func isName(_ token: Token, _ name: StaticString) -> Bool {
    guard token.kind == .name, token.end - token.start == name.utf8CodeUnitCount else {
      return false
    }
    for index in 0..<name.utf8CodeUnitCount
    where bytes[token.start + index] != name.utf8Start[index] { return false }
    return true
  }

  /// The tokens from `first` to the one in front of ``place``.
  func fragment(from first: Int) -> Fragment {
    guard first < place else { return Fragment(text: "", offset: tokens[first].start) }
    return Fragment(
      text: text(tokens[first].start, tokens[place - 1].end), offset: tokens[first].start)
  }

  mutating func advance() { if place < tokens.count - 1 { place += 1 } }

  /// Past the bracket here and all that it holds.
  mutating func skipBrackets() {
    place = min(max(partners[place], place) + 1, tokens.count - 1)
  }

  /// Where the bracket at `place` ends.
  func end(ofBracketsAt place: Int) -> Int { partners[place] }

  /// Which bracket closes which. One that is missing is taken to stand where another forces it to.
  private static func partners(_ tokens: [Token]) -> [Int] {
    var partners = Array(tokens.indices)
    var open: [(place: Int, closing: UInt8)] = []
    var waiting: [UInt8: Int] = [:]
    for (place, token) in tokens.enumerated() {
      guard let symbol = token.symbol else { continue }
      switch symbol {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        let closing = symbol == UInt8(ascii: "(") ? symbol + 1 : symbol + 2
        open.append((place, closing))
        waiting[closing, default: 0] += 1
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        guard waiting[symbol, default: 0] > 0 else { continue }
        while let last = open.popLast() {
          waiting[last.closing, default: 0] -= 1
          partners[last.place] = last.closing == symbol ? place : place - 1
          if last.closing == symbol { break }
        }
      default: continue
      }
    }
    for (place, _) in open { partners[place] = max(place, tokens.count - 2) }
    return partners
  }
}

// MARK: The head

extension DeclarationReader {
  static let modifiers: Set<String> = [
    "public", "package", "internal", "fileprivate", "private", "open", "static", "final", "lazy",
    "weak", "unowned", "nonisolated", "mutating", "nonmutating", "override", "indirect",
    "convenience", "required", "dynamic", "isolated", "optional", "prefix", "postfix", "infix",
    "borrowing", "consuming", "distributed",
  ]

  private static let types: [String: Declaration.Kind] = [
    "struct": .structure, "class": .class, "enum": .enumeration, "actor": .actor,
    "extension": .extension, "protocol": .protocol,
  ]

  mutating func read() -> Declaration {
    var head = Head()
    readHead(&head)
    result.attributes = head.attributes
    result.modifiers = head.modifiers
    let keyword = text(token)
    result.keyword = Fragment(text: keyword, offset: token.start)
    guard token.kind == .name else { return result }
    if keyword == "var" || keyword == "let" {
      result.kind = .variable
      readVariables(head, condition: nil)
    } else if let kind = Self.types[keyword] {
      result.kind = kind
      advance()
      readType()
    }
    return result
  }

  /// Attributes and modifiers in front of a declaration.
  struct Head {
    var attributes: [Attribute] = []
    var modifiers: [Fragment] = []
  }

  mutating func readHead(_ head: inout Head) {
    while true {
      if token.is("@") {
        head.attributes.append(readAttribute())
      } else if token.kind == .name, isModifier {
        let first = place
        advance()
        let name = fragment(from: first)
        if token.is("("), !token.startsLine, name.text != "lazy" {
          // `private(set)` does not say how the property is read.
          skipBrackets()
          head.modifiers.append(fragment(from: first))
        } else {
          head.modifiers.append(name)
        }
      } else {
        return
      }
    }
  }

  private var isModifier: Bool {
    let name = text(token)
    // `class func`, but `class Name`.
    if name == "class" {
      let next = text(token(1))
      return Self.members.contains(next) || Self.modifiers.contains(next)
    }
    return Self.modifiers.contains(name)
  }

  /// - Parameter inType: Whether parentheses behind white space begin a type, and not arguments.
  mutating func readAttribute(inType: Bool = false) -> Attribute {
    let offset = token.start
    advance()
    var path: [String] = []
    while token.kind == .name {
      path.append(text(token))
      advance()
      if token.is("<"), !token.isSpaced { skipGenericArguments() }
      guard token.is("."), !token.isSpaced else { break }
      advance()
    }
    var arguments: Fragment?
    if token.is("("), !token.startsLine, !(inType && token.isSpaced) {
      let first = place
      skipBrackets()
      let last = tokens[max(first, place - 1)]
      let start = tokens[first].end
      let end = last.is(")") ? last.start : last.end
      arguments = Fragment(text: text(start, end), offset: start)
    }
    return Attribute(
      name: path.last ?? "",
      qualifier: path.count > 1 ? path.dropLast().joined(separator: ".") : nil,
      arguments: arguments, offset: offset)
  }

  /// From behind the keyword to the end of the body.
  private mutating func readType() {
    let first = place
    // `extension A.B`
    while token.kind == .name, !isName(token, "where") {
      advance()
      guard token.is(".") else { break }
      advance()
    }
    result.name = fragment(from: first)
    if token.is("<") {
      let first = place
      skipGenericArguments()
      result.generics = fragment(from: first)
    }
    if token.is(":") {
      repeat {
        advance()
        let first = place
        skipType()
        if place > first { result.inheritance.append(fragment(from: first)) }
      } while token.is(",")
    }
    while token.kind != .end, !token.is("{") {
      if token.is("(") || token.is("[") { skipBrackets() } else { advance() }
    }
    guard token.is("{") else { return }
    let closing = end(ofBracketsAt: place)
    advance()
    readMembers(upTo: closing)
    // The body ends the declaration. Where it seems to end before, a brace was misread, and what stands
    // behind it would be left out without a word.
    if tokens[min(closing + 1, tokens.count - 1)].kind != .end {
      result.unreadable.append(tokens[closing].start)
    }
  }
}
