internal import Larder
internal import LarderImport

/// Reads what `--where` takes:
///
/// ```
/// expression  = conjunction { "||" conjunction } ;
/// conjunction = unary { "&&" unary } ;
/// unary       = "!" unary | "(" expression ")" | condition ;
/// condition   = "true" | "false" | field [ comparison ] ;
/// comparison  = ( "==" | "!=" ) ( value | "nil" )
///             | ( "<" | "<=" | ">" | ">=" ) value
///             | "in" "[" [ value { "," value } ] "]"
///             | ( "contains" | "hasPrefix" | "hasSuffix" ) value ;
/// value       = string | number | "true" | "false" ;
/// field       = name { "." name } ;
/// name        = ( letter | "_" ) { letter | digit | "_" | "-" } | "`" any "`" ;
/// string      = '"' any '"' | "'" any "'" ;
/// number      = as in JSON ;
/// ```
/// A field alone is one of kind bool, that is true. Text that is compared with a date, a UUID, a
/// URL, data or a decimal is read as one. `!` is about the whole comparison behind it. What is
/// inside one another is at most ``maximumDepth`` deep.
struct FilterParser {
  static let maximumDepth = 64

  private let expression: String
  private let collection: DynamicCollection
  /// What the catalogue knows of the documents.
  private let place: FieldPlace?
  private let tokens: [FilterToken]
  private var index = 0

  /// - Throws: ``FilterError`` for an expression that means nothing in `collection`; `StoreError`.
  static func filter(
    _ expression: String, in collection: DynamicCollection
  ) throws -> DynamicFilter {
    var parser = try FilterParser(expression, collection)
    let filter = try parser.expression(depth: 0)
    guard parser.token.kind == .end else { throw parser.unexpected("`&&`, `||` or the end") }
    return filter
  }

  private init(_ expression: String, _ collection: DynamicCollection) throws {
    self.expression = expression
    self.collection = collection
    place = try collection.place()
    tokens = try FilterToken.tokens(of: expression)
  }

  private var token: FilterToken { tokens[index] }

  /// Moves over the next word, if it is this sign.
  private mutating func skip(_ sign: String) -> Bool {
    guard token.kind == .sign(sign) else { return false }
    index += 1
    return true
  }

  // MARK: Conditions together

  private mutating func expression(depth: Int) throws -> DynamicFilter {
    var parts = [try conjunction(depth: depth)]
    while skip("||") { parts.append(try conjunction(depth: depth)) }
    return parts.count == 1 ? parts[0] : .any(parts)
  }

