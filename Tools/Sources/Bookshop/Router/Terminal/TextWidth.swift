// How many columns a text takes, and how it is made to fit. Terminals do not agree about all of
// Unicode; this is what most of them do.

extension Character {
  /// Columns: 2 for East Asian wide ones and emoji, otherwise 1.
  var columnCount: Int {
    guard let first = unicodeScalars.first else { return 0 }
    if unicodeScalars.count == 1, first.properties.generalCategory == .format { return 0 }
    if unicodeScalars.contains("\u{FE0F}") || unicodeScalars.contains("\u{200D}") { return 2 }
    return first.isWide ? 2 : 1
  }
}

extension Unicode.Scalar {
  fileprivate var isWide: Bool {
    if properties.isEmojiPresentation { return true }
    return switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF,
      0xA000...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// What would steer a terminal, or turn the direction of all that follows.
  fileprivate var isSteering: Bool {
    switch value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}

extension String {
  var columnCount: Int { reduce(0) { $0 + $1.columnCount } }

  /// Without what would steer a terminal: texts come from a server. White space is a space.
  var printable: String {
    guard unicodeScalars.contains(where: \.isSteering) else { return self }
    var scalars = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar.properties.isWhitespace {
        scalars.append(" ")
      } else if scalar.isSteering {
        scalars.append("\u{FFFD}")
      } else {
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  /// The text in exactly so many columns: filled up, or cut with an ellipsis.
  func fitted(to columns: Int, atEnd: Bool = false) -> String {
    guard columns > 0 else { return "" }
    let count = columnCount
    if count <= columns {
      let space = String(repeating: " ", count: columns - count)
      return atEnd ? space + self : self + space
    }
    var result = ""
    var taken = 0
    for character in self {
      let width = character.columnCount
      guard taken + width < columns else { break }
      result.append(character)
      taken += width
    }
    return result + "…" + String(repeating: " ", count: columns - taken - 1)
  }

  /// The text in lines of at most so many columns, broken at spaces, and inside of words that are
  /// too long. Its own line ends stay.
  func wrapped(to columns: Int) -> [String] {
    guard columns > 1 else { return [] }
    var lines: [String] = []
    for paragraph in split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      var line = ""
      for word in String(paragraph).printable.split(separator: " ") {
        var word = String(word)
        if !line.isEmpty, line.columnCount + 1 + word.columnCount <= columns {
          line += " " + word
          continue
        }
        if !line.isEmpty { lines.append(line) }
        while word.columnCount > columns { lines.append(word.cutFirst(columns)) }
        line = word
      }
      lines.append(line)
    }
    return lines
  }

  /// Cuts off as many letters as have room in so many columns, one at least.
  private mutating func cutFirst(_ columns: Int) -> String {
    var taken = 0
    let end = indices.first { index in
      taken += self[index].columnCount
      return taken > columns
    }
    let cut = max(end ?? endIndex, index(after: startIndex))
    defer { removeFirst(distance(from: startIndex, to: cut)) }
    return String(self[..<cut])
  }
}
