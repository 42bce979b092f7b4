/// Takes texts apart into words, for an app that needs another way than ``StandardTokenizer``: a stemmer, a list of
/// stop words, part numbers.
///
/// ```swift
/// struct PluralStems: Tokenizer {
///   let identifier = "plural-stems.1 on \(StandardTokenizer().identifier)"
///
///   func words(in text: String) -> [SearchWord] {
///     StandardTokenizer().words(in: text).map { word in
///       var word = word
///       if word.text.count > 3, word.text.hasSuffix("s") { word.text.removeLast() }
///       return word
///     }
///   }
/// }
/// ```
/// The same tokenizer takes apart what is stored and what a person types, so that `boats` finds `boat` here.
/// <doc:Searching> says what happens in a process that does not have it.
public protocol Tokenizer: Sendable {
  /// Its name and version, 1 to 200 bytes, which a search index keeps. Change it whenever the words of a text change:
  /// the index is then built anew. One that is made from another tokenizer names that one too.
  ///
  /// Asked once, when a ``SearchIndex`` is made.
  var identifier: String { get }

  /// The words of a text, in the order in which they stand behind one another for phrases. A word that is left
  /// out, such as a stop word, leaves no gap.
  ///
  /// It must give the same words for the same text, everywhere and always: otherwise searches miss documents, until
  /// `rebuildIndexes()`. Saves and deletions call it inside their transaction, and
  /// several threads call it at once; it must not use the store.
  ///
  /// - Parameter text: One text of a document, or a word or a phrase of what was typed, which is split at spaces and
  ///   quotation marks before.
  func words(in text: String) -> [SearchWord]
}

/// A word of a text, as a ``Tokenizer`` gives it.
public struct SearchWord: Sendable, Hashable {
  /// What documents are found by. Two words are the same if their UTF-8 is. It ends before a zero byte, and after 64
  /// bytes; an empty one is left out.
  public var text: String
  /// Where it stands in the text, in bytes of UTF-8: what a snippet highlights, and whether a word that is being
  /// typed has ended. A range that the text does not have is cut.
  public var utf8Range: Range<Int>
  /// What kind of word it is.
  public var kind: Kind

  /// Kinds of words.
  public enum Kind: Sendable, Hashable {
    /// Any word.
    case word
    /// Two neighbouring characters of a script without spaces.
    case pair
    /// The last character of a run of such a script, or its only one. When it is searched for, it may be the
    /// beginning of a pair.
    case tail
  }

  /// A word and its bytes in the text.
  public init(_ text: String, utf8Range: Range<Int>, kind: Kind = .word) {
    self.text = text
    self.utf8Range = utf8Range
    self.kind = kind
  }

  /// A word that was made from a part of the text, such as an element of `text.split(separator: " ")`.
  public init(_ text: String, at part: Substring, kind: Kind = .word) {
    let bytes = part.base.utf8
    let start = bytes.distance(from: bytes.startIndex, to: part.startIndex)
    self.init(text, utf8Range: start..<start + part.utf8.count, kind: kind)
  }
}

/// The tokenizer of a search or of a search index. Two are the same if their identifiers are.
struct SearchTokenizer: Sendable {
  /// Nil where it is the standard one.
  let identifier: String?
  private let custom: (any Tokenizer)?

  /// As an app knows it.
  var tokenizer: any Tokenizer { custom ?? StandardTokenizer() }

  static let standard = SearchTokenizer(nil)
  static let maximumIdentifierByteCount = 200

  init(_ tokenizer: (any Tokenizer)?) {
    custom = tokenizer is StandardTokenizer ? nil : tokenizer
    // Two identifiers are compared by their bytes, as the catalogue has them.
    identifier = custom?.identifier
  }

  /// Why no index can have it; nil where one can.
  var refusal: String? {
    guard let identifier else { return nil }
    if identifier.isEmpty { return "the identifier of its tokenizer is empty" }
    if identifier.utf8.count > Self.maximumIdentifierByteCount {
      return "the identifier of its tokenizer takes more than "
        + "\(Self.maximumIdentifierByteCount) bytes"
    }
    return nil
  }
}

extension SearchTokenizer: Hashable {
  static func == (left: Self, right: Self) -> Bool {
    SearchTokenizer.isSame(left.identifier, right.identifier)
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(identifier.map { Array($0.utf8) })
  }

  static func isSame(_ left: String?, _ right: String?) -> Bool {
    guard let left, let right else { return left == nil && right == nil }
    return left.utf8.elementsEqual(right.utf8)
  }
}

extension SearchTokenizer {
  /// Lends the words of a text, as ``Words`` does; false where it is the standard tokenizer, which does not.
  ///
  /// Whatever a tokenizer gives, words have 1 to 64 bytes, none of them zero, and places that the text has.
  func forEachWord(in text: UnsafeRawBufferPointer, _ body: Words.Body) rethrows -> Bool {
    guard let custom else { return false }
    for word in custom.words(in: String(decoding: text, as: UTF8.self)) {
      let start = min(max(0, word.utf8Range.lowerBound), text.count)
      let place = start..<min(max(start, word.utf8Range.upperBound), text.count)
      var letters = word.text
      try letters.withUTF8 { letters in
        var count = min(letters.count, SearchLayout.maximumTermByteCount)
        if count < letters.count {
          while count > 0, letters[count] & 0xC0 == 0x80 { count -= 1 }
        }
        if let zero = letters[..<count].firstIndex(of: 0) { count = zero }
        if count == 0 { return }
        try body(
          UnsafeRawBufferPointer(start: letters.baseAddress, count: count), place, word.kind)
      }
    }
    return true
  }
}
