import Foundation
import Larder
import Testing

@Suite("larder compact, backup and restore")
struct SpaceProgramTests {
  let larder: LarderProgram
  private var backup: String { larder.folder.path(percentEncoded: false) + "/the backup" }

  init() throws {
    larder = try LarderProgram()
    _ = try larder.runOnStore(
      "import", LarderProgram.fixture("contacts.json"), "--into", "contacts", "--key", "id")
  }

  private func count(_ store: String) throws -> String {
    try larder.run("count", "contacts", "--store", store).output
  }

  @Test("compact says what the disk has back, and keeps every document")
  func compact() throws {
    let before = try larder.runOnStore("export", "contacts").output

    let first = try larder.runOnStore("compact")
    let second = try larder.runOnStore("compact", "--wait", "0")

    #expect(first.status == 0 && first.errors == "")
    let sizes = try #require(
      first.output.wholeMatch(of: /compacted: (\d+) bytes before, (\d+) now, (\d+) freed\n/))
    let (old, new, freed) = (Int(sizes.1) ?? 0, Int(sizes.2) ?? 0, Int(sizes.3) ?? 0)
    #expect(old - new == freed && new > 0)
    #expect(second.output.hasSuffix(" 0 freed\n"))
    #expect(try larder.runOnStore("export", "contacts").output == before)
    #expect(try larder.runOnStore("check").output == "sound: 355 documents checked\n")
  }

  @Test("a backup goes back in the place of the store, which has to be said")
  func restore() throws {
    let written = try larder.runOnStore("backup", backup)
    let again = try larder.runOnStore("backup", backup)
    _ = try larder.runOnStore(
      "import", "-", "--into", "contacts", input: "[{\"id\": \"one more\"}]")

    #expect(written.status == 0 && written.errors == "")
    #expect(written.output.hasPrefix("\(backup): ") && written.output.hasSuffix(" bytes written\n"))
    #expect(again.status == 1 && again.errors.contains("overwrites nothing"))
    #expect(try count(larder.store) == "356\n")

    let refused = try larder.runOnStore("restore", backup)
    #expect(refused.status == 1 && refused.output == "")
    #expect(refused.errors.contains("Give --replace if it may go"))
    #expect(try count(larder.store) == "356\n")

    let restored = try larder.runOnStore("restore", backup, "--replace")
    #expect(restored.status == 0 && restored.errors == "")
    #expect(
      restored.output == "\(larder.store): 355 documents restored, the store before is gone\n")
    #expect(try count(larder.store) == "355\n")
    let other = larder.folder.path(percentEncoded: false) + "/other"
    let elsewhere = try larder.run("restore", backup, "--store", other)
    #expect(elsewhere.output == "\(other): 355 documents restored\n")
    #expect(try count(other) == "355\n")
  }

  @Test("a damaged backup, and one that is not there, restore nothing")
  func damaged() throws {
    _ = try larder.runOnStore("backup", backup)
    let path = URL(filePath: backup).appending(path: "data.mdb")
    var data = try Data(contentsOf: path)
    let text = try #require(data.range(of: Data("hard-controls".utf8)))
    data[text.lowerBound] ^= 1
    try data.write(to: path)

    let restored = try larder.runOnStore("restore", backup, "--replace")
    let missing = try larder.runOnStore("restore", backup + "x", "--replace")

    #expect(restored.status == 1 && restored.output == "")
    #expect(restored.errors.contains("damaged"))
    #expect(missing.status == 1 && missing.errors.contains("there is no backup at"))
    #expect(try count(larder.store) == "355\n")
    #expect(try larder.runOnStore("check").status == 0)
  }

  @Test("quarantine leaves a sound store where it is, and saves what is whole of a damaged one")
  func quarantine() throws {
    let sound = try larder.runOnStore("quarantine")
    #expect(sound.status == 0 && sound.output == "sound: nothing was moved\n")
    let before = try larder.runOnStore("export", "contacts", "--sort", "id").output

    let path = URL(filePath: larder.store).appending(path: "data.mdb")
    var data = try Data(contentsOf: path)
    let text = try #require(data.range(of: Data("hard-controls".utf8)))
    data.replaceSubrange(
      text.lowerBound & ~0xFFF..<text.lowerBound & ~0xFFF + 8, with: Data(count: 8))
    try data.write(to: path)
    let refused = try larder.runOnStore("count", "contacts")
    #expect(refused.status == 1 && refused.errors.contains("`larder quarantine`"))

    let saved = try larder.runOnStore("quarantine")

    #expect(saved.status == 0 && saved.errors == "")
    let found = try #require(
      saved.output.wholeMatch(
        of: /set aside: (.+)\ncontacts: (\d+) documents saved\n.+ 1 pages not readable\n/))
    let kept = try #require(Int(found.2))
    #expect(300..<355 ~= kept)
    #expect(try Data(contentsOf: URL(filePath: "\(found.1)/data.mdb")) == data)
    #expect(try count(larder.store) == "\(kept)\n")
    #expect(try larder.runOnStore("check").output == "sound: \(kept) documents checked\n")
    let lines = Set(before.split(separator: "\n"))
    let after = try larder.runOnStore("export", "contacts", "--sort", "id").output
    #expect(after.split(separator: "\n").allSatisfy { lines.contains($0) })

    // Again from what was set aside: documents that are there stay as they are.
    let again = try larder.runOnStore("quarantine", "--from", String(found.1))
    #expect(again.status == 0)
    #expect(again.output.contains("\n0 documents saved by this run, 0 damaged,"))
    #expect(try count(larder.store) == "\(kept)\n")
    let missing = try larder.runOnStore("quarantine", "--from", "\(found.1)x")
    #expect(missing.status == 1 && missing.errors.contains("there is no file at"))
  }

  @Test("a store that its program opened for more collections than by default is worked on")
  func many() throws {
    var options = StoreOptions(durability: .volatile)
    options.maximumDatabaseCount = 300
    let (many, other) = (larder.folder.path + "/many", larder.folder.path + "/other")
    let store = try Store(at: many, options: options)
    for number in 0..<270 {
      _ = try store.collection("c\(number)").save([["id": "a"]], keyField: "id")
    }
    try store.close()

    let checked = try larder.run("check", "--store", many)
    #expect(checked.output == "sound: 270 documents checked\n")
    #expect(try larder.run("compact", "--store", many).status == 0)
    #expect(try larder.run("backup", backup, "--store", many).status == 0)
    let restored = try larder.run("restore", backup, "--store", other)
    #expect(restored.output == "\(other): 270 documents restored\n")
    let imported = try larder.run(
      "import", "-", "--into", "new", "--key", "id", "--store", other, input: "[{\"id\": 1}]")
    #expect(imported.status == 0 && imported.errors == "")
    let salvaged = try larder.run("quarantine", "--from", backup, "--store", larder.store)
    #expect(salvaged.status == 0)
    #expect(salvaged.output.contains("\n270 documents saved by this run, 0 damaged,"))
    #expect(try larder.run("count", "c269", "--store", larder.store).output == "1\n")
  }

  @Test("stat says what is used, what the log takes and what the quota is")
  func stat() throws {
    let table = try larder.runOnStore("stat")
    let json = try larder.runOnStore("stat", "--json")

    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    let used = try #require(object?["usedBytes"] as? Int)
    let log = try #require(object?["logBytes"] as? Int)
    let file = try #require(object?["fileBytes"] as? Int)
    let free = try #require(object?["freeBytes"] as? Int)
    #expect(log > 0 && log < used)
    #expect(used + free == file)
    for (name, bytes) in [("used", used), ("log", log)] {
      #expect(
        table.output.split(separator: "\n").contains {
          $0.hasPrefix(name) && $0.hasSuffix(" \(bytes)  bytes")
        })
    }
    #expect(try #require(object?["quotaBytes"] as? Int) > 1 << 30)
  }
}
