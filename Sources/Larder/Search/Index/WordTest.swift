/// Which words of an index are meant.
enum WordTest: Hashable, Sendable {
  case equals([UInt8])
  case begins([UInt8])
  /// With so many edits at most, and the same first character; or, where it is said, beginning with it.
  case resembles([UInt8], edits: Int, orBegins: Bool)

  /// Where to begin in the order of the words, and what they begin with.
  var prefix: [UInt8] {
    switch self {
    case .equals(let term), .begins(let term): return term
    case .resembles(let term, _, _):
      let first = term.first ?? 0
      return Array(term.prefix(first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4))
    }
  }

  var isExact: Bool { if case .equals = self { true } else { false } }
}

/// A test made ready for many words.
struct ReadyWordTest {
  let test: WordTest
  /// What the words begin with that pass it.
  let prefix: [UInt8]
  private let distance: EditDistance?
  /// What may stand at the beginning instead; nil where that is no reason.
  private let beginning: [UInt8]?

  init(_ test: WordTest) {
    self.test = test
    prefix = test.prefix
    distance = EditDistance(test)
    if case .resembles(let term, _, true) = test { beginning = term } else { beginning = nil }
  }

  func passes(_ word: some RandomAccessCollection<UInt8>) -> Bool {
    guard word.starts(with: prefix) else { return false }
    if test.isExact { return word.count == prefix.count }
    if let beginning, word.starts(with: beginning) { return true }
    return distance?.isNear([UInt8](word)) ?? true
  }
}
