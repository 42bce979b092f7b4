import Foundation
import Testing

@Suite("larder, rightly and wrongly used")
struct UsageTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  @Test(
    "every command explains itself with examples, three ways",
    arguments: [
      "import", "export", "query", "get", "count", "index", "stat", "check", "compact", "backup",
      "restore", "quarantine", "sync", "pending", "conflicts", "sync-check", "help",
    ])
  func help(command: String) throws {
    let outcomes = [
      try larder.run("help", command), try larder.run(command, "--help"),
      try larder.run(command, "x", "-h", "--nonsense"),
    ]

    for outcome in outcomes {
      #expect(outcome.status == 0 && outcome.errors == "")
      #expect(outcome.output.hasPrefix("larder \(command)"))
      #expect(outcome.output.contains("Example"))
      #expect(outcome.output.contains("Exit codes: 0"))
      #expect(outcome.output == outcomes[0].output)
    }
    #expect(try larder.run("--help").output.contains("\n  \(command) "))
    #expect(outcomes[0].output.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test("the version is one line")
  func version() throws {
    let outcome = try larder.run("--version")

    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(outcome.output.wholeMatch(of: /larder \d+\.\d+\.\d+\n/) != nil)
  }

  @Test(
    "wrong usage ends with 2, a sentence and a pointer to help",
    arguments: [
      ([], "which command?"), (["imprt"], "there is no command `imprt`; did you mean `import`?"),
      (["frobnicate"], "there is no command `frobnicate`\n"), (["count"], "COLLECTION is missing"),
      (["get", "a"], "KEY is missing"), (["count", "a", "b"], "`b` is one word too many"),
      (["count", "a"], "which store? Give --store DIR"),
      (["count", "a", "--stroe", "x"], "there is no option `--stroe`; did you mean `--store`?"),
      (["count", "a", "--store"], "--store needs a value: --store DIR"),
      (["count", "a", "--store="], "--store needs a value: --store DIR"),
      (["stat", "--json=1"], "--json takes no value"),
      (["stat", "--json", "--json"], "--json stands twice"),
      (["import", "x"], "into which collection?"), (["import"], "FILE is missing"),
      (["import", "x", "--into", "c", "--format", "line"], "did you mean `lines`?"),
      (["compact", "x"], "`x` is one word too many"),
      (["compact", "--wait", "soon", "--store", "x"], "--wait takes seconds"),
      (["backup"], "DIR is missing"), (["restore"], "BACKUP is missing"),
      (["restore", "b"], "which store? Give --store DIR"),
      (["sync-check"], "URL is missing"), (["sync-check", "ftp://x"], "begins with https://"),
      (["sync-check", "http://x"], "which scope? Give --scope NAME"),
      (["sync-check", "http://x", "--scope", "a"], "whose token? Give --token TOKEN"),
      (
        ["sync-check", "http://x", "--scope", "a", "--token", "t", "--rounds", "0"],
        "--rounds takes a number from 1"
      ),
      (["sync"], "which server? Give --remote URL"),
      (["sync", "--remote", "x"], "`x` is no address that begins with https://"),
      (["sync", "--remote", "http://x"], "whose token? Give --token TOKEN"),
      (["sync", "--remote", "http://x", "--token", "t"], "Give --account NAME"),
      (["sync", "--remote", "http://x", "--token", "t", "--account", "a"], "Give --scope NAME"),
      (
        [
          "sync", "--remote", "http://x", "--token", "t", "--account", "a", "--scope", "a",
          "--counter", "n", "--max", "n",
        ], "`n` has two merge rules"
      ), (["sync", "--account", "a", "--account", "b"], "--account stands twice"),
      (["conflicts", "--settle", "items/milk"], "--settle takes COLLECTION/KEY=here"),
      (["conflicts", "--settle", "items/milk=mine"], "--settle takes COLLECTION/KEY=here"),
      (["pending", "x"], "`x` is one word too many"),
      (["-x"], "the command comes first, and options such as `-x` behind it"),
      (["--store", "x", "count", "c"], "the command comes first"),
      (["count", "--", "--store", "x"], "one word too many"),
    ])
  func wrongUsage(arguments: [String], sentence: String) throws {
    let process = try larder.start(arguments)
    try process.input.close()
    let outcome = try process.wait()

    #expect(outcome.status == 2 && outcome.output == "")
    #expect(outcome.errors.hasPrefix("larder: "))
    #expect(outcome.errors.contains(sentence))
    #expect(outcome.errors.contains("Try `larder help"))
  }

  @Test("import asks for the key of a collection that is new")
  func missingKey() throws {
    let outcome = try larder.runOnStore(
      "import", LarderProgram.fixture("books.ndjson"), "--into", "b")

    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("Give --key FIELD"))
  }

  @Test("behind -- everything is an operand")
  func endOfOptions() throws {
    _ = try larder.runOnStore(
      "import", "-", "--into", "c", "--key", "id", input: "[{\"id\": \"--help\"}]")

    let outcome = try larder.run("get", "--store", larder.store, "--", "c", "--help")

    #expect(outcome.output == "{\"id\": \"--help\"}\n")
  }
}
