import LarderTestKit
import Testing

@testable import Larder

@Suite("snippets")
struct SnippetTests {
  private func snippet(_ text: String, _ typed: String, _ count: Int = 8) -> String {
    Snippet(of: text, for: SearchExpression(typed), wordCount: count).marked(from: "[", to: "]")
  }

  @Test("show what was found")
  func found() {
    #expect(snippet("The sea is blue.", "blue") == "The sea is [blue].")
    #expect(snippet("The sea is blue.", "\"sea is\"") == "The [sea is] blue.")
    #expect(snippet("sea is sea is sea", "\"sea is sea\"") == "[sea is sea is sea]")
    #expect(snippet("Seaside, SEA, sear", "sea*") == "[Seaside], [SEA], [sear]")
    #expect(snippet("Ångström's ﬁsh", "angstrom fish") == "[Ångström]'s [ﬁsh]")
    #expect(snippet("関東京都庁", "京都") == "関東[京都]庁")
    #expect(snippet("関東京都庁", "東京都") == "関[東京都]庁")
    // The voicing of kana makes other words.
    #expect(snippet("のか のが は ば ぱ", "か") == "の[か] のが は ば ぱ")
    #expect(snippet("のか のが は ば ぱ", "は") == "のか のが [は] ば ぱ")
    #expect(snippet("のか のが は ば ぱ", "が") == "のか の[が] は ば ぱ")
    #expect(snippet("a\r\n\t b  c ", "b") == "a [b] c")
    #expect(snippet("hi 👩‍👩‍👧!", "👩") == "hi [👩‍👩‍👧]!")
    #expect(snippet("The sea", "-sea") == "The sea")
    #expect(snippet("", "sea") == "")
    #expect(snippet(" … ", "sea") == "…")
  }

