#if os(Linux)
  import Foundation
  import LarderTestKit
  import Testing

  @testable import LarderLMDB

  /// A damaged page ends the process that reads it: it must not end the next one too.
  @Suite("processes that ended inside of a transaction")
  struct EndedInsideTests {
    @Test("one that ended in a read, or in a write, is noticed, and one that had none is not")
    func ended() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        try Environment.open(at: store).close()

        for place in ["read", "write", "neither"] {
          // Of the child, which holds it until it is killed.
          let held = Held()
          let child = try Child {
            let environment = try Environment.open(at: store)
            held.environment = environment
            try environment.store(["a": place])
            guard try environment.read("a") == place else { return 1 }
            if place == "read" { held.snapshot = try environment.beginRead() }
            if place == "write" { held.write = try environment.beginWrite() }
            return 0
          }
          #expect(child.report() == 0)
          child.kill()
          withExtendedLifetime(held) {}

          let isInside = place == "read" || place == "write"
          #expect(try Self.someoneDiedInside(folder) == isInside, "\(place)")
          try Environment.open(at: store).close()
          #expect(try !Self.someoneDiedInside(folder))
        }
      }
    }

    @Test("a large store that ended a process is looked at by the next one")
    func next() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        let store = folder.store
        let made = try Environment.open(at: store)
        let database = try #require(try made.database(named: "documents/a", create: true))
        var transaction = try made.beginWrite()
        for number in 0..<2500 {
          try transaction.put(
            String(repeating: "v", count: 3000), "key \(10_000 + number)", in: database)
        }
        try transaction.commit()
        try made.close()

        for isRead in [false, true] {
          let held = Held()
          let child = try Child {
            held.environment = try Environment.open(at: store)
            if isRead { held.snapshot = try held.environment?.beginRead() }
            return 0
          }
          #expect(child.report() == 0)
          var file = try EditedFile(folder.data)
          file.put16(file.leaf, file.node(file.leaf, 1) + 8, 0x7A7A)
          try replaceContents(of: folder.data, by: Data(file.bytes))
          child.kill()
          withExtendedLifetime(held) {}
          let error = code { try Environment.open(at: store).close() }
          #expect(error == (isRead ? .corrupted : nil))
        }
      }
    }

    private static func someoneDiedInside(_ folder: TestFolder) throws -> Bool {
      let files = try StoreFiles(folder.store, isReadOnly: false)
      return LockTable(files: files).someoneDiedInside()
    }

    private final class Held {
      var environment: Environment?
      var snapshot: ReadTransaction?
      var write: WriteTransaction?
    }

    @Test("a lock file that says nothing counts as if one had ended inside")
    func unreadable() throws {
      let folder = TestFolder()
      try Environment.open(at: folder.store).close()
      #expect(try !Self.someoneDiedInside(folder))
      let sound = try contents(of: folder.lock)

      for bytes in [Data(), sound.prefix(100), Data(repeating: 0xFF, count: sound.count)] {
        try replaceContents(of: folder.lock, by: bytes)
        #expect(try Self.someoneDiedInside(folder))
      }
      try FileManager.default.removeItem(atPath: folder.lock)
      #expect(try Self.someoneDiedInside(folder))
    }
  }
#endif
