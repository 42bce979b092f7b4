/// A declaration as its source text shows it: the head, and for a type with a body its variables.
///
/// Only what stands in the text is known: no type is looked up, no condition evaluated. Offsets
/// are UTF-8 offsets in that text.
public struct Declaration: Equatable, Sendable {
  public enum Kind: Equatable, Sendable {
    case structure, `class`, enumeration, actor, `extension`, `protocol`, variable, other
  }

  public internal(set) var kind = Kind.other
  /// The keyword: `struct`, `var`.
  public internal(set) var keyword = Fragment(text: "", offset: 0)
  /// The name, with its backticks where it has some.
  public internal(set) var name = Fragment(text: "", offset: 0)
  public internal(set) var attributes: [Attribute] = []
  public internal(set) var modifiers: [Fragment] = []
  /// `<T>`, where the type is generic.
  public internal(set) var generics: Fragment?
  /// What is written behind the colon, each with its modifiers and attributes.
  public internal(set) var inheritance: [Fragment] = []
  /// The body's variables, in their order; those of nested types are not among them.
  public internal(set) var variables: [Variable] = []
  /// The names of the types in the body, without aliases.
  public internal(set) var types: [Fragment] = []
  /// Where the body has initializers of its own.
  public internal(set) var initializers: [Int] = []
  /// What a condition keeps apart from the member that it stands in front of:
  /// `#if A` `@Key` `#endif`.
  public internal(set) var conditionalAttributes: [Attribute] = []
  /// Where a member begins that cannot be read.
  public internal(set) var unreadable: [Int] = []
}

/// A piece of the text.
public struct Fragment: Equatable, Sendable {
  public let text: String
  public let offset: Int
}

public struct Attribute: Equatable, Sendable {
  /// The name without what qualifies it: `Key` of `@Larder.Key`.
  public let name: String
  /// What qualifies the name: `Larder` of `@Larder.Key`.
  public let qualifier: String?
  /// What stands between the parentheses, where there are some.
  public let arguments: Fragment?
  /// Of the `@`.
  public let offset: Int
}

extension Attribute {
  /// The only argument without its label, and without the comma and the comments that may stand around it;
  /// nil where there is none.
  public var argument: Fragment? {
    guard let arguments else { return nil }
    let bytes = Array(arguments.text.utf8)
    var tokens = Lexer.tokens(of: bytes)[...].dropLast()
    if tokens.count > 1, tokens[0].kind == .name, tokens[1].is(":") { tokens = tokens.dropFirst(2) }
    if tokens.last?.is(",") == true { tokens = tokens.dropLast() }
    guard let first = tokens.first, let last = tokens.last else { return nil }
    return Fragment(
      text: String(decoding: bytes[first.start..<last.end], as: UTF8.self),
      offset: arguments.offset + first.start)
  }
}

/// One name that a `var` or `let` declares.
public struct Variable: Equatable, Sendable {
  public enum Storage: Equatable, Sendable {
    case stored
    /// Has a getter, or accessors that a macro or the compiler did not show.
    case computed
  }

  /// With its backticks; the whole pattern where it is a tuple.
  public let name: Fragment
  /// Whether a tuple is taken apart: `var (a, b) = (1, 2)`.
  public let isPattern: Bool
  public let isLet: Bool
  public let attributes: [Attribute]
  public let modifiers: [Fragment]
  /// The written type.
  public internal(set) var type: Fragment?
  public internal(set) var initialValue: Fragment?
  public internal(set) var storage = Storage.stored
  /// Whether it has an `init` accessor, and so stands in the memberwise initializer in place of what it sets.
  public internal(set) var hasInitAccessor = false
  /// Whether `willSet` or `didSet` watch it.
  public internal(set) var isObserved = false
  /// Where the innermost `#if` stands that it depends on.
  public internal(set) var condition: Int?

  public func hasModifier(_ names: String...) -> Bool {
    modifiers.contains { names.contains($0.text) }
  }
}

extension Fragment {
  /// A name without its backticks.
  public var plainName: String {
    guard text.hasPrefix("`"), text.hasSuffix("`"), text.utf8.count > 2 else { return text }
    return String(text.dropFirst().dropLast())
  }
}
