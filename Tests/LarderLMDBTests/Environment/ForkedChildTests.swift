#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  /// A child of `fork` has none of the threads that Dispatch has made for its parent, and gets no others.
  @Suite("a child that opens the store again, of a process that has used Dispatch")
  struct ForkedChildTests {
    /// Has Dispatch make threads.
    private static func useDispatch() {
      let group = DispatchGroup()
      for _ in 0..<8 { DispatchQueue.global().async(group: group) { usleep(1000) } }
      group.wait()
      let isDone = DispatchSemaphore(value: 0)
      DispatchQueue(label: "test", qos: .userInitiated).async { isDone.signal() }
      isDone.wait()
    }

    @Test("it stands in the line of the processes that write")
    func turn() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Environment.open(at: folder.store).close()
        Self.useDispatch()
        let other = try OtherOpening(folder.opening)
        #expect(other.takesTurn())
        let opening = folder.opening
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let waits = ends[1]

        let child = try Child {
          let turn = WriteTurn.open(opening)
          var wait = WriteWait()
          wait.timeoutSeconds = 1000
          // Whoever has the turn seems to write for ever, so that it is not passed by.
          let outcome = turn.take(
            wait, isFree: { false },
            isWanted: {
              var byte: UInt8 = 1
              write(waits, &byte, 1)
              return true
            }, tellsOfLong: {})
          return outcome == .taken ? 1 : 2
        }
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 1)
        other.givesBack()

        #expect(child.report() == 1)
      }
    }

    @Test("what is given to a queue is done, at once or later")
    func queue() async {
      await #expect(processExitsWith: .success) {
        Self.useDispatch()
        let report = try Child.report {
          let isDone = DispatchSemaphore(value: 0)
          WorkQueue("test").async { isDone.signal() }
          guard isDone.wait(timeout: .now() + 1000) == .success else { return 1 }
          WorkQueue.later(0.01) { isDone.signal() }
          guard isDone.wait(timeout: .now() + 1000) == .success else { return 2 }
          return 0
        }
        #expect(report == 0)
      }
    }

    @Test("a process knows that it was forked, also where nobody counted before")
    func isChild() async {
      await #expect(processExitsWith: .success) {
        let uncounted = try Child.report { Forks.isChild ? 1 : 0 }
        #expect(uncounted == 1)
        #expect(!Forks.isChild)
        Forks.watch()
        let counted = try Child.report { Forks.isChild ? 1 : 0 }
        #expect(counted == 1)
        #expect(!Forks.isChild)
      }
    }
  }

  /// What another process would have of a file: the kernel tells them apart by how it was opened.
  private final class OtherOpening {
    private let descriptor: Int32

    init(_ path: String) throws {
      descriptor = open(path, O_RDWR | O_CLOEXEC)
      try #require(descriptor >= 0)
    }

    deinit { close(descriptor) }

    func takesTurn() -> Bool { set(F_WRLCK) }

    func givesBack() { _ = set(F_UNLCK) }

    /// Without waiting.
    private func set(_ kind: Int32) -> Bool {
      var lock = FileRange.lock(kind, at: 1 << 20)
      return fcntl(descriptor, FileRange.set, &lock) == 0
    }
  }
#endif
