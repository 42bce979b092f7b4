extension DeclarationReader {
  /// Keywords that a member begins with, behind its attributes and modifiers.
  static let members: Set<String> = [
    "var", "let", "func", "init", "deinit", "subscript", "typealias", "associatedtype", "struct",
    "class", "enum", "actor", "protocol", "extension", "case", "import", "operator",
    "precedencegroup", "macro",
  ]

  private static let types: Set<String> = ["struct", "class", "enum", "actor"]

  /// - Parameter closing: The place of the brace that ends the body.
  mutating func readMembers(upTo closing: Int) {
    var conditions: [Int] = []
    while place < closing {
      let first = place
      if token.is(";") {
        advance()
      } else if token.kind == .pound {
        readDirective(&conditions)
      } else {
        readMember(condition: conditions.last)
      }
      if place == first { advance() }
    }
  }

  private mutating func readDirective(_ conditions: inout [Int]) {
    switch text(token) {
    case "#if":
      conditions.append(token.start)
      skipCondition()
    case "#elseif":
      skipCondition()
    case "#else":
      advance()
    case "#endif":
      advance()
      conditions.removeLast(min(1, conditions.count))
    default:
      // `#warning("...")`, or a macro that declares members of its own.
      skipExpression()
    }
  }

  /// `#if os(Linux) && A`, which may go on behind an operator at the end of a line.
  private mutating func skipCondition() {
    advance()
    guard !token.startsLine else { return }
    skipExpression(joinsLines: false)
  }

  private mutating func readMember(condition: Int?) {
    var head = Head()
    let first = place
    readHead(&head)
    switch token.kind {
    case .name:
      let keyword = text(token)
      if keyword == "var" || keyword == "let" {
        readVariables(head, condition: condition)
      } else if Self.members.contains(keyword) {
        if keyword == "init" { result.initializers.append(token.start) }
        if Self.types.contains(keyword), token(1).kind == .name {
          result.types.append(Fragment(text: text(token(1)), offset: token(1).start))
        }
        skipMember()
      } else {
        skipUnreadable(from: first)
      }
    case .pound:
      result.conditionalAttributes += head.attributes
      if place == first { skipUnreadable(from: first) }
    default:
      skipUnreadable(from: first)
    }
  }

  private mutating func skipUnreadable(from first: Int) {
    result.unreadable.append(tokens[first].start)
    repeat {
      if token.is("(") || token.is("[") || token.is("{") { skipBrackets() } else { advance() }
    } while !beginsMember && token.kind != .end
  }

  /// Past a function, an initializer, a nested type: to the end of its body, or to where the next
  /// member begins.
  private mutating func skipMember() {
    advance()
    var goesOn = true
    while token.kind != .end {
      if token.is("{") {
        skipBrackets()
        return
      }
      if token.is(";") || token.is("}") || (!goesOn && beginsMember) { return }
      // A type goes on behind `=` and `->`, though its attributes begin a line.
      goesOn = token.is("=") || token.is(">") && tokens[place - 1].is("-")
      if token.is("(") || token.is("[") { skipBrackets() } else { advance() }
    }
  }

  /// Whether a member, or the end of the body, stands here at the beginning of a line.
  private var beginsMember: Bool {
    if token.is("}") || token.is(";") { return true }
    guard token.startsLine else { return false }
    switch token.kind {
    case .name:
      let name = text(token)
      return Self.members.contains(name) || Self.modifiers.contains(name)
    case .pound, .end: return true
    default: return token.is("@")
    }
  }

  // MARK: Variables

  /// `var a = 1, b: Int { didSet { } }`
  mutating func readVariables(_ head: Head, condition: Int?) {
    let isLet = isName(token, "let")
    let firstVariable = result.variables.count
    repeat {
      advance()  // Over the keyword, or a comma.
      let first = place
      let isPattern = token.is("(")
      if isPattern {
        skipBrackets()
      } else if token.kind == .name {
        advance()
      } else {
        result.unreadable.append(token.start)
        return
      }
      var variable = Variable(
        name: fragment(from: first), isPattern: isPattern, isLet: isLet,
        attributes: head.attributes, modifiers: head.modifiers)
      variable.condition = condition
      readDetails(of: &variable)
      result.variables.append(variable)
    } while token.is(",")
    // `var a, b: Int` gives both the type.
    for index in (firstVariable..<result.variables.count).dropLast().reversed()
    where result.variables[index].type == nil && result.variables[index].initialValue == nil {
      result.variables[index].type = result.variables[index + 1].type
    }
  }

  private mutating func readDetails(of variable: inout Variable) {
    if token.is(":") {
      advance()
      let first = place
      skipType()
      variable.type = fragment(from: first)
    }
    if token.is("=") {
      advance()
      let first = place
      skipExpression()
      variable.initialValue = fragment(from: first)
    }
    if token.is("{") {
      if isObserverBlock(at: place) {
        variable.isObserved = true
      } else {
        variable.storage = .computed
        variable.hasInitAccessor = hasInitAccessor(at: place)
      }
      skipBrackets()
    }
  }

  /// Whether the brace at `place` opens a block with an accessor `init`.
  private func hasInitAccessor(at place: Int) -> Bool {
    var inside = self
    inside.place = place
    inside.advance()
    while inside.token.kind != .end, !inside.token.is("}") {
      var head = Head()
      inside.readHead(&head)
      if inside.isName(inside.token, "init"), !inside.token(-1).is(".") {
        return inside.token(1).is("{") || inside.token(1).is("(")
      }
      if inside.token.is("{") || inside.token.is("(") || inside.token.is("[") {
        inside.skipBrackets()
      } else {
        inside.advance()
      }
    }
    return false
  }

  /// Whether the brace at `place` opens a block of `willSet` and `didSet`.
  func isObserverBlock(at place: Int) -> Bool {
    var inside = self
    inside.place = place
    inside.advance()
    var head = Head()
    inside.readHead(&head)
    guard inside.isName(inside.token, "willSet") || inside.isName(inside.token, "didSet") else {
      return false
    }
    return inside.token(1).is("{") || inside.token(1).is("(")
  }
}
