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
  /// The notes that have all of some words, with their scores by BM25, without anything of Larder.
  func scores(of words: [String]) -> [Int: Double] {
    func count(_ word: String, _ note: SearchedNote) -> Double {
      note.weighted.reduce(0) { $0 + $1.weight * Double($1.words.count { $0 == word }) }
    }
    func length(_ note: SearchedNote) -> Double {
      note.weighted.reduce(0) { $0 + $1.weight * Double($1.words.count) }
    }
    let all = filter { length($0) > 0 }
    let mean = Swift.max(1, all.reduce(0) { $0 + length($1) } / Double(Swift.max(1, all.count)))
    var scores: [Int: Double] = [:]
    for note in all where words.allSatisfy({ count($0, note) > 0 }) {
      var score = 0.0
      for word in words {
        let having = Double(all.count { count(word, $0) > 0 })
        let idf = log1p((Double(all.count) - having + 0.5) / (having + 0.5))
        let frequency = count(word, note)
        let norm = 1.2 * (0.25 + 0.75 * length(note) / mean)
        score += idf * frequency * 2.2 / (frequency + norm)
      }
      scores[note.id] = score
    }
    return scores
  }
}
