#if os(Linux)
  import Foundation
  import Glibc
  import LarderTestKit
  import Testing

  @testable import Larder
  @testable import LarderLMDB

  /// What a forked child may do with a store that it has inherited: nothing, and it hears so at once.
  @Suite struct ForkTests {
    /// What a child reports of a call: 0 where it was told to open the store itself.
    private static func report(_ body: () throws -> Void) -> UInt8 {
      do {
        try body()
        return 1
      } catch StoreError.storage(let error) {
        return error.code == .usedAfterFork ? 0 : 2
      } catch {
        return 3
      }
    }

    /// Runs calls in a forked child, and returns what it reports of each; nil where one does not return.
    private static func inChild(_ calls: [() throws -> Void]) throws -> [UInt8?] {
      typealias Fork = @convention(c) () -> Int32
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      let fork = unsafeBitCast(try #require(dlsym(nil, "fork")), to: Fork.self)
      OtherThreads.waitUntilQuiet()
      let child = fork()
      if child == 0 {
        for call in calls {
          var answer = report(call)
          write(ends[1], &answer, 1)
        }
        while true { pause() }
      }
      close(ends[1])
      defer {
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
        close(ends[0])
      }
      var reports: [UInt8?] = []
      for _ in calls {
        var wait = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        var answer: UInt8 = 0
        let isTold = poll(&wait, 1, 600_000) == 1 && read(ends[0], &answer, 1) == 1
        reports.append(isTold ? answer : nil)
        if !isTold { break }
      }
      return reports
    }

    @Test("a child that was forked while its parent wrote is refused every write at once")
    func duringWrite() async {
      await #expect(processExitsWith: .success) { try Self.forkDuringWrite() }
    }

    private static func forkDuringWrite() throws {
      let folder = TestFolder()
      let store = try Store(at: folder.store)
      let contacts = store.repository(of: Contact.self)
      try contacts.save(Contact(id: "first"))
      let isInside = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let writing = OnThread {
        try store.write { tx in
          isInside.signal()
          mayGoOn.wait()
          try tx.save(Contact(id: "second"))
        }
      }
      isInside.wait()

      let calls: [() throws -> Void] = [
        { try contacts.save(Contact(id: "child")) },
        { try store.write { _ = try $0.save(Contact(id: "child")) } },
        { try store.compact() }, { try store.removeConsumer("index") },
        // What an awaited write asks first.
        { try store.checkOpen() },
        {
          // Housekeeping is left to the parent.
          store.engine.schedulePruning()
          try store.close()
        },
      ]
      #expect(try inChild(calls) == Array(repeating: 0, count: calls.count))
      mayGoOn.signal()
      try writing.value()
      #expect(try contacts.count() == 2)
      try store.close()
    }

    @Test("a child whose parent had the catalogue locked waits for nobody")
    func duringLook() async {
      await #expect(processExitsWith: .success) { try Self.forkDuringLook() }
    }

    private static func forkDuringLook() throws {
      let folder = TestFolder()
      let store = try Store(at: folder.store)
      let contacts = store.repository(of: Contact.self)
      let untyped = store.collection("Contact")
      try contacts.save(Contact(id: "first"))
      let isInside = DispatchSemaphore(value: 0)
      let mayGoOn = DispatchSemaphore(value: 0)
      let looking = OnThread {
        store.engine.known.withLock { _ in
          isInside.signal()
          mayGoOn.wait()
        }
      }
      isInside.wait()

      let calls: [() throws -> Void] = [
        { try contacts.save(Contact(id: "child")) }, { try contacts.delete(keys: ["first"]) },
        { _ = try contacts.get("first") }, { _ = try contacts.fetch(Contact.all) },
        { _ = try contacts.count() }, { try untyped.save([["id": "child"]], keyField: "id") },
        { _ = try untyped.get("first") }, { try untyped.createIndex(on: ["name"]) },
        { try store.write { _ = try $0.save(Contact(id: "child")) } }, { _ = try store.check() },
        { _ = try store.statistics() }, { try store.compact() },
        { try store.backup(to: folder.path + "/copy") }, { try store.suspend() },
        { try store.close() },
      ]
      #expect(try inChild(calls) == Array(repeating: 0, count: calls.count))
      mayGoOn.signal()
      try looking.value()
      #expect(try contacts.count() == 1)
      try store.close()
    }

    @Test("a child that was forked inside of a write is told that the store is its parent's")
    func insideWrite() async {
      await #expect(processExitsWith: .success) { try Self.forkInsideWrite() }
    }

    private static func forkInsideWrite() throws {
      let folder = TestFolder()
      let store = try Store(at: folder.store)
      try store.write { tx in
        let reports = try inChild([
          { try store.write { _ = try $0.save(Contact(id: "child")) } }
        ])
        #expect(reports == [0])
        try tx.save(Contact(id: "parent"))
      }
      #expect(try store.repository(of: Contact.self).count() == 1)
      try store.close()
    }
  }
#endif
