#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  /// Who joins one who only reads goes by what that one has noted.
  @Suite("a store that is first opened to read")
  struct ReaderNoteTests {
    @Test("behind a killed writer it keeps nobody out, although another file was put there")
    func killedWriter() async {
      await #expect(processExitsWith: .success) {
        let (folder, other) = (TestFolder(), TestFolder())
        let store = folder.store
        for folder in [folder, other] { try Self.make(folder) }
        let held = Held()
        let writer = try Child {
          held.environment = try Environment.open(at: store)
          try held.environment?.store(["a": "b"])
          return 0
        }
        #expect(writer.report() == 0)
        writer.kill()
        withExtendedLifetime(held) {}
        try Self.put(other.data, inPlaceOf: folder.data)

        let reader = try Self.openToRead(folder)
        #expect(try Child.report { try Self.joins(store) ? 0 : 1 } == 0)

        try reader.close()
        #expect(try Self.session(folder) == .closed(Self.stamp(folder)))
      }
    }

    @Test("behind another start of the system it keeps nobody out, whatever is noted of its file")
    func otherBoot() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        try Self.make(folder)
        let stale = OpeningLock.Session.open(
          boot: "00000000-1111-2222-3333-444444444444", file: 1)

        for mayNote in [true, false] {
          if mayNote { try Self.leave(stale, folder) }
          let reader = try Self.openToRead(folder)
          // As it stays where the reader may not write to the folder.
          if !mayNote { try Self.leave(stale, folder) }
          #expect(try Child.report { try Self.joins(store) ? 0 : 1 } == 0)
          try reader.close()
          #expect(try Self.session(folder) == .closed(Self.stamp(folder)))
        }
      }
    }

    private final class Held {
      var environment: Environment?
    }

    private static func make(_ folder: TestFolder) throws {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "1"])
      try environment.close()
    }

    private static func put(_ path: String, inPlaceOf target: String) throws {
      try FileManager.default.moveItem(atPath: target, toPath: target + ".aside")
      try FileManager.default.moveItem(atPath: path, toPath: target)
    }

    private static func openToRead(_ folder: TestFolder) throws -> Environment {
      var options = Environment.Options()
      options.isReadOnly = true
      return try Environment.open(at: folder.store, options: options)
    }

    /// Whether a process that joins finds what is there.
    private static func joins(_ store: String) throws -> Bool {
      try Environment.open(at: store).read("a") == "1"
    }

    private static func files(_ folder: TestFolder) throws -> StoreFiles {
      try StoreFiles(folder.store, isReadOnly: false)
    }

    private static func leave(_ session: OpeningLock.Session, _ folder: TestFolder) throws {
      try OpeningLock.acquireAtOnce(files(folder))?.note(session, isDurable: false)
    }

    private static func session(_ folder: TestFolder) throws -> OpeningLock.Session? {
      try OpeningLock.acquireAtOnce(files(folder))?.session()
    }

    private static func stamp(_ folder: TestFolder) throws -> FileStamp {
      try #require(try SafeFiles.stamp(folder.data))
    }
  }
#endif
