import Foundation
import LarderCLI
import Testing

@Suite("larder export and query", .timeLimit(.minutes(20)))
struct QueryProgramTests {
  let larder: LarderProgram

  init() throws {
    larder = try LarderProgram()
    _ = try larder.runOnStore(
      "import", LarderProgram.fixture("contacts.json"), "--into", "contacts", "--key", "id")
  }

  @Test("a table is imported, and told by its name, its types and its delimiter")
  func importCSV() throws {
    let prices = LarderProgram.fixture("CSV/prices.csv")
    let imported = try larder.runOnStore(
      "import", prices, "--into", "prices", "--key", "sku", "--delimiter", ";", "--types",
      "sku=string,price=decimal,sizes=json")
    let exported = try larder.runOnStore("export", "prices")
    let piped = try larder.runOnStore(
      "import", "-", "--format", "csv", "--into", "piped", "--key", "id", "--columns", "id,n",
      input: "1,2\n3,4\n")

    #expect(imported.status == 0 && imported.errors == "")
    #expect(
      try exported.output
        == String(
          contentsOfFile: LarderProgram.fixture("CSV/prices.expected.ndjson"), encoding: .utf8))
    #expect(piped.output.hasPrefix("piped: 2 documents read, 2 inserted"))
    let bad = try larder.runOnStore(
      "import", LarderProgram.fixture("CSV/Broken/short-row.csv"), "--into", "c", "--key", "id")
    #expect(bad.status == 1 && bad.errors.contains("short-row.csv:3:101: found the end of a row"))
  }

  @Test(
    "what goes out comes in again unchanged, in every format", arguments: ["csv", "json", "ndjson"])
  func roundTrip(format: String) throws {
    let file = larder.folder.appending(path: "out.\(format)").path(percentEncoded: false)

    let exported = try larder.runOnStore("export", "contacts", "--output", file)
    let printed = try larder.runOnStore("export", "contacts", "--format", format)
    let imported = try larder.runOnStore("import", file, "--into", "contacts")

    #expect((exported.status, exported.output, exported.errors) == (0, "", ""))
    #expect(try printed.output == String(contentsOfFile: file, encoding: .utf8))
    #expect(imported.output.contains(" 0 inserted, 0 updated, 355 unchanged"))
  }

  @Test("an export is piped into an import, whatever its first field is, and if it has no document")
  func piped() throws {
    let file = try larder.file(
      "places.ndjson",
      """
      {"geo": {"lat": 1.5, "of": {"x": 1}}, "more": {"n": 2}, "id": 1, "name": "a"}
      {"geo": {"lat": 2.5, "of": {"x": 3}}, "more": {"n": 4}, "id": 2, "name": "b"}

      """)
    #expect(try larder.runOnStore("import", file, "--into", "p", "--key", "id").status == 0)
    let all = try larder.runOnStore("export", "p").output
    let none = try larder.runOnStore("export", "p", "--where", "false").output
    #expect(all.hasPrefix("{\"geo\": {") && none == "")

    let copied = try larder.runOnStore("import", "-", "--into", "q", "--key", "id", input: all)
    let empty = try larder.runOnStore("import", "-", "--into", "r", "--key", "id", input: none)

    #expect(copied.status == 0 && copied.output.contains(" 2 inserted"), "\(copied)")
    #expect(try larder.runOnStore("export", "q").output == all)
    #expect(empty.status == 0 && empty.output.hasPrefix("r: 0 documents read"), "\(empty)")
  }

  @Test("query prints a table of the documents that an expression holds for, sorted and cut")
  func table() throws {
    let outcome = try larder.runOnStore(
      "query", "contacts", "--where", "city == \"Oslo\" && id hasPrefix 'hard-n'", "--sort",
      "-id", "--select", "id,order,geo", "--limit", "3", "--offset", "1")

    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(
      outcome.output == """
        id                    order  geo
        hard-number-greatest      7
        hard-nulls                7
        hard-null-label           7  {"lat": 59.91, "lon": 10.75, "label": n…

        """)
  }

  @Test("values that would steer a terminal are shown as signs, and long ones are cut")
  func harmless() throws {
    let outcome = try larder.runOnStore(
      "query", "contacts", "--where", "id in ['hard-controls', 'hard-long-note']", "--select",
      "id,note")

    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.count < 80 })
    #expect(lines[1].contains("\u{FFFD}\u{FFFD}"))
    #expect(!outcome.output.unicodeScalars.contains { $0.value < 32 && $0 != "\n" })
    #expect(lines[2].hasSuffix("…"))
  }

  @Test("what joins letters and emoji is shown as it is")
  func joiners() throws {
    let text = "\u{645}\u{6CC}\u{200C}\u{62E}\u{648} \u{1F469}\u{200D}\u{1F4BB} \u{202E}"
    let input = #"{"id": 1, "text": "\#(text)"}"#
    #expect(
      try larder.runOnStore("import", "-", "--into", "joined", "--key", "id", input: input).status
        == 0)

    let outcome = try larder.runOnStore("query", "joined", "--select", "text")

    #expect(outcome.output.contains(text.dropLast(1) + "\u{FFFD}"), "\(outcome)")
  }

  @Test("query prints the other formats, too, and nothing as what it is")
  func formats() throws {
    let arguments = ["query", "contacts", "--select", "id", "--where", "id == 'hard-nul'"]
    func output(_ format: String) throws -> String {
      let process = try larder.start(arguments + ["--format", format, "--store", larder.store])
      try process.input.close()
      return try process.wait().output
    }
    let none = try larder.runOnStore(
      "query", "contacts", "--select", "id", "--where", "false")

    #expect(try output("csv") == "id\nhard-nul\n")
    #expect(try output("json") == "[\n{\"id\": \"hard-nul\"}\n]\n")
    #expect(try output("ndjson") == "{\"id\": \"hard-nul\"}\n")
    #expect(none.output == "id\n")
  }

  @Test(
    "wrong usage ends with 2 and a sentence",
    arguments: [
      (
        ["--where", "ctiy == 1"],
        "--where:1:1: found `ctiy`, expected a field that contacts has; did you mean `city`?\n  ctiy == 1\n  ^\n"
      ),
      (
        ["--where", "city == 1"],
        "--where:1:9: found 1, expected string\n  city == 1\n          ^\n"
      ),
      (["--sort", "nmae"], "--sort: contacts has no field `nmae`; did you mean `name`?"),
      (["--sort", "tags"], "--sort `tags`: found a field of kind [string]"),
      (["--sort", "a..b"], "--sort: `a..b` is no field"),
      (["--select", "ids"], "did you mean `id`?"),
      (["--limit", "-1"], "--limit takes a number of 0 or more, not `-1`"),
      (["--offset", "x"], "--offset takes a number"), (["--format", "cvs"], "did you mean `csv`?"),
      (["--delimiter", "x"], "`x` cannot be the delimiter"),
    ])
  func wrongUsage(arguments: [String], sentence: String) throws {
    for command in ["query", "export"] {
      let process = try larder.start([command, "contacts", "--store", larder.store] + arguments)
      try process.input.close()
      let outcome = try process.wait()

      #expect(outcome.status == 2 && outcome.output == "")
      #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
      #expect(outcome.errors.hasSuffix("Try `larder help \(command)`.\n"))
    }
  }

  @Test(
    "wrong usage of an import of a table ends with 2",
    arguments: [
      (["--types", "a"], "--types takes a list such as"),
      (["--types", "a=strin"], "did you mean `string`?"),
      (["--delimiter", "ab"], "cannot be the delimiter"),
      (["--format", "cvs"], "did you mean `csv`?"),
    ])
  func wrongImport(arguments: [String], sentence: String) throws {
    let process = try larder.start(
      ["import", "-", "--into", "c", "--key", "id", "--store", larder.store] + arguments)
    try process.input.close()
    let outcome = try process.wait()

    #expect(outcome.status == 2 && outcome.errors.contains(sentence), "\(outcome.errors)")
  }

  @Test("a collection that is not there, and a file that cannot be written, end with 1")
  func failures() throws {
    let missing = try larder.runOnStore("query", "contact")
    let unwritable = try larder.runOnStore("export", "contacts", "--output", "/none/c.csv")
    let full = try larder.runOnStore("export", "contacts", "--output", "/dev/full")

    #expect(missing.status == 1 && missing.errors.contains("did you mean `contacts`?"))
    #expect(
      unwritable.status == 1
        && unwritable.errors.contains("/none/c.csv cannot be written: \"No such file"))
    #expect(full.status == 1 && full.errors.contains("No space left"))
  }

  @Test("a reader that goes away ends export and query quietly", arguments: ["export", "query"])
  func closedPipe(command: String) throws {
    let text = try larder.errors(
      ofScript: "\"$0\" \(command) contacts --store \"$1\" | head -n 1 >/dev/null; "
        + "echo \"${PIPESTATUS[0]}\" >&2")

    #expect(text == "0\n")
  }

  #if os(Linux)
    @Test("100,000 rows go in and out in memory that does not grow with them")
    func memory() throws {
      var text = "id,name,city,order,balance,active\n"
      for number in 0..<100_000 {
        text += "\(number),Number \(number) of many,Oslo,\(number % 100),\(number).25,true\n"
      }
      let file = try larder.file("long.csv", text)
      let out = larder.folder.appending(path: "out.csv").path(percentEncoded: false)
      for arguments in [
        ["import", file, "--into", "long", "--key", "id"], ["export", "long", "--output", out],
      ] {
        let process = try larder.start(arguments + ["--store", larder.store])
        try process.input.close()
        var peak = 0
        while process.process.isRunning {
          peak = max(peak, process.anonymousByteCount() ?? 0)
          usleep(2_000)
        }
        let outcome = try process.wait()

        #expect(outcome.status == 0, "\(outcome.errors)")
        print("\(arguments[0]) of 100,000 rows: \(peak >> 20) MB")
        #expect(peak < 60 << 20, "\(arguments[0]): \(peak >> 20) MB")
      }
      #expect(try String(contentsOfFile: out, encoding: .utf8).utf8.count == text.utf8.count)
    }
  #endif

  @Test("index declares an index that writers keep and drops it; what it cannot be is said")
  func index() throws {
    let made = try larder.runOnStore(
      "index", "contacts", "city,-order", "--where", "order > 5", "--name", "late")
    let stat = try larder.runOnStore("stat")
    let twice = try larder.runOnStore("index", "contacts", "city", "--unique")
    let unknown = try larder.runOnStore("index", "contacts", "citty")
    let check = try larder.runOnStore("check")
    let dropped = try larder.runOnStore("index", "contacts", "--drop", "late")
    let gone = try larder.runOnStore("index", "contacts", "--drop", "late")

    #expect(made.status == 0 && made.output.hasPrefix("contacts: index `late` has "))
    #expect(stat.output.contains("late"))
    #expect(twice.status == 1 && twice.errors.contains("cannot have the index `city`"))
    #expect(unknown.status == 1 && unknown.errors.contains("there is no field `citty`"))
    #expect(check.status == 0)
    #expect(dropped.status == 0 && gone.status == 1)
    #expect(try larder.runOnStore("index", "contacts", "a..b").status == 2)
    #expect(try larder.runOnStore("index", "contacts", "a", "--drop", "b").status == 2)
  }
}
