import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

/// What changes of other documents, and of other collections, have to do with a watcher that ignores some.
@Suite(.timeLimit(.minutes(20))) struct IgnoredChangeTests {
  private typealias Contacts = any Repository<Contact, Contact>

  private func contact(_ id: String, _ city: String, order: Int = 0) -> Contact {
    Contact(id: id, city: city, order: order)
  }

  private let oslo = Contact.where { $0.city == "Oslo" }

  /// In a store and in memory.
  private func withRepositories(_ body: (Contacts) throws -> Void) throws {
    try withTemporaryStore { try body($0.repository(of: Contact.self)) }
    try body(InMemoryRepository(of: Contact.self))
  }

  @Test("what is ignored waits for a change that matched before or after it, and for no other one")
  func matching() throws {
    try withRepositories { contacts in
      try contacts.save([contact("1", "Oslo"), contact("2", "Bergen")])
      let watcher = try #require(contacts.watch(oslo, ignoring: [.sync]).makeWatcher?())
      var list: [Contact] = []
      list.apply(try #require(try watcher.look()))
      func expectNothing() throws {
        let step = try watcher.look()
        #expect(step == nil)
      }
      func expect(_ ids: [String]) throws {
        list.apply(try #require(try watcher.look()))
        #expect(list.map(\.id) == ids)
        #expect(try list == contacts.fetch(oslo))
      }

      try contacts.save(contact("3", "Oslo"), as: .sync)
      try expectNothing()
      try contacts.save(contact("4", "Bergen"))
      try expectNothing()
      try contacts.save(contact("2", "Bergen", order: 1))
      try contacts.delete(keys: ["4"])
      try expectNothing()
      try contacts.save(contact("5", "Oslo"))
      try expect(["1", "3", "5"])

      try contacts.save(contact("6", "Oslo"), as: .sync)
      try contacts.update("2") { $0.order = 2 }
      try expectNothing()
      try contacts.update("1") { $0.city = "Bergen" }
      try expect(["3", "5", "6"])

      try contacts.save(contact("7", "Oslo"), as: .sync)
      try contacts.delete(Contact.where { $0.city == "Bergen" })
      try expectNothing()
      try contacts.delete(keys: ["3"])
      try expect(["5", "6", "7"])

      try contacts.save(contact("8", "Oslo"), as: .sync)
      try expectNothing()
      try contacts.eraseAllData()
      try expect([])

      try contacts.save(contact("9", "Oslo"))
      try expect(["9"])
      try contacts.save(contact("10", "Bergen"))
      try contacts.eraseAllData(as: .sync)
      try expectNothing()
      try contacts.save(contact("11", "Oslo"))
      try expect(["11"])

      try contacts.save(contact("12", "Bergen"))
      try contacts.delete(keys: ["11"], as: .sync)
      try expectNothing()
      try contacts.eraseAllData()
      try expect([])
    }
  }

  @Test("an aggregate waits likewise")
  func aggregate() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let watcher = try #require(contacts.watchCount(oslo, ignoring: [.sync]).makeWatcher?())
      #expect(try watcher.look() == 0)

      try contacts.save(contact("1", "Oslo"), as: .sync)
      try contacts.save(contact("2", "Bergen"))
      #expect(try watcher.look() == nil)
      try contacts.save(contact("3", "Oslo"))
      #expect(try watcher.look() == 2)
    }
  }

  @Test(
    "very many changes that match nothing may be a reason for a step, which shows what there is")
  func veryMany() throws {
    try withRepositories { contacts in
      let watcher = try #require(contacts.watch(oslo, ignoring: [.sync]).makeWatcher?())
      var list: [Contact] = []
      list.apply(try #require(try watcher.look()))

      try contacts.save(contact("1", "Oslo"), as: .sync)
      try contacts.save((0..<5000).map { contact("b\($0)", "Bergen") })
      list.apply(try #require(try watcher.look()))
      #expect(list.map(\.id) == ["1"])
    }
  }

  @Test("changes of other collections do not have a watcher read anew, however many they are")
  func otherCollections() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let purchases = store.repository(of: Purchase.self)
      try contacts.save((0..<10).map { contact("\($0)", "Oslo") })
      let selection = oslo.selection
      var asked = ResultWatch(store, selection, RowReader<Contact, Contact>(selection))
      var ignoring = ResultWatch(
        store, selection, RowReader<Contact, Contact>(selection), ignoring: [.sync])
      _ = try (asked.next(skippingTo: 0), ignoring.next(skippingTo: 0))

      for round in 1...2 {
        for part in 0..<40 {
          try purchases.save(
            (0..<100).map { Purchase(id: part * 100 + $0, contactID: "\(round)") })
        }
        try contacts.save(contact("pulled \(round)", "Oslo"), as: .sync)
        try contacts.save(contact("\(round)", "Oslo", order: round))

        for step in [try asked.nextWithIgnored(), try ignoring.next(skippingTo: 0)] {
          guard case .update(let difference) = step else {
            Issue.record("no update, but \(String(describing: step))")
            continue
          }
          #expect((difference.insertions.count, difference.updates.count) == (1, 1))
        }
      }
      #expect(asked.rereadCount == 0 && ignoring.rereadCount == 0)

      // Its own do, ignored or not.
      try contacts.save((0..<900).map { contact("s\($0)", "Oslo") }, as: .sync)
      try contacts.save((0..<900).map { contact("l\($0)", "Oslo") })
      for step in [try asked.nextWithIgnored(), try ignoring.next(skippingTo: 0)] {
        guard case .reset(let rows, _) = step else {
          Issue.record("no reset, but \(String(describing: step))")
          continue
        }
        #expect(rows.count == 1812)
      }
    }
  }

  @Test("a repository in memory refuses to watch by conditions that are too deep, as a store does")
  func tooDeep() async throws {
    let contacts = InMemoryRepository(of: Contact.self)
    var filter: (Fields<Contact>) -> Filter<Contact> = { $0.order == 0 }
    for _ in 0..<150 {
      let inner = filter
      filter = { !(inner($0) && $0.city == "") }
    }
    let deep = filter
    var watch = contacts.watch(Contact.where { deep($0) }).makeAsyncIterator()
    await #expect(throws: StoreError.queryTooDeep(limit: 100)) { try await watch.next() }
  }
}
