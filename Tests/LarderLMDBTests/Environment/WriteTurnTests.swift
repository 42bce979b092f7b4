#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("the turn of processes that write")
  struct WriteTurnTests {
    let folder = TestFolder()

    @Test("a write waits for the process whose turn it is, and no longer once that has died")
    func waiting() throws {
      let environment = try Environment.open(at: folder.store)
      environment.writeWait.withLock { $0.checkSeconds = .infinity }
      let other = try ForeignTurn(folder.opening)
      #expect(other.take())
      let isWritten = DispatchSemaphore(value: 0)

      Thread.detachNewThread {
        do {
          try environment.store(["a": "1"])
        } catch {
          Issue.record(error)
        }
        isWritten.signal()
      }

      #expect(isWritten.wait(timeout: .now() + 0.1) == .timedOut)
      #expect(try environment.read("a") == nil)
      other.die()
      #expect(isWritten.wait(timeout: .now() + 1000) == .success)
      #expect(try environment.read("a") == "1")
      try environment.close()
    }

    @Test("commits, aborts and writes that cannot begin give the turn back")
    func givingBack() throws {
      let environment = try Environment.open(at: folder.store)
      let other = try ForeignTurn(folder.opening)

      do {
        let transaction = try environment.beginWrite()
        #expect(!other.take())
        try transaction.commit()
      }
      #expect(other.take())
      other.giveBack()
      do {
        let transaction = try environment.beginWrite()
        #expect(!other.take())
        _ = consume transaction
      }
      #expect(other.take())
      other.giveBack()
      try FileManager.default.moveItem(atPath: folder.data, toPath: folder.data + ".aside")
      #expect(throws: LMDBError.self) { try environment.store(["a": "1"]) }
      #expect(other.take())
      other.giveBack()
      try FileManager.default.moveItem(atPath: folder.data + ".aside", toPath: folder.data)
      try environment.close()
    }

    /// Runs `body` with a process that writes and does not end: nobody passes it by.
    private static func besideWriter(
      _ body: (Environment, Child) throws -> Void
    ) throws {
      let folder = TestFolder()
      var options = Environment.Options()
      options.mapByteCount = 1 << 20
      let environment = try Environment.open(at: folder.store, options: options)
      try environment.store(["a": "1"])
      let store = folder.store
      let child = try Child {
        let own = try Environment.open(at: store)
        try own.store(["large": String(repeating: "x", count: 3 << 20)])
        var transaction = try own.beginWrite()
        try transaction.put("2", "b")
        held.transaction = consume transaction
        return 7
      }
      try #require(child.report() == 7)
      try body(environment, child)
    }

    @Test(
      "waiting for another process ends at its deadline, says for whom, and leaves nothing behind")
    func deadline() async {
      await #expect(processExitsWith: .success) {
        try Self.besideWriter { environment, child in
          environment.writeWait.withLock { $0.deadline = SystemCall.seconds + 0.2 }
          let error = failure { try environment.store(["a": "2"]) }
          #expect(
            error?.code == .busy(by: WriteHolder(processID: child.id, isStopped: false)))
          #expect(error?.detail.contains("process \(child.id)") == true)
          kill(child.id, SIGSTOP)
          while environment.writeHolder?.isStopped != true { SystemCall.sleep(microseconds: 1000) }
          environment.writeWait.withLock { $0 = WriteWait() }
          let looks = Locked(0)
          environment.writeWait.withLock { wait in
            wait.isWanted = {
              looks.withLock {
                $0 += 1; return $0 < 3
              }
            }
          }
          #expect(failure { try environment.store(["a": "2"]) }?.code == .cancelled)
          #expect(looks.withLock { $0 } == 3)
          environment.writeWait.withLock { $0 = WriteWait() }

          child.kill()
          try environment.store(["a": "3"])
          #expect(try environment.read("a") == "3")
          #expect(try environment.read("b") == nil)
          // The turn is given back, also by the thread that asked for those who gave up.
          let other = try ForeignTurn(environment.bellPath)
          let end = SystemCall.seconds + 1000
          var isFree = other.take()
          while !isFree, SystemCall.seconds < end { isFree = other.take() }
          #expect(isFree)
        }
      }
    }

    @Test("reads take on a larger map while a write waits for another process")
    func readsGoOn() async {
      await #expect(processExitsWith: .success) {
        try Self.besideWriter { environment, child in
          let isWaiting = Locked(false)
          environment.writeWait.withLock { wait in
            wait.isWanted = {
              isWaiting.withLock {
                $0 = true; return true
              }
            }
          }
          let writing = OnThread { try environment.store(["a": "2"]) }
          while !isWaiting.withLock({ $0 }) { SystemCall.sleep(microseconds: 1000) }

          #expect(try environment.read("large")?.count == 3 << 20)
          #expect(try environment.read("a") == "1")
          child.kill()
          try writing.value()
          #expect(try environment.read("a") == "2")
        }
      }
    }

    @Test("a map takes on twice of what another process has written, and not that one's size")
    func smallMap() async {
      await #expect(processExitsWith: .success) {
        try Self.besideWriter { environment, child in
          #expect(try environment.read("large")?.count == 3 << 20)

          let map = try environment.mapByteCount()
          #expect(map > 3 << 20 && map <= 8 << 20)
        }
      }
    }

    @Test("waiting goes by a clock that nobody sets")
    func clock() throws {
      let environment = try Environment.open(at: folder.store)
      environment.writeWait.withLock { $0.checkSeconds = .infinity }
      let other = try ForeignTurn(folder.opening)
      #expect(other.take())
      let probe = Locked<ThreadProbe?>(nil)
      let waiting = OnThread {
        let own = try ThreadProbe()
        probe.withLock { $0 = own }
        try environment.store(["a": "1"])
      }
      while probe.withLock({ $0 }) == nil { SystemCall.sleep(microseconds: 1000) }

      let clock = probe.withLock { $0 }?.clockOfWait()

      #expect(clock == CLOCK_MONOTONIC)
      other.giveBack()
      try waiting.value()
      try environment.close()
    }

    @Test(
      "openings behind a process that does not go on leave one thread and one descriptor in all")
    func reopened() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        let child = try Child {
          let own = try Environment.open(at: store)
          var transaction = try own.beginWrite()
          try transaction.put("1", "a")
          held.transaction = consume transaction
          return 7
        }
        try #require(child.report() == 7)
        func attempt() throws {
          let environment = try Environment.open(at: store)
          environment.writeWait.withLock { $0.timeoutSeconds = 0.06 }
          #expect(
            failure { try environment.store(["a": "2"]) }?.code
              == .busy(by: WriteHolder(processID: child.id, isStopped: false)))
          try environment.close()
        }
        for _ in 0..<2 { try attempt() }
        let threadCount = try ThreadProbe.count()
        let fileCount = try descriptorCount(of: folder.opening)
        for _ in 0..<10 { try attempt() }

        #expect(try ThreadProbe.count() <= threadCount)
        #expect(try descriptorCount(of: folder.opening) == fileCount)
        #expect(WriteTurn.left.withLock { $0.count } == 1)
        // The one that was left behind serves who comes now.
        let environment = try Environment.open(at: store)
        environment.writeWait.withLock { $0.checkSeconds = .infinity }
        #expect(WriteTurn.left.withLock { $0.isEmpty })
        let isWaiting = Flag()
        environment.writeWait.withLock { wait in
          wait.isWanted = {
            isWaiting.set()
            return true
          }
        }
        let writing = OnThread { try environment.store(["b": "1"]) }
        while !isWaiting.isSet { SystemCall.sleep(microseconds: 1000) }
        child.kill()
        try writing.value()
        #expect(try environment.read("b") == "1")
        #expect(try environment.read("a") == nil)
        try environment.close()
        #expect(try descriptorCount(of: folder.opening) == 0)
      }
    }

    @Test("a write that waits goes on where closing fails, and ends where it does not")
    func closing() async {
      await #expect(processExitsWith: .success) {
        try Self.besideWriter { environment, child in
          let looks = Locked(0)
          environment.writeWait.withLock { wait in
            wait.isWanted = {
              looks.withLock { $0 += 1 }
              return true
            }
          }
          func waitToLook() {
            let before = looks.withLock { $0 }
            let end = SystemCall.seconds + 1000
            while looks.withLock({ $0 }) < before + 2 {
              guard SystemCall.seconds < end else {
                Issue.record("nobody waits any more")
                return
              }
              SystemCall.sleep(microseconds: 1000)
            }
          }
          let first = OnThread { try environment.store(["a": "2"]) }
          waitToLook()
          do {
            let snapshot = try environment.beginRead()
            // Longer than those who wait need to look once.
            #expect(code { try environment.close(timeoutSeconds: 0.2) } == .inUse)
            waitToLook()
            // The turn comes while the store is being closed: it is waited for then.
            let hasGivenUp = Flag()
            let closing = OnThread {
              defer { hasGivenUp.set() }
              return code { try environment.close(timeoutSeconds: 0.5) }
            }
            while !environment.gate.isShut, !hasGivenUp.isSet {
              SystemCall.sleep(microseconds: 100)
            }
            child.kill()
            try first.value()
            #expect(try closing.value() == .inUse)
            #expect(try snapshot.value("a") == "1")
          }
          #expect(try environment.read("a") == "2")

          let store = environment.folder
          let other = try Child {
            let own = try Environment.open(at: store)
            held.transaction = try own.beginWrite()
            return 7
          }
          try #require(other.report() == 7)
          let second = OnThread { code { try environment.store(["a": "3"]) } }
          waitToLook()
          try environment.close(timeoutSeconds: 1000)
          #expect(try second.value() == .closed)
        }
      }
    }

    @Test("databases are looked up while one is made behind another process's write")
    func lookingUp() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        let store = folder.store
        let child = try Child {
          let own = try Environment.open(at: store)
          guard let other = try own.database(named: "other", create: true) else { return 0 }
          try own.store(["a": "other"], in: other)
          held.transaction = try own.beginWrite()
          return 7
        }
        try #require(child.report() == 7)
        let isWaiting = Flag()
        environment.writeWait.withLock { wait in
          wait.isWanted = {
            isWaiting.set()
            return true
          }
        }
        let making = OnThread { try environment.database(named: "made", create: true) }
        while !isWaiting.isSet { SystemCall.sleep(microseconds: 1000) }

        // On a thread, which may be given up.
        let found = try OnThread {
          #expect(try environment.database(named: "none", create: false) == nil)
          let names = try environment.databaseNames()
          #expect(names == ["other"])
          return try environment.database(named: "other", create: false)
        }.value(timeoutSeconds: 1000)
        child.kill()
        // LMDB gives numbers by what a transaction knew when it began.
        let other = try #require(found)
        let made = try #require(try making.value())
        #expect(made != other)
        try environment.store(["a": "made"], in: made)
        #expect(try environment.read("a", in: other) == "other")
        #expect(try environment.read("a", in: made) == "made")
        try environment.close()
      }
    }

    @Test("a turn whose holder writes nothing any more is passed by")
    func abandoned() throws {
      let environment = try Environment.open(at: folder.store)
      let other = try ForeignTurn(folder.opening)
      #expect(other.take())

      try environment.store(["a": "1"])

      #expect(try environment.read("a") == "1")
      try environment.close()
    }

    @Test("a child has no share in its parent's turn, whose death ends it")
    func forked() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        let store = folder.store
        let parent = try Child {
          // With a group of its own, whose rest is killed at the end.
          setpgid(0, 0)
          let own = try Environment.open(at: store)
          let transaction = try own.beginWrite()
          let grandchild = try Child { 5 }
          guard grandchild.report() == 5 else { return 0 }
          held.child = grandchild
          held.transaction = consume transaction
          return 6
        }
        defer { kill(-parent.id, SIGKILL) }
        #expect(parent.report() == 6)
        let other = try ForeignTurn(folder.opening)
        #expect(!other.take())
        parent.kill()

        #expect(other.take())
        other.giveBack()
        try environment.store(["a": "1"])
      }
    }

    @Test("a child that was forked while its parent opened a store keeps nobody from opening it")
    func forkedInOpening() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        let parent = try Child {
          _ = try Environment.open(at: store) { _ in
            setpgid(0, 0)
            held.child = try Child { 5 }
            guard held.child?.report() == 5 else { return }
            kill(getpid(), SIGKILL)
          }
          return 0
        }
        defer { kill(-parent.id, SIGKILL) }
        parent.waitUntilDead()
        parent.kill()

        let opened = OnThread { try Environment.open(at: store) }
        try opened.value(timeoutSeconds: 1000).store(["a": "1"])
      }
    }
  }

  /// What a child has until it is killed. Only its one thread touches it.
  private final class Held {
    var transaction: WriteTransaction?
    var child: Child?
  }
  nonisolated(unsafe) private let held = Held()
#endif
