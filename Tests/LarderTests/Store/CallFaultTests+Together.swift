import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderLMDB

extension CallFaultTests {
  @Test("of writes that share a transaction those that returned are kept, and no others")
  func groups() async throws {
    let count = 6
    let group: @Sendable (Store) async throws -> Set<Int> = { store in
      let tasks = Locked<[Task<Bool, any Error>]>([])
      try await together(store) { wait in
        for number in 0..<count {
          let task = Task {
            do {
              try await store.write { tx in
                try tx.save(Contact(id: "group-\(number)", city: "Oslo"))
                try tx.delete(Contact.self, "\(number)")
              }
              return true
            } catch is StoreError {
              return false
            }
          }
          tasks.withLock { $0.append(task) }
          await wait(number + 1)
        }
      }
      var kept: Set<Int> = []
      for (number, task) in zip(0..., tasks.withLock { $0 }) where try await task.value {
        kept.insert(number)
      }
      return kept
    }
    let counts = try await Self.withStore { store, plan in
      plan.begin(nil)
      let kept = try await group(store)
      #expect(kept.count == count)
      return plan.counts
    }
    var outcomes: Set<Int> = []
    for fault in Self.faults(counts) {
      try await Self.withStore { store, plan in
        plan.begin(fault)
        let kept = try await group(store)
        plan.begin(nil)
        outcomes.insert(kept.count)

        let ids = try Set(store.repository(of: Contact.self).fetch(Contact.all).map(\.id))
        for number in 0..<count {
          let isKept = kept.contains(number)
          #expect(ids.contains("group-\(number)") == isKept, "\(number) with \(fault)")
          #expect(ids.contains("\(number)") == !isKept, "\(number) with \(fault)")
        }
        let sequence = try store.read { $0.sequence }
        #expect(sequence == UInt64(24 + 2 * kept.count), "\(fault)")
        let again = try await group(store)
        #expect(again.count == count)
      }
    }
    // All of them failed, one did, and perhaps none.
    #expect(outcomes.isSuperset(of: [0, count - 1]))
  }

  @Test("watchers are told of nothing that was not committed, and of all that was")
  func watchers() async throws {
    let save: @Sendable (Store) throws -> Void = { store in
      try store.write { tx in
        try tx.save(Contact(id: "new", city: "Oslo"))
        try tx.delete(Contact.self, "0")
      }
    }
    let counts = try await Self.withStore { store, plan in
      plan.begin(nil)
      try save(store)
      return plan.counts
    }
    for fault in Self.faults(counts) {
      try await Self.withStore { store, plan in
        let contacts = store.repository(of: Contact.self)
        var changes = contacts.watch(Contact.all).makeAsyncIterator()
        var list: [Contact] = []
        list.apply(try #require(try await changes.next()))
        let rounds = store.engine.watchHub.roundCount
        plan.begin(fault)
        var hasThrown = false
        do { try save(store) } catch { hasThrown = true }
        plan.begin(nil)
        if hasThrown {
          usleep(2000)
          #expect(store.engine.watchHub.roundCount == rounds, "\(fault)")
        }
        _ = try await contacts.save(Contact(id: "last", city: "Oslo"))
        while !list.contains(where: { $0.id == "last" }) {
          list.apply(try #require(try await changes.next()))
          #expect(list.contains { $0.id == "new" } == !hasThrown, "\(fault)")
          #expect(list.contains { $0.id == "0" } == hasThrown, "\(fault)")
        }
        let fetched = try contacts.fetch(Contact.all)
        #expect(list == fetched, "\(fault)")
      }
    }
  }

  @Test("an opening that fails leaves nothing open, and the next one finds everything")
  func openings() throws {
    let folder = TestFolder()
    let contacts = [Contact(id: "a", city: "Oslo"), Contact(id: "b", city: "Bergen")]
    // A store that is there, and one that is made.
    for isNew in [false, true] {
      let plan = Plan()
      let path = isNew ? folder.path + "/new" : folder.store
      func open() throws -> Store {
        if isNew {
          // What was never finished, or never was.
          try? FileManager.default.removeItem(atPath: path)
        }
        return try Store(at: path)
      }
      if !isNew {
        let store = try Store(at: path)
        try store.repository(of: Contact.self).save(contacts)
        try store.close()
      }
      let faults = CallFaults.watch(path) { plan.status(of: $0) }
      defer { CallFaults.stopWatching(path) }
      try open().close()
      let counts = plan.counts
      #expect(counts[.openEnvironment] == 1 && counts[.begin] != nil)

      for fault in sample(of: Self.faults(counts)) {
        plan.begin(fault)
        var opened: Store?
        do {
          opened = try open()
        } catch {
          #expect(error is StoreError, "\(error) with \(fault)")
        }
        plan.begin(nil)
        if let opened { try verifyAndClose(opened) }
        #expect(faults.counts == CallFaults.Counts(), "\(fault)")
        let again = try Store(at: path)
        if !isNew {
          #expect(try again.repository(of: Contact.self).fetch(Contact.all) == contacts)
        }
        try again.repository(of: Parcel.self).save(Parcel(id: 1))
        try verifyAndClose(again)
        #expect(faults.counts == CallFaults.Counts(), "\(fault)")
      }
    }
  }
}
