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

  @Document(as: "Label")
  struct OlderLabel: Equatable {
    var id: String
    var plan = OlderPlan.small
    var order = 0

    var entityAccessorKey: String { id.lowercased() }
  }

  @Document(as: "Label")
  struct NewerLabel: Equatable {
    var id: String
    var plan = NewerPlan.large
    var order = 0

    var entityAccessorKey: String { id.lowercased() }
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

  // MARK: Keys

  @Test("one document is watched whatever the others hold, also where its key is no field")
  func key() throws {
    try withTemporaryStore { store in
      let older = store.repository(of: OlderLabel.self)
      let newer = store.repository(of: NewerLabel.self)
      let memory = InMemoryRepository(of: OlderLabel.self)
      try newer.save(NewerLabel(id: "Z"))
      for labels in [older, memory] as [any Repository<OlderLabel, OlderLabel>] {
        try labels.save([OlderLabel(id: "A"), OlderLabel(id: "B")])
        var list: [OlderLabel] = []
        let query = query(under: "a")
        let watcher = try #require(labels.watch(query, ignoring: []).makeWatcher?())
        func look(_ orders: [Int]) throws {
          while let change = try watcher.look() { list.apply(change) }
          #expect(list.map(\.order) == orders)
          #expect(try list.first == labels.get("a"))
        }
        try look([0])

        try labels.save([OlderLabel(id: "A", order: 1), OlderLabel(id: "B", order: 2)])
        try look([1])
        try labels.delete(keys: ["a", "b"])
        try look([])
        try labels.save(OlderLabel(id: "a", order: 3))
        try look([3])
      }
      #expect(try query(under: "a").explain(in: store).examinedCount == 1)
      #expect(try query(under: "b").explain(in: store).source == .keys(count: 1))
    }
  }

  /// As a watch of one key makes it.
  private func query(under key: String) -> Query<OlderLabel> {
    var query = OlderLabel.all
    query.selection.filter = .key(key.encodedBytes)
    return query
  }

  @Test("a watch of a key gives what is under it, and throws only for that document")
  func watchedKey() async throws {
    try await withTemporaryStore { store in
      let older = store.repository(of: OlderLabel.self)
      let newer = store.repository(of: NewerLabel.self)
      try await newer.save(NewerLabel(id: "Z"))
      try await older.save(OlderLabel(id: "A"))
      var labels = older.watch(key: "a").makeAsyncIterator()
      #expect(try await labels.next() == OlderLabel(id: "A"))

      try await newer.save(NewerLabel(id: "Y"))
      try await older.save(OlderLabel(id: "A", order: 1))
      #expect(try await labels.next() == OlderLabel(id: "A", order: 1))
      try await older.delete(keys: ["a"])
      #expect(try await labels.next() == .some(nil))
      try await newer.save(NewerLabel(id: "A"))
      await #expect(throws: StoreError.self) { try await labels.next() }
    }
  }

  @Test("a key is a condition beside others, and wakes nobody for other documents")
  func keyCondition() async throws {
    try await withTemporaryStore { store in
      let labels = store.repository(of: OlderLabel.self)
      let memory = InMemoryRepository(of: OlderLabel.self)
      let all = ["A", "B", "C"].map { OlderLabel(id: $0, order: 1) }
      try await labels.save(all)
      try await memory.save(all)
      var query = OlderLabel.where { $0.order == 1 }
      query.selection.filter = .all([query.selection.filter, .key("b".encodedBytes)])
      let repositories: [any Repository<OlderLabel, OlderLabel>] = [labels, memory]
      for repository in repositories { #expect(try repository.fetch(query).map(\.id) == ["B"]) }
      #expect(try query.results(of: all).map(\.id) == ["B"])
      query.selection.filter = .all([
        .key("b".encodedBytes), OlderLabel.where { $0.order == 2 }.selection.filter,
      ])
      for repository in repositories { #expect(try repository.fetch(query).isEmpty) }

      let interest = WatchInterest(
        ModelForm<OlderLabel, OlderLabel>.documents, query.selection.filter)
      let seat = store.engine.watchHub.sit(in: store, interest)
      try await labels.save(OlderLabel(id: "A", order: 5))
      #expect(!seat.takeMark())
      try await labels.save(OlderLabel(id: "B", order: 5))
      #expect(try await eventually { seat.takeMark() })
      store.engine.watchHub.leave(seat)
    }
  }

  // MARK: Joins

  /// A watch of what subscriptions refer to, and the list that its steps have made.
  private final class Joined {
    private var steps:
      WatchSequence<ResultChange<Included<OlderSubscription, OlderSubscription?>>>
        .AsyncIterator
    private(set) var list: [Included<OlderSubscription, OlderSubscription?>] = []

    init(_ repository: StoreRepository<OlderSubscription>) {
      // Those that cannot be read are none of the models.
      steps = repository.including(\.parent, from: repository)
        .watch(OlderSubscription.where { $0.id < 10 }).makeAsyncIterator()
    }

    func next() async throws { list.apply(try #require(try await steps.next())) }
    var parents: [Int?] { list.map(\.related?.id) }
  }

  @Test(
    "a document that cannot be read ends a joined watch once a model refers to it, and not before")
  func joined() async throws {
    try await withTemporaryStore { store in
      let older = store.repository(of: OlderSubscription.self)
      let newer = store.repository(of: NewerSubscription.self)
      try await newer.save([20, 21].map { NewerSubscription(id: $0) })
      try await older.save([OlderSubscription(id: 1, parent: 2), OlderSubscription(id: 2)])
      let first = Joined(older)
      try await first.next()
      #expect(first.parents == [2, nil])

      // One that is gone is none, and one that can be read again is as any other.
      try await older.delete(keys: [20])
      try await older.save(OlderSubscription(id: 2, parent: 20))
      try await first.next()
      #expect(first.parents == [2, nil])
      try await older.save([OlderSubscription(id: 21), OlderSubscription(id: 3, parent: 21)])
      try await first.next()
      #expect(first.parents == [2, nil, 21])

      try await newer.save(NewerSubscription(id: 22))
      try await older.save(OlderSubscription(id: 4, parent: 22))
      await #expect(throws: StoreError.self) { try await first.next() }
    }
  }

  @Test(
    "a joined watch ends where what a model refers to can be read no longer, or comes unreadable")
  func joinedLater() async throws {
    try await withTemporaryStore { store in
      let older = store.repository(of: OlderSubscription.self)
      let newer = store.repository(of: NewerSubscription.self)
      let joined = older.including(\.parent, from: older)
      let query = OlderSubscription.where { $0.id < 10 }
      try await older.save([OlderSubscription(id: 1, parent: 20), OlderSubscription(id: 20)])
      let first = Joined(older)
      try await first.next()
      #expect(first.parents == [20])
      try await newer.save(NewerSubscription(id: 20))
      await #expect(throws: StoreError.self) { try await first.next() }
      #expect(throws: StoreError.self) { try joined.fetch(query) }

      try await older.delete(keys: [20])
      let second = Joined(older)
      try await second.next()
      #expect(second.parents == [nil])
      try await newer.save(NewerSubscription(id: 20))
      await #expect(throws: StoreError.self) { try await second.next() }
    }
  }
}
