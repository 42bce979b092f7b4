#if canImport(Glibc) && _endian(little) && _pointerBitWidth(_64)
  import Foundation
  import Glibc
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("the lock of writers may be that of a thread that is gone")
  struct LostLockTests {
    /// Larger than any number that the system gives to a thread.
    private static let nobody: UInt32 = 0x3FFF_0000

    /// Has LMDB's lock be that of a thread, as others see it.
    private static func setOwner(_ thread: UInt32, _ path: String) {
      let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC)
      var word = thread
      #expect(pwrite(descriptor, &word, 4, off_t(LockTable.Place.writers)) == 4)
      close(descriptor)
    }

    @Test("a write is refused then, reads go on, and a store that is opened anew is written to")
    func refused() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let (store, lock) = (folder.store, folder.lock)
        // In a child: a write that sleeps would do so for ever.
        let report = try Child.report {
          let environment = try Environment.open(at: store)
          try environment.store(["a": "1"])
          // With the bit that others wait.
          Self.setOwner(Self.nobody | 0x8000_0000, lock)
          let error = failure { try environment.store(["a": "2"]) }
          guard error?.code == .lockTableDamaged, error?.detail.contains("has ended") == true,
            error?.description.contains("close the store in every process and open it again")
              == true
          else { return 1 }
          guard code({ try environment.store(["a": "2"]) }) == .lockTableDamaged else { return 2 }
          guard try environment.read("a") == "1" else { return 3 }
          try environment.close()
          let again = try Environment.open(at: store)
          try again.store(["a": "3"])
          return try again.read("a") == "3" ? 0 : 4
        }
        #expect(report == 0)
      }
    }

    @Test("a lock that is let go of while a write looks at it is taken")
    func clearedLater() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let (store, lock) = (folder.store, folder.lock)
        let report = try Child.report {
          let environment = try Environment.open(at: store)
          environment.patience.withLock { $0.lostSeconds = .infinity }
          Self.setOwner(Self.nobody, lock)
          let thread = Thread {
            usleep(300_000)
            Self.setOwner(0, lock)
          }
          thread.start()
          try environment.store(["a": "1"])
          return try environment.read("a") == "1" ? 0 : 1
        }
        #expect(report == 0)
      }
    }

    @Test("a thread of any process exists until it has ended, also where nobody was told yet")
    func threads() async {
      await #expect(processExitsWith: .success) {
        #expect(SystemCall.isThread(getpid()))
        #expect(SystemCall.isThread(getppid()))
        #expect(!SystemCall.isThread(Int32(bitPattern: Self.nobody)))
        let child = try Child { 0 }
        #expect(child.report() == 0)
        #expect(SystemCall.isThread(child.id))
        Glibc.kill(child.id, SIGKILL)
        var status = siginfo_t()
        // Waits for its end, and leaves it for others to wait for.
        #expect(waitid(P_PID, id_t(child.id), &status, WEXITED | WNOWAIT) == 0)
        #expect(!SystemCall.isThread(child.id))
        child.kill()
        #expect(!SystemCall.isThread(child.id))
      }
    }
  }
#endif
