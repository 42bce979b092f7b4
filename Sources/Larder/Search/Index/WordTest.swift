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

/// A test made ready for many words.
struct ReadyWordTest {
  let test: WordTest
  /// What the words begin with that pass it.
  let prefix: [UInt8]
  private let distance: EditDistance?

  init(_ test: WordTest) {
    self.test = test
    prefix = test.prefix
    distance = EditDistance(test)
  }

  func passes(_ word: some RandomAccessCollection<UInt8>) -> Bool {
    guard word.starts(with: prefix) else { return false }
    return test.isExact ? word.count == prefix.count : distance?.isNear([UInt8](word)) ?? true
  }
}
