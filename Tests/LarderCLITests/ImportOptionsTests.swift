import Foundation
import Testing

@Suite("Options of larder import")
struct ImportOptionsTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  @Test("rows that share a key are refused, and taken with made keys or on request")
  func repeatedKeys() throws {
    let file = try larder.file("s.csv", "symbol,price\nA,1\nA,2\nB,3\n")

    let refused = try larder.runOnStore("import", file, "--into", "s", "--key", "symbol")
    let last = try larder.runOnStore(
      "import", file, "--into", "s", "--key", "symbol", "--repeated", "last")
    let made = try larder.runOnStore("import", file, "--into", "rows", "--key", "-")
    let named = try larder.runOnStore("import", file, "--into", "named", "--key", "-row")

    #expect(refused.status == 1 && refused.output == "")
    #expect(refused.errors.contains("s.csv:3:1: found the key `A`"))
    #expect(last.status == 0 && last.output.contains("2 inserted"))
    #expect(last.output.contains("1 left out for one after them with their key"))
    #expect(made.status == 0 && made.output.contains("3 inserted"))
    #expect(named.status == 0 && named.output.contains("3 inserted"))
    #expect(try larder.runOnStore("count", "rows").output == "3\n")
  }

  @Test("mixed values come in with --mixed, and kinds and sizes are given by options")
  func mixed() throws {
    let file = try larder.file(
      "m.ndjson",
      #"{"id": 1, "v": [1], "votes": {"a": 1}}"# + "\n" + #"{"id": 2, "v": "x", "votes": {}}"#)

    let refused = try larder.runOnStore("import", file, "--into", "m", "--key", "id")
    let small = try larder.runOnStore(
      "import", file, "--into", "m", "--key", "id", "--mixed", "--max-bytes", "20")
    let taken = try larder.runOnStore(
      "import", file, "--into", "m", "--key", "id", "--mixed", "--types", "votes=dictionary",
      "--max-bytes", "2000000")
    let exported = try larder.runOnStore("export", "m")

    #expect(refused.status == 1 && refused.errors.contains("(`--mixed`)"))
    #expect(small.status == 1 && small.errors.contains("lineByteCount"))
    #expect(taken.status == 0, "\(taken.errors)")
    #expect(
      exported.output == """
        {"id": 1, "v": [1], "votes": {"a": 1}}
        {"id": 2, "v": "x", "votes": {}}

        """)
  }

  @Test("documents in a member and over several lines come in by the option that the error names")
  func shapes() throws {
    let inMember = try larder.file(
      "geo.json", #"{"type": "x", "features": [{"id": 1}, {"id": 2}]}"#)
    let inLines = try larder.file("one.json", "{\n  \"id\": 1,\n  \"a\": {\"b\": 2}\n}\n")
    let compact = try larder.file("two.json", "{\"id\": 1,\n  \"a\": 1}\n{\"id\": 2}")

    for file in [inMember, inLines, compact] {
      let refused = try larder.runOnStore("import", file, "--into", "c", "--key", "id")
      #expect(refused.status == 1, "\(file)")
      #expect(refused.errors.contains("--at MEMBER"), "\(refused.errors)")
      #expect(refused.errors.contains("--format sequence"))
    }
    let member = try larder.runOnStore(
      "import", inMember, "--into", "c", "--key", "id", "--at", "features")
    let one = try larder.runOnStore(
      "import", inLines, "--into", "d", "--key", "id", "--format", "sequence")
    let two = try larder.runOnStore(
      "import", compact, "--into", "e", "--key", "id", "--format", "sequence")

    #expect(member.status == 0 && member.output.contains("2 inserted"), "\(member.errors)")
    #expect(one.status == 0 && one.output.contains("1 inserted"), "\(one.errors)")
    #expect(two.status == 0 && two.output.contains("2 inserted"), "\(two.errors)")
  }

  @Test("the error of a limit names the option that raises it")
  func limit() throws {
    let files = [
      try larder.file("l.ndjson", #"{"id": 1, "a": "0123456789"}"#),
      try larder.file("l.json", #"[{"id": 1, "a": "0123456789"}]"#),
      try larder.file("l.csv", "id,a\n1,0123456789\n"),
    ]
    for file in files {
      let outcome = try larder.runOnStore(
        "import", file, "--into", "l", "--key", "id", "--max-bytes", "8")
      #expect(outcome.status == 1 && outcome.errors.contains("--max-bytes"), "\(outcome.errors)")
    }
  }

  @Test(
    "wrong options are refused as wrong usage",
    arguments: [
      ["--repeated", "first"], ["--max-bytes", "many"], ["--max-bytes", "0"],
      ["--max-bytes", "9999999999G"], ["--types", "a=thing"],
      ["--at", "a", "--format", "lines"], ["--at", "a", "--format", "csv"],
    ])
  func usage(_ options: [String]) throws {
    let file = try larder.file("m.ndjson", #"{"id": 1}"#)

    let process = try larder.start(
      ["import", file, "--into", "m", "--key", "id", "--store", larder.store] + options)
    try process.input.close()
    let outcome = try process.wait()

    #expect(outcome.status == 2 && outcome.output == "")
  }
}
