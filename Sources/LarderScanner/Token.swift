/// A piece of Swift source as the scanner needs it: whole literals, names, single characters.
struct Token: Equatable {
  enum Kind: Equatable {
    /// A name or a keyword, with its backticks.
    case name
    case number
    /// A string with everything that is interpolated in it.
    case string
    case regex
    /// `#` and the name behind it.
    case pound
    /// One bracket, one character of punctuation or of an operator.
    case symbol(UInt8)
    /// Behind the last one.
    case end
  }

  let kind: Kind
  /// UTF-8 offset of the first byte.
  let start: Int
  /// UTF-8 offset behind the last byte.
  let end: Int
  /// Whether a line ends between the token before and this one.
  let startsLine: Bool
  /// Whether white space or a comment stands in front.
  let isSpaced: Bool

  /// The byte that stands for any operator character which is not ASCII.
  static let foreignOperator: UInt8 = 0x80

  var symbol: UInt8? {
    if case .symbol(let byte) = kind { return byte }
    return nil
  }

  func `is`(_ character: Unicode.Scalar) -> Bool { kind == .symbol(UInt8(ascii: character)) }

  /// Whether it is a character that operators are made of.
  var isOperator: Bool {
    guard let symbol else { return false }
    return symbol == Self.foreignOperator || "+-*/%=<>!&|^~?".utf8.contains(symbol)
  }
}
