#if os(Linux)
  import Foundation
  import LarderLMDB
  import LarderTestKit
  import Testing

  @Suite("the turn of processes that write")
  struct WriteTurnTests {
    let folder = TestFolder()

    @Test("a write waits for the process whose turn it is, and no longer once that has died")
    func waiting() throws {
      let environment = try Environment.open(at: folder.store)
      let other = try OtherProcess(folder.opening)
      #expect(other.takesTurn())
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
      #expect(isWritten.wait(timeout: .now() + 60) == .success)
      #expect(try environment.read("a") == "1")
      try environment.close()
    }

    @Test("commits, aborts and writes that cannot begin give the turn back")
    func givingBack() throws {
      let environment = try Environment.open(at: folder.store)
      let other = try OtherProcess(folder.opening)

      do {
        let transaction = try environment.beginWrite()
        #expect(!other.takesTurn())
        try transaction.commit()
      }
      #expect(other.takesTurn())
      other.givesBack()
      do {
        let transaction = try environment.beginWrite()
        #expect(!other.takesTurn())
        _ = consume transaction
      }
      #expect(other.takesTurn())
      other.givesBack()
      try FileManager.default.moveItem(atPath: folder.data, toPath: folder.data + ".aside")
      #expect(throws: LMDBError.self) { try environment.store(["a": "1"]) }
      #expect(other.takesTurn())
      other.givesBack()
      try FileManager.default.moveItem(atPath: folder.data + ".aside", toPath: folder.data)
      try environment.close()
    }
  }

  /// What another process would have of the file: the kernel tells them apart by how it was opened.
  private final class OtherProcess {
    private let descriptor: Int32
    private var isAlive = true

    init(_ path: String) throws {
      descriptor = open(path, O_RDWR | O_CLOEXEC)
      try #require(descriptor >= 0)
    }

    deinit { die() }

    func takesTurn() -> Bool { set(F_WRLCK) }

    func givesBack() { _ = set(F_UNLCK) }

    func die() {
      guard isAlive else { return }
      isAlive = false
      close(descriptor)
    }

    /// Without waiting.
    private func set(_ kind: Int32) -> Bool {
      var lock = flock()
      lock.l_type = Int16(kind)
      lock.l_whence = Int16(SEEK_SET)
      lock.l_start = 1 << 20
      lock.l_len = 1
      return fcntl(descriptor, 37, &lock) == 0  // F_OFD_SETLK
    }
  }
#endif