  private mutating func conjunction(depth: Int) throws -> DynamicFilter {
    var parts = [try unary(depth: depth)]
    while skip("&&") { parts.append(try unary(depth: depth)) }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private mutating func unary(depth: Int) throws -> DynamicFilter {
    guard depth < Self.maximumDepth else {
      throw error(
        at: token, "more than \(Self.maximumDepth) `!` and parentheses inside one another",
        "at most \(Self.maximumDepth)")
    }
    if skip("!") { return .not(try unary(depth: depth + 1)) }
    guard skip("(") else { return try condition() }
    let inner = try expression(depth: depth + 1)
    guard skip(")") else { throw unexpected("`&&`, `||` or `)`") }
    return inner
  }

  // MARK: One condition

  private mutating func condition() throws -> DynamicFilter {
    guard case .name(let name, let isQuoted) = token.kind else {
      throw unexpected("a field, `!` or `(`")
    }
    if !isQuoted, name == "true" || name == "false" {
      index += 1
      return .constant(name == "true")
    }
    let first = index
    let path = try self.path()
    let sign = token
    var values: [FilterToken] = []
    let filter: DynamicFilter
    if let comparison = try comparison(path, &values) {
      filter = .test(path, comparison)
    } else if sign.kind == .sign("!=") {
      index += 1
      values = [token]
      filter = .not(.test(path, .equal(try value(path, orNil: true))))
    } else {
      filter = .test(path, .equal(.bool(true)))
    }
    try check(filter, names: tokens[first..<index].filter(\.isName), sign, values)
    return filter
  }

  private mutating func path() throws -> FieldPath {
    var path: FieldPath?
    repeat {
      guard case .name(let name, _) = token.kind else { throw unexpected("the name of a field") }
      path = path?.appending(name) ?? FieldPath(field: name)
      index += 1
    } while skip(".")
    return path ?? FieldPath(field: "")
  }

  /// The comparison behind a field, but for `!=`; nil where there is none.
  private mutating func comparison(
    _ path: FieldPath, _ values: inout [FilterToken]
  ) throws -> DynamicFilter.Comparison? {
    let sign = token
    switch sign.kind {
    case .sign("=="), .sign("<"), .sign("<="), .sign(">"), .sign(">="),
      .name("contains", isQuoted: false), .name("hasPrefix", isQuoted: false),
      .name("hasSuffix", isQuoted: false):
      index += 1
      values = [token]
      let value = try value(path, orNil: sign.text == "==")
      switch sign.text {
      case "==": return .equal(value)
      case "<": return .less(value)
      case "<=": return .lessOrEqual(value)
      case ">": return .greater(value)
      case ">=": return .greaterOrEqual(value)
      case "contains": return .contains(value)
      default:
        guard case .string(let text) = value else {
          throw error(at: values[0], values[0].phrase, "text")
        }
        return sign.text == "hasPrefix" ? .hasPrefix(text) : .hasSuffix(text)
      }
    case .name("in", isQuoted: false):
      index += 1
      return .isIn(try list(path, &values))
    case .name: throw unexpected("a comparison", hint: Self.guess(sign.text))
    default: return nil
    }
  }

  private static func guess(_ word: String) -> String {
    Spelling.suggestion(word, among: ["contains", "hasPrefix", "hasSuffix", "in"])
  }

  private mutating func list(
    _ path: FieldPath, _ tokens: inout [FilterToken]
  ) throws -> [Value] {
    guard skip("[") else { throw unexpected("`[`") }
    var values: [Value] = []
    if skip("]") { return values }
    repeat {
      tokens.append(token)
      values.append(try value(path, orNil: false))
    } while skip(",")
    guard skip("]") else { throw unexpected("`,` or `]`") }
    return values
  }

  private mutating func value(_ path: FieldPath, orNil: Bool) throws -> Value {
    let value: Value
    switch token.kind {
    case .string(let text): value = .string(text)
    case .number(let text): value = try number(text, path)
    case .name("true", isQuoted: false): value = .bool(true)
    case .name("false", isQuoted: false): value = .bool(false)
    case .name("nil", isQuoted: false) where orNil: value = .null
    case .name(let name, isQuoted: false):
      let hint =
        name == "null" && orNil
        ? "; did you mean `nil`?" : "; text stands between quotes"
      throw unexpected("a value", hint: hint)
    default:
      let words = orNil ? "true, false or nil" : "true or false"
      throw unexpected("a value: text in quotes, a number, \(words)")
    }
    index += 1
    return value
  }

  /// A number for a field of decimals keeps all its digits. Of others that would be rounded, none is read: rounded,
  /// it would equal what it is not.
  private func number(_ text: String, _ path: FieldPath) throws -> Value {
    let place = path.names.reduce(place) { $0?.member($1) }
    if (place?.element ?? place)?.kind == .decimal,
      let decimal = ValueText.value(text, as: .decimal)
    {
      return decimal
    }
    switch Array(text.utf8).withUnsafeBufferPointer({ NumberText.read($0) }) {
    case .success(.integer(let value)): return .integer(value)
    case .success(.unsigned(let value)): return .unsigned(value)
    case .success(.double(let value)): return .double(value)
    default:
      guard let double = Double(text), double.isFinite, double != 0, double.keepsDigits(of: text)
      else {
        throw error(
          at: token, text.inQuotes,
          "an integer of 64 bits, or a number of which a double keeps every digit")
      }
      return .double(double)
    }
  }

  // MARK: Errors

  /// Makes sure that the collection has an answer to a comparison.
  private func check(
    _ filter: DynamicFilter, names: [FilterToken], _ sign: FilterToken, _ values: [FilterToken]
  ) throws {
    do {
      try collection.check(DynamicQuery(where: filter))
    } catch let refusal as DynamicQueryError {
      switch refusal.part {
      case .name(let level):
        let name = refusal.path.names[level]
        throw error(
          at: names[level],
          refusal.knownNames.isEmpty ? refusal.found : name.inQuotes,
          refusal.knownNames.isEmpty
            ? refusal.expected : "a field that \(collection.name) has",
          hint: Spelling.suggestion(name, among: refusal.knownNames))
      case .comparison: throw error(at: sign, refusal.found, refusal.expected)
      case .operand(let index):
        // A field alone has no operand: it is its kind that is not bool.
        guard index < values.count else {
          throw error(
            at: sign, "a field of kind \(kind(refusal.path)) without a comparison",
            "a comparison such as `==`, or a field of kind bool")
        }
        throw error(at: values[index], refusal.found, refusal.expected)
      case .tokenizer: throw refusal  // Of searches, not of conditions.
      }
    }
  }

  private func kind(_ path: FieldPath) -> String {
    path.names.reduce(place) { $0?.member($1) }.map { "\($0.kind)" } ?? "unknown"
  }

  private func unexpected(_ expected: String, hint: String = "") -> FilterError {
    error(at: token, token.phrase, expected, hint: hint)
  }

  private func error(
    at token: FilterToken, _ found: String, _ expected: String, hint: String = ""
  ) -> FilterError {
    FilterError(expression, at: token.offset, found: found, expected: expected, hint: hint)
  }
}

extension FilterToken {
  fileprivate var isName: Bool { if case .name = kind { true } else { false } }
}
