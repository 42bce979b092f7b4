/// What a document must have, or must not have: a word, or words behind one another in a field.
struct SearchTerm: Sendable, Hashable {
  /// As `Words` gives them; one at least.
  let words: [[UInt8]]
  /// Whether the last word may be only the beginning of one.
  let isPrefix: Bool
  /// How many edits a whole word may be away; 0 where there are several.
  let edits: Int

  init(_ words: [[UInt8]], isPrefix: Bool = false, edits: Int = 0) {
    self.words = words
    self.isPrefix = isPrefix
    self.edits = words.count == 1 ? edits : 0
  }

  /// What each of the words in a text must be.
  var tests: [WordTest] {
    words.enumerated().map { place, word in
      let mayBegin = isPrefix && place == words.count - 1
      if edits > 0 { return .resembles(word, edits: edits, orBegins: mayBegin) }
      return mayBegin ? .begins(word) : .equals(word)
    }
  }
}

extension SearchTerm: CustomStringConvertible {
  var description: String {
    let text =
      words.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
      + (isPrefix ? "*" : "")
    return words.count > 1 ? "\"\(text)\"" : text + (edits > 0 ? "~\(edits)" : "")
  }
}
