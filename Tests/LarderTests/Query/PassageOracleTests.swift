import Foundation
import Larder
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Conditions on texts that bytes answer, and on elements that indexes answer, whatever the script.
@Suite struct PassageOracleTests {
  private typealias Question = (
    filter: (Fields<Passage>) -> Filter<Passage>, holds: (Passage) -> Bool
  )

  @Test("conditions on texts and on elements mean what Swift's own do, by every plan")
  func oracle() throws {
    var random = RandomSource()
    var tally = Tally()
    let total = repetitions(3_000)
    while tally.asked < total || tally.asked < 20 * total && !tally.hasMetAll {
      try withTemporaryStore { store in
        let letters = Letters(using: &random)
        let passages = (0..<random.int(20..<60)).map { Passage(id: $0, letters, using: &random) }
        try store.repository(of: Passage.self).save(passages)
        for _ in 0..<100 { try ask(passages, letters, store, &tally, using: &random) }
      }
    }
    print("passages: \(tally)")
    #expect(tally.hasMetAll, "\(random.hint)")
  }

  private struct Tally {
    var asked = 0
    var found = 0
    var byIndex = 0
    var counted = 0

    var hasMetAll: Bool { found > asked && byIndex > asked / 2 && counted > asked / 20 }
  }

  private func ask(
    _ passages: [Passage], _ letters: Letters, _ store: Store, _ tally: inout Tally,
    using random: inout RandomSource
  ) throws {
    var question = Self.question(letters, passages, using: &random)
    if random.once(in: 3) {
      let (first, other) = (question, Self.question(letters, passages, using: &random))
      question = (
        { first.filter($0) && other.filter($0) }, { first.holds($0) && other.holds($0) }
      )
    }
    if random.once(in: 4) {
      let (first, shelf) = (question, random.int(0..<3))
      question = (
        { $0.shelf == shelf && first.filter($0) }, { $0.shelf == shelf && first.holds($0) }
      )
    }
    let answer = passages.filter(question.holds)
    let query = Passage.where(question.filter)
    let hint: Comment = "\(query) \(random.hint)"
    tally.asked += 1
    tally.found += answer.count
    let contents = store.repository(of: Passage.self)
    let found = try contents.fetch(query)
    try #require(found == answer, hint)
    let count = try contents.count(query)
    try #require(count == answer.count, hint)
    let limit = random.int(0..<5)
    let few = try contents.count(query.limit(limit))
    try #require(few == min(limit, answer.count), hint)
    try store.read { snapshot in
      guard let binding = try snapshot.catalogue.binding(of: Passage.self) else { return }
      let planner = Planner(query.selection, binding.collection)
      if try planner.countingAccess(LentTransaction(snapshot.transaction)) != nil {
        tally.counted += 1
      }
    }
    try store.eachPlan(of: query) { keys, plan in
      try #require(keys == answer.map(\.id), "\(plan), \(hint)")
      if !plan.isScan { tally.byIndex += 1 }
    }
    try askInOrder(query, answer, store, hint, using: &random)
  }

  /// By an order that an index has, or none, with a limit, and page by page.
  private func askInOrder(
    _ query: Query<Passage>, _ answer: [Passage], _ store: Store, _ hint: Comment,
    using random: inout RandomSource
  ) throws {
    let passages = store.repository(of: Passage.self)
    let isByText = random.bool()
    let isReversed = random.bool()
    let direction: SortOrder = isReversed ? .reverse : .forward
    let sorted =
      isByText ? query.sorted(by: \.text, direction) : query.sorted(by: \.order, direction)
    let expected = answer.sorted { first, second in
      let (left, right) = (TextOracle.normal(first.text), TextOracle.normal(second.text))
      if isByText, left != right { return (left < right) != isReversed }
      if !isByText, first.order != second.order {
        return (first.order < second.order) != isReversed
      }
      return first.id < second.id
    }
    let limit = random.int(1..<12)
    let first = try passages.fetch(sorted.limit(limit))
    try #require(first == Array(expected.prefix(limit)), hint)
    var page = try passages.page(sorted.limit(limit))
    var models = page.models
    while let next = page.next {
      page = try passages.page(sorted.limit(limit), after: next)
      models += page.models
    }
    try #require(models == expected, hint)
  }

