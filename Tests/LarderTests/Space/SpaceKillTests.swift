import Foundation
import LarderTestProcess
import LarderTesting
import Testing

@testable import Larder

@Suite(.timeLimit(.minutes(20))) struct SpaceKillTests {
  private let folder = TestFolder()

  private func makeStore(at path: String, _ count: Int, nonce: String) throws {
    let store = try Store(at: path)
    let notes = store.repository(of: Note.self)
    let documents = (0..<count).map { Note(id: "\($0)", nonce: nonce, batchCount: count) }
    try notes.save(documents)
    try notes.delete(keys: (0..<count / 2).map { "\($0 * 2)" })
    try notes.save(documents)
    try verifyAndClose(store)
  }

  /// Kills a process some time after it has begun, and says what it had said.
  private func killed(
    _ process: OtherProcess, _ random: inout RandomSource, longestMicroseconds: Int
  ) throws -> [String] {
    _ = try process.expect("open")
    usleep(UInt32(random.int(0..<longestMicroseconds)))
    kill(process.id, SIGKILL)
    return process.lines()
  }

  @Test("a compaction that is killed at any moment leaves a sound store with every document")
  func compaction() throws {
    var random = RandomSource()
    try makeStore(at: folder.store, 4000, nonce: "kept")
    var (compacted, halfway) = (0, 0)

    for cycle in 0..<60 {
      let process = try OtherProcess("compact", folder.store)
      let lines = try killed(process, &random, longestMicroseconds: 150_000)
      compacted += lines.count { $0.hasPrefix("compacted") }
      if FileManager.default.fileExists(atPath: folder.store + "/.larder-staging") { halfway += 1 }

      let store = try Store(at: folder.store)
      let notes = store.repository(of: Note.self)
      #expect(try notes.count(Note.where { $0.nonce == "kept" }) == 4000, "\(random.hint) \(cycle)")
      let saved = lines.last { $0.hasPrefix("saved") }.flatMap { Int($0.dropFirst(6)) }
      if let saved {
        let found = try Int(notes.get("between")?.nonce ?? "")
        #expect(found == saved || found == saved + 1, "\(random.hint) \(cycle)")
      }
      try verifyAndClose(store)
    }
    print("CAMPAIGN kill-compact \(random.hint) compacted=\(compacted) halfway=\(halfway)")
    #expect(compacted > 0)
    #expect(halfway > 5)
  }

  @Test("a restoration that is killed at any moment leaves the old store or the new one, whole")
  func restoration() throws {
    var random = RandomSource()
    let backup = folder.path + "/backup"
    try makeStore(at: backup, 3000, nonce: "new")
    var (old, new, halfway) = (0, 0, 0)

    for cycle in 0..<60 {
      let path = folder.path + "/store-\(cycle)"
      try makeStore(at: path, 1000, nonce: "old")
      let process = try OtherProcess("restore", path, backup)
      let lines = try killed(process, &random, longestMicroseconds: 150_000)
      if FileManager.default.fileExists(atPath: path + "/.larder-staging") { halfway += 1 }

      let store = try Store(at: path)
      let nonces = try store.repository(of: Note.self).fetch(Note.all).map(\.nonce)
      if nonces.first == "old" { old += 1 } else { new += 1 }
      #expect(Set(nonces).count == 1, "\(random.hint) \(cycle)")
      #expect(nonces.count == (nonces.first == "old" ? 1000 : 3000), "\(random.hint) \(cycle)")
      if lines.contains(where: { $0.hasPrefix("restored") }) { #expect(nonces.first == "new") }
      try verifyAndClose(store)
      try FileManager.default.removeItem(atPath: path)
    }
    print("CAMPAIGN kill-restore \(random.hint) old=\(old) new=\(new) halfway=\(halfway)")
    #expect(old > 0)
    #expect(new > 0)
    #expect(halfway > 0)
  }
}
