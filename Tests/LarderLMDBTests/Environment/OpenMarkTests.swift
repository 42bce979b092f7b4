#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  @Suite("a store is known to be open, whatever becomes of LMDB's locks")
  struct OpenMarkTests {
    /// Whether anybody has the store in `folder` open, by its mark.
    private static func isMarked(_ folder: TestFolder) -> Bool {
      let descriptor = Glibc.open(folder.opening, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      return OpenMark.isSet(.open, descriptor)
    }

    @Test("the mark is there while a store is open, also behind a compaction, and gone afterwards")
    func mark() throws {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      #expect(Self.isMarked(folder))
      _ = try environment.compact(
        timeoutSeconds: 60, prepare: { _ in }, progress: { _, _ in true })
      #expect(Self.isMarked(folder))
      try environment.close()
      #expect(!Self.isMarked(folder))
    }

    @Test("a process that has copied its own store's folder keeps others from clearing its readers")
    func copiedFolder() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        try environment.store(["a": "1"])
        let snapshot = try environment.beginRead()
        try FileManager.default.copyItem(atPath: folder.store, toPath: folder.path + "/copy")
        let store = folder.store

        let report = try Child.report {
          let error = failure { _ = try Environment.open(at: store) }
          guard error?.code == .lockTableDamaged, error?.path?.hasSuffix("lock.mdb") == true,
            error?.description.contains("close the store in every process") == true
          else { return 1 }
          guard code({ _ = try Environment.setAside(store) }) == .lockTableDamaged else { return 2 }
          return 0
        }

        #expect(report == 0)
        for number in 0..<20 { try environment.store(["a": "\(number)"]) }
        #expect(try snapshot.value("a") == "1")
      }
    }

    @Test("behind a copy of its folder a store is opened by others once it was closed")
    func closedAfterCopy() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        try environment.store(["a": "1"])
        try FileManager.default.copyItem(atPath: folder.store, toPath: folder.path + "/copy")
        try environment.close()
        let store = folder.store

        let report = try Child.report {
          try Environment.open(at: store).read("a") == "1" ? 0 : 1
        }

        #expect(report == 0)
      }
    }

    @Test("a forked child does not keep its parent's mark")
    func forked() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let environment = try Environment.open(at: folder.store)
        let child = try Child { 0 }
        #expect(child.report() == 0)
        #expect(Self.isMarked(folder))

        try environment.close()

        #expect(!Self.isMarked(folder))
        child.kill()
      }
    }

    @Test(
      "what a forked child lets go of leaves its parent's mark, and other files of its own, alone")
    func forkedClosing() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let held = Held()
        held.environment = try Environment.open(at: folder.store)
        let other = folder.path + "/other"

        let report = try Child.report {
          // As many as get the numbers that the marks had.
          let descriptors = (0..<8).map { _ in Glibc.open(other, O_RDWR | O_CREAT, 0o600) }
          held.environment = nil
          return descriptors.allSatisfy { fcntl($0, F_GETFD) != -1 } ? 0 : 1
        }

        #expect(report == 0)
        #expect(Self.isMarked(folder))
      }
    }

    private final class Held {
      var environment: Environment?
    }

    @Test("another store's data beside the lock file of one that is open here is not opened")
    func otherData() throws {
      let folder = TestFolder()
      let other = TestFolder()
      try Environment.open(at: other.store).close()
      let environment = try Environment.open(at: folder.store)
      try FileManager.default.moveItem(atPath: folder.data, toPath: folder.path + "/aside")
      try FileManager.default.moveItem(atPath: other.data, toPath: folder.data)

      let error = failure { _ = try Environment.open(at: folder.store) }

      #expect(error?.code == .lockFileReplaced)
      try environment.close()
      try Environment.open(at: folder.store).close()
    }

    @Test("a store whose data file is gone is not made anew while somebody has it open")
    func missingData() throws {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "1"])
      let aside = folder.path + "/aside"
      try FileManager.default.moveItem(atPath: folder.data, toPath: aside)

      #expect(code { _ = try Environment.open(at: folder.store) } == .lockFileReplaced)

      try FileManager.default.moveItem(atPath: aside, toPath: folder.data)
      try environment.store(["b": "2"])
      #expect(try environment.read("a") == "1")
    }
  }
#endif
