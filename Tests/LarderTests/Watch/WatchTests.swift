import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite struct WatchTests {
  private let oslo = Contact.where { $0.city == "Oslo" }.sorted(by: \.order)

  private func contact(_ id: Int, order: Int = 0, city: String = "Oslo") -> Contact {
    Contact(id: "\(id)", city: city, order: order)
  }

  @Test("a watcher hears of a commit that comes while it waits", .timeLimit(.minutes(20)))
  func waiting() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let list = Task {
        var list: [Contact] = []
        for try await change in contacts.watch(oslo) {
          list.apply(change)
          if list.count == 50 { break }
        }
        return list
      }
      for number in 0..<50 {
        try await contacts.save(contact(number, order: -number))
        try await contacts.save(contact(number + 1000, city: "Bergen"))
      }

      #expect(try await list.value == contacts.fetch(oslo))
    }
  }

  @Test("code of the app in a watched filter may wait for whoever saves", .timeLimit(.minutes(20)))
  func codeInFilter() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      // As an app's own lock, which a thread must not take twice.
      let lock = Locked(0)
      let query = Contact.where {
        $0.city.computed { city in lock.withLock { _ in city == "Oslo" } }
      }
      var changes = contacts.watch(query).makeAsyncIterator()
      var list: [Contact] = []
      list.apply(try #require(try await changes.next()))
      for number in 0..<20 {
        let saved = contact(number)
        let inserted = try await withCheckedThrowingContinuation { continuation in
          DispatchQueue.global().async {
            continuation.resume(
              with: Result { try lock.withLock { _ in try contacts.save(saved).inserted } })
          }
        }
        #expect(inserted == 1)
        list.apply(try #require(try await changes.next()))
      }

      #expect(try Set(list.map(\.id)) == Set(contacts.fetch(query).map(\.id)))
    }
  }

  @Test(
    "whoever begins or ends a watch does not wait until others have been asked about changes",
    .timeLimit(.minutes(5)))
  func visitors() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let (isAsked, mayAnswer) = (Flag(), Flag())
      // Code of the app, which the hub's line runs, and which holds it up.
      let query = Contact.where {
        $0.city.computed { _ in
          isAsked.set()
          while !mayAnswer.isSet { usleep(100) }
          return false
        }
      }
      let interest = WatchInterest(
        ModelForm<Contact, Contact>.documents, query.selection.filter)
      let hub = store.engine.watchHub
      let (slow, left) = (hub.sit(in: store, interest), hub.sit(in: store, interest))
      try await contacts.save(contact(1))
      while !isAsked.isSet { try await Task.sleep(for: .milliseconds(1)) }

      hub.leave(left)
      hub.change(slow, to: [])
      let briefly = hub.sit(in: store, interest)
      hub.leave(briefly)
      let seat = hub.sit(
        in: store,
        WatchInterest(
          ModelForm<Contact, Contact>.documents, Contact.where { $0.id == "2" }.selection.filter))
      try await contacts.save(contact(2))
      mayAnswer.set()
      try await contacts.save(contact(3))
      await seat.wait()

      #expect(!slow.takeMark() && !left.takeMark() && !briefly.takeMark())
      #expect(seat.takeMark())
      let (memberCount, leftCount) = hub.state.withLock { state in
        (state.groups.values.reduce(0) { $0 + $1.count }, state.left.count)
      }
      #expect((memberCount, leftCount) == (1, 0))
      hub.leave(seat)
      hub.leave(slow)
      #expect(hub.isEmpty)
    }
  }

  // A commit asks searches of short texts itself, and leaves long ones to the hub's line.
  @Test("watched searches hear of short texts and of long ones", .timeLimit(.minutes(20)))
  func searches() async throws {
    try await withTemporaryStore { store in
      let notes = store.repository(of: SearchedNote.self)
      let query = SearchedNote.search("tide")
      var watches = (0..<3).map { _ in notes.watch(query).makeAsyncIterator() }
      var lists: [[SearchedNote]] = [[], [], []]
      func hear() async throws {
        for place in lists.indices {
          let change = try await watches[place].next()
          lists[place].apply(try #require(change))
        }
      }
      try await hear()
      for (id, count) in [1, 10_000, 2, 1000, 700, 500, 300].enumerated() {
        let body = String(repeating: "word ", count: count)
        try await notes.save(SearchedNote(id: id, title: "tide", body: body))
        try await hear()
        try await notes.update(id) { $0.isPinned = true }
        try await hear()
      }
      try await notes.delete(keys: [0, 1])
      try await hear()

      for list in lists {
        #expect(try Set(list.map(\.id)) == Set(notes.fetch(query).map(\.id)))
        #expect(list.filter { !$0.isPinned }.isEmpty)
      }
    }
  }

  @Test("many watchers of one store all end with what a fetch gives", .timeLimit(.minutes(20)))
  func many() async throws {
    var random = RandomSource()
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      let cities = (0..<20).map { "city \($0)" }
      let queries: [Query<Contact>] =
        cities.map { city in Contact.where { $0.city == city }.sorted(by: \.order) }
        + [Contact.where { $0.order > 50 }, Contact.all.sorted(by: \.order).limit(7)]
      let last = Contact(id: "last", city: "end", order: 1000)
      try await withThrowingTaskGroup(of: ([Contact], Query<Contact>).self) { group in
        for query in queries + queries {
          group.addTask {
            var list: [Contact] = []
            for try await change in contacts.watch(query) {
              list.apply(change)
              if try contacts.get("last") != nil, try list == contacts.fetch(query) { break }
            }
            return (list, query)
          }
        }
        for _ in 0..<200 {
          let batch = random.array(1..<5) {
            Contact(id: "\($0.int(0..<60))", city: $0.pick(cities), order: $0.int(0..<100))
          }
          if random.once(in: 5) {
            try await contacts.delete(keys: batch.map(\.id))
          } else {
            try await contacts.save(batch)
          }
        }
        // One more for each, so that nobody waits for ever.
        try await contacts.save(
          cities.enumerated().map { Contact(id: "last \($0)", city: $1, order: $0 - 100) } + [last])
        for try await (list, query) in group { #expect(try list == contacts.fetch(query)) }
      }
    }
  }

  @Test("a change that does not concern a watcher wakes nobody")
  func routing() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save((0..<10).map { contact($0, city: "city \($0)") })
      let group = WatchGroup("Contact")
      let filters = [
        Contact.where { $0.city == "city 1" },
        Contact.where { $0.city == "city 2" && $0.order > 5 },
        Contact.where { $0.order > 5 }, Contact.all,
      ]
      let seats = filters.map { _ in WatchSeat() }
      let members = zip(seats, filters).map { seat, filter in
        group.add(
          seat, WatchInterest(ModelForm<Contact, Contact>.documents, filter.selection.filter))
      }
      func told(_ changes: () throws -> Void) throws -> [Int] {
        let before = try store.read { $0.sequence }
        try changes()
        try store.engine.withChangeLog { snapshot, log in
          _ = try snapshot.transaction.forEachChange(
            after: before, head: snapshot.sequence, in: #require(log)
          ) { header, change in
            group.tell(header, change, snapshot, after: before, round: snapshot.sequence)
            return true
          }
        }
        return seats.indices.filter { seats[$0].takeMark() }
      }

      #expect(try told { try contacts.save(contact(1, order: 1, city: "city 1")) } == [0, 3])
      #expect(try told { try contacts.save(contact(1, order: 9, city: "city 3")) } == [0, 2, 3])
      #expect(try told { try contacts.save(contact(1, order: 1, city: "city 2")) } == [1, 2, 3])
      #expect(try told { try contacts.delete(keys: ["5"]) } == [3])
      #expect(try told { try contacts.eraseAllData() } == [0, 1, 2, 3])
      for member in members { group.remove(member) }
      #expect(group.count == 0)
    }
  }

  @Test("how many bytes are searched for a change is known before any is")
  func searchedByteCount() throws {
    try withTemporaryStore { store in
      let notes = store.repository(of: SearchedNote.self)
      try notes.save(SearchedNote(id: 0, title: "a"))
      let group = WatchGroup("SearchedNote")
      func add(_ query: Query<SearchedNote>) -> WatchGroup.Member {
        group.add(
          WatchSeat(),
          WatchInterest(ModelForm<SearchedNote, SearchedNote>.documents, query.selection.filter))
      }
      func count(_ changes: () throws -> Void) throws -> (searched: Int, logged: Int) {
        let before = try store.read { $0.sequence }
        try changes()
        return try store.engine.withChangeLog { snapshot, log in
          let log = try #require(log)
          var count = 0
          _ = try snapshot.transaction.forEachChange(
            after: before, head: snapshot.sequence, in: log
          ) { _, change in
            count += try group.searchedByteCount(change, snapshot)
            return true
          }
          var logged = 0
          while try snapshot.transaction.changesTake(moreThan: logged, after: before, in: log) {
            logged += 1
          }
          return (count, logged)
        }
      }
      let long = SearchedNote(id: 1, title: String(repeating: "b", count: 1000))

      // No closure stands inside `#expect`: within a closure such as this one, Swift 6.3 numbers it as it numbers
      // another one of the same type, and runs the first in place of both.
      let unwatched = try count { try notes.save(long) }
      #expect(unwatched.searched == 0)
      let word = add(SearchedNote.search("blue"))
      let insertion = try count { try notes.save(SearchedNote(id: 2, title: long.title)) }
      #expect((1000..<1200).contains(insertion.searched))
      #expect((1..<200).contains(insertion.logged))
      let update = try count { try notes.save(SearchedNote(id: 1, title: "b")) }
      #expect((1000..<1200).contains(update.searched))
      #expect((1000..<1200).contains(update.logged))
      // Every word is held against the beginning of one.
      let others = add(SearchedNote.search("blue win* snow"))
      let growth = try count { try notes.save(long) }
      #expect(growth.searched / 3 > 1000)
      let deletion = try count { try notes.delete(keys: [2]) }
      #expect(deletion.searched / 3 > 1000)
      let erasure = try count { try notes.eraseAllData() }
      #expect(erasure.searched == 0)
      group.remove(others)
      group.remove(word)
      #expect(group.searchWeight == 0)
    }
  }

  @Test("clear-before-save is one step, with updates for what stays")
  func clearing() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save([contact(1, order: 1), contact(2, order: 2), contact(3, order: 3)])
      var changes = contacts.watch(oslo).makeAsyncIterator()
      _ = try await changes.next()

      var second = contact(2, order: 2)
      second.name = "second"
      try await contacts.save([second, contact(4, order: 4)], clearBeforeSaving: oslo)

      guard case .update(let difference)? = try await changes.next() else {
        Issue.record("expected an update")
        return
      }
      #expect(
        difference.removals == [
          .init(offset: 2, destination: nil), .init(offset: 0, destination: nil),
        ])
      #expect(difference.insertions.map(\.offset) == [1])
      #expect(difference.updates.map(\.offset) == [0])
      #expect(difference.updates.map(\.model) == [second])
      #expect(try difference.sequence == store.read { $0.sequence })
    }
  }

  @Test(
    "a watcher that is far behind gets one reset with the difference", .timeLimit(.minutes(20)))
  func farBehind() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save((0..<10).map { contact($0, order: $0) })
      var changes = contacts.watch(oslo).makeAsyncIterator()
      var list: [Contact] = []
      list.apply(try #require(try await changes.next()))
      let before = list

      try await contacts.save((5..<5_000).map { contact($0, order: -$0) })

      let change = try #require(try await changes.next())
      guard case .reset(let models, let difference) = change else {
        Issue.record("expected a reset")
        return
      }
      list.apply(change)
      #expect(try list == contacts.fetch(oslo))
      #expect(models == list)
      #expect(before.applying(difference.collectionDifference(from: before)) == list)
    }
  }

  @Test("a watcher behind a log that was pruned gets one reset", .timeLimit(.minutes(20)))
  func pruned() async throws {
    var options = StoreOptions(durability: .volatile)
    options.changeLog.maximumByteCount = 64 << 10
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "larder-watch-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try Store(at: folder, options: options)
    let contacts = store.repository(of: Contact.self)
    try await contacts.save((0..<3).map { contact($0, order: $0) })
    var changes = contacts.watch(oslo).makeAsyncIterator()
    var list: [Contact] = []
    list.apply(try #require(try await changes.next()))
    for round in 0..<300 {
      var one = contact(1, order: round)
      one.note = String(repeating: "long ", count: 200)
      try await contacts.save(one)
    }

    let change = try #require(try await changes.next())
    guard case .reset = change else {
      Issue.record("expected a reset")
      return
    }
    list.apply(change)
    #expect(try list == contacts.fetch(oslo))
    try store.close()
  }

  @Test("closing the store ends those who wait and those who look later", .timeLimit(.minutes(20)))
  func closing() async throws {
    let store = try Store.temporary()
    let contacts = store.repository(of: Contact.self)
    var late = contacts.watch(oslo).makeAsyncIterator()
    _ = try await late.next()
    let (started, begin) = AsyncStream<Void>.makeStream()
    let waiting = Task {
      for try await _ in contacts.watch(oslo) { begin.yield() }
    }
    for await _ in started { break }

    try store.close()

    await #expect(throws: StoreError.closed) { try await waiting.value }
    await #expect(throws: StoreError.closed) { _ = try await late.next() }
    #expect(try await late.next() == nil)
    await #expect(throws: StoreError.closed) {
      for try await _ in contacts.watch(oslo) {}
    }
  }

  @Test("letting go of an iterator gives its seat back, and nobody watches then")
  func leaving() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      #expect(store.engine.watchHub.isEmpty)
      do {
        var changes = contacts.watch(oslo).makeAsyncIterator()
        _ = try await changes.next()
        #expect(!store.engine.watchHub.isEmpty)
      }
      #expect(store.engine.watchHub.isEmpty)

      for try await _ in contacts.watch(oslo) { break }
      #expect(store.engine.watchHub.isEmpty)

      let task = Task { for try await _ in contacts.watch(oslo) {} }
      await Task.yield()
      task.cancel()
      try await task.value
      #expect(store.engine.watchHub.isEmpty)
    }
  }

  @Test("changes of an origin that is ignored make no step, and come with the next")
  func ignoring() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(contact(1))
      let query = oslo
      var watch = ResultWatch(
        store, query.selection, RowReader<Contact, Contact>(query.selection), ignoring: [.sync])
      var list: [Contact] = []
      list.apply(try #require(try watch.next(skippingTo: 0)))

      let pulled = contact(2)
      try await store.write(as: .sync) { tx in try tx.save(pulled) }
      let head = try store.read { $0.sequence }
      #expect(try watch.next(skippingTo: head) == nil)
      try await contacts.save(contact(3, city: "Bergen"))
      try await contacts.save(contact(4))

      list.apply(try #require(try watch.next(skippingTo: head)))
      #expect(try list == contacts.fetch(oslo))
      #expect(list.map(\.id) == ["1", "2", "4"])
    }
  }

  @Test("changes of an ignored origin are looked at once, however often a watcher wakes")
  func ignoringMany() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(contact(0))
      let query = oslo
      var watch = ResultWatch(
        store, query.selection, RowReader<Contact, Contact>(query.selection), ignoring: [.sync])
      var list: [Contact] = []
      list.apply(try #require(try watch.next(skippingTo: 0)))

      for commit in 0..<20 {
        let pulled = (0..<20).map { contact(1 + commit * 20 + $0) }
        try await store.write(as: .sync) { tx in try tx.save(pulled) }
        #expect(try watch.next(skippingTo: 0) == nil)
        #expect(try watch.next(skippingTo: 0) == nil)
      }
      #expect(watch.examinedCount == 400)

      try await contacts.save(contact(500))
      list.apply(try #require(try watch.next(skippingTo: 0)))
      #expect(try list == contacts.fetch(oslo))
      #expect(list.count == 402)
      #expect(watch.rereadCount == 0)
      try await contacts.save(contact(501))
      list.apply(try #require(try watch.next(skippingTo: 0)))
      #expect(try list == contacts.fetch(oslo))
    }
  }

  @Test("a collection whose log is switched off cannot be watched")
  func unlogged() async throws {
    try await withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try await contacts.save(contact(1))
      var changes = contacts.watch(oslo).makeAsyncIterator()
      _ = try await changes.next()
      let collection = store.collection("Contact")

      try await collection.setChangeLog(false)

      let error = StoreError.unlogged(collection: "Contact")
      await #expect(throws: error) { _ = try await changes.next() }
      await #expect(throws: error) { for try await _ in contacts.watch(oslo) {} }
      #expect(try collection.hasChangeLog() == false)
      try await contacts.save(contact(2))
      try await collection.setChangeLog(true)
      for try await change in contacts.watch(oslo) {
        guard case .initial(let models, _) = change else { continue }
        #expect(models.map(\.id) == ["1", "2"])
        break
      }
      #expect(throws: StoreError.noCollection("none")) {
        try store.collection("none").setChangeLog(false)
      }
    }
  }

  @Test("changes that were not logged are found when the log is on again")
  func unloggedGap() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(contact(1))
      var watch = ResultWatch(
        store, oslo.selection, RowReader<Contact, Contact>(oslo.selection))
      var list: [Contact] = []
      list.apply(try #require(try watch.next(skippingTo: 0)))

      try store.collection("Contact").setChangeLog(false)
      try contacts.save([contact(2), contact(3)])
      try contacts.delete(keys: ["1"])
      try store.collection("Contact").setChangeLog(true)
      try contacts.save(contact(4))

      list.apply(try #require(try watch.next(skippingTo: 0)))
      #expect(try list == contacts.fetch(oslo))
    }
  }

  @Test("dynamic writes and imports of many documents arrive")
  func dynamicWrites() async throws {
    try await withTemporaryStore { store in
      let parcels = store.repository(of: Parcel.self)
      try store.declare(Parcel.self)
      var changes = parcels.watch(Parcel.where { $0.shelf == 1 }).makeAsyncIterator()
      var list: [Parcel] = []
      list.apply(try #require(try await changes.next()))

      for start in stride(from: 0, to: 6_000, by: 500) {
        try store.collection("Parcel").save(
          (start..<start + 500).map { ["id": .integer(Int64($0)), "shelf": .integer(1)] })
        list.apply(try #require(try await changes.next()))
        #expect(list.count == start + 500)
      }
      #expect(try list == parcels.fetch(Parcel.where { $0.shelf == 1 }))
    }
  }

  @Test("a commit does nothing for watchers where nobody watches")
  func nobody() throws {
    try withTemporaryStore { store in
      let contacts = store.repository(of: Contact.self)
      try contacts.save(contact(1))
      #expect(store.engine.watchHub.roundCount == 0)
    }
  }
}
