internal import LarderScanner

// Rules of merging. What the text of a type shows is refused here, where a sentence can say what to write;
// of other types, such as aliases, the compiler knows it.

extension DocumentReading {
  /// The rule of a property, as the schema writes it.
  mutating func mergeRule(of variable: Variable, _ attributes: [Attribute]) -> String? {
    guard let attribute = attributes.first(where: { FieldAttribute($0) == .merge }) else {
      return nil
    }
    guard let rule = MergeRuleText(attribute.argument?.text ?? "") else {
      fail(
        """
        `@Merge` needs a rule that is written here: `.lastWriter`, `.counter`, `.set`, `.max` or \
        `.custom { ... }`
        """, at: attribute.offset)
      return nil
    }
    if let type = variable.knownType, let reason = rule.refusal(WrittenType(type)) {
      let name = variable.name.plainName
      fail(
        "`\(name)` is \(reason.isArticleAn ? "an" : "a") `\(type)`, and \(reason.text)",
        at: attribute.offset)
      return nil
    }
    return rule.text
  }
}

/// The argument of `@Merge`.
private struct MergeRuleText {
  let name: String
  /// As the schema takes it, which has another type of rules.
  let text: String

  init?(_ argument: String) {
    var text = argument[...].drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text = text.dropLast() }
    for prefix in ["Larder.MergeRule", "MergeRule"] where text.hasPrefix(prefix + ".") {
      text = text.dropFirst(prefix.count)
    }
    guard text.first == "." else { return nil }
    name = String(text.dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    let rest = text.dropFirst(name.count + 1).drop(while: \.isWhitespace)
    switch name {
    case "lastWriter", "counter", "set", "max": guard rest.isEmpty else { return nil }
    case "custom": guard rest.first == "(" || rest.first == "{" else { return nil }
    default: return nil
    }
    self.text = String(text)
  }

  /// Why it means nothing for a type; nil where it does, or where the text does not say.
  func refusal(_ type: WrittenType) -> (text: String, isArticleAn: Bool)? {
    let reason: String? =
      switch (name, type.kind) {
      case ("counter", .number), ("set", .elements), ("max", .number), ("max", .ordered): nil
      case (_, .unknown): nil
      case ("counter", .elements):
        """
        `.counter` adds up numbers. Write `.set` to keep what either side has added, or leave `@Merge` \
        out: the last writer wins then
        """
      case ("counter", .ordered):
        """
        `.counter` adds up numbers. Write `.max` for the larger one or `.custom { ... }`, or leave \
        `@Merge` out: the last writer wins then
        """
      case ("counter", .other):
        """
        `.counter` adds up numbers. Write `.custom { ... }`, or leave `@Merge` out: the last writer \
        wins then
        """
      case ("set", .number):
        """
        `.set` merges the elements of an array or of a `Set`. Write `.counter` to add both changes up, \
        `.max` for the larger value, or leave `@Merge` out: the last writer wins then
        """
      case ("set", _):
        """
        `.set` merges the elements of an array or of a `Set`. Write `.custom { ... }`, or leave `@Merge` \
        out: the last writer wins then
        """
      case ("max", .elements):
        """
        `.max` takes the larger of two numbers, dates or texts. Write `.set` to keep what either side \
        has added, or leave `@Merge` out: the last writer wins then
        """
      case ("max", _):
        """
        `.max` takes the larger of two numbers, dates or texts. Write `.custom { ... }`, or leave \
        `@Merge` out: the last writer wins then
        """
      default: nil
      }
    return reason.map { ($0, type.beginsWithVowel) }
  }
}

/// A type as somebody has written it.
private struct WrittenType {
  enum Kind {
    case number, ordered, elements, other, unknown
  }

  private let text: String

  init(_ text: String) { self.text = text }

  var beginsWithVowel: Bool { text.first.map { "AEIOaeio".contains($0) } ?? false }

  var kind: Kind {
    var type = text[...]
    while type.last == "?" || type.last == "!" { type = type.dropLast() }
    if type.hasPrefix("Optional<"), type.last == ">" { type = type.dropFirst(9).dropLast() }
    if type.hasPrefix("[") { return Self.isDictionary(type) ? .other : .elements }
    if let end = type.firstIndex(of: "<") {
      switch Self.name(type[..<end]) {
      case "Array", "Set": return .elements
      case "Dictionary": return .other
      default: return .unknown
      }
    }
    return switch Self.name(type) {
    case "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64",
      "Double", "Float", "Decimal":
      .number
    case "String", "Date", "Bool": .ordered
    case "Data", "UUID", "URL": .other
    default: .unknown
    }
  }

  /// Without the module in front.
  private static func name(_ type: Substring) -> String {
    guard let dot = type.firstIndex(of: "."),
      type.hasPrefix("Swift.") || type.hasPrefix("Foundation.")
    else { return String(type) }
    return String(type[type.index(after: dot)...])
  }

  /// Whether a colon stands in the outermost brackets.
  private static func isDictionary(_ type: Substring) -> Bool {
    var depth = 0
    for character in type {
      switch character {
      case "[", "(", "<": depth += 1
      case "]", ")", ">": depth -= 1
      case ":" where depth == 1: return true
      default: break
      }
    }
    return false
  }
}