  @Test("are cut out where the most different terms are")
  func cut() {
    let words = (0..<40).map { "w\($0)" }
    var text = words
    text[5] = "sea"
    text[20] = "sea"
    text[22] = "blue"
    #expect(
      snippet(text.joined(separator: " "), "blue sea")
        == "… w18 w19 [sea] w21 [blue] w23 w24 w25 …")
    #expect(snippet(text.joined(separator: " "), "green") == "w0 w1 w2 w3 w4 sea w6 w7 …")
    #expect(snippet(text.joined(separator: " "), "w39") == "… w32 w33 w34 w35 w36 w37 w38 [w39]")
    #expect(snippet(text.joined(separator: "\n"), "w0") == "[w0] w1 w2 w3 w4 sea w6 w7 …")
  }

  @Test("have what fits only without words in front of it, and the beginning of what does not fit")
  func long() {
    var words = (0..<40).map { "w\($0)" }
    let phrase = { (range: Range<Int>) in
      "\"" + range.map { "w\($0)" }.joined(separator: " ") + "\""
    }
    let text = words.joined(separator: " ")
    #expect(snippet(text, phrase(20..<27)) == "… w19 [w20 w21 w22 w23 w24 w25 w26] …")
    #expect(snippet(text, phrase(20..<28)) == "… [w20 w21 w22 w23 w24 w25 w26 w27] …")
    #expect(snippet(text, phrase(20..<35)) == "… [w20 w21 w22 w23 w24 w25 w26 w27] …")
    #expect(snippet(text, phrase(30..<40)) == "… [w30 w31 w32 w33 w34 w35 w36 w37] …")
    (words[10], words[17]) = ("sea", "blue")
    #expect(
      snippet(words.joined(separator: " "), "blue sea")
        == "… [sea] w11 w12 w13 w14 w15 w16 [blue] …")
  }

  @Test("have every term that fits, wherever the term before it stands")
  func fitting() {
    var words = (0..<40).map { "w\($0)" }
    (words[10], words[11], words[16]) = ("sea", "blue", "boat")
    #expect(
      snippet(words.joined(separator: " "), "blue boat sea")
        == "… w9 [sea] [blue] w12 w13 w14 w15 [boat] …")
  }

  @Test("are cut out where looking at the words behind each hit finds most")
  func windows() {
    var random = RandomSource()
    let parts = ["sea", "blue", "boat", "x", "x", "x", "x", "x", "x"]
    let typed = ["sea", "blue", "boat", "\"sea blue\"", "\"blue x x\"", "\"x x x x\""]
    for _ in 0..<repetitions(3000) {
      let text = random.array(0..<80) { $0.pick(parts) }.joined(separator: " ")
      let expression = SearchExpression(
        random.array(1..<5) { $0.pick(typed) }.joined(separator: " "))
      let hits = Array(text.utf8).withUnsafeBytes { SearchHits(expression, in: $0) }
      let count = random.int(0..<30)
      let lead = random.int(0..<max(1, count))
      #expect(
        hits.bestWindow(of: count, lead: lead) == hits.naiveWindow(of: count, lead: lead),
        "\(random.hint)")
    }
  }

  @Test("and highlights find phrases whose words repeat, as looking at each place of the text does")
  func repeatedWords() {
    var random = RandomSource()
    for _ in 0..<repetitions(3000) {
      let parts = random.pick([["a", "b"], ["sea", "seas", "sealed"], ["a"]])
      let text = random.array(0..<60) { $0.pick(parts) }.joined(separator: " ")
      let expression = SearchExpression(
        random.array(1..<5) { random in
          "\"" + random.array(1..<8) { $0.pick(parts) }.joined(separator: " ") + "\""
        }.joined(separator: " "), isBeingTyped: random.bool(), allowsTypos: random.bool())
      let words = text.split(separator: " ").map { Array($0.utf8) }
      var expected: [[Int]] = []
      for start in words.indices {
        for (number, term) in expression.wanted.joined().enumerated() {
          let tests = term.tests.map { ReadyWordTest($0) }
          guard start + tests.count <= words.count else { continue }
          if zip(tests, words[start...]).allSatisfy({ $0.passes($1) }) {
            expected.append([start, start + tests.count, number])
          }
        }
      }

      let hits = Array(text.utf8).withUnsafeBytes { SearchHits(expression, in: $0).hits }

      let found = hits.map { [$0.words.lowerBound, $0.words.upperBound, $0.term] }
      #expect(
        found.sorted { $0.lexicographicallyPrecedes($1) }
          == expected.sorted { $0.lexicographicallyPrecedes($1) }, "\(random.hint)")
      #expect(found.map(\.[0]) == found.map(\.[0]).sorted(), "\(random.hint)")
    }
  }

  // With a look at each word of a phrase for each word of the text it took 11 s, not optimized.
  @Test("and highlights cost little where many phrases are made of one word")
  func manyPhrases() {
    let text = Array(repeating: "sea", count: 4000).joined(separator: " ")
    let phrases = (1...64).map { Array(repeating: "sea", count: $0).joined(separator: " ") }
    let expression = SearchExpression(phrases.map { "\"\($0)\"" }.joined(separator: " "))

    let hits = Array(text.utf8).withUnsafeBytes { SearchHits(expression, in: $0).hits }

    #expect(hits.count == (1...64).reduce(0) { $0 + 4000 - $1 + 1 })
    #expect(
      Snippet.highlights(in: text, for: expression) == [text.startIndex..<text.endIndex])
  }

  @Test("and highlights are whole characters, whatever these are made of")
  func wholeCharacters() {
    var random = RandomSource()
    let parts = [
      "👩", "👧", "\u{200D}", "\u{1F3FD}", "🇳", "🇴", "ᄀ", "ᅡ", "ᆨ", "가", "e", "\u{301}", "क",
      "\u{94D}",
      "\u{600}", " ", "\r\n", "sea",
    ]
    for _ in 0..<repetitions(3000) {
      let text = random.array(0..<60) { $0.pick(parts) }.joined()
      let expression = SearchExpression(
        random.array(1..<4) { $0.pick(parts) }.joined(separator: " "))
      let hits = Array(text.utf8).withUnsafeBytes { SearchHits(expression, in: $0) }

      let highlights = Snippet.highlights(in: text, for: expression)
      let found = hits.ranges(within: 0..<hits.words.count).filter { !$0.isEmpty }
      #expect(
        highlights.map { text.bytes(of: $0) } == text.wholeCharacters(of: found), "\(random.hint)")

      let count = random.int(1..<12)
      let window = hits.bestWindow(of: count, lead: count / 4)
      let shown = hits.bytes(of: window)
      let start = window.lowerBound == 0 ? 0 : shown.lowerBound
      let end = window.upperBound == hits.words.count ? text.utf8.count : shown.upperBound
      let cut = text.wholeCharacters(of: [start..<max(start, end)]).map { text.substring($0) }
      let line = cut.joined().split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(
        Snippet(of: text, for: expression, wordCount: count).text.utf8.elementsEqual(line.utf8),
        "\(random.hint)")
    }
  }

  // Asking for each byte whether a character begins there would take hours.
  @Test("and highlights take no longer where a whole text is one character")
  func oneCharacter() {
    let text = "👩" + String(repeating: "\u{200D}👩", count: 50_000)
    #expect(text.count == 1)
    let expression = SearchExpression("👩")

    let isHighlighted =
      Snippet.highlights(in: text, for: expression) == [text.startIndex..<text.endIndex]
    let snippet = Snippet(of: text, for: expression)

    #expect(isHighlighted)
    #expect(snippet.text.utf8.count == text.utf8.count)
    #expect(snippet.highlights.count == 1)
  }

  @Test("are what stands in the text, and highlights are what matches, for any text")
  func anyText() {
    var random = RandomSource()
    let parts = [
      "sea", "Blue", " ", " ", "\n", ", ", "東京", "京都", "é", "e\u{301}", "👩‍👧", "ﬁ", "ส", "\u{0}",
    ]
    for _ in 0..<repetitions(2000) {
      let text = random.array(0..<60) { $0.pick(parts) }.joined()
      let expression = SearchExpression(
        random.array(1..<4) { $0.pick(parts) }.joined(separator: " "))
      let snippet = Snippet(of: text, for: expression, wordCount: random.int(1..<12))
      let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(" \(line) ".contains(snippet.text), "\(random.hint)")
      var end = snippet.text.startIndex
      for range in snippet.highlights {
        #expect(end <= range.lowerBound && !range.isEmpty, "\(random.hint)")
        #expect(
          !SearchHits.isEmpty(expression, String(snippet.text[range])), "\(random.hint)")
        end = range.upperBound
      }
    }
  }
}

