import LarderTestKit
import Testing

@testable import Larder

@Suite("what is typed into a search field")
struct SearchExpressionTests {
  @Test(
    "is understood as words, phrases, alternatives and exclusions",
    arguments: [
      ("", ""), ("  \n", ""), ("… - \" \" -\"\" *", ""), ("\u{0}", ""), ("\u{FFFD}", ""),
      ("Blå vinter", "bla vinter"), ("blue blue BLUE", "blue"),
      ("\"blue  Winter\"", "\"blue winter\""), ("“blue winter”now", "\"blue winter\" now"),
      ("„blau Winter", "\"blau winter\""), ("\"blue\"", "blue"), ("a\"b c\"d", "a \"b c\" d"),
      ("e-mail", "\"e mail\""), ("ann@example.org", "\"ann example org\""),
      ("-snow", "-snow"), ("- snow", "snow"),
      ("ski -snow -\"deep snow\" -", "ski -snow -\"deep snow\""),
      ("--snow", "-snow"), ("-OR", "-or"), ("-e-mail", "-\"e mail\""),
      ("hotel london OR paris", "hotel london OR paris"),
      ("a OR b OR c d", "a OR b OR c d"), ("OR a", "or a"), ("a OR", "a"), ("a OR OR b", "a OR b"),
      ("a OR -b c", "a c -b"), ("a or b", "a or b"), ("a \"OR\" b", "a or b"), ("a OR a", "a"),
      ("a b a OR c", "a b a OR c"),
      ("-a OR b", "b -a"), ("… OR b", "b"), ("a … OR b", "a b"), ("a OR … b", "a b"),
      ("win*", "win*"), ("\"blue win*\"", "\"blue win*\""), ("win*ter", "\"win ter\""), ("*", ""),
      ("win…*", "win"), ("東京都", "\"東京 京都\""), ("東京", "東京"), ("東", "東*"), ("東 tower", "東* tower"),
      ("東京tower", "\"東京 京 tower\""), ("🎉 party", "🎉 party"),
    ])
  func understood(typed: String, meaning: String) {
    #expect("\(SearchExpression(typed))" == meaning)
  }

  @Test(
    "while it is being typed ends in the beginning of a word",
    arguments: [
      ("blue win", "blue win*"), ("blue win ", "blue win"), ("win.", "win"),
      ("\"blue win", "\"blue win*\""),
      ("\"blue win\"", "\"blue win\""), ("-win", "-win*"), ("win*", "win*"), ("東京", "東京"),
      ("東", "東*"),
      ("", ""), ("a OR", "a"), ("e-m", "\"e m*\""),
    ])
  func typing(typed: String, meaning: String) {
    #expect("\(SearchExpression(typed, isBeingTyped: true))" == meaning)
  }

  @Test("may have typos, where a word is long enough")
  func typos() {
    let typed = "blue green extremely extreme1 \"green\" e-mail-address gree* gröün"
    #expect(
      "\(SearchExpression(typed, allowsTypos: true))"
        == "blue green~1 extremely~2 extreme1 green \"e mail address\" gree* groun~1")
    #expect("\(SearchExpression("green", isBeingTyped: true, allowsTypos: true))" == "green*~1")
    #expect("\(SearchExpression("green*", isBeingTyped: true, allowsTypos: true))" == "green*")
    // Marks that stand within words do not end the one that is being typed.
    #expect("\(SearchExpression("paral·", isBeingTyped: true))" == "paral*")
    #expect("\(SearchExpression("paral\u{387}*"))" == "paral*")
    #expect("\(SearchExpression("צה״", isBeingTyped: true))" == "צה*")
    #expect("\(SearchExpression("paral··", isBeingTyped: true))" == "paral")
    #expect("\(SearchExpression("paral.", isBeingTyped: true))" == "paral")
  }

  @Test("takes its first terms where there are very many")
  func many() {
    let words = (0..<10_000).map { "w\($0)" }
    let expression = SearchExpression(words.joined(separator: " "))
    #expect(expression.wanted.map { $0[0].description } == Array(words.prefix(64)))
    let phrase = SearchExpression("\"" + words.joined(separator: " ") + "*\"", isBeingTyped: true)
    #expect(phrase.wanted == [[SearchTerm(words.prefix(64).map { Array($0.utf8) })]])
    let alternatives = SearchExpression(words.joined(separator: " OR "))
    #expect(alternatives.wanted.map(\.count) == [64])
    let behind = SearchExpression(words.prefix(64).joined(separator: " OR ") + " behind")
    #expect(behind.wanted.map(\.count) == [64])
    let pairs = SearchExpression((0..<100).map { "a\($0) OR b\($0)" }.joined(separator: " "))
    #expect(pairs.wanted.map(\.count) == Array(repeating: 2, count: 32))
    let mixed = SearchExpression((0..<100).map { "a\($0) -b\($0)" }.joined(separator: " "))
    #expect(mixed.wanted.count == 32 && mixed.excluded.count == 32)
    #expect(SearchExpression("-" + words.joined(separator: " -")).excluded.count == 64)
  }

  @Test("never fails, whatever it is")
  func anything() {
    var random = RandomSource()
    let parts = [
      "\"", "-", "*", "OR", " ", "a", "東", "”", "\u{0}", "é", "e-f", "👩‍👧", "\n", "ท", "\u{301}",
    ]
    for _ in 0..<repetitions(3000) {
      let typed = random.array(0..<20) { $0.pick(parts) }.joined()
      let expression = SearchExpression(
        typed, isBeingTyped: random.bool(), allowsTypos: random.bool())
      for term in expression.wanted.joined() + expression.excluded {
        #expect(
          !term.words.isEmpty && term.words.allSatisfy { 1...64 ~= $0.count }, "\(random.hint)")
      }
      #expect(Set(expression.wanted).count == expression.wanted.count, "\(random.hint)")
    }
  }
}
