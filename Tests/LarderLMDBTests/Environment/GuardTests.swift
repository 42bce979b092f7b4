import Foundation
import LarderLMDB
import LarderTestKit
import Testing

@Suite("guards of a store that is open")
struct GuardTests {
  let folder = TestFolder()

  @Test("a write is refused once the lock file or the data file was removed or replaced")
  func replacedFiles() throws {
    for path in [folder.lock, folder.data] {
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "1"])
      try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
      #expect(code { try environment.store(["b": "2"]) } == .lockFileReplaced)
      try FileManager.default.copyItem(atPath: path + ".aside", toPath: path)
      let error = failure { try environment.store(["b": "2"]) }
      #expect(error?.code == .lockFileReplaced)
      #expect(error?.path == path)
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: path + ".aside", toPath: path)
      try environment.store(["c": "3"])
      try environment.close()
    }
  }

  @Test("a write is refused when the shared transaction id lags behind the last commit")
  func damagedLockTable() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      for number in 0..<37 { try environment.store(["a": "\(number)"]) }
      let last = UInt64(try environment.statistics().lastTransactionID)
      let lock = folder.lock
      // In a child: a close of the lock file here would drop LMDB's own locks on it.
      let report = try Child.report {
        let descriptor = Glibc.open(lock, O_RDWR)
        var number: UInt64 = 0
        for offset in stride(from: 0, to: 256, by: 8) {
          guard pread(descriptor, &number, 8, offset) == 8, number == last else { continue }
          number -= 2
          return pwrite(descriptor, &number, 8, offset) == 8 ? 1 : 2
        }
        return 3
      }
      #expect(report == 1)

      let error = failure { try environment.store(["a": "lost"]) }

      #expect(error?.code == .lockTableDamaged)
      #expect(error?.description.contains("close the store in every process") == true)
      try environment.close()
      let again = try Environment.open(at: folder.store)
      try again.store(["b": "kept"])
      #expect(try again.read("a") == "36")
    }
  }

  @Test("a forked child is told to open the store itself, and the parent's snapshot stays")
  func fork() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let environment = try Environment.open(at: folder.store)
      try environment.store(["a": "before"])
      let snapshot = try environment.beginRead()
      let store = folder.store

      let report = try Child.report {
        let refusals = [
          code { _ = try environment.beginRead() }, code { _ = try environment.beginWrite() },
          code { _ = try environment.database(named: "x", create: true) },
          code { try environment.close() },
        ]
        guard refusals.allSatisfy({ $0 == .usedAfterFork }) else { return 1 }
        let own = try Environment.open(at: store)
        guard own !== environment, try own.read("a") == "before" else { return 2 }
        try own.store(["a": "child"])
        try own.close()
        return 0
      }

      #expect(report == 0)
      #expect(try snapshot.value("a") == "before")
      #expect(try environment.read("a") == "child")
      for number in 0..<20 { try environment.store(["b": "\(number)"]) }
      #expect(try snapshot.value("a") == "before")
    }
  }

  @Test("what a forked child lets go of stays the parent's")
  func forkLettingGo() async {
    await #expect(processExitsWith: .success) {
      let folder = TestFolder()
      let held = Held()
      held.environment = try Environment.open(at: folder.store)
      try held.environment?.store(["a": "before"])
      held.snapshot = try held.environment?.beginRead()
      let slots = try held.environment?.statistics().readersInUse

      let report = try Child.report {
        held.snapshot = nil
        held.environment = nil
        return 0
      }

      #expect(report == 0)
      #expect(try held.environment?.statistics().readersInUse == slots)
      for number in 0..<20 { try held.environment?.store(["a": "\(number)"]) }
      #expect(try held.snapshot?.value("a") == "before")
      held.snapshot = nil
    }
  }

  private final class Held {
    var environment: Environment?
    var snapshot: ReadTransaction?
  }

  @Test("a second write on the same thread is refused instead of waiting for itself")
  func nestedWrite() throws {
    let environment = try Environment.open(at: folder.store)
    do {
      let transaction = try environment.beginWrite()
      #expect(code { _ = try environment.beginWrite() } == .nestedWrite)
      #expect(code { _ = try environment.database(named: "new", create: true) } == .nestedWrite)
      #expect(code { _ = try environment.databaseNames() } == .nestedWrite)
      _ = transaction.id
    }
    try environment.store(["a": "1"])
  }

  @Test("writers on many threads take turns")
  func writersTakeTurns() async throws {
    let environment = try Environment.open(at: folder.store)
    try environment.store(["n": "0"])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25 {
            var transaction = try environment.beginWrite()
            let number = Int(try transaction.value("n") ?? "") ?? -1
            try transaction.put("\(number + 1)", "n")
            try transaction.commit()
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try environment.read("n") == "100")
  }

  @Test("a read-only store reads and refuses to write")
  func readOnly() throws {
    var options = Environment.Options()
    options.isReadOnly = true
    #expect(code { _ = try Environment.open(at: folder.store, options: options) } == .missing)
    #expect(!FileManager.default.fileExists(atPath: folder.store))
    let writer = try Environment.open(at: folder.store)
    let named = try #require(try writer.database(named: "named", create: true))
    try writer.store(["a": "1"], in: named)
    try writer.close()

    let reader = try Environment.open(at: folder.store, options: options)

    let database = try #require(try reader.database(named: "named", create: false))
    #expect(try reader.read("a", in: database) == "1")
    #expect(code { _ = try reader.beginWrite() } == .readOnly)
    #expect(code { _ = try reader.database(named: "new", create: true) } == .readOnly)
    #expect(try reader.databaseNames() == ["named"])
  }

  @Test("a file of another LMDB format, or of none, is named as such with our version")
  func otherFormats() throws {
    try Environment.open(at: folder.store).close()
    var bytes = try contents(of: folder.data)
    // Each of the first two pages: a header of 16 bytes, the magic number, the version.
    bytes[20] = 2
    bytes[4096 + 20] = 2
    try replaceContents(of: folder.data, by: bytes)
    let version = failure { _ = try Environment.open(at: folder.store) }
    try replaceContents(of: folder.data, by: Data(repeating: 1, count: 10_000))
    let invalid = failure { _ = try Environment.open(at: folder.store) }

    #expect(version?.code == .versionMismatch)
    #expect(invalid?.code == .invalidFile)
    for error in [version, invalid] {
      #expect(error?.description.contains("LMDB 0.9.") == true)
      #expect(error?.description.contains("another LMDB format") == true)
    }
    #expect(try contents(of: folder.data) == Data(repeating: 1, count: 10_000))
  }
}
