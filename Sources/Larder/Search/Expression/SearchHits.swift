/// Where a text has what a search asks for.
struct SearchHits {
  /// The bytes of each word of the text, in the order in which the tokenizer gives them.
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
    var tests = WordTests()
    var terms = expression.wanted.joined().map { TermAutomaton($0, &tests) }
    var reader = Words(tokenizer)
    var found = (words: [Range<Int>](), hits: [Hit]())
    reader.forEach(in: text) { word, place, _ in
      found.words.append(place)
      let end = found.words.count
      for number in terms.indices where terms[number].ends(with: word, number: end, &tests) {
        found.hits.append(Hit(term: number, words: (end - terms[number].count)..<end))
      }
    }
    (words, hits) = found
    hits.sort { $0.words.lowerBound < $1.words.lowerBound }
  }

  /// The words that are looked for, each once: phrases may have the same word many times.
  private struct WordTests {
    private var numbers: [WordTest: Int] = [:]
    private var ready: [ReadyWordTest] = []
    /// The number of the word that each test was last held against, and whether it passed.
    private var answers: [(word: Int, passes: Bool)] = []

    mutating func number(of test: WordTest) -> Int {
      if let number = numbers[test] { return number }
      numbers[test] = ready.count
      ready.append(ReadyWordTest(test))
      answers.append((0, false))
      return ready.count - 1
    }

    mutating func passes(_ test: Int, _ word: some RandomAccessCollection<UInt8>, _ number: Int)
      -> Bool
    {
      if answers[test].word != number { answers[test] = (number, ready[test].passes(word)) }
      return answers[test].passes
    }
  }

  /// A term while the words of a text go by: an automaton with a bit for each word of the term, set where the last words
  /// of the text are those of the term as far as that one (Baeza-Yates and Gonnet, "A New Approach to Text
  /// Searching", 1992). A word of the text costs one test for most terms, and never one for each word of a phrase
  /// that repeats itself.
  private struct TermAutomaton {
    let count: Int
    /// For each word of the term its test, and the bits of all words that have the same one.
    private let tests: [(number: Int, bits: UInt64)]
    private var state: UInt64 = 0

    init(_ term: SearchTerm, _ all: inout WordTests) {
      let numbers = term.tests.prefix(UInt64.bitWidth).map { all.number(of: $0) }
      var bits: [Int: UInt64] = [:]
      for (place, number) in numbers.enumerated() { bits[number, default: 0] |= 1 << place }
      tests = numbers.map { ($0, bits[$0] ?? 0) }
      count = numbers.count
    }

    /// Whether the words of the text end with the term now.
    ///
    /// - Parameter number: That of the word, from 1.
    mutating func ends(
      with word: some RandomAccessCollection<UInt8>, number: Int, _ all: inout WordTests
    ) -> Bool {
      let possible = state << 1 | 1
      var (left, next) = (possible, UInt64(0))
      while left.trailingZeroBitCount < count {
        let test = tests[left.trailingZeroBitCount]
        if all.passes(test.number, word, number) { next |= possible & test.bits }
        left &= ~test.bits
      }
      state = next
      return next >> (count - 1) & 1 != 0
    }
  }

  /// The bytes from the first of some words to the last one. A tokenizer may give words in another order than the text
  /// has them, and words that are parts of others.
  func bytes(of window: Range<Int>) -> Range<Int> {
    guard let first = words[window].first else { return 0..<0 }
    return words[window].reduce(first) {
      min($0.lowerBound, $1.lowerBound)..<max($0.upperBound, $1.upperBound)
    }
  }

  /// The bytes of what was found among some words, ascending; what overlaps or touches is one range. Of what has more
  /// words than these, the beginning.
  func ranges(within window: Range<Int>) -> [Range<Int>] {
    var found: [Range<Int>] = []
    for hit in hits {
      let shown = Self.shown(hit, in: window.count)
      guard shown.lowerBound >= window.lowerBound, shown.upperBound <= window.upperBound else {
        continue
      }
      found.append(bytes(of: shown))
    }
    found.sort { $0.lowerBound < $1.lowerBound }
    var ranges: [Range<Int>] = []
    for range in found {
      if let before = ranges.last, before.upperBound >= range.lowerBound {
        ranges[ranges.count - 1] =
          before.lowerBound..<max(before.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  /// The words of a hit that a window of so many words can show.
  private static func shown(_ hit: Hit, in count: Int) -> Range<Int> { hit.words.prefix(count) }

  /// The words of the stretch of the text that has the most different terms, of several the one with most
  /// hits, of these the first; the beginning where there is none.
  ///
  /// - Parameters:
  ///   - count: How many words at most.
  ///   - lead: How many of these come before the first hit, where there are so many, and room for them.
  func bestWindow(of count: Int, lead: Int) -> Range<Int> {
    guard count > 0, words.count > count else { return 0..<min(max(count, 0), words.count) }
    // A window that begins with a hit shows as much as any. As it moves on, hits enter it by their ends, and leave it by
    // their beginnings, later.
    let leaving = hits.map { (term: $0.term, words: Self.shown($0, in: count)) }
    let entering = leaving.sorted { $0.words.upperBound < $1.words.upperBound }
    var best = (terms: 0, hits: 0, start: 0)
    var counts: [Int: Int] = [:]
    var (entered, left) = (0, 0)
    for hit in leaving {
      let start = min(hit.words.lowerBound, words.count - count)
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
    // Words before the first hit are shown as far as they leave room for the last one.
    let window = best.start..<best.start + count
    let end = leaving.filter { $0.words.clamped(to: window) == $0.words }.map(\.words.upperBound)
      .max()
    let start = max(0, best.start - min(lead, end.map { window.upperBound - $0 } ?? 0))
    return start..<start + count
  }
}
