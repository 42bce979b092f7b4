/// The meaning of a text that a person types into a search field.
///
/// | typed | asks for |
/// |---|---|
/// | `blue winter` | both words, anywhere |
/// | `"blue winter"` | the words behind one another; without its closing quote up to the end |
/// | `london OR paris` | one of them; binds tighter than a space: `hotel london OR paris` |
/// | `-snow`, `-"deep snow"` | documents without it |
/// | `win*` | words that begin so |
/// | `e-mail`, `東京都` | the words that these are taken apart into, behind one another |
///
/// An empty text matches every document, and so does one without any word: a list is whole before anybody
/// searches in it. A text that only excludes matches all other documents. After ``maximumTermCount`` terms, of which each
/// alternative and each exclusion is one, and in a term after ``maximumWordCount`` words, the rest is ignored.
struct SearchExpression: Sendable, Hashable {
  /// A document must have a term of each of these.
  private(set) var wanted: [[SearchTerm]] = []
  /// It must have none of these.
  private(set) var excluded: [SearchTerm] = []

  static let maximumTermCount = 64
  static let maximumWordCount = 64

  /// - Parameters:
  ///   - tokenizer: Takes words apart.
  ///   - isBeingTyped: Whether the last word may be the beginning of one: it is taken for that, unless
  ///     something that ends words follows it, such as a space.
  ///   - allowsTypos: Whether a word may differ by an edit, or by two, where it has 5 letters, or 9, and no
  ///     digit. The first letter must be right.
  init(
    _ text: String, by tokenizer: SearchTokenizer = .standard, isBeingTyped: Bool = false,
    allowsTypos: Bool = false
  ) {
    var parser = SearchParser(
      text, by: tokenizer, isBeingTyped: isBeingTyped, allowsTypos: allowsTypos)
    for _ in 0..<Self.maximumTermCount {
      guard let next = parser.next() else { break }
      switch next {
      case .excluded(let term): excluded.append(term)
      case .wanted(let term): wanted.append([term])
      case .alternative(let term): wanted[wanted.count - 1].append(term)
      }
    }
    // A word that is typed twice counts once.
    wanted = Self.unique(wanted.map { Self.unique($0) })
    excluded = Self.unique(excluded)
  }

  private static func unique<Element: Hashable>(_ elements: [Element]) -> [Element] {
    if elements.count < 2 { return elements }
    var seen: Set<Element> = []
    return elements.filter { seen.insert($0).inserted }
  }

  init(wanted: [[SearchTerm]], excluded: [SearchTerm]) {
    self.wanted = wanted
    self.excluded = excluded
  }
}

extension SearchExpression: CustomStringConvertible {
  var description: String {
    (wanted.map { $0.map(\.description).joined(separator: " OR ") }
      + excluded.map { "-\($0)" }).joined(separator: " ")
  }
}
