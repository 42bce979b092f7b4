internal import Larder
internal import LarderImport

/// One word of an expression.
struct FilterToken: Equatable {
  enum Kind: Equatable {
    case name(String, isQuoted: Bool)
    case string(String)
    /// A number as written.
    case number(String)
    case sign(String)
    case end
  }

  let kind: Kind
  /// Its first scalar, counted from 0.
  let offset: Int
  /// As written.
  let text: String

  /// What an error calls it.
  var phrase: String { kind == .end ? "the end" : text.inQuotes }
}

extension FilterToken {
  /// The words of an expression, and the end behind them.
  ///
  /// - Throws: ``FilterError``.
  static func tokens(of expression: String) throws(FilterError) -> [FilterToken] {
    var lexer = Lexer(expression: expression)
    var tokens: [FilterToken] = []
    while let token = try lexer.next() { tokens.append(token) }
    return tokens + [FilterToken(kind: .end, offset: lexer.offset, text: "")]
  }
}

private struct Lexer {
  let expression: String
  private var rest: Substring.UnicodeScalarView
  /// Where the latest word begins: counting from there keeps long expressions cheap.
  private var mark: (index: String.Index, offset: Int)

  init(expression: String) {
    self.expression = expression
    rest = expression.unicodeScalars[...]
    mark = (expression.startIndex, 0)
  }

  /// Scalars before what is not yet read.
  var offset: Int { offset(of: rest.startIndex) }

  private func offset(of index: String.Index) -> Int {
    mark.offset + expression.unicodeScalars.distance(from: mark.index, to: index)
  }

  /// The longer ones first.
  private static let signs = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", ".",
  ]

  mutating func next() throws(FilterError) -> FilterToken? {
    rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }
    mark = (rest.startIndex, offset)
    let start = rest
    guard let first = rest.first else { return nil }
    let kind: FilterToken.Kind
    switch first {
    case "\"", "'": kind = .string(try string(endingWith: first))
    case "`":
      guard let name = FieldPath.quotedName(takenFrom: &rest) else {
        throw error(at: mark.offset, "a name whose backquote does not end", "another backquote")
      }
      kind = .name(name, isQuoted: true)
    case "0"..."9", "-": kind = .number(try number())
    case _ where FieldPath.canBegin(first):
      let name = rest.prefix(while: FieldPath.canContinue)
      rest = rest[name.endIndex...]
      kind = .name(String(name), isQuoted: false)
    default: kind = .sign(try sign())
    }
    return FilterToken(kind: kind, offset: mark.offset, text: String(start[..<rest.startIndex]))
  }

  private mutating func sign() throws(FilterError) -> String {
    for sign in Self.signs where rest.starts(with: sign.unicodeScalars) {
      rest = rest.dropFirst(sign.unicodeScalars.count)
      return sign
    }
    let found = rest.first.map { String($0) } ?? ""
    let meant = ["=": "`==`", "&": "`&&`", "|": "`||`"][found]
    throw error(at: offset, found.inQuotes, meant ?? "a field, a value or a sign")
  }

  private mutating func number() throws(FilterError) -> String {
    let text = String(
      rest.prefix { ("0"..."9").contains($0) || [".", "e", "E", "+", "-"].contains($0) })
    var utf8 = Array(text.utf8)
    let outcome = utf8.withUnsafeMutableBufferPointer { NumberText.read(UnsafeBufferPointer($0)) }
    if case .failure(let fault) = outcome {
      let found = text.dropFirst(fault.index).first.map { String($0).inQuotes } ?? "the end"
      throw error(at: mark.offset + fault.index, "\(found) in a number", fault.expected)
    }
    rest = rest.dropFirst(text.unicodeScalars.count)
    return text
  }

  // MARK: Strings

  private mutating func string(endingWith quote: Unicode.Scalar) throws(FilterError) -> String {
    var text = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst() {
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escaped() : scalar)
    }
    throw error(
      at: mark.offset, "a string that does not end", "\(String(quote).inQuotes) behind it")
  }

  /// The scalar of the escape behind a backslash.
  private mutating func escaped() throws(FilterError) -> Unicode.Scalar {
    let start = rest.startIndex
    switch rest.popFirst() {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case let scalar? where ["\\", "\"", "'"].contains(scalar): return scalar
    case "u":
      let isBraced = rest.first == "{"
      if isBraced { rest.removeFirst() }
      let digits = String(rest.prefix(isBraced ? 8 : 4).prefix { $0.properties.isASCIIHexDigit })
      rest = rest.dropFirst(digits.unicodeScalars.count)
      let isEnded = isBraced ? rest.popFirst() == "}" : digits.utf8.count == 4
      if isEnded, let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) {
        return scalar
      }
    default: break
    }
    throw error(
      at: offset(of: start) - 1, "an escape that means nothing",
      #"one of \\, \", \', \n, \r, \t, \u0041 and \u{1F98A}"#)
  }

  private func error(at offset: Int, _ found: String, _ expected: String) -> FilterError {
    FilterError(expression, at: offset, found: found, expected: expected)
  }
}
