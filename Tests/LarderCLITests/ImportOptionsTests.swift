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

  @Test("--clear deletes what the expression holds for and the file does not have")
  func clear() throws {
    let first = try larder.file(
      "a.ndjson",
      #"{"id": 1, "at": "no"}"# + "\n" + #"{"id": 2, "at": "no"}"# + "\n"
        + #"{"id": 3, "at": "se"}"#)
    let second = try larder.file("b.ndjson", #"{"id": 2, "at": "no"}"#)
    func importing(_ file: String, _ options: String...) throws -> LarderProgram.Outcome {
      try larder.runOnStore(["import", file, "--into", "c", "--key", "id"] + options)
    }
    #expect(try importing(first).output.contains("3 inserted, 0 updated, 0 unchanged ("))

    let wrong = try importing(second, "--clear", "at ==")
    let unknown = try importing(second, "--clear", "from == 'no'")
    let tried = try importing(second, "--clear", "true", "--dry-run")
    #expect(wrong.status == 2 && wrong.errors.contains("--clear"), "\(wrong.errors)")
    #expect(unknown.status == 2 && unknown.errors.contains("`from`"), "\(unknown.errors)")
    #expect(tried.status == 0 && tried.output.contains("nothing was changed"), "\(tried.errors)")
    #expect(try larder.runOnStore("count", "c").output == "3\n")

    let some = try importing(second, "--clear", "at == 'no'")
    #expect(some.output.contains("1 unchanged, 1 deleted"), "\(some.output)\(some.errors)")
    let all = try importing(second, "--clear", "true")
    #expect(all.output.contains("1 unchanged, 1 deleted"), "\(all.output)\(all.errors)")
    #expect(try larder.runOnStore("export", "c").output == #"{"id": 2, "at": "no"}"# + "\n")
  }

  @Test(
    "an option that means nothing to the format is wrong usage, and errors name the one that helps")
  func format() throws {
    let table = try larder.file("t.csv", "id;name\n1;a\n")
    let text = try larder.file("t.txt", "id,name\n1,a\n")
    let json = try larder.file("t.json", #"[{"id": 1}]"#)

    for (file, option) in [
      (table, ["--at", "a"]), (json, ["--columns", "id"]),
      (json, ["--delimiter", ";"]), (table, ["--types", "id=string,id=integer"]),
    ] {
      let wrong = try larder.start(
        ["import", file, "--into", "c", "--key", "id", "--store", larder.store] + option)
      try wrong.input.close()
      let outcome = try wrong.wait()
      #expect(outcome.status == 2, "\(option): \(outcome.errors)")
    }
    let unnamed = try larder.runOnStore("import", table, "--into", "c", "--key", "id")
    #expect(unnamed.status == 1 && unnamed.errors.contains("--delimiter ';'"))
    let taken = try larder.runOnStore("import", text, "--into", "c", "--key", "id")
    #expect(taken.status == 1 && taken.errors.contains("--format csv"))
    let right = try larder.runOnStore(
      "import", table, "--into", "c", "--key", "id", "--delimiter", ";")
    #expect(right.status == 0, "\(right.errors)")
  }

  @Test("what changes nothing makes no store")
  func noStore() throws {
    let file = try larder.file("t.csv", "id,name\n1,a\n")

    let tried = try larder.runOnStore("import", file, "--into", "c", "--key", "id", "--dry-run")
    let keyless = try larder.runOnStore("import", file, "--into", "c")

    #expect(tried.status == 0 && tried.output.contains("1 documents could be saved"))
    #expect(keyless.status == 2)
    // Nor does a file that is refused leave anything behind.
    let folder = larder.folder.appending(path: "temporary")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    let bad = try larder.file("bad.csv", "id,name\n1\n")
    let refused = try larder.run(
      "import", bad, "--into", "c", "--key", "id", "--dry-run", "--store", larder.store,
      environment: ["TMPDIR": folder.path(percentEncoded: false)])
    #expect(refused.status == 1)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)) == [])
    #expect(!FileManager.default.fileExists(atPath: larder.store))
  }

  @Test("a named pipe is opened once, and read to its end")
  func namedPipe() throws {
    let pipe = larder.folder.appending(path: "pipe").path(percentEncoded: false)
    #expect(mkfifo(pipe, 0o600) == 0)
    let reading = try larder.start(
      ["import", pipe, "--format", "csv", "--into", "c", "--key", "id", "--store", larder.store])
    try reading.input.close()

    let writer = try #require(FileHandle(forWritingAtPath: pipe))
    try writer.write(contentsOf: Data("id,name\n1,a\n2,b\n".utf8))
    try writer.close()

    let outcome = try reading.wait()
    #expect(outcome.status == 0 && outcome.output.contains("2 inserted"), "\(outcome.errors)")
  }

  @Test("an export never replaces a file of its store, and goes to the end of standard output")
  func exportTargets() throws {
    let file = try larder.file("t.csv", "id,name\n1,a\n")
    _ = try larder.runOnStore("import", file, "--into", "c", "--key", "id")

    let onto = try larder.runOnStore("export", "c", "--output", larder.store + "/data.mdb")
    let packed = try larder.runOnStore("export", "c", "--output", file + ".gz")
    _ = try larder.errors(
      ofScript: """
        echo kept > "$1/../log"; "$0" export c --store "$1" --output /dev/stdout >> "$1/../log"
        """)

    let minus = try larder.runOnStore("export", "c", "--output", "-")

    #expect(minus.status == 0 && minus.output == "{\"id\": 1, \"name\": \"a\"}\n")
    #expect(onto.status == 2 && onto.errors.contains("a file of the store itself"))
    #expect(packed.status == 2 && packed.errors.contains("| gzip >"))
    #expect(try larder.runOnStore("count", "c").output == "1\n")
    let log = larder.folder.appending(path: "log")
    #expect(try String(contentsOf: log, encoding: .utf8) == "kept\n{\"id\": 1, \"name\": \"a\"}\n")
  }

  @Test("a document that is printed can be imported again, as one that is exported")
  func printed() throws {
    let line = #"{"id": 1, "d": {"$date": "2026-03-01T09:30:00.000Z"}, "e": 1}"# + "\n"
    let file = try larder.file("m.ndjson", line)
    #expect(
      try larder.runOnStore(
        "import", file, "--into", "m", "--key", "id", "--types", "d=any"
      ).status == 0)

    let printed = try larder.runOnStore("get", "m", "1").output
    let again = try larder.runOnStore("import", "-", "--into", "m", input: printed)

    #expect(printed == line)
    #expect(again.output.contains("1 unchanged"), "\(again)")
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

    #expect(refused.status == 1 && refused.errors.contains("`--mixed`)"))
    #expect(small.status == 1 && small.errors.contains("lineByteCount"))
    #expect(taken.status == 0, "\(taken.errors)")
    #expect(
      exported.output == """
        {"id": 1, "v": [1], "votes": {"a": 1}}
        {"id": 2, "v": "x", "votes": {}}

        """)
  }

  @Test("each field of a table has its own kind with --mixed, or with any as its column's")
  func mixedTable() throws {
    let file = try larder.file("t.csv", "id,v,w\n1,5,1\n2,x,2\n3,2.5,3\n4,true,x\n5,\"5\",5\n")

    for (collection, options) in [("m", ["--mixed"]), ("a", ["--types", "v=any"])] {
      for _ in 0..<2 {
        let taken = try larder.runOnStore(
          ["import", file, "--into", collection, "--key", "id"] + options)
        #expect(taken.status == 0, "\(taken.errors)")
      }
      let w =
        collection == "m"
        ? ["1", "2", "3", #""x""#, "5"] : ["1", "2", "3", "x", "5"].map { "\"\($0)\"" }
      let rows = zip(zip(1...5, ["5", #""x""#, "2.5", "true", #""5""#]), w).map {
        #"{"id": \#($0.0), "v": \#($0.1), "w": \#($1)}"# + "\n"
      }
      #expect(try larder.runOnStore("export", collection).output == rows.joined())
    }
  }

  @Test("a name with a comma or a quote stands in quotes, where kinds and columns are listed")
  func quotedNames() throws {
    let table = try larder.file("t.csv", "id,\"last, first\",\"a\"\"b\"\n1,5,6\n")
    let bare = try larder.file("bare.csv", "1,5,6\n")
    let json = try larder.file("t.ndjson", #"{"id": 1, "last, first": {"x": 1}}"#)
    let types = #""last, first"=string,,"a""b"=double,id=string"#

    let taken = try larder.runOnStore(
      "import", table, "--into", "t", "--key", "id", "--types", types)
    let named = try larder.runOnStore(
      "import", bare, "--into", "b", "--key", "id", "--types", types, "--columns",
      #"id,"last, first","a""b""#)
    let member = try larder.runOnStore(
      "import", json, "--into", "j", "--key", "id", "--types", #""last, first"=dictionary"#)

    let row = #"{"id": "1", "last, first": "5", "a\"b": 6.0}"# + "\n"
    #expect(taken.status == 0 && named.status == 0, "\(taken.errors)\(named.errors)")
    #expect(try larder.runOnStore("export", "t").output == row)
    #expect(try larder.runOnStore("export", "b").output == row)
    #expect(member.status == 0, "\(member.errors)")
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
      ["--max-bytes", "9999999999G"], ["--types", "a=thing"], ["--types", "=string"],
      ["--types", #""a=string"#], ["--types", #""a"string"#], ["--types", #""a"b=string"#],
      ["--columns", #""a"#, "--format", "csv"], ["--columns", #""a"b"#, "--format", "csv"],
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
