import Foundation
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct MigrationProcessTests {
  let folder = TestFolder()

  private func fill(_ count: Int) throws {
    let store = try Store(at: folder.store)
    _ = try store.numbers(count)
    try store.close()
  }

  @Test("a migration that is killed at any moment goes on where its last batch ended")
  func killed() throws {
    var generator = RandomSource()
    let count = 6500
    try fill(count)
    var version = 2
    var halfway = 0
    for cycle in rounds(30, until: { halfway > 0 }) {
      let process = try OtherProcess("migrate", folder.store, "\(version)")
      _ = try process.expect("open")
      // Anywhere inside a batch, or between two.
      var lines: [String] = []
      for _ in 0..<Int.random(in: 0..<6, using: &generator) {
        if let line = process.line() { lines.append(line) }
      }
      usleep(UInt32.random(in: 0..<10_000, using: &generator))
      kill(process.id, SIGKILL)
      lines += process.lines()
      let told = lines.last { $0.hasPrefix("batch") }
        .flatMap { Int($0.split(separator: " ")[1]) }

      let hint: Comment = "\(generator.hint), cycle \(cycle)"
      let store = try Store(at: folder.store)
      let numbers = store.collection("Number")
      let done = try numbers.documents().count { $0["changes"] == .integer(Int64(version - 1)) }
      #expect(try numbers.count() == count, hint)
      #expect(done % 1000 == 0 || done == count, hint)
      #expect(done >= told ?? 0, hint)
      #expect(try numbers.version() == (done == count ? version : version - 1), hint)
      if done > 0, done < count { halfway += 1 }
      try verifyAndClose(store)
      if done == count { version += 1 }
    }
    #expect(halfway > 0)

    let last = try OtherProcess("migrate", folder.store, "\(version)")
    #expect(last.lines().last == "version \(version)")
    let store = try Store(at: folder.store)
    let changes = try store.collection("Number").documents().map { $0["changes"] }
    #expect(changes == Array(repeating: .integer(Int64(version - 1)), count: count))
    try verifyAndClose(store)
  }

  @Test("a migration that finds the disk full is refused, and goes on when there is room")
  func fullDisk() throws {
    try fill(5000)
    let size = try contents(of: folder.data).count

    let process = try OtherProcess("migrate", folder.store, "2", "\(size)")

    _ = try process.expect("open")
    var done = 0
    var line = process.line() ?? ""
    while line.hasPrefix("batch") {
      done = Int(line.split(separator: " ")[1]) ?? 0
      line = process.line() ?? ""
    }
    #expect(line.hasPrefix("error full "), "it said: \(line)")
    #expect(done < 5000)
    process.goOn()
    #expect(process.lines().last == "version 2")
    #expect(process.wait() == 0)
    let store = try Store(at: folder.store)
    #expect(try store.collection("Number").documents() == converted(5000))
    try verifyAndClose(store)
  }

  @Test("two processes that migrate at once share the work, and no document is migrated twice")
  func together() throws {
    try fill(20_000)

    let processes = try (0..<2).map { _ in try OtherProcess("migrate", folder.store, "2") }
    let lines = processes.map { $0.lines() }

    #expect(lines.allSatisfy { $0.last == "version 2" })
    let batches = lines.flatMap { $0 }.filter { $0.hasPrefix("batch") }
    #expect(Set(batches).count == 20)
    #expect(batches.count == 20)
    let store = try Store(at: folder.store)
    #expect(try store.collection("Number").documents() == converted(20_000))
    try verifyAndClose(store)
  }

  @Test("a process that was there before anything was migrated finds where migrations stand")
  func laterFound() throws {
    let store = try Store(at: folder.store)
    let numbers = try store.numbers(3)
    try store.write { _ = try $0.eraseAllData(of: numbers) }
    let other = try OtherProcess("rename", folder.store)
    _ = try other.expect("open")

    try numbers.migrate(to: 5, convert)
    try numbers.save(numbered(2))
    other.goOn()

    #expect(other.lines() == ["renamed 2 of version 5"])
    try verifyAndClose(store)
  }

  @Test("a process that uses the collection meanwhile is refused, and its kinds are afterwards")
  func otherUser() throws {
    try fill(3000)
    let user = try OtherProcess("use", folder.store)
    _ = try user.expect("open")
    user.goOn()
    #expect(try user.expect("saved").hasPrefix("1 inserted"))
    let store = try Store(at: folder.store)
    let numbers = store.collection("Number")

    try numbers.migrate(to: 2) { news in
      guard news.completed != news.total else { return }
      user.goOn()
      let error = try user.expect("error")
      #expect(error == "unfinishedMigration")
    } _: {
      try convert(&$0)
    }

    user.goOn()
    // Its text is no integer.
    #expect(try user.expect("error") == "valueRefused")
    #expect(try numbers.get(-1)?["text"] == -1)
    #expect(user.finish().count <= 1)
    try verifyAndClose(store)
  }
}
