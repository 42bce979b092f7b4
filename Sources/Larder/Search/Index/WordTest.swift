/// Which words of an index are meant.
enum WordTest: Hashable, Sendable {
  case equals([UInt8])
  case begins([UInt8])
  /// With so many edits at most, and the same first character.
  case resembles([UInt8], edits: Int)

  /// Where to begin in the order of the words, and what they begin with.
  var prefix: [UInt8] {
    switch self {
    case .equals(let term), .begins(let term): return term
    case .resembles(let term, _):
      let first = term.first ?? 0
      return Array(term.prefix(first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4))
    }
  }

  var isExact: Bool { if case .equals = self { true } else { false } }
}
