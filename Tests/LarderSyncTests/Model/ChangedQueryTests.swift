import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Observation
import Testing

@testable import LarderSync

/// Models whose query or key changes, on real repositories.
@MainActor @Suite(.timeLimit(.minutes(20))) struct ChangedQueryTests {
  @Test("a model shows another query when it is given one, and keeps the old rows until then")
  func search() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(20))
      let updater = RecordingUpdater()
      let model = QueryModel(sellers, Seller.byOrder, refreshedBy: updater)
      model.start()
      await waitUntil { model.isLoaded }

      let query = Seller.where { $0.phone.hasPrefix("22 1") }.sorted(by: \.order)
      model.query = query
      #expect(model.rows.count == 20 && model.loadedQuery == Seller.byOrder)
      await waitUntil { model.loadedQuery == query }
      #expect(model.rows.map(\.id) == [1] + (10..<20))
      try await sellers.delete(keys: [1, 2])
      await waitUntil { model.rows.count == 10 }

      await updater.waitForCalls(1)
      #expect(updater.callCount == 1)
      #expect(model.lastError == nil)
      model.stop()
      await settle { !store.hasWatchers }
    }
  }

  @Test("a model with pages shows one, and more when it is asked, until there are no more")
  func pages() async throws {
    try await withTemporaryStore { store in
      let repositories: [any Repository<Seller, Seller>] = [
        store.repository(of: Seller.self), InMemoryRepository(of: Seller.self),
      ]
      for sellers in repositories {
        try await sellers.save(Seller.many(25))
        var steps: [Int] = []
        let model = QueryModel(sellers, Seller.byOrder, pageSize: 10) { change, apply in
          if case .update(let difference) = change { steps.append(difference.insertions.count) }
          apply()
        }
        model.loadMore()
        model.start()
        await waitUntil { model.isLoaded }
        #expect(model.rows == Seller.many(10) && model.mayHaveMore)

        model.loadMore()
        #expect(!model.mayHaveMore)
        model.loadMore()
        await waitUntil { model.rows.count == 20 }
        model.loadMore()
        await waitUntil { model.rows.count == 25 }
        #expect(!model.mayHaveMore)
        #expect(steps == [10, 5])
        let query = Seller.where { $0.order >= 3 }.sorted(by: \.order)
        model.query = query
        #expect(!model.mayHaveMore)
        await waitUntil { model.loadedQuery == query }

        #expect(model.rows.map(\.id) == Array(3..<13))
        #expect(model.mayHaveMore)
        model.stop()
      }
    }
  }

  @Test("a model whose query is changed and set back gives no more until it was read anew")
  func setBack() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(40))
      let model = QueryModel(sellers, Seller.byOrder, pageSize: 10)
      model.start()
      await waitUntil { model.isLoaded }
      model.loadMore()
      await waitUntil { model.rows.count == 20 }

      model.query = Seller.where { $0.phone.hasPrefix("22 1") }
      model.query = Seller.byOrder
      #expect(!model.mayHaveMore && model.rows.count == 20)
      model.loadMore()
      await waitUntil { model.rows.count == 10 }
      #expect(model.mayHaveMore)
      model.loadMore()
      await waitUntil { model.rows.count == 20 }
      model.stop()
      await settle { !store.hasWatchers }
    }
  }

  @Test("a model shows models with what belongs to them, and follows both")
  func joined() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(9))
      // Each with the one whose number is its place in the order.
      let joined = sellers.including(\.order, from: sellers)
      let model = QueryModel(joined, Seller.byOrder, pageSize: 3)
      model.start()
      await waitUntil { model.isLoaded }
      #expect(model.rows.map(\.related?.id) == [0, 1, 2])

      model.loadMore()
      await waitUntil { model.rows.count == 6 }
      var changed = Seller.many(9)[5]
      changed.phone = "new"
      try await sellers.save(changed)
      await waitUntil {
        model.rows.last?.related?.phone == "new" && model.rows.last?.model == changed
      }
      let query = Seller.where { $0.order >= 8 }
      model.query = query
      await waitUntil { model.loadedQuery == query }

      #expect(model.rows == [Included(model: Seller.many(9)[8], related: Seller.many(9)[8])])
      model.stop()
      await settle { !store.hasWatchers }
    }
  }

  @Test("a view sees the query that was set at once, and a stopped model reads it when it starts")
  func stopped() async throws {
    let sellers = InMemoryRepository(of: Seller.self)
    try await sellers.save(Seller.many(3))
    let model = QueryModel(sellers, Seller.byOrder)
    var toldCount = 0
    withObservationTracking {
      _ = model.query
    } onChange: {
      MainActor.assumeIsolated { toldCount += 1 }
    }

    model.query = Seller.byOrder.limit(1)
    #expect(toldCount == 1)
    #expect(model.query == Seller.byOrder.limit(1))
    model.start()
    await waitUntil { model.isLoaded }

    #expect(model.rows.map(\.id) == [0])
  }

  @Test(
    "a view that is made with another query shows it; one that it has set itself stays otherwise")
  func given() async throws {
    let sellers = InMemoryRepository(of: Seller.self)
    try await sellers.save(Seller.many(5))
    let given = GivenQuery(QueryModel(sellers, Seller.byOrder))
    given.update(Seller.byOrder)
    await waitUntil { given.model.rows.count == 5 }

    given.update(Seller.byOrder.limit(2))
    await waitUntil { given.model.rows.count == 2 }
    given.model.query = Seller.byOrder.limit(3)
    given.update(Seller.byOrder.limit(2))
    await waitUntil { given.model.rows.count == 3 }
    given.update(Seller.byOrder)
    await waitUntil { given.model.rows.count == 5 }

    #expect(given.model.query == Seller.byOrder)
  }

  @Test(
    "a model of one document shows it, its changes and its absence, and another one when asked to")
  func oneDocument() async throws {
    try await withTemporaryStore { store in
      let sellers: any Repository<Seller, Seller> = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(2))
      let model = StreamModel(sellers, key: 1)
      #expect(model.value == nil && !model.isLoaded)
      model.start()
      await waitUntil { model.isLoaded }
      #expect(model.value == Seller.many(2)[1])

      try await sellers.delete(keys: [1])
      await waitUntil { model.value == nil }
      #expect(model.loadedRequest == 1)
      model.request = 0
      await waitUntil { model.loadedRequest == 0 }

      #expect(model.value == Seller.many(1)[0])
      model.stop()
      await settle { !store.hasWatchers }
    }
  }

  @Test("a stream of one document gives nil while there is none, and failures of its updater")
  func keyStream() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      let updater = RecordingUpdater(.failure(Offline()))
      var events = sellers.stream(key: 3, refreshedBy: updater).makeAsyncIterator()
      #expect(await events.next(isolation: #isolation) == .value(nil))
      #expect(await events.next(isolation: #isolation) == .failure(Offline()))

      try await sellers.save(Seller.many(5))

      #expect(await events.next(isolation: #isolation) == .value(Seller.many(4)[3]))
    }
  }

  @Test("a model of any stream follows it, and the model of sections is one")
  func streams() async throws {
    try await withTemporaryStore { store in
      let sellers = store.repository(of: Seller.self)
      try await sellers.save(Seller.many(4))
      let count = StreamModel(Seller.all, initially: 0) { EventStream(sellers.watchCount($0)) }
      let sections = StreamModel(sellers, sections: Seller.byOrder, by: \.address)
      count.start()
      sections.start()
      await waitUntil { count.isLoaded && sections.isLoaded }
      #expect(count.value == 4)
      #expect(sections.value.map(\.key) == (0..<4).map { "Street \($0)" })

      var moved = Seller.many(1)[0]
      moved.address = "Street 3"
      try await sellers.save(moved)
      await waitUntil { sections.value.count == 3 }
      #expect(sections.value.map { $0.rows.map(\.id) } == [[1], [2], [0, 3]])
      count.request = Seller.where { $0.order > 0 }
      sections.request = Seller.where { $0.order > 1 }
      await waitUntil { count.value == 3 && sections.value.count == 2 }

      #expect(sections.value.map(\.key) == ["Street 2", "Street 3"])
      count.stop()
      sections.stop()
    }
  }
}

