extension Unicode.Scalar {
  /// How many columns of a terminal it takes, nearly: marks and joiners none, East Asian ones and emoji
  /// two.
  var columnCount: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if properties.isEmojiPresentation { return 2 }
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF,
      0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
      0x20000...0x3FFFD:
      return 2
    default: return 1
    }
  }
}

extension String {
  /// How many columns of a terminal it takes, nearly: of what is one character the widest part counts.
  var columnCount: Int {
    if utf8.allSatisfy({ $0 < 0x80 }) { return utf8.count }
    return reduce(0) { sum, character in
      sum + (character.unicodeScalars.lazy.map(\.columnCount).max() ?? 0)
    }
  }
}
