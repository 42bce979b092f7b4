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
    let counted = map { note -> (id: Int, length: Double, counts: [Double]) in
      let texts = note.weighted
      let counts = words.map { word in
        texts.reduce(0.0) { $0 + $1.weight * Double($1.words.count { $0 == word }) }
      }
      return (note.id, texts.reduce(0.0) { $0 + $1.weight * Double($1.words.count) }, counts)
    }
    let all = counted.filter { $0.length > 0 }
    let mean = Swift.max(1, all.reduce(0.0) { $0 + $1.length } / Double(Swift.max(1, all.count)))
    let rarities = words.indices.map { word in
      let having = Double(all.count { $0.counts[word] > 0 })
      return log1p((Double(all.count) - having + 0.5) / (having + 0.5))
    }
    var scores: [Int: Double] = [:]
    for note in all where note.counts.allSatisfy({ $0 > 0 }) {
      let norm = 1.2 * (0.25 + 0.75 * note.length / mean)
      scores[note.id] = zip(note.counts, rarities).reduce(0.0) { sum, word in
        sum + word.1 * word.0 * 2.2 / (word.0 + norm)
      }
    }
    return scores
  }
}