  // MARK: Questions

  private static func question(
    _ letters: Letters, _ passages: [Passage], using random: inout RandomSource
  ) -> Question {
    // Some of a text that is there, so that it is found.
    var part = letters.text(1..<4, &random)
    if random.bool(), let text = passages.map(\.text).randomElement(using: &random) {
      let scalars = Array(text.unicodeScalars)
      let start = random.int(0..<scalars.count + 1)
      let end = random.int(start..<scalars.count + 1)
      part = String(String.UnicodeScalarView(scalars[start..<end]))
      if random.bool() { part = TextOracle.normal(part) }
    }
    let text = part
    let other = letters.text(0..<3, &random)
    let size = random.int(0..<9)
    return random.pick(
      questionsOfTexts(text, other) + questionsOfElements(text, other, size))
  }

  private static func questionsOfTexts(_ text: String, _ other: String) -> [Question] {
    let normal = TextOracle.normal(text)
    return [
      ({ $0.text.hasPrefix(text) }, { TextOracle.hasPrefix($0.text, text) }),
      ({ $0.text.hasSuffix(text) }, { TextOracle.hasSuffix($0.text, text) }),
      ({ $0.text.contains(text) }, { TextOracle.contains($0.text, text) }),
      ({ $0.text == text }, { $0.text == text }),
      ({ $0.text < text }, { TextOracle.normal($0.text) < normal }),
      ({ $0.text >= text }, { TextOracle.normal($0.text) >= normal }),
      ({ $0.text.isIn([text, other]) }, { $0.text == text || $0.text == other }),
      (
        { $0.note.hasPrefix(text) },
        { $0.note.map { TextOracle.hasPrefix($0, text) } ?? false }
      ),
      (
        { $0.note.contains(text) }, { $0.note.map { TextOracle.contains($0, text) } ?? false }
      ),
      (
        { $0.text.hasPrefix(text) && $0.text > other },
        {
          TextOracle.hasPrefix($0.text, text)
            && TextOracle.normal($0.text) > TextOracle.normal(other)
        }
      ),
      (
        { $0.text.hasPrefix(text) && $0.text.hasPrefix(other) },
        { TextOracle.hasPrefix($0.text, text) && TextOracle.hasPrefix($0.text, other) }
      ),
    ]
  }

  private static func questionsOfElements(
    _ text: String, _ other: String, _ size: Int
  ) -> [Question] {
    let (normal, otherNormal) = (TextOracle.normal(text), TextOracle.normal(other))
    return [
      ({ $0.tags.contains(text) }, { $0.tags.contains(text) }),
      ({ $0.tags.contains { $0 == text } }, { $0.tags.contains { $0 == text } }),
      ({ $0.tags.contains { $0 != text } }, { $0.tags.contains { $0 != text } }),
      (
        { $0.tags.contains { $0.hasPrefix(text) } },
        { $0.tags.contains { TextOracle.hasPrefix($0, text) } }
      ),
      (
        { $0.tags.contains { $0.hasPrefix(text) && $0.contains(other) } },
        {
          $0.tags.contains {
            TextOracle.hasPrefix($0, text) && TextOracle.contains($0, other)
          }
        }
      ),
      (
        { $0.tags.contains { $0 >= text && $0 < other } },
        {
          $0.tags.contains {
            TextOracle.normal($0) >= normal && TextOracle.normal($0) < otherNormal
          }
        }
      ),
      (
        { $0.tags.contains { $0.isIn([text, other]) } },
        { $0.tags.contains { $0 == text || $0 == other } }
      ),
      (
        { $0.marks.contains { $0 == text } }, { $0.marks.contains { $0 == text } }
      ),
      ({ $0.marks.contains { $0 == nil } }, { $0.marks.contains { $0 == nil } }),
      ({ $0.sizes.contains { $0 == size } }, { $0.sizes.contains { $0 == size } }),
      (
        { $0.sizes.contains { $0 > size && $0 < size + 3 } },
        { $0.sizes.contains { $0 > size && $0 < size + 3 } }
      ),
      ({ $0.sizes.allSatisfy { $0 > size } }, { $0.sizes.allSatisfy { $0 > size } }),
    ]
  }
}
