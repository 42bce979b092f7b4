import LarderLMDB
import LarderTestKit
import Testing

@testable import Larder

@Suite("an expression, asked of the index and of every document")
struct SearchMatcherOracleTests {
  @Test("finds the same documents with the same scores")
  func oracle() throws {
    var random = RandomSource()
    var foundCount = 0
    for _ in 0..<repetitions(3) {
      let store = try SearchStore(RandomSource(seed: random.next()))
      for _ in 0..<random.int(2..<20) {
        try store.change()
        for _ in 0..<random.int(0..<4) where try !store.merge() { break }
        for _ in 0..<6 {
          let expression = store.expression()
          let expected = store.matches(expression)
          foundCount += expected.count
          try store.withReading { reading, transaction in
            let search = try reading.search(expression, transaction)
            var found: [String: Double] = [:]
            for (place, id) in search.ids.enumerated() {
              let key = try reading.document(id, transaction).key
              found[String(decoding: key, as: UTF8.self)] = search.scores[place]
            }
            #expect(found == expected, "\(expression) \(random.hint)")
          }
        }
      }
    }
    #expect(foundCount > 0, "\(random.hint)")
  }
}

extension SearchStore {
  /// A random expression that asks for something, often for what is there.
  fileprivate func expression() -> SearchExpression {
    let wanted = (0..<random.int(1..<4)).map { _ in (0..<random.int(1..<3)).map { _ in term() } }
    return SearchExpression(
      wanted: wanted, excluded: random.once(in: 3) ? [term()] : [])
  }

  private func term() -> SearchTerm {
    let word = word()
    switch random.int(0..<5) {
    case 0: return SearchTerm([begin(of: word)], isPrefix: true)
    case 1:
      return SearchTerm(
        [Array(word.utf8)], isPrefix: random.bool(), edits: random.int(1..<3))
    case 2:
      // What stands somewhere, or does not.
      let texts = naive.documents.values.map { $0 }.flatMap { $0 }.filter { $0.count > 3 }
      let words: [String]
      if let text = texts.randomElement(using: &random) {
        let start = random.int(0..<text.count - 2)
        words = Array(text[start..<start + random.int(2..<4)])
      } else {
        words = [word, self.word()]
      }
      let isPrefix = random.bool()
      return SearchTerm(
        words.enumerated().map { place, word in
          isPrefix && place == words.count - 1 ? begin(of: word) : Array(word.utf8)
        }, isPrefix: isPrefix)
    default: return SearchTerm([Array(word.utf8)])
    }
  }

  private func begin(of word: String) -> [UInt8] {
    Array(String(String.UnicodeScalarView(word.unicodeScalars.prefix(random.int(1..<3)))).utf8)
  }

  /// The scores of the documents that match, by looking at each.
  fileprivate func matches(_ expression: SearchExpression) -> [String: Double] {
    var matcher = SearchMatcher(expression, weights: naive.weights)
    var found: [String: ([UInt32], UInt32)] = [:]
    var documentFrequencies = [Int](repeating: 0, count: expression.wanted.joined().count)
    var (count, total) = (0, 0)
    for (key, fields) in naive.documents {
      matcher.begin()
      for (field, words) in fields.enumerated() {
        for (position, word) in words.enumerated() {
          word.withKey { matcher.add($0, field: field, position: UInt32(position)) }
        }
      }
      let matches = matcher.finish()
      for (term, frequency) in matcher.frequencies.enumerated() where frequency > 0 {
        documentFrequencies[term] += 1
      }
      if matches { found[key] = (Array(matcher.frequencies), matcher.length) }
      #expect(matcher.length == naive.length(of: key))
      if matcher.length > 0 { (count, total) = (count + 1, total + Int(matcher.length)) }
    }
    let mean = count == 0 ? 0 : Double(total) / Double(count)
    return found.mapValues { frequencies, length in
      let statistics = SearchStatistics(
        documentCount: count, meanLength: mean, frequencies: documentFrequencies)
      return frequencies.enumerated().reduce(0) { sum, term in
        guard term.element > 0 else { return sum }
        let score = SearchScore(statistics, term: term.offset)
        return sum + score.part(frequency: term.element, length: length)
      }
    }
  }
}