extension SearchHits {
  fileprivate static func isEmpty(_ expression: SearchExpression, _ text: String) -> Bool {
    Array(text.utf8).withUnsafeBytes { SearchHits(expression, in: $0).hits.isEmpty }
  }
}

extension SearchHits {
  /// As ``bestWindow(of:lead:)``, by counting anew for each hit.
  /// Every window is looked at, and that which shows most is moved as far as it still does.
  fileprivate func naiveWindow(of count: Int, lead: Int) -> Range<Int> {
    guard count > 0, words.count > count else { return 0..<min(count, words.count) }
    func shown(from start: Int) -> (terms: Int, hits: Int, first: Int, end: Int) {
      let inside = hits.map { (term: $0.term, words: $0.words.prefix(count)) }.filter {
        $0.words.lowerBound >= start && $0.words.upperBound <= start + count
      }
      return (
        Set(inside.map(\.term)).count, inside.count, inside.map(\.words.lowerBound).min() ?? 0,
        inside.map(\.words.upperBound).max() ?? 0
      )
    }
    let starts = 0...words.count - count
    let most = starts.map { shown(from: $0) }.max { ($0.terms, $0.hits) < ($1.terms, $1.hits) }
    guard let most, most.hits > 0 else { return 0..<count }
    let best = starts.lazy.map { ($0, shown(from: $0)) }
      .first { ($0.1.terms, $0.1.hits) == (most.terms, most.hits) }
    guard let (_, found) = best else { return 0..<count }
    let last = min(found.first, words.count - count)
    let start = max(0, last - lead, min(last, found.end - count))
    return start..<start + count
  }
}

extension String {
  fileprivate func bytes(of range: Range<String.Index>) -> Range<Int> {
    utf8.distance(
      from: startIndex, to: range.lowerBound)..<utf8.distance(
        from: startIndex, to: range.upperBound)
  }

  fileprivate func substring(_ bytes: Range<Int>) -> Substring {
    self[
      utf8.index(
        startIndex, offsetBy: bytes.lowerBound)..<utf8.index(
          startIndex, offsetBy: bytes.upperBound)]
  }

  /// The bytes of the whole characters that some bytes belong to; ranges that touch become one.
  fileprivate func wholeCharacters(of ranges: [Range<Int>]) -> [Range<Int>] {
    var boundaries = [0]
    for character in self {
      boundaries.append(boundaries[boundaries.count - 1] + character.utf8.count)
    }
    var whole: [Range<Int>] = []
    for range in ranges {
      let lower = boundaries.last { $0 <= range.lowerBound } ?? 0
      let upper = boundaries.first { $0 >= range.upperBound } ?? utf8.count
      if let last = whole.last, last.upperBound >= lower {
        whole[whole.count - 1] = last.lowerBound..<max(last.upperBound, upper)
      } else {
        whole.append(lower..<upper)
      }
    }
    return whole
  }
}