/// Random queries while others write.
@MainActor @Suite(.timeLimit(.minutes(20))) struct ChangedQueryOracleTests {
  /// A query, and what it means.
  private struct Question {
    let query: Query<Seller>
    let answer: @Sendable ([Seller]) -> [Seller]

    /// - Parameter number: No two questions are equal.
    init(_ number: Int, using random: inout RandomSource) {
      let unique = Seller.where { $0.id != -number - 1 }
      let bound = random.int(0..<12)
      switch random.int(0..<3) {
      case 0:
        query = unique.where { $0.order < bound }.sorted(by: \.order)
        answer = { sellers in
          Self.sorted(sellers.filter { $0.order < bound }) { $0.order < $1.order }
        }
      case 1:
        query = unique.where { $0.phone.hasPrefix("22 \(bound % 4)") }
        answer = { sellers in sellers.filter { $0.phone.hasPrefix("22 \(bound % 4)") } }
      default:
        query = unique.sorted(by: \.phone, .reverse).limit(bound)
        answer = { sellers in Array(Self.sorted(sellers) { $0.phone > $1.phone }.prefix(bound)) }
      }
    }

    /// Stable, of sellers in the order of their keys.
    static func sorted(
      _ sellers: [Seller], _ precedes: (Seller, Seller) -> Bool
    ) -> [Seller] {
      sellers.enumerated().sorted { left, right in
        if precedes(left.element, right.element) { return true }
        return !precedes(right.element, left.element) && left.offset < right.offset
      }.map(\.element)
    }
  }

  private struct Step {
    let query: Query<Seller>?
    let sequence: UInt64
    let rows: Rows<Seller>
    let isInitial: Bool
  }

  @Test("each step is the result of its query at its moment, and no query comes after a newer one")
  func everyStep() async throws {
    var random = RandomSource()
    var (initialCount, updateCount, droppedCount) = (0, 0, 0)
    // What was never seen proves nothing.
    func hasSeenAll() -> Bool { initialCount > 100 && updateCount > 100 && droppedCount > 100 }
    var round = 0
    while round < repetitions(40) || round < repetitions(800) && !hasSeenAll() {
      round += 1
      try await withTemporaryStore { store in
        let sellers = store.repository(of: Seller.self)
        var contents: [Int: Seller] = [:]
        var moments: [UInt64: [Seller]] = [0: []]
        var questions = [Question(0, using: &random)]
        var steps: [Step] = []
        weak var shown: QueryModel<Seller, Seller>?
        let model = QueryModel(sellers, questions[0].query) { change, apply in
          apply()
          guard let model = shown else { return }
          var isInitial = false
          if case .initial = change { isInitial = true }
          steps.append(
            Step(
              query: model.loadedQuery, sequence: change.sequence, rows: model.rows,
              isInitial: isInitial))
        }
        shown = model
        model.start()
        for _ in 0..<50 {
          switch random.int(0..<6) {
          case 0, 1:
            for _ in 0..<random.int(1..<4) {
              questions.append(Question(questions.count, using: &random))
              model.query = questions[questions.count - 1].query
            }
          case 2: for _ in 0..<random.int(0..<30) { await Task.yield() }
          case 3:
            await settle { model.loadedQuery == model.query }
          default:
            let page = (0..<random.int(1..<5)).map { _ in
              let id = random.int(0..<30)
              return Seller(
                id: id, phone: "22 \(random.int(0..<6))", address: "", order: random.int(0..<12))
            }
            if random.once(in: 3) {
              let report = try await sellers.delete(keys: page.map(\.id))
              for seller in page { contents[seller.id] = nil }
              _ = report
            } else {
              try await sellers.save(page)
              for seller in page { contents[seller.id] = seller }
            }
            moments[try store.read { $0.sequence }] = contents.values.sorted { $0.id < $1.id }
          }
        }
        let expected = questions[questions.count - 1].answer(
          contents.values.sorted { $0.id < $1.id })
        await settle { model.loadedQuery == model.query && model.rows == expected }

        var last = 0
        var lastSequence: UInt64 = 0
        for step in steps {
          let number = try #require(questions.firstIndex { $0.query == step.query })
          #expect(number >= last, "\(random.hint)")
          #expect(step.sequence >= lastSequence, "\(random.hint)")
          (last, lastSequence) = (number, step.sequence)
          let sellers = try #require(moments[step.sequence], "\(random.hint)")
          #expect(step.rows == questions[number].answer(sellers), "\(random.hint)")
          if step.isInitial { initialCount += 1 } else { updateCount += 1 }
        }
        droppedCount +=
          questions.count
          - Set(
            steps.compactMap { step in
              questions.firstIndex { $0.query == step.query }
            }
          ).count
        model.stop()
        await settle { !store.hasWatchers }
      }
    }
    print("changed queries: \(initialCount) read, \(updateCount) updates, \(droppedCount) dropped")
    #expect(hasSeenAll())
  }
}
