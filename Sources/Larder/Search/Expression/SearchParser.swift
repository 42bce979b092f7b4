/// Reads what was typed, term by term.
struct SearchParser: ~Copyable {
  enum Part: Equatable {
    case wanted(SearchTerm)
    /// Instead of the one before.
    case alternative(SearchTerm)
    case excluded(SearchTerm)
  }

  private var rest: Substring.UnicodeScalarView
  private let isBeingTyped: Bool
  private let allowsTypos: Bool
  private var words: Words
  private var before = Before.nothing
  /// Whether an `OR` stands between what comes next and the term before it.
  private var isAlternative = false

  /// What stands before the next piece.
  private enum Before {
    /// It is the first one.
    case nothing
    case term
    /// What is excluded, or has no word: an `OR` behind it joins nothing, and is no word either.
    case noTerm
  }

  init(_ text: String, by tokenizer: SearchTokenizer, isBeingTyped: Bool, allowsTypos: Bool) {
    words = Words(tokenizer)
    rest = text.unicodeScalars[...]
    self.isBeingTyped = isBeingTyped
    self.allowsTypos = allowsTypos
  }

  mutating func next() -> Part? {
    while true {
      rest = rest.drop { $0.isSpace }
      guard let first = rest.first else { return nil }
      var isExcluded = false
      if first == "-", let second = rest.dropFirst().first, !second.isSpace {
        isExcluded = true
        rest = rest.dropFirst()
      }
      let isQuoted = rest.first?.isQuote ?? false
      let typed = isQuoted ? takeQuoted() : takeWord()
      if !isExcluded, !isQuoted, before != .nothing, typed.elementsEqual("OR".unicodeScalars) {
        isAlternative = before == .term
        continue
      }
      let term = term(typed, isQuoted: isQuoted)
      defer {
        before = isExcluded || term == nil ? .noTerm : .term
        isAlternative = false
      }
      guard let term else { continue }
      return isExcluded ? .excluded(term) : isAlternative ? .alternative(term) : .wanted(term)
    }
  }

  /// Whether what was taken last is still being typed.
  private var isOpen: Bool { isBeingTyped && rest.isEmpty }

  private var isClosed = false

  private mutating func takeWord() -> Substring.UnicodeScalarView {
    let word = rest.prefix { !$0.isSpace && !$0.isQuote }
    rest = rest[word.endIndex...]
    isClosed = false
    return word
  }

  private mutating func takeQuoted() -> Substring.UnicodeScalarView {
    let inside = rest.dropFirst()
    let phrase = inside.prefix { !$0.isQuote }
    isClosed = phrase.endIndex < rest.endIndex
    rest = rest[phrase.endIndex...].dropFirst()
    return phrase
  }

  private mutating func term(
    _ typed: Substring.UnicodeScalarView, isQuoted: Bool
  ) -> SearchTerm? {
    var typed = typed
    let hasStar = typed.last == "*"
    if hasStar { typed.removeLast() }
    var found: [[UInt8]] = []
    var last = (kind: Words.Kind.word, end: 0)
    var isCut = false
    let bytes = Array(String(typed).utf8)
    bytes.withUnsafeBytes { text in
      words.forEach(in: text) { word, place, kind in
        guard found.count < SearchExpression.maximumWordCount else { return isCut = true }
        // The last character of a run may have others behind it in a text, and then begins a pair.
        if kind == .tail, last.kind == .pair, place.upperBound == text.count { return }
        found.append([UInt8](word))
        last = (kind, place.upperBound)
      }
    }
    guard !found.isEmpty else { return nil }
    var isPrefix = hasStar || isOpen && !isClosed
    let isAtEnd = last.end == bytes.count || Words.isMiddle(bytes[last.end...])
    isPrefix = isPrefix && isAtEnd && last.kind == .word
    if last.kind == .tail, last.end == bytes.count { isPrefix = true }
    // Whoever writes the star knows how the word begins.
    let mayHaveTypos = allowsTypos && !isQuoted && !hasStar && last.kind == .word
    return SearchTerm(
      found, isPrefix: isPrefix && !isCut, edits: mayHaveTypos ? Self.edits(found[0]) : 0)
  }

  /// How many typos a word may have.
  private static func edits(_ word: [UInt8]) -> Int {
    if word.contains(where: { 0x30...0x39 ~= $0 }) { return 0 }
    let count = String(decoding: word, as: UTF8.self).unicodeScalars.count
    return count < 5 ? 0 : count < 9 ? 1 : 2
  }
}

extension Unicode.Scalar {
  fileprivate var isSpace: Bool {
    isASCII ? self == " " || 0x09...0x0D ~= value : properties.isWhitespace
  }

  fileprivate var isQuote: Bool {
    switch self {
    case "\"", "“", "”", "„", "‟", "«", "»", "＂", "「", "」": true
    default: false
    }
  }
}
