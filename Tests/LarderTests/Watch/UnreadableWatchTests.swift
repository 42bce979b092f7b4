import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// Documents of a newer version of an app, next to those that are watched.
@Suite(.timeLimit(.minutes(20))) struct UnreadableWatchTests {
  // MARK: Versions of one app

  enum OlderPlan: String, Storable { case small }
  enum NewerPlan: String, Storable { case small, large }

  @Document(as: "Subscription")
  struct OlderSubscription: Identifiable, Equatable {
    var id: Int
    var plan = OlderPlan.small
    var order = 0
    var parent: Int?
  }

  @Document(as: "Subscription")
  struct NewerSubscription: Identifiable, Equatable {
    var id: Int
    var plan = NewerPlan.large
    var order = 0
    var parent: Int?
  }

  /// Every subscription, but for those with a negative order.
  private struct NumberMapper: EntityMapper {
    struct Number: Equatable {
      var id: Int
      var order: Int
    }

    func convert(_ entity: OlderSubscription) -> Number? {
      entity.order < 0 ? nil : Number(id: entity.id, order: entity.order)
    }

    func newEntity(for model: Number) -> OlderSubscription {
      OlderSubscription(id: model.id, order: model.order)
    }

    func update(_ entity: inout OlderSubscription, by model: Number) { entity.order = model.order }
    func entityAccessorKey(_ model: Number) -> Int { model.id }
  }

  private typealias Number = NumberMapper.Number

  // MARK: Limits

  private func watch(
    _ store: Store, _ query: Query<OlderSubscription>, marginCount: Int? = nil
  ) -> ResultWatch<OlderSubscription, Number> {
    let selection = query.selection
    return ResultWatch(
      store, selection, RowReader(selection, .mapped(by: NumberMapper())), marginCount: marginCount)
  }

  @Test("what cannot be read behind the limit of a mapped watch is no error, and is looked at once")
  func behindLimit() throws {
    try withTemporaryStore { store in
      let older = store.repository(of: OlderSubscription.self)
      let newer = store.repository(of: NewerSubscription.self)
      let query = OlderSubscription.all.limit(2)
      try older.save((0..<6).map { OlderSubscription(id: $0) })
      try newer.save(NewerSubscription(id: 7))
      var watch = watch(store, query)
      var list: [Number] = []
      func look(_ expected: [Int]) throws {
        if let change = try watch.next(skippingTo: 0) { list.apply(change) }
        #expect(list.map(\.id) == expected)
        let mapped = store.repository(of: OlderSubscription.self, mappedBy: NumberMapper())
        #expect(try list == mapped.fetch(query))
      }
      try look([0, 1])

      try newer.save(NewerSubscription(id: 8))
      try look([0, 1])
      #expect(watch.rereadCount == 0)
      try newer.save(NewerSubscription(id: 3))
      try look([0, 1])
      for order in 1...3 { try newer.save(NewerSubscription(id: 3, order: order)) }
      try look([0, 1])
      #expect(watch.rereadCount == 1)
      try older.delete(key: 0)
      try look([1, 2])
      #expect(watch.refillCount == 0)

      try older.save(OlderSubscription(id: 3))
      try older.delete(key: 1)
      try look([2, 3])
      try newer.save(NewerSubscription(id: 2))
      #expect(throws: StoreError.self) { try watch.next(skippingTo: 0) }
    }
  }

  @Test("a mapped watch with a limit throws where a fetch does, and else shows what it gives")
  func limitOracle() throws {
    var random = RandomSource()
    let hint = random.hint
    var (steps, errors) = (0, 0)
    let enough = repetitions(100)
    for _ in rounds(repetitions(20), until: { steps > enough && errors > enough }) {
      try withTemporaryStore { store in
        let older = store.repository(of: OlderSubscription.self)
        let newer = store.repository(of: NewerSubscription.self)
        let mapped = store.repository(of: OlderSubscription.self, mappedBy: NumberMapper())
        let all = random.pick([
          OlderSubscription.all, OlderSubscription.all.sorted(by: \.order),
          OlderSubscription.where { $0.order != 3 }.sorted(by: \.order, .reverse),
        ])
        let query = all.offset(random.pick([0, 2])).limit(random.pick([0, 1, 4]))
        let margin = random.pick([0, 1, 3, nil])
        var current: ResultWatch<OlderSubscription, Number>?
        var list: [Number] = []
        for _ in 0..<60 {
          let ids = random.array(1..<3) { $0.int(0..<14) }
          switch random.int(0..<6) {
          case 0: try older.delete(keys: ids)
          case 1: try newer.save(ids.map { NewerSubscription(id: $0, order: random.int(0..<9)) })
          default:
            try older.save(ids.map { OlderSubscription(id: $0, order: random.int(-1..<9)) })
          }
          if random.once(in: 3) { continue }
          var next = current ?? watch(store, query, marginCount: margin)
          do {
            if let change = try next.next(skippingTo: 0) {
              list.apply(change)
              steps += 1
            }
            let isSame = try list == mapped.fetch(query)
            try #require(isSame, "\(query) \(hint)")
            current = next
          } catch let error as StoreError {
            #expect(throws: error, "\(query) \(hint)") { try mapped.fetch(query) }
            errors += 1
            (current, list) = (nil, [])
          }
        }
      }
    }
    print("unreadable behind limits: \(steps) steps, \(errors) errors")
    #expect(steps > enough && errors > enough, "\(hint)")
  }
}
