/// Holds the words of one document after the other against an expression.
///
/// ``begin()``, then ``add(_:field:position:)`` for each word of a document, then ``finish()``. A word that begins
/// like none of the expression costs a look at its first byte.
struct SearchMatcher {
  private let weights: [UInt32]
  /// The terms of ``SearchExpression/wanted``, one after the other, then those that are excluded.
  private let terms: [Term]
  private let wantedCount: Int
  private let firstBytes: FirstBytes
  private let exact: WordTable
  /// Tests that several words pass.
  private let others: [ReadyWordTest]
  /// The terms of one word that ask for each number of ``exact``, and then for each of ``others``, one after the
  /// other.
  private let users: [Int]
  /// Where those of each number begin, and where the last ones end.
  private let userStarts: [Int]
  /// The list of each number in ``places``; nil where no phrase has the word.
  private let lists: [Int?]
  /// The lists of the words of all phrases, one after the other.
  private let phraseLists: [Int]
  private var counts: [UInt32]
  /// Where words of phrases stand: a word that stands in several phrases, or twice in one, has one list.
  private var places: [[UInt64]]
  /// The weighted words of the document.
  private(set) var length: UInt32 = 0

  private struct Term {
    let group: Int
    let wordCount: Int
    /// Where the lists of its words stand in ``phraseLists``, for a phrase.
    let firstList: Int
  }

  /// Who asks for a word.
  private struct Users {
    var terms: [Int] = []
    var list: Int?
  }

  /// A set of bytes.
  private struct FirstBytes {
    private var bits: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    mutating func insert(_ byte: UInt8) {
      let bit = UInt64(1) << UInt64(byte & 63)
      switch byte >> 6 {
      case 0: bits.0 |= bit
      case 1: bits.1 |= bit
      case 2: bits.2 |= bit
      default: bits.3 |= bit
      }
    }

    @inline(__always) func contains(_ byte: UInt8) -> Bool {
      let part =
        byte < 128 ? (byte < 64 ? bits.0 : bits.1) : byte < 192 ? bits.2 : bits.3
      return part >> UInt64(byte & 63) & 1 != 0
    }
  }

  init(_ expression: SearchExpression, weights: [UInt32]) {
    self.weights = weights
    var exact = WordTable()
    let groups = expression.wanted.enumerated().flatMap { group, terms in
      terms.map { (group, $0) }
    }
    wantedCount = groups.count
    var (terms, others): ([Term], [ReadyWordTest]) = ([], [])
    var (exactUsers, otherUsers): ([Users], [Users]) = ([], [])
    var firstBytes = FirstBytes()
    var phraseLists: [Int] = []
    var listCount = 0
    for (group, term) in groups + expression.excluded.map({ (-1, $0) }) {
      let number = terms.count
      terms.append(
        Term(group: group, wordCount: term.words.count, firstList: phraseLists.count))
      func note(_ users: inout Users) {
        guard term.words.count > 1 else { return users.terms.append(number) }
        let list = users.list ?? listCount
        if users.list == nil { listCount += 1 }
        users.list = list
        phraseLists.append(list)
      }
      for test in term.tests {
        if let first = test.prefix.first { firstBytes.insert(first) }
        if case .equals(let word) = test {
          let number = word.withUnsafeBytes { exact.number(of: $0) }
          if number == exactUsers.count { exactUsers.append(Users()) }
          note(&exactUsers[number])
        } else {
          let known = others.firstIndex { $0.test == test }
          if known == nil {
            others.append(ReadyWordTest(test))
            otherUsers.append(Users())
          }
          note(&otherUsers[known ?? others.count - 1])
        }
      }
    }
    self.exact = exact
    self.terms = terms
    self.others = others
    self.firstBytes = firstBytes
    let users = exactUsers + otherUsers
    self.users = users.flatMap(\.terms)
    userStarts = users.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.terms.count) }
    lists = users.map(\.list)
    self.phraseLists = phraseLists
    counts = Array(repeating: 0, count: terms.count)
    places = Array(repeating: [], count: listCount)
  }

  /// Begins another document.
  mutating func begin() {
    for term in counts.indices { counts[term] = 0 }
    for place in places.indices { places[place].removeAll(keepingCapacity: true) }
    length = 0
  }

  /// Takes a word of the document: fields and, in them, positions ascending.
  mutating func add(_ word: UnsafeRawBufferPointer, field: Int, position: UInt32) {
    let (sum, isTooMuch) = length.addingReportingOverflow(weights[field])
    length = isTooMuch ? .max : sum
    guard let first = word.first, firstBytes.contains(first) else { return }
    let place = UInt64(field) << 32 | UInt64(position)
    if let number = exact.find(word) { note(number, place, weights[field]) }
    for number in others.indices where others[number].passes(word) {
      note(exact.count + number, place, weights[field])
    }
  }

  @inline(__always)
  private mutating func note(_ test: Int, _ place: UInt64, _ weight: UInt32) {
    if let list = lists[test] { places[list].append(place) }
    for number in userStarts[test]..<userStarts[test + 1] { counts[users[number]] &+= weight }
  }

  /// Ends a document.
  ///
  /// - Returns: Whether it matches.
  mutating func finish() -> Bool {
    for (number, term) in terms.enumerated() where term.wordCount > 1 {
      counts[number] = phraseCount(term)
    }
    var number = 0
    while number < wantedCount {
      let group = terms[number].group
      var hasOne = false
      while number < wantedCount, terms[number].group == group {
        if counts[number] > 0 { hasOne = true }
        number += 1
      }
      if !hasOne { return false }
    }
    return counts[wantedCount...].allSatisfy { $0 == 0 }
  }

  /// How often the document that was ended has each of the terms that are wanted, by weight.
  var frequencies: ArraySlice<UInt32> { counts[..<wantedCount] }

  /// How often the words of a phrase stand behind one another, by weight.
  private func phraseCount(_ term: Term) -> UInt32 {
    var starts = places[phraseLists[term.firstList]]
    for word in 1..<term.wordCount {
      starts = Phrase.starts(
        starts, followedBy: places[phraseLists[term.firstList + word]], after: word)
      if starts.isEmpty { return 0 }
    }
    return starts.reduce(0) { $0 &+ weights[Int($1 >> 32)] }
  }
}
