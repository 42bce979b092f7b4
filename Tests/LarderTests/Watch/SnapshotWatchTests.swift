import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct SnapshotWatchTests {
  @Document(as: "List")
  struct List: Identifiable, Equatable {
    var id: Int
    var name = ""
  }

  @Document(as: "Item")
  struct Item: Identifiable, Equatable {
    var id: Int
    @Indexed var listID: Int
    var isDone = false
  }

  /// How many open items each list has, by name.
  private static func openCounts(_ snapshot: borrowing Snapshot) throws -> [String] {
    var counts: [String] = []
    for list in try snapshot.fetch(List.all.sorted(by: \.name)) {
      let open = Item.where { $0.listID == list.id && !$0.isDone }
      counts.append("\(list.name) \(try snapshot.count(open))")
    }
    return counts
  }

  /// The work of a watcher, as the watcher does it.
  private struct Subject<Result: Sendable> {
    let seat: WatchSeat
    var work: SnapshotWatch<Result>

    init(
      _ store: Store, ignoring ignored: Set<ChangeOrigin> = [],
      _ body: @escaping @Sendable (borrowing Snapshot) throws -> Result
    ) {
      seat = store.engine.watchHub.sit(in: store, [])
      work = SnapshotWatch(
        store, at: seat, ignoring: ignored, file: #fileID, line: #line, body)
    }

    mutating func look() throws -> Result? {
      try work.next(skippingTo: seat.take() ?? 0)
    }
  }

  @Test("a closure over several collections is followed, and what it reads may change")
  func severalCollections() async throws {
    try await withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      let items = store.repository(of: Item.self)
      var counts = store.watch(Self.openCounts).makeAsyncIterator()
      #expect(try await counts.next() == [])

      try await lists.save(List(id: 1, name: "home"))
      #expect(try await counts.next() == ["home 0"])
      // Of a condition that was first asked by the run before.
      try await items.save([Item(id: 1, listID: 1), Item(id: 2, listID: 1), Item(id: 3, listID: 2)])
      #expect(try await counts.next() == ["home 2"])
      try await store.write { tx in
        try tx.save(List(id: 2, name: "garden"))
        try tx.update(Item.self, 1) { $0.isDone = true }
      }
      #expect(try await counts.next() == ["garden 1", "home 1"])
      try await items.eraseAllData()
      #expect(try await counts.next() == ["garden 0", "home 0"])
    }
  }

  @Test("changes outside of what was read wake nobody and do not run the closure")
  func outside() throws {
    try withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      let items = store.repository(of: Item.self)
      try lists.save([List(id: 1, name: "home"), List(id: 2, name: "garden")])
      try items.save((0..<100).map { Item(id: $0, listID: 1) })
      var subject = Subject(store) { snapshot in
        let name = try snapshot.get(List.self, 1)?.name
        return [name ?? "", "\(try snapshot.count(Item.where { $0.listID == 1 && $0.isDone }))"]
      }
      #expect(try subject.look() == ["home", "0"])
      #expect(try subject.look() == nil)

      try lists.save(List(id: 2, name: "yard"))
      try lists.delete(key: 2)
      try items.save(Item(id: 200, listID: 2, isDone: true))
      try items.save(Item(id: 5, listID: 1))  // As it was.
      try store.repository(of: Contact.self).save(Contact(id: "a"))
      #expect(!subject.seat.takeMark())
      #expect(try subject.look() == nil)
      try items.delete(key: 7)  // One that was not done.
      #expect(try subject.look() == nil)
      #expect(subject.work.runCount == 1)

      try items.save(Item(id: 6, listID: 1, isDone: true))
      #expect(try subject.look() == ["home", "1"])
      try lists.delete(key: 1)
      #expect(try subject.look() == ["", "1"])
      #expect(subject.work.runCount == 3)
    }
  }

  @Test("thousands of changes outside of what was read do not run the closure, up to a limit")
  func manyOutside() throws {
    try withTemporaryStore { store in
      let items = store.repository(of: Item.self)
      var subject = Subject(store) { try $0.count(Item.where { $0.listID == 1 }) }
      #expect(try subject.look() == 0)

      try items.save((0..<4000).map { Item(id: $0, listID: 2) })
      try store.repository(of: List.self).save((0..<5000).map { List(id: $0) })
      #expect(try subject.look() == nil)
      #expect(subject.work.runCount == 1)
      try items.save((0..<5000).map { Item(id: $0, listID: 3) })
      #expect(try subject.look() == 0)
      #expect(subject.work.runCount == 2)
    }
  }

  @Test("what the last run no longer reads is not followed any more")
  func moving() throws {
    try withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      try lists.save([List(id: 1, name: "2"), List(id: 2, name: "two"), List(id: 3, name: "three")])
      var subject = Subject(store) { snapshot in
        let next = try snapshot.get(List.self, 1).flatMap { Int($0.name) } ?? 0
        return try snapshot.get(List.self, next)?.name
      }
      #expect(try subject.look() == "two")
      try lists.save(List(id: 1, name: "3"))
      #expect(try subject.look() == "three")
      #expect(try subject.look() == nil)

      try lists.save(List(id: 2, name: "zwei"))
      #expect(!subject.seat.takeMark())
      #expect(try subject.look() == nil)
      try lists.save(List(id: 3, name: "drei"))
      #expect(try subject.look() == "drei")
    }
  }

  @Test("a change that is committed while the closure runs is not lost")
  func between() async throws {
    try await withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      try await lists.save(List(id: 1, name: "before"))
      let runs = Locked(0)
      var names = store.watch { snapshot in
        let name = try snapshot.get(List.self, 1)?.name
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        if run == 1 { _ = try OnThread { try lists.save(List(id: 1, name: "after")) }.value() }
        return name
      }.makeAsyncIterator()

      #expect(try await names.next() == "before")
      // Nobody tells the watcher any more: it has to have looked itself.
      #expect(try await names.next() == "after")
    }
  }

  @Test("a consumer that is slow gets one element for many changes")
  func coalescing() async throws {
    try await withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      var counts = store.watch { try $0.count(List.all) }.makeAsyncIterator()
      #expect(try await counts.next() == 0)

      for id in 1...2000 { try await lists.save(List(id: id)) }

      #expect(try await counts.next() == 2000)
    }
  }

  @Test("each run gives an element, and those that equal the one before can be left out")
  func duplicates() async throws {
    try await withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      var first = store.watch { try $0.fetch(List.all.limit(1)).first }.makeAsyncIterator()
      // Nil is an element, too.
      #expect(try await first.next() == .some(nil))
      try await lists.save(List(id: 1))
      #expect(try await first.next() == List(id: 1))
      try await lists.save(List(id: 2))
      #expect(try await first.next() == List(id: 1))
    }
    let elements: [Int?] = [nil, nil, 1, 1, nil, 2, 2]
    let sequence = WatchSequence<Int?> {
      let rest = Locked(elements[...])
      return { rest.withLock { $0.popFirst() } }
    }

    var different: [Int?] = []
    for try await element in sequence.removeDuplicates() { different.append(element) }

    #expect(different == [nil, 1, nil, 2])
  }

  @Test("changes of origins that are ignored come with the next that are not")
  func origins() throws {
    try withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      try lists.save(List(id: 1))
      var subject = Subject(store, ignoring: [.sync]) { try $0.count(List.all) }
      #expect(try subject.look() == 1)
      #expect(try subject.look() == nil)

      try lists.save(List(id: 2), as: .sync)
      #expect(!subject.seat.takeMark())
      #expect(try subject.look() == nil)
      try lists.save(List(id: 3))

      #expect(try subject.look() == 3)
    }
  }

  @Test("changes of ignored origins do not run the closure where they are very many, either")
  func manyIgnored() throws {
    try withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      let items = store.repository(of: Item.self)
      try lists.save(List(id: -1))
      var subject = Subject(store, ignoring: [.sync]) { try $0.count(List.all) }
      #expect(try subject.look() == 1)
      #expect(try subject.look() == nil)

      // More than the hub looks at one by one, and so it tells everybody.
      try lists.save((0..<5000).map { List(id: $0) }, as: .sync)
      #expect(try subject.look() == nil)
      // Of a collection that the closure does not read.
      try items.save((0..<5000).map { Item(id: $0, listID: 0) })
      #expect(try subject.look() == nil)
      #expect(subject.work.runCount == 1)
      try lists.save((5000..<10_000).map { List(id: $0) }, as: .sync)
      try lists.save(List(id: -2))

      #expect(try subject.look() == 10_002)
      #expect(subject.work.runCount == 2)
    }
  }

  @Test("what the closure throws ends the sequence")
  func throwing() async throws {
    struct Refusal: Error {}
    try await withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      var counts = store.watch { snapshot in
        let count = try snapshot.count(List.all)
        if count > 0 { throw Refusal() }
        return count
      }.makeAsyncIterator()
      #expect(try await counts.next() == 0)
      try await lists.save(List(id: 1))

      await #expect(throws: Refusal.self) { try await counts.next() }
      #expect(try await counts.next() == nil)
    }
  }

  @Test("closing the store ends the sequence, also of a closure that reads nothing")
  func closing() async throws {
    let store = try Store.temporary()
    var nothing = store.watch { _ in 1 }.makeAsyncIterator()
    var counts = store.watch { try $0.count(List.all) }.makeAsyncIterator()
    #expect(try await nothing.next() == 1)
    #expect(try await counts.next() == 0)

    try store.close()

    await #expect(throws: StoreError.closed) { try await nothing.next() }
    await #expect(throws: StoreError.closed) { try await counts.next() }
  }

  @Test("a collection without a change log cannot be watched, whenever the log was switched off")
  func unlogged() throws {
    try withTemporaryStore { store in
      let lists = store.repository(of: List.self)
      try lists.save(List(id: 1))
      var subject = Subject(store) { try $0.count(List.all) }
      #expect(try subject.look() == 1)

      try store.collection("List").setChangeLog(false)

      #expect(throws: StoreError.unlogged(collection: "List")) { try subject.look() }
      var another = Subject(store) { try $0.count(List.all) }
      #expect(throws: StoreError.unlogged(collection: "List")) { try another.look() }
    }
  }

  @Test("many keys and many conditions are followed as the whole collection")
  func crowded() throws {
    try withTemporaryStore { store in
      let items = store.repository(of: Item.self)
      try items.save((0..<10).map { Item(id: $0, listID: $0) })
      var keys = Subject(store) { try $0.get(Item.self, keys: 0..<5000).count }
      var filters = Subject(store) { snapshot in
        try (0..<300).map { id in try snapshot.count(Item.where { $0.listID == id }) }.reduce(0, +)
      }
      #expect(try keys.look() == 10)
      #expect(try filters.look() == 10)

      try items.save(Item(id: 4999, listID: 299))

      #expect(try keys.look() == 11)
      #expect(try filters.look() == 11)
    }
  }
}
