#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("others know that a process reads, whatever becomes of LMDB's locks")
  struct ReaderLockTests {
    /// Two pipes to a forked child: it says that it is ready, and hears that it may go on.
    private struct Line: Sendable {
      let (ready, goOn): ([Int32], [Int32])

      init() throws {
        var (one, two): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&one) == 0, pipe(&two) == 0 else { throw Child.Failed() }
        (ready, goOn) = (one, two)
      }

      private static func say(_ end: Int32) { write(end, [1], 1) }
      private static func hear(_ end: Int32) -> Bool {
        var wait = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        return poll(&wait, 1, 600_000) == 1 && read(end, &byte, 1) == 1
      }

      func sayReady() { Self.say(ready[1]) }
      func waitUntilReady() -> Bool { Self.hear(ready[0]) }
      func sayGoOn() { Self.say(goOn[1]) }
      func waitToGoOn() -> Bool { Self.hear(goOn[0]) }
    }

    /// What LMDB finds in another process when it asks whether the slots of this one are in use: the
    /// id of who has the lock; nil where that is nobody.
    private static func holder(of folder: TestFolder) throws -> Int32? {
      let (lock, own) = (folder.lock, getpid())
      let report = try Child.report {
        let descriptor = Glibc.open(lock, O_RDWR | O_CLOEXEC)
        var question = flock()
        question.l_type = Int16(F_WRLCK)
        question.l_start = off_t(own)
        question.l_len = 1
        guard fcntl(descriptor, F_GETLK, &question) == 0 else { return 9 }
        if question.l_type == Int16(F_UNLCK) { return 0 }
        return question.l_pid == -1 ? 1 : question.l_pid == own ? 2 : 3
      }
      return [0: nil, 1: -1, 2: own][report ?? 9] ?? 0
    }

    @Test("a process that copies its own store's folder keeps its snapshots")
    func copiedFolder() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        let line = try Line()
        let writer = try Child {
          let environment = try Environment.open(at: store)
          for number in 0..<100 { try environment.store(["\(number)": "old"]) }
          line.sayReady()
          guard line.waitToGoOn() else { return 1 }
          let freed = try environment.checkReaders()
          // Each overwrites what the one before the last has freed.
          for number in 0..<100 { try environment.store(["\(number)": "new"]) }
          return freed == 0 ? 0 : 2
        }
        #expect(line.waitUntilReady())
        let environment = try Environment.open(at: store)
        let snapshot = try environment.beginRead()
        try FileManager.default.copyItem(atPath: store, toPath: folder.path + "/copy")

        line.sayGoOn()

        #expect(writer.report() == 0)
        let records = try snapshot.records()
        #expect(records.count == 100 && records.allSatisfy { $0.hasSuffix("=old") })
        #expect(try environment.read("7") == "new")
      }
    }

    @Test("the lock is there however LMDB was opened, belongs to nobody, and goes with the store")
    func lives() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        #expect(try Self.holder(of: folder) == -1)
        try environment.store(["a": "1"])
        _ = try environment.compact(
          timeoutSeconds: 60, prepare: { _ in }, progress: { _, _ in true })
        #expect(try Self.holder(of: folder) == -1)
        #expect(try environment.read("a") == "1")
        try environment.close()
        #expect(try Self.holder(of: folder) == nil)

        var options = Environment.Options()
        options.isReadOnly = true
        let reader = try Environment.open(at: folder.store, options: options)
        #expect(try Self.holder(of: folder) == -1)
        #expect(try reader.read("a") == "1")
      }
    }

    @Test("a forked child does not keep the reader slots of a parent that has died")
    func forked() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        let store = folder.store
        let (line, parentLine) = (try Line(), try Line())
        let parent = try Child {
          let own = try Environment.open(at: store)
          let snapshot = try own.beginRead()
          let child = try Child {
            line.sayReady()
            _ = line.waitToGoOn()
            _exit(0)
          }
          guard line.waitUntilReady() else { return 1 }
          parentLine.sayReady()
          // To be killed with its snapshot; the child lives on.
          _ = withExtendedLifetime(child) { parentLine.waitToGoOn() }
          return UInt8(truncatingIfNeeded: snapshot.id)
        }
        #expect(parentLine.waitUntilReady())
        parent.kill()

        #expect(try environment.checkReaders() == 1)
        line.sayGoOn()
      }
    }

    @Test(
      "where another process has this one's id the store is refused with the reason, and then opened"
    )
    func sameProcessID() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Environment.open(at: folder.store).close()
        let (lock, own) = (folder.lock, getpid())
        let other = try Child {
          let descriptor = Glibc.open(lock, O_RDWR | O_CLOEXEC)
          var taken = flock()
          taken.l_type = Int16(F_WRLCK)
          taken.l_start = off_t(own)
          taken.l_len = 1
          return fcntl(descriptor, F_SETLK, &taken) == 0 ? 0 : 1
        }
        #expect(other.report() == 0)

        let error = failure { _ = try Environment.open(at: folder.store) }

        #expect(error?.code == .processIDTaken)
        #expect(error?.detail.contains("process id of this one, \(own),") == true)
        #expect(error?.description.contains("container") == true)
        other.kill()
        let environment = try Environment.open(at: folder.store)
        try environment.store(["a": "1"])
        #expect(try environment.read("a") == "1")
      }
    }
  }
#endif
