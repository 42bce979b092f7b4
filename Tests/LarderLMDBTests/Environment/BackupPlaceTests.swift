#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("of two backups to one place")
  struct BackupPlaceTests {
    private let folder = TestFolder()
    private var target: String { folder.path + "/backup" }

    /// How the first one ends, while the second one waits for it.
    enum End: CaseIterable { case written, cancelled, failed }

    private struct Failed: Error {}

    /// How often this process has the file open that both lock.
    private func openCount() throws -> Int {
      let lock = folder.path + "/.backup.larder-backup/larder.lock"
      let own = "/proc/self/fd"
      return try FileManager.default.contentsOfDirectory(atPath: own).count {
        // One of another test may be closed by now.
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(own)/\($0)")) == lock
      }
    }

    /// Until the second one has it open, too, and keeps it.
    private func waitUntilAwaited(_ before: Int) throws {
      var seen = 0
      for _ in 0..<300_000 where seen < 10 {
        usleep(1000)
        seen = try openCount() > before ? seen + 1 : 0
      }
    }

    private func backUp(
      _ environment: Environment, endingBy end: End = .written, _ waits: () throws -> Void = {}
    ) throws -> Int? {
      try environment.backup(
        to: target,
        prepare: { _ in
          if end == .cancelled { return }
          try waits()
          if end == .failed { throw Failed() }
        },
        progress: { _, _ in
          guard end == .cancelled else { return true }
          try? waits()  // The second one shows whether it has waited.
          return false
        })
    }

    @Test("a folder that a link leads to in vain is an error at once")
    func danglingLink() throws {
      let environment = try Environment.open(at: folder.store)
      let link = folder.path + "/link"
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: folder.path + "/nowhere")

      let error = #expect(throws: LMDBError.self) {
        _ = try environment.backup(
          to: link + "/backup", prepare: { _ in }, progress: { _, _ in true })
      }

      #expect(error?.code == .system(errno: ENOENT))
      try environment.close()
    }

    @Test("the second waits, and is refused where the first was written", arguments: End.allCases)
    func together(_ end: End) throws {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "1"])
      let target = target
      let second = Locked<OnThread<LMDBError?>?>(nil)

      let first = Result {
        try backUp(environment, endingBy: end) {
          let before = try openCount()
          second.withLock {
            $0 = OnThread {
              failure {
                _ = try environment.backup(
                  to: target, prepare: { _ in }, progress: { _, _ in true })
              }
            }
          }
          try waitUntilAwaited(before)
        }
      }

      switch end {
      case .written: #expect(try (first.get() ?? 0) > 0)
      case .cancelled: #expect(try first.get() == nil)
      case .failed: #expect(throws: Failed.self) { try first.get() }
      }
      let error = try #require(second.withLock { $0 }).value()
      #expect(error?.code == (end == .written ? .system(errno: EEXIST) : nil))
      #expect(try names(in: folder.path) == ["backup", "store"])
      #expect(try names(in: target) == ["data.mdb"])
      #expect(try Environment.open(at: target).read("a") == "1")
    }

    private func names(in path: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
  }
#endif
