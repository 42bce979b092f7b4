/// Where a text has what a search asks for.
struct SearchHits {
  /// The bytes of each word of the text, by their beginnings.
  private(set) var words: [Range<Int>] = []
  /// In the order in which they begin.
  private(set) var hits: [Hit] = []

  struct Hit {
    /// Its place among the terms that are wanted.
    let term: Int
    /// The places of its words.
    let words: Range<Int>
  }

  /// - Parameter text: UTF-8.
  init(
    _ expression: SearchExpression, by tokenizer: SearchTokenizer = .standard,
    in text: UnsafeRawBufferPointer
  ) {
    let terms = expression.wanted.joined().map { $0.tests.map { ReadyWordTest($0) } }
    // How many words of each term the last words of the text have been, one count for each beginning.
    var begun: [[Int]] = Array(repeating: [], count: terms.count)
    var reader = Words(tokenizer)
    var found = (words: [Range<Int>](), hits: [Hit]())
    reader.forEach(in: text) { word, place, _ in
      // A tokenizer may give words in another order than the text has them: places only grow.
      let start = max(place.lowerBound, found.words.last?.lowerBound ?? 0)
      found.words.append(start..<max(start, place.upperBound))
      for (number, tests) in terms.enumerated() {
        // So it is for most words and most terms.
        if begun[number].isEmpty, !tests[0].passes(word) { continue }
        var goesOn: [Int] = []
        for count in begun[number] + [0] where tests[count].passes(word) {
          if count + 1 < tests.count {
            goesOn.append(count + 1)
          } else {
            let end = found.words.count
            found.hits.append(Hit(term: number, words: (end - tests.count)..<end))
          }
        }
        begun[number] = goesOn
      }
    }
    (words, hits) = found
    hits.sort { $0.words.lowerBound < $1.words.lowerBound }
  }

  /// The bytes of what was found among some words, ascending; what overlaps or touches is one range.
  func ranges(within window: Range<Int>) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    for hit in hits
    where hit.words.lowerBound >= window.lowerBound && hit.words.upperBound <= window.upperBound {
      let (first, last) = (words[hit.words.lowerBound], words[hit.words.upperBound - 1])
      let range = first.lowerBound..<last.upperBound
      if let before = ranges.last, before.upperBound >= range.lowerBound {
        ranges[ranges.count - 1] =
          before.lowerBound..<max(before.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// The words of the stretch of the text that has the most different terms, of several the one with most
  /// hits, of these the first; the beginning where there is none.
  ///
  /// - Parameters:
  ///   - count: How many words at most.
  ///   - lead: How many of these come before the first hit, where there are so many.
  func bestWindow(of count: Int, lead: Int) -> Range<Int> {
    guard count > 0, words.count > count else { return 0..<min(max(count, 0), words.count) }
    // What is longer than the window is in none. All others enter it, as it moves on, by their ends, and leave it
    // by their beginnings, later.
    let leaving = hits.filter { $0.words.count <= count }
    let entering = leaving.sorted { $0.words.upperBound < $1.words.upperBound }
    var best = (terms: 0, hits: 0, start: 0)
    var counts: [Int: Int] = [:]
    var (entered, left) = (0, 0)
    for hit in hits {
      let start = min(max(0, hit.words.lowerBound - lead), words.count - count)
      while entered < entering.count, entering[entered].words.upperBound <= start + count {
        counts[entering[entered].term, default: 0] += 1
        entered += 1
      }
      while left < leaving.count, leaving[left].words.lowerBound < start {
        let term = leaving[left].term
        counts[term] = counts[term].flatMap { $0 > 1 ? $0 - 1 : nil }
        left += 1
      }
      if (counts.count, entered - left) > (best.terms, best.hits) {
        best = (counts.count, entered - left, start)
      }
    }
    return best.start..<best.start + count
  }
}
