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

    @Test("a large store that ended a process, or that was written to behind its end, is looked at")
    func next() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Self.makeLarge(folder)
        for isRead in [false, true] {
          for isTouched in [false, true] {
            let held = Held()
            let child = try Child {
              held.environment = try Environment.open(at: folder.store)
              try held.environment?.store(["a": "b"])
              if isRead { held.snapshot = try held.environment?.beginRead() }
              return 0
            }
            #expect(child.report() == 0)
            child.kill()
            withExtendedLifetime(held) {}
            let sound = try contents(of: folder.data)
            try Self.damage(folder)
            // As if the disk had changed its bytes.
            if !isTouched { try Self.noteRest(folder) }
            let error = code { try Environment.open(at: folder.store).close() }
            #expect(error == (isRead || isTouched ? .corrupted : nil))
            try replaceContents(of: folder.data, by: sound)
          }
        }
      }
    }

    @Test("a store that nobody closed is noted as it is, in a while and when its process ends")
    func rest() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        for ends in [false, true] {
          let held = Held()
          let child = try Child {
            let environment = try Environment.open(at: folder.store)
            held.environment = environment
            try environment.store(["a": "\(ends)"])
            // Of the child, which runs no timers.
            if ends { exit(0) } else { environment.noteRest() }
            return 0
          }
          #expect(child.report() == (ends ? nil : 0))
          child.kill()
          withExtendedLifetime(held) {}
          let files = try StoreFiles(folder.store, isReadOnly: false)
          let rest = try OpeningLock.acquireAtOnce(files)?.rest()
          #expect(try rest == SafeFiles.stamp(folder.data))
        }
        let environment = try Environment.open(at: folder.store)
        try environment.store(["a": "timer"])
        let files = try StoreFiles(folder.store, isReadOnly: false)
        while try OpeningLock.acquireAtOnce(files)?.rest() != SafeFiles.stamp(folder.data) {
          usleep(10_000)
        }
        try environment.close()
      }
    }

    @Test("a damaged page that ended a process beside others is looked for by the next one")
    func beside() async {
      await #expect(processExitsWith: .success) {
        let folder = TestFolder()
        try Self.makeLarge(folder)
        let other = try Environment.open(at: folder.store)
        let held = Held()
        let child = try Child {
          held.environment = try Environment.open(at: folder.store)
          held.snapshot = try held.environment?.beginRead()
          return 0
        }
        #expect(child.report() == 0)
        child.kill()
        withExtendedLifetime(held) {}
        try Self.damage(folder)

        // The first one finds what the dead process has left, the second one the note of the first.
        for _ in 0..<2 {
          let found = try Child.report {
            code { try Environment.open(at: folder.store).close() } == .corrupted ? 1 : 0
          }
          #expect(found == 1)
        }
        try other.close()
        #expect(code { try Environment.open(at: folder.store).close() } == .corrupted)
      }
    }

    private static func makeLarge(_ folder: TestFolder) throws {
      let environment = try Environment.open(at: folder.store)
      let database = try #require(try environment.database(named: "documents/a", create: true))
      var transaction = try environment.beginWrite()
      for number in 0..<2500 {
        try transaction.put(
          String(repeating: "v", count: 3000), "key \(10_000 + number)", in: database)
      }
      try transaction.commit()
      try environment.close()
    }

    private static func damage(_ folder: TestFolder) throws {
      var file = try EditedFile(folder.data)
      file.put16(file.leaf, file.node(file.leaf, 1) + 8, 0x7A7A)
      try replaceContents(of: folder.data, by: Data(file.bytes))
    }

    private static func noteRest(_ folder: TestFolder) throws {
      let files = try StoreFiles(folder.store, isReadOnly: false)
      let stamp = try #require(try SafeFiles.stamp(folder.data))
      try OpeningLock.acquireAtOnce(files)?.noteRest(stamp)
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
