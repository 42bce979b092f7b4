import Foundation
import LarderLMDB
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct KillTests {
  let folder = TestFolder()

  @Test("no acknowledged save is lost, and no batch is torn, when the writer is killed 200 times")
  func killedWriter() throws {
    let seed = SeededGenerator.seed()
    var generator = SeededGenerator(seed: seed)
    var acknowledged: [String: Int] = [:]
    var killedInOpen = 0
    let cycles = 200
    for cycle in 0..<cycles {
      let writer = try OtherProcess("write", folder.store)
      var lines: [String] = []
      // Half of the kills fall into the start and the opening, half into the saves.
      if cycle % 2 == 0 {
        usleep(UInt32.random(in: 0..<30_000, using: &generator))
      } else {
        _ = try writer.expect("open")
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
          lines.append("saved " + (try writer.expect("saved")))
        }
        usleep(UInt32.random(in: 0..<10_000, using: &generator))
      }
      kill(writer.id, SIGKILL)
      lines += writer.lines()
      if cycle % 2 == 0, !lines.contains("open") { killedInOpen += 1 }
      for line in lines where line != "open" {
        let words = line.split(separator: " ")
        try #require(words.count == 3 && words[0] == "saved", "the writer said \(line)")
        acknowledged[String(words[1])] = Int(words[2])
      }
      if cycle % 20 == 19 { try verify(acknowledged, "seed \(seed), cycle \(cycle)") }
    }
    print(
      "CAMPAIGN kill-writer seed=\(seed) cycles=\(cycles) acked=\(acknowledged.count)",
      "killed-before-open=\(killedInOpen)")
    #expect(acknowledged.count > cycles / 4)
    #expect(killedInOpen > 0)
  }

  /// Every acknowledged batch is there, and every batch that is there is whole.
  private func verify(_ acknowledged: [String: Int], _ place: String) throws {
    let store = try Store(at: folder.store)
    var found: [String: Int] = [:]
    var expected: [String: Int] = [:]
    for note in try store.repository(of: Note.self).fetch(Note.all) {
      found[note.nonce, default: 0] += 1
      expected[note.nonce] = note.batchCount
    }
    #expect(found == expected, "a batch is torn: \(place)")
    let lost = acknowledged.filter { found[$0.key] != $0.value }
    #expect(lost.isEmpty, "lost acknowledged batches: \(place)")
    try verifyAndClose(store)
  }

  @Test("a store whose creation was killed at any moment is made anew or is whole")
  func killedCreation() throws {
    let seed = SeededGenerator.seed()
    var generator = SeededGenerator(seed: seed)
    var unfinished = 0
    var acknowledged = 0
    // Follows the speed of this machine: shorter after a creation that was finished in time.
    var longest = 4000.0
    for cycle in 0..<60 {
      let path = folder.path + "/new-\(cycle)"
      let creator = try OtherProcess("create", path)
      // Waits for the first trace of the store, then for a part of what its creation takes.
      let deadline = ContinuousClock.now + .seconds(10)
      while access(path, F_OK) != 0, ContinuousClock.now < deadline {}
      let delay = Double.random(in: 0..<longest, using: &generator)
      // Sleeping would take too long: a creation lasts a millisecond or less.
      let start = ContinuousClock.now
      while ContinuousClock.now - start < .microseconds(Int64(delay)) {}
      kill(creator.id, SIGKILL)
      let isAcknowledged = creator.lines().contains("saved first 1")
      let note = try? contents(of: path + "/larder.lock")
      if note?.starts(with: Data("creating".utf8)) == true { unfinished += 1 }

      let store = try Store(at: path)
      let notes = store.repository(of: Note.self)
      longest = max(20, isAcknowledged ? longest * 0.8 : longest * 1.2)
      if isAcknowledged {
        acknowledged += 1
        #expect(try notes.get("first") != nil, "seed \(seed), cycle \(cycle)")
      }
      try notes.save(Note(id: "second", nonce: "", batchCount: 1))
      #expect(try notes.get("second") != nil)
      try verifyAndClose(store)
    }
    print(
      "CAMPAIGN kill-creation seed=\(seed) cycles=60 unfinished=\(unfinished) "
        + "acked=\(acknowledged)")
    #expect(unfinished > 0, "no kill fell into a creation")
  }

  @Test("a process that dies in the midst of a write and a read leaves neither behind")
  func deathWithoutClosing() throws {
    let store = try Store(at: folder.store)
    let notes = store.repository(of: Note.self)
    try notes.save(Note(id: "before", nonce: "", batchCount: 1))
    let readers = try store.statistics().readerCount
    for _ in 0..<5 {
      let other = try OtherProcess("open-and-die", folder.store)
      #expect(other.lines().last?.hasPrefix("dying") == true)
      #expect(other.wait() == -SIGKILL)
    }

    try notes.save(Note(id: "after", nonce: "", batchCount: 1))

    #expect(try notes.fetch(Note.all).map(\.id) == ["after", "before"])
    let again = try OtherProcess("count", folder.store)
    #expect(again.lines() == ["count 2"])
    #expect(try store.statistics().readerCount <= readers + 1)
    try verifyAndClose(store)
  }

  @Test("a store is readable after its writer was killed while it declared a collection")
  func killedDeclaration() throws {
    // What a kill between the making of a collection's database and its description leaves.
    let store = try Store(at: folder.store)
    try store.repository(of: Note.self).save(Note(id: "a", nonce: "", batchCount: 1))
    try store.close()
    let environment = try Environment.open(
      at: folder.store, options: StoreOptions().environment)
    _ = try environment.database(named: "documents/Half", create: true)
    try environment.close()

    let again = try Store(at: folder.store)

    #expect(try again.repository(of: Note.self).count() == 1)
    try again.repository(of: Note.self).save(Note(id: "b", nonce: "", batchCount: 1))
    try verifyAndClose(again)
    let readOnly = try OtherProcess("open", folder.store, "read-only")
    #expect(readOnly.lines().contains("count 2"))
  }
}
