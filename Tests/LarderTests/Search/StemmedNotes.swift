import Foundation
import LarderTestKit

@testable import Larder

/// The tokenizer of the article on searching.
struct PluralStems: Tokenizer {
  let identifier = "plural-stems.1 on \(StandardTokenizer().identifier)"

  func words(in text: String) -> [SearchWord] {
    StandardTokenizer().words(in: text).map { word in
      var word = word
      if word.text.count > 3, word.text.hasSuffix("s") { word.text.removeLast() }
      return word
    }
  }
}

/// Takes suffixes off words, and leaves `the` out.
struct SuffixStems: Tokenizer {
  let identifier: String
  let suffixes: [String]

  static let first = SuffixStems(identifier: "suffixes.1", suffixes: ["s", "side"])
  static let second = SuffixStems(identifier: "suffixes.2", suffixes: ["s", "man"])

  func words(in text: String) -> [SearchWord] {
    StandardTokenizer().words(in: text).compactMap { word in
      guard let stem = stem(of: word.text) else { return nil }
      var word = word
      word.text = stem
      return word
    }
  }

  /// Nil for a word that is not searched.
  func stem(of word: some StringProtocol) -> String? {
    if word == "the" { return nil }
    let suffix = suffixes.first { word.hasSuffix($0) && word.count > $0.count }
    return String(word.dropLast(suffix?.count ?? 0))
  }
}

/// A type whose search index has a tokenizer of the app.
@Document
struct StemmedNote: Identifiable, Equatable, StemmedText {
  var id: Int
  @Searchable(weight: 3) var title: String
  @Searchable var body: String?
  @Searchable var tags: [String] = []
  var isPinned = false

  static let search = SearchIndex<StemmedNote>(tokenizer: SuffixStems.first)
}

/// The same in a later version of the app, with another version of the tokenizer.
@Document(as: "StemmedNote")
struct LaterStemmedNote: Identifiable, Equatable, StemmedText {
  var id: Int
  @Searchable(weight: 3) var title: String
  @Searchable var body: String?
  @Searchable var tags: [String] = []
  var isPinned = false

  static let search = SearchIndex<LaterStemmedNote>(tokenizer: SuffixStems.second)
}

protocol StemmedText {
  var id: Int { get }
  var title: String { get }
  var body: String? { get }
  var tags: [String] { get }
}

extension StemmedText {
  /// Weighted stems, one after the other, without anything of Larder.
  func weighted(_ stems: SuffixStems) -> NaiveRanking.Texts {
    func words(_ text: String) -> [Substring] {
      text.split(separator: " ").compactMap { stems.stem(of: $0).map { Substring($0) } }
    }
    return [(3, words(title)), (1, words(body ?? "")), (1, tags.flatMap(words))]
  }
}

extension StemmedNote {
  static let words = [
    "boat", "boats", "boatman", "boatside", "fjord", "fjords", "sea", "seas", "seaside", "seaman",
    "the", "s", "side", "river", "riverside",
  ]

  static func random(_ id: Int, _ random: inout RandomSource) -> StemmedNote {
    func text(_ counts: Range<Int>) -> String {
      random.array(counts) { $0.pick(words) }.joined(separator: " ")
    }
    return StemmedNote(
      id: id, title: text(1..<4), body: random.bool() ? text(0..<30) : nil,
      tags: random.array(0..<3) { $0.pick(words) }, isPinned: random.once(in: 4))
  }
}

extension Sequence where Element: StemmedText {
  /// The scores of the notes that have the stems of all of some words; nil where there is no stem.
  func scores(of words: [String], by stems: SuffixStems) -> [Int: NaiveScore]? {
    var wanted: [String] = []
    for stem in words.compactMap({ stems.stem(of: $0) }) where !wanted.contains(stem) {
      wanted.append(stem)
    }
    if wanted.isEmpty { return nil }
    let ranking = NaiveRanking(of: wanted, in: map { $0.weighted(stems) })
    var scores: [Int: NaiveScore] = [:]
    for note in self { scores[note.id] = ranking.score(of: note.weighted(stems)) }
    return scores
  }
}
