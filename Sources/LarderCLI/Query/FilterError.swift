/// An expression that means nothing, with its place.
struct FilterError: Error, Equatable {
  let expression: String
  /// The first scalar that is wrong, counted from 0; one behind the last where some are missing.
  let offset: Int
  let found: String
  let expected: String
  /// A guess what was meant, or nothing.
  let hint: String

  init(
    _ expression: String, at offset: Int, found: String, expected: String, hint: String = ""
  ) {
    self.expression = expression
    self.offset = offset
    self.found = found
    self.expected = expected
    self.hint = hint
  }

  /// The line of the expression that holds the place, and the scalars before the place in it.
  private var line: (number: Int, text: Substring.UnicodeScalarView, column: Int) {
    let scalars = expression.unicodeScalars
    let lines = scalars.split(separator: "\n", omittingEmptySubsequences: false)
    var rest = offset
    for (index, line) in lines.enumerated() {
      if rest <= line.count || index == lines.count - 1 {
        return (index + 1, line, min(rest, line.count))
      }
      rest -= line.count + 1
    }
    return (1, scalars[...], 0)
  }

  /// The line and the column, both counted from 1.
  var position: (line: Int, column: Int) { (line.number, line.column + 1) }
}

extension FilterError: CustomStringConvertible {
  /// What and where, the line, and a caret below the place.
  var description: String {
    let (number, text, column) = line
    let shown = text.map { Self.isShown($0) ? $0 : "\u{FFFD}" }
    let width = shown.prefix(column).reduce(0) { $0 + Self.width($1) }
    return "--where:\(number):\(column + 1): found \(found), expected \(expected)\(hint)\n  "
      + String(String.UnicodeScalarView(shown)) + "\n  "
      + String(repeating: " ", count: width) + "^"
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  /// How many columns of a terminal a scalar takes, nearly: marks none, East Asian ones and emoji
  /// two.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return 0
    default: break
    }
    switch scalar.value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}
