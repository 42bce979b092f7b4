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
    if let beginning, word.starts(with: beginning), !isVoiced(word, behind: beginning) {
      return true
    }
    return distance?.isNear([UInt8](word)) ?? !isVoiced(word, behind: prefix)
  }

  /// Whether a mark follows that voices the kana in front of it, which is another one then: か does not begin が, which
  /// stands as か and U+3099, or U+309A.
  private func isVoiced(
    _ word: some RandomAccessCollection<UInt8>, behind beginning: [UInt8]
  ) -> Bool {
    guard word.count >= beginning.count + 3 else { return false }
    let mark = word.dropFirst(beginning.count).prefix(3)
    return mark.first == 0xE3
      && (mark.elementsEqual([0xE3, 0x82, 0x99]) || mark.elementsEqual([0xE3, 0x82, 0x9A]))
  }
}
