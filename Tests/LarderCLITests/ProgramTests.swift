import Foundation
import Testing

@Suite("larder, the program")
struct ProgramTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  @Test("contacts go in, again unchanged, and come out; results only on standard output")
  func wholeWay() throws {
    let contacts = LarderProgram.fixture("contacts.json")

    let first = try larder.runOnStore("import", contacts, "--into", "contacts", "--key", "id")
    let second = try larder.runOnStore("import", "--into=contacts", contacts)
    let keyed = try larder.runOnStore(
      "import", LarderProgram.fixture("contacts-keyed.json"), "--into", "contacts", "--key", "id")
    let count = try larder.runOnStore("count", "contacts")
    let check = try larder.runOnStore("check")

    #expect(first.status == 0 && first.errors == "")
    #expect(
      first.output.hasPrefix("contacts: 355 documents read, 355 inserted, 0 updated, 0 unchanged"))
    #expect(
      second.output.hasPrefix("contacts: 355 documents read, 0 inserted, 0 updated, 355 unchanged"))
    #expect(keyed.output.contains(" 30 unchanged "))
    #expect((count.output, count.errors, count.status) == ("355\n", "", 0))
    #expect((check.output, check.errors, check.status) == ("sound: 355 documents checked\n", "", 0))
  }

  @Test("get prints valid JSON in one line or pretty, and says when there is nothing")
  func get() throws {
    _ = try larder.runOnStore(
      "import", LarderProgram.fixture("contacts.json"), "--into", "contacts", "--key", "id")

    let line = try larder.runOnStore("get", "contacts", "hard-controls")
    let pretty = try larder.runOnStore("get", "--pretty", "contacts", "hard-controls")
    let missing = try larder.runOnStore("get", "contacts", "nobody")
    let collection = try larder.runOnStore("get", "contact", "nobody")

    #expect(line.status == 0 && line.output.filter { $0 == "\n" }.count == 1)
    let first = try JSONSerialization.jsonObject(with: Data(line.output.utf8)) as? NSDictionary
    let second = try JSONSerialization.jsonObject(with: Data(pretty.output.utf8)) as? NSDictionary
    #expect(first?["id"] as? String == "hard-controls")
    #expect(first == second)
    #expect(pretty.output.hasPrefix("{\n  \"id\": \"hard-controls\",\n"))
    #expect(missing.status == 1 && missing.output == "")
    #expect(missing.errors == "larder: contacts has no document under `nobody`\n")
    #expect(collection.status == 1)
    #expect(
      collection.errors == "larder: the store has no collection `contact`; it has contacts; "
        + "did you mean `contacts`?\n")
  }

  @Test("keys of integer kind are given as numbers, negative ones too")
  func integerKeys() throws {
    let input = "{\"n\": -5, \"a\": 1}\n{\"n\": 7, \"a\": 2}\n"
    let imported = try larder.runOnStore(
      "import", "-", "--format", "lines", "--into", "numbers", "--key", "n", input: input)

    let negative = try larder.runOnStore("get", "numbers", "-5")
    let text = try larder.runOnStore("get", "numbers", "five")

    #expect(imported.status == 0 && imported.errors == "")
    #expect(negative.output == "{\"n\": -5, \"a\": 1}\n")
    #expect(text.status == 1 && text.errors.contains("`five` is no key of numbers"))
  }

  @Test("stat prints aligned tables, and JSON")
  func stat() throws {
    _ = try larder.runOnStore(
      "import", LarderProgram.fixture("books.ndjson"), "--into", "books", "--key", "isbn")

    let table = try larder.runOnStore("stat")
    let json = try larder.runOnStore("stat", "--json")

    let lines = table.output.split(separator: "\n")
    #expect(table.status == 0 && table.errors == "")
    #expect(lines.first == "COLLECTION  DOCUMENTS   BYTES  DEPTH")
    #expect(lines.contains("books       isbn       string"))
    #expect(lines.contains { $0.hasPrefix("sequence") && $0.hasSuffix(" 250") })
    let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
    let collections = try #require(object?["collections"] as? [[String: Any]])
    #expect(collections.map { $0["documents"] as? Int } == [250])
    let fields = collections[0]["fields"] as? [[String: String]]
    #expect(fields?[3] == ["name": "price", "kind": "string"])
  }

  @Test("the store can come from the environment, and the option goes first")
  func environment() throws {
    let fixture = LarderProgram.fixture("books.ndjson")
    let variables = ["LARDER_STORE": larder.store]

    let imported = try larder.run(
      "import", fixture, "--into", "b", "--key", "isbn", environment: variables)
    let count = try larder.run("count", "b", environment: ["LARDER_STORE": "/nowhere"])
    let right = try larder.run(
      "count", "b", "--store", larder.store, environment: ["LARDER_STORE": "/nowhere"])

    #expect(imported.status == 0)
    #expect(count.status == 1 && count.errors.contains("there is no store at `/nowhere`"))
    #expect(right.output == "250\n")
  }

  @Test("bad input is told with its place on standard error, and status 1; nothing is changed")
  func badInput() throws {
    let books = LarderProgram.fixture("books.ndjson")
    _ = try larder.runOnStore("import", books, "--into", "b", "--key", "isbn")
    let before = try larder.runOnStore("stat").output
    let file = LarderProgram.fixture("Broken/wrong-kind.ndjson")

    let bad = try larder.runOnStore("import", file, "--into", "c", "--key", "id")
    let missing = try larder.runOnStore("import", "/no/file.json", "--into", "c", "--key", "id")

    #expect(bad.status == 1 && bad.output == "")
    #expect(bad.errors.hasPrefix("larder: \(file):3:130: found the string `third` in `order`"))
    #expect(missing.status == 1 && missing.errors.hasPrefix("larder: /no/file.json: found"))
    #expect(try larder.runOnStore("stat").output == before)
  }

  @Test("a file that is missing makes no store; a dry run saves nothing")
  func nothingMade() throws {
    _ = try larder.runOnStore("import", "/no/file.json", "--into", "c", "--key", "id")
    #expect(!FileManager.default.fileExists(atPath: larder.store))

    let dry = try larder.runOnStore(
      "import", LarderProgram.fixture("books.ndjson"), "--into", "b", "--key", "isbn", "--dry-run")

    #expect(dry.status == 0)
    #expect(dry.output.hasPrefix("b: 250 documents could be saved; nothing was changed\n"))
    #expect(try larder.runOnStore("count", "b").status == 1)
  }

  @Test("read commands say that there is no store, and make none", arguments: ["stat", "check"])
  func noStore(command: String) throws {
    let outcome = try larder.runOnStore(command)

    #expect(outcome.status == 1 && outcome.output == "")
    #expect(outcome.errors.hasPrefix("larder: there is no store at `\(larder.store)`"))
    #expect(!FileManager.default.fileExists(atPath: larder.store))
  }

  @Test("check lists what is wrong and ends with 1")
  func damage() throws {
    let books = LarderProgram.fixture("books.ndjson")
    _ = try larder.runOnStore("import", books, "--into", "b", "--key", "isbn")
    let path = URL(filePath: larder.store).appending(path: "data.mdb")
    var data = try Data(contentsOf: path)
    let title = try #require(data.range(of: Data("The Idle Barometer".utf8)))
    data[title.lowerBound] ^= 1
    try data.write(to: path)

    let check = try larder.runOnStore("check")

    #expect(check.status == 1)
    #expect(check.output.hasPrefix("b \"9799314159269\": "))
    #expect(check.errors == "larder: the store has 1 problems\n")
  }

  @Test("check lists every page that is damaged")
  func damagedPages() throws {
    let books = LarderProgram.fixture("books.ndjson")
    _ = try larder.runOnStore("import", books, "--into", "b", "--key", "isbn")
    let path = URL(filePath: larder.store).appending(path: "data.mdb")
    var data = try Data(contentsOf: path)
    // The nodes of the pages, whose heads stay.
    for page in 2..<(data.count / 4096) where data[page * 4096 + 10] == 2 {
      data.replaceSubrange(
        page * 4096 + 16..<page * 4096 + 200, with: Data(repeating: 0xFF, count: 184))
    }
    try data.write(to: path)

    let check = try larder.runOnStore("check")

    #expect(check.status == 1)
    let lines = check.output.split(separator: "\n")
    #expect(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("page ") }, "\(check.output)")
    #expect(check.errors.contains("is damaged"))
  }
}
