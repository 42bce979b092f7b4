import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct GrowingLimitTests {
  private static let byOrder = Contact.all.sorted(by: \.order)

  private func contacts(_ numbers: Range<Int>) -> [Contact] {
    numbers.map { Contact(id: "\($0)", city: "", order: $0) }
  }

  @Test("a limit that grows brings the rows that were missing, on every repository")
  func growing() async throws {
    try await withTemporaryStore { store in
      let repositories: [any Repository<Contact, Contact>] = [
        store.repository(of: Contact.self), InMemoryRepository(of: Contact.self),
      ]
      for repository in repositories {
        try await repository.save(contacts(0..<200))
        let limit = GrowingLimit(2)
        #expect(!limit.grow(by: 1))
        var steps = repository.watch(Self.byOrder.offset(5).limit(150), upTo: limit)
          .makeAsyncIterator()
        var list = Rows<Contact>()
        list.apply(try #require(try await steps.next()))
        #expect(list == contacts(5..<8))

        #expect(limit.grow(by: 100))
        let step = try #require(try await steps.next())
        list.apply(step)
        #expect(list == contacts(5..<108))
        guard case .update(let difference) = step else {
          Issue.record("expected an update")
          return
        }
        #expect(difference.removals.isEmpty && difference.updates.isEmpty)
        #expect(difference.insertions.map(\.offset) == Array(3..<103))

        // The query has a limit of its own.
        #expect(limit.grow(by: .max))
        list.apply(try #require(try await steps.next()))
        #expect(list == contacts(5..<155))
        try await repository.delete(keys: ["0", "20"])
        list.apply(try #require(try await steps.next()))
        #expect(list.count == 150 && list.first?.order == 6 && list.last?.order == 156)
      }
    }
  }

  @Test("a watcher that waits is woken when the limit grows, and is forgotten when it is gone")
  func waking() async throws {
    try await withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try await repository.save(contacts(0..<10))
      let limit = GrowingLimit(1)
      let lengths = Task {
        var list = Rows<Contact>()
        for try await step in repository.watch(Self.byOrder, upTo: limit) {
          list.apply(step)
          if list.count == 4 { return list }
        }
        return list
      }
      // Whether it waits already or not.
      while !limit.grow(by: 0) { await Task.yield() }
      for _ in 0..<100 { await Task.yield() }
      limit.grow(by: 3)

      #expect(try await lengths.value == contacts(0..<4))
      while limit.grow(by: 0) { await Task.yield() }
      #expect(limit.watcherCount == 0)
      for _ in 0..<10 {
        var steps = repository.watch(Self.byOrder, upTo: limit).makeAsyncIterator()
        _ = try await steps.next()
      }
      #expect(try await eventually { limit.watcherCount == 0 })
    }
  }

  @Test("however often a limit grows, each row is read once")
  func cost() throws {
    try withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try repository.save(contacts(0..<5_000))
      for query in [Self.byOrder, Contact.all] {
        let limit = GrowingLimit(20)
        var selection = query.selection
        selection.growth = Growth(limit: limit, ceiling: .max)
        var watch = ResultWatch(
          store, selection, RowReader<Contact, Contact>(selection), marginCount: 10)
        var list = Rows<Contact>()
        list.apply(try #require(try watch.next(skippingTo: 0)))
        for _ in 0..<100 {
          limit.grow(by: 20)
          list.apply(try #require(try watch.next(skippingTo: 0)))
          #expect(try watch.next(skippingTo: 0) == nil)
        }

        #expect(try list == Rows(repository.fetch(query.limit(2_020))))
        // 30 were there at first, and 10 are kept behind the last that are shown.
        #expect(watch.grownCount == 2_000)
        #expect(watch.rereadCount == 0 && watch.refillCount == 0)
      }
    }
  }

  @Test("what was ignored comes when the limit grows")
  func ignoring() async throws {
    try await withTemporaryStore { store in
      let repository = store.repository(of: Contact.self)
      try await repository.save(contacts(10..<100))
      let limit = GrowingLimit(5)
      var steps = repository.watch(Self.byOrder, upTo: limit, ignoring: [.sync]).makeAsyncIterator()
      var list = Rows<Contact>()
      list.apply(try #require(try await steps.next()))

      try await repository.save(contacts(0..<10), as: .sync)
      try await repository.delete(keys: ["12"], as: .sync)
      limit.grow(by: 10)
      list.apply(try #require(try await steps.next()))
      #expect(list == contacts(0..<12) + contacts(13..<16))
      try await repository.delete(keys: ["0"])
      list.apply(try #require(try await steps.next()))

      #expect(list == contacts(1..<12) + contacts(13..<17))
    }
  }
}
