import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Orders along an index that do not tell many documents apart.
@Suite struct LongRunTests {
  @Test(
    "a page in reverse along an index reads about as many entries as it holds, however many are equal"
  )
  func entriesRead() throws {
    try withTemporaryStore { store in
      let letters = store.repository(of: Letter.self)
      try letters.save((0..<2_000).map { Letter(id: $0, shelf: 1, sent: $0 < 1_900 ? 7 : 3) })
      let queries = [
        Letter.all.sorted(by: \.sent, .reverse), Letter.all.sorted(by: \.note),
        Letter.where { $0.shelf == 1 }.sorted(by: \.sent, .reverse),
      ]
      for query in queries {
        var query = query.limit(20)
        for page in 0..<4 {
          let found = try letters.page(query)

          #expect(found.models.map(\.id) == Array(page * 20..<page * 20 + 20), "\(query)")
          let count = try entriesRead(query, store)
          #expect(count >= 20, "\(query)")
          #expect(count < 60, "\(query)")
          query = try query.after(#require(found.next))
        }
      }
    }
  }

  /// How many entries of an index a page takes, with the one behind it.
  private func entriesRead(_ query: Query<Letter>, _ store: Store) throws -> Int {
    try store.read { snapshot in
      let binding = try #require(try snapshot.catalogue.binding(of: Letter.self))
      let tally = Execution.Tally()
      let execution = try snapshot.transaction.execution(
        of: query.selection, binding, tally: tally)
      guard case .index(let order) = execution.plan.order else {
        Issue.record("\(query) does not go along an index")
        return 0
      }
      #expect(order.isReversed && order.isWhole)
      var left = 21
      try execution.forEach(in: snapshot.transaction, wanted: 21) { _, _ in
        left -= 1
        return left > 0
      }
      return tally.entries
    }
  }

  @Test(
    "runs of equal values of any length come in the order of their keys, in reverse and page by page"
  )
  func oracle() throws {
    var random = RandomSource()
    for _ in 0..<repetitions(10) {
      try withTemporaryStore { store in
        let letters = store.repository(of: Letter.self)
        var stored = makeLetters(using: &random)
        try letters.save(stored)
        let questions: [(Query<Letter>, ([Letter]) -> [Letter])] = [
          (Letter.all.sorted(by: \.sent, .reverse), { Self.sorted($0) }),
          (
            Letter.where { $0.shelf == 1 }.sorted(by: \.sent, .reverse),
            { Self.sorted($0.filter { $0.shelf == 1 }) }
          ),
          (
            Letter.all.sorted(by: \.note),
            { $0.sorted { ($0.note, $0.id) < ($1.note, $1.id) } }
          ),
        ]
        for (query, answer) in questions {
          let expected = answer(stored)
          #expect(try letters.fetch(query) == expected, "\(query), \(random.hint)")
          try store.eachPlan(of: query) { keys, plan in
            #expect(keys == expected.map(\.id), "\(query), \(plan), \(random.hint)")
          }
          for deletes in [false, true] {
            var found: [Letter] = []
            let size = random.int(1..<40)
            var next: PageCursor?
            repeat {
              let page = try letters.page(query.limit(size), after: next)
              found += page.models
              next = page.next
              // The place of a cursor stays where it is without its document.
              if deletes, next != nil, let last = page.models.last {
                try letters.delete(key: last.id)
                stored.removeAll { $0.id == last.id }
              }
            } while next != nil

            #expect(found == expected, "\(query), \(size), \(random.hint)")
          }
        }
      }
    }
  }

  /// Runs of lengths around the one from which on they are read from their start.
  private func makeLetters(using random: inout RandomSource) -> [Letter] {
    let counts = [1, 2, 15, 16, 17, 18, 33, 70].shuffled(using: &random)
    var ids = Array(0..<counts.reduce(0, +)).shuffled(using: &random)
    var letters: [Letter] = []
    for (value, count) in counts.enumerated() {
      for id in ids.prefix(count) {
        let sent = value == 0 ? nil : value
        letters.append(
          Letter(id: id, shelf: random.int(0..<2), sent: sent, note: "n\(value)"))
      }
      ids.removeFirst(count)
    }
    return letters
  }

  /// In reverse, nil last.
  private static func sorted(_ letters: [Letter]) -> [Letter] {
    letters.sorted { ($1.sent ?? 0, $0.id) < ($0.sent ?? 0, $1.id) }
  }
}

@Document
private struct Letter: Identifiable, Equatable {
  var id: Int
  var shelf: Int
  @Indexed var sent: Int?
  @Indexed(descending: true) var note = ""

  static let indexes: [Index<Letter>] = [Index(\.shelf, \.sent)]
}
