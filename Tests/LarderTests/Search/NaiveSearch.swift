import Foundation

/// Searches by looking at every document: what the index on the disk is held against.
struct NaiveSearch {
  let weights: [UInt32]
  /// The words of each field.
  var documents: [String: [[String]]] = [:]

  /// How often, by weight, each document has words that pass the test; those that have one.
  func frequencies(_ test: (String) -> Bool) -> [String: UInt32] {
    found { words in words.count(where: test) }
  }

  /// How often each document has the words behind one another in a field.
  func frequencies(of phrase: [String]) -> [String: UInt32] {
    found { words in
      words.indices.count { words[$0...].starts(with: phrase) }
    }
  }

  private func found(_ count: ([String]) -> Int) -> [String: UInt32] {
    documents.compactMapValues { fields in
      let sum = zip(weights, fields).reduce(0) { $0 + Int($1.0) * count($1.1) }
      return sum > 0 ? UInt32(sum) : nil
    }
  }

  func length(of key: String) -> UInt32 {
    zip(weights, documents[key] ?? []).reduce(0) { $0 + $1.0 * UInt32($1.1.count) }
  }

  var count: Int { documents.keys.count { length(of: $0) > 0 } }

  /// The documents that are in all of `wanted` and in none of `excluded`, best first.
  func ranked(
    _ wanted: [[String: UInt32]], excluding excluded: [String: UInt32], upTo limit: Int
  ) -> [(key: String, score: Double)] {
    guard let first = wanted.first else { return [] }
    let total = documents.keys.reduce(0.0) { $0 + Double(length(of: $1)) }
    let mean = total / Double(count)
    let keys = first.keys.filter { key in
      wanted.allSatisfy { $0[key] != nil } && excluded[key] == nil
    }
    let scored = keys.map { key in
      let score = wanted.reduce(0.0) { sum, frequencies in
        let frequency = Double(frequencies.count)
        let idf = log1p((Double(count) - frequency + 0.5) / (frequency + 0.5))
        let tf = Double(frequencies[key] ?? 0)
        let norm = 1.2 * (1 - 0.75 + 0.75 * Double(length(of: key)) / mean)
        return sum + idf * (tf * (1.2 + 1)) / (tf + norm)
      }
      return (key: key, score: score)
    }
    let best = scored.sorted { $0.score != $1.score ? $0.score > $1.score : $0.key < $1.key }
    return Array(best.prefix(limit))
  }
}
