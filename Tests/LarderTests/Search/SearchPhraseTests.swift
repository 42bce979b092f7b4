import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Document private struct Saying: Identifiable, Equatable {
  var id: Int
  @Searchable(weight: 2) var title: String
  @Searchable var text: String

  /// Mostly of two words that nearly all have, so that their postings fill many records.
  static func random(_ id: Int, _ random: inout RandomSource) -> Saying {
    func words(_ count: Int) -> String {
      (0..<count).map { _ in
        if random.once(in: 40) { return "rare\(random.int(0..<300))" }
        if random.once(in: 9) { return "usual\(random.int(0..<4))" }
        return random.once(in: 2) ? "the" : "of"
      }.joined(separator: " ")
    }
    return Saying(id: id, title: words(2), text: words(7))
  }

  func has(_ phrase: [String]) -> Bool {
    [title, text].contains { field in
      let words = field.split(separator: " ").map(String.init)
      return words.indices.contains { words[$0...].starts(with: phrase) }
    }
  }
}

@Suite("phrases of words that most documents have, and seldom ones beside them")
struct SearchPhraseTests {
  @Test("are found where the words stand behind one another, whatever the segments are")
  func phrases() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let sayings = store.repository(of: Saying.self)
      var expected = (0..<9_000).map { Saying.random($0, &random) }
      try sayings.save(expected)
      for _ in 0..<40 {
        let first = random.int(0..<8_900)
        let page = (first..<first + random.int(1..<100)).map { Saying.random($0, &random) }
        expected.replaceSubrange(first..<first + page.count, with: page)
        try sayings.save(page)
      }
      for _ in 0..<60 {
        let phrase = (0..<random.int(2..<4)).map { _ in
          ["the", "of", "usual\(random.int(0..<4))", "rare\(random.int(0..<300))"][
            random.int(0..<4)]
        }
        let found = try sayings.keys(of: Saying.search("\"\(phrase.joined(separator: " "))\""))
        #expect(found.sorted() == expected.filter { $0.has(phrase) }.map(\.id), "\(phrase)")
      }
    }
  }

  @Test("of one word again and again keep its postings in memory once")
  func repeatedWord() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let sayings = store.repository(of: Saying.self)
      let expected = (0..<600).map { Saying.random($0, &random) }
      try sayings.save(expected)
      for phrase in [["the", "the", "the"], ["the", "of", "the", "the"], ["of", "of"]] {
        let found = try sayings.keys(of: Saying.search("\"\(phrase.joined(separator: " "))\""))
        #expect(found.sorted() == expected.filter { $0.has(phrase) }.map(\.id), "\(phrase)")
      }

      let index = try #require(store.engine.catalogue["Saying"]?.indexes.first)
      let weights = try #require(index.definition.weights)
      let tests = ["the", "of", "the", "the"].map { WordTest.equals(Array($0.utf8)) }
      try store.read { snapshot in
        let reading = try SearchReading(index.database, weights: weights, snapshot.transaction)
        let lists = try reading.lists(of: tests, snapshot.transaction)
        #expect(lists[0].count > 0, "\(random.hint)")
        let places = lists.map { $0.positions.withUnsafeBufferPointer { $0.baseAddress } }
        #expect(places[0] == places[2] && places[2] == places[3])
      }
    }
  }

  @Test("every word is found, and what begins with a word, among many that begin alike")
  func words() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      let sayings = store.repository(of: Saying.self)
      // Of few letters, so that most words begin like others or end inside of them.
      func word() -> String {
        String((0..<random.int(1..<9)).map { _ in ["a", "b", "c"][random.int(0..<3)] }.joined())
      }
      let texts = (0..<3_000).map { _ in word() }
      for start in stride(from: 0, to: texts.count, by: 700) {
        try sayings.save(
          (start..<min(start + 700, texts.count)).map {
            Saying(id: $0, title: "", text: texts[$0])
          })
      }
      let counts = Dictionary(texts.map { ($0, 1) }, uniquingKeysWith: +)
      for wanted in (0..<400).map({ _ in word() }) {
        #expect(try sayings.count(Saying.search(wanted)) == counts[wanted] ?? 0, "\(wanted)")
        let beginning = texts.count { $0.hasPrefix(wanted) }
        #expect(try sayings.count(Saying.search("\(wanted)*")) == beginning, "\(wanted)*")
      }
    }
  }
}
