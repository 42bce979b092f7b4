/// An expression that means nothing, with its place.
struct FilterError: Error, Equatable {
  let expression: String
  /// The first scalar that is wrong, counted from 0; one behind the last where some are missing.
  let offset: Int
  let found: String
  let expected: String
  /// A guess what was meant, or nothing.
  let hint: String
  /// The option that has the expression.
  var option = "--where"

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
    let width = shown.prefix(column).reduce(0) { $0 + $1.columnCount }
    return "\(option):\(number):\(column + 1): found \(found), expected \(expected)\(hint)\n  "
      + String(String.UnicodeScalarView(shown)) + "\n  "
      + String(repeating: " ", count: width) + "^"
  }

  private static func isShown(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }
}
