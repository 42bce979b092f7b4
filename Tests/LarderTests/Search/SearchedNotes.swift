import Foundation
import LarderTestKit

@testable import Larder

/// A type that is searched as an app declares it.
@Document
struct SearchedNote: Identifiable, Equatable {
  var id: Int
  @Searchable(weight: 3) var title: String
  @Searchable var body: String?
  @Searchable var tags: [String] = []
  @Searchable(weight: 2) var place: Place?
  var isPinned = false

  @EmbeddedDocument
  struct Place: Equatable {
    @Searchable(weight: 2) var name: String
    var country = ""
  }

  var heading: String { "No. \(id)" }

  static let words = ["blue", "winter", "snow", "fjord", "train", "coffee", "book", "river"]

  static func random(_ id: Int, _ random: inout RandomSource) -> SearchedNote {
    func text(_ counts: Range<Int>) -> String {
      random.array(counts) { $0.pick(words) }.joined(separator: " ")
    }
    return SearchedNote(
      id: id, title: text(1..<4), body: random.bool() ? text(0..<40) : nil,
      tags: random.array(0..<3) { $0.pick(words) },
      place: random.bool() ? Place(name: text(1..<3)) : nil, isPinned: random.once(in: 4))
  }

  /// Weighted texts, one after the other.
  var weighted: [(weight: Double, words: [Substring])] {
    [
      (3, title.split(separator: " ")), (1, (body ?? "").split(separator: " ")),
      (1, tags.flatMap { $0.split(separator: " ") }),
      (4, (place?.name ?? "").split(separator: " ")),
    ]
  }
}

extension [SearchedNote] {
  /// The notes that have all of some words, with their scores.
  func scores(of words: [String]) -> [Int: NaiveScore] {
    let ranking = NaiveRanking(of: words, in: map(\.weighted))
    var scores: [Int: NaiveScore] = [:]
    for note in self { scores[note.id] = ranking.score(of: note.weighted) }
    return scores
  }
}

/// BM25 without anything of Larder, with the numbers of some collection.
struct NaiveRanking {
  typealias Texts = [(weight: Double, words: [Substring])]

  private let words: [String]
  private let mean: Double
  private let rarities: [Double]

  init(of words: [String], in all: [Texts]) {
    self.words = words
    let lengths = all.map(Self.length).filter { $0 > 0 }
    mean = max(1, lengths.reduce(0.0, +) / Double(max(1, lengths.count)))
    rarities = words.map { word in
      let having = Double(all.count { Self.frequency(of: word, in: $0) > 0 })
      return log1p((Double(lengths.count) - having + 0.5) / (having + 0.5))
    }
  }

  /// Nil where a word is missing.
  func score(of texts: Texts) -> NaiveScore? {
    var score = NaiveScore(length: Self.length(texts))
    let norm = 1.2 * (0.25 + 0.75 * score.length / mean)
    for (word, rarity) in zip(words, rarities) {
      let frequency = Self.frequency(of: word, in: texts)
      if frequency == 0 { return nil }
      score.frequencies.append(frequency)
      score.value += rarity * frequency * 2.2 / (frequency + norm)
    }
    return score
  }

  private static func length(_ texts: Texts) -> Double {
    texts.reduce(0.0) { $0 + $1.weight * Double($1.words.count) }
  }

  private static func frequency(of word: String, in texts: Texts) -> Double {
    texts.reduce(0.0) { $0 + $1.weight * Double($1.words.count { $0 == word }) }
  }
}

/// A score, with the numbers of the document that it is made of.
struct NaiveScore {
  var value = 0.0
  let length: Double
  var frequencies: [Double] = []

  /// Whether a document with this score may come before one with the other. Of those with the same numbers
  /// the lesser key comes first; where the numbers differ, rounding may part scores or make them equal.
  func mayPrecede(_ other: NaiveScore, isLessByKey: Bool) -> Bool {
    if length == other.length, frequencies == other.frequencies { return isLessByKey }
    return value > other.value - 1e-9
  }
}

/// Whether documents come as their scores say, best first.
func isRanked(_ ids: [Int], by scores: [Int: NaiveScore]) -> Bool {
  zip(ids, ids.dropFirst()).allSatisfy { first, second in
    guard let left = scores[first], let right = scores[second] else { return false }
    return left.mayPrecede(right, isLessByKey: first < second)
  }
}
