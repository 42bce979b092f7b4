import Foundation
import Larder
import LarderTesting
import Testing

@testable import Larder

/// Ways along an index for its order.
@Suite struct OrderedPlanTests {
  @Test("a page after the first goes by the index that the first one goes by")
  func pages() throws {
    try withVolumes { store, volumes in
      let query = ShelvedVolume.where { $0.shelf == 1 }.sorted(by: \.order).limit(20)
      let first = try volumes.page(query)
      let next = try query.after(#require(first.next))

      try store.read { snapshot in
        let binding = try #require(try snapshot.catalogue.binding(of: ShelvedVolume.self))
        for query in [query, next] {
          let plan = try snapshot.transaction.execution(of: query.selection, binding).plan
          guard case .index(let access) = plan.source, case .index = plan.order else {
            Issue.record("\(query): \(plan)")
            continue
          }
          #expect(access.index.name == "shelf,order", "\(query)")
          #expect(plan.retreat == nil, "\(query)")
        }
      }
    }
  }

  @Test("a way along the index that finds the fewest is not given up for the same way")
  func noRetreatToItself() throws {
    try withVolumes { store, volumes in
      let query = ShelvedVolume.where { $0.order < 100 && $0.note.contains("nowhere") }
        .sorted(by: \.order).limit(20)

      let plan = try query.explain(in: store)

      #expect(plan.order == .index && plan.abandonedCount == 0, "\(plan)")
      #expect(plan.examinedCount <= 200, "\(plan)")
      #expect(try volumes.fetch(query).isEmpty)
    }
  }

  @Test("a way along an index is given up where too few documents on it match, and none is lost")
  func retreat() throws {
    try withVolumes { store, volumes in
      let all = try volumes.fetch(ShelvedVolume.all).sorted {
        ($0.order, $0.id) < ($1.order, $1.id)
      }
      // On all of the way, nowhere, at its beginning alone, at its end alone.
      for range in [0..<2_000, 0..<0, 0..<3, 1_990..<2_000] {
        let note = "\(range)"
        try volumes.save(
          all[range].map { volume in
            var changed = volume
            changed.note = note
            return changed
          })
        let query = ShelvedVolume.where { $0.note.contains(note) }.sorted(by: \.order).limit(20)

        let found = try volumes.fetch(query)
        let plan = try query.explain(in: store)

        #expect(found.map(\.id) == all[range].prefix(20).map(\.id), "\(range)")
        let isGivenUp = range.count < 20
        #expect(plan.order == (isGivenUp ? .sort : .index), "\(plan)")
        #expect((plan.source == .scan) == isGivenUp, "\(plan)")
        #expect(plan.abandonedCount < (isGivenUp ? 200 : 1), "\(plan)")
        #expect((plan.abandonedCount > 0) == isGivenUp, "\(plan)")
        #expect(plan.examinedCount < (isGivenUp ? 2_001 : 25), "\(plan)")
        #expect(plan.examinedCount >= (isGivenUp ? 2_000 : 20), "\(plan)")
        #expect(plan.matchedCount == found.count || isGivenUp, "\(plan)")
      }
    }
  }

  // Documents that are equal in all else lie in the order of their keys anyway.
  @Test("a key at the end of an order keeps no index from having it", arguments: [false, true])
  func keyAtTheEnd(isReversed: Bool) throws {
    try withVolumes { store, volumes in
      let order: KeyPathOrder = { $0.sorted(by: \.order, isReversed ? .reverse : .forward) }
      for query in [
        order(ShelvedVolume.all), order(ShelvedVolume.where { $0.shelf == 1 }),
        order(ShelvedVolume.where { $0.note == "none" }),
      ] {
        let query = query.sorted(by: \.id)
        let expected = try volumes.fetch(ShelvedVolume.all).filter {
          !"\(query)".contains("shelf") || $0.shelf == 1
        }.sorted {
          if $0.order != $1.order { return ($0.order < $1.order) != isReversed }
          return $0.id < $1.id
        }

        #expect(try query.limit(5).explain(in: store).order == .index, "\(query)")
        #expect(try volumes.fetch(query).map(\.id) == expected.map(\.id), "\(query)")
        var paged: [Int] = []
        var cursor: PageCursor?
        repeat {
          let page = try volumes.page(query.limit(99), after: cursor)
          paged += page.models.map(\.id)
          cursor = page.next
        } while cursor != nil
        #expect(paged == expected.map(\.id), "\(query)")
      }
    }
  }

  private typealias KeyPathOrder = (Query<ShelvedVolume>) -> Query<ShelvedVolume>

  private func withVolumes(
    _ body: (Store, StoreRepository<ShelvedVolume>) throws -> Void
  ) throws {
    try withTemporaryStore { store in
      let volumes = store.repository(of: ShelvedVolume.self)
      try volumes.save(
        (0..<2_000).map { number in
          ShelvedVolume(
            id: number, shelf: number % 2, order: number * 7_919 % 1_000, note: "none")
        })
      try body(store, volumes)
    }
  }
}

@Document
private struct ShelvedVolume: Identifiable {
  var id: Int
  var shelf: Int
  @Indexed var order: Int
  var note: String

  static let indexes: [Index<ShelvedVolume>] = [Index(\.shelf, \.order)]
}
