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

  @Test(
    "wrong options are refused as wrong usage",
    arguments: [
      ["--repeated", "first"], ["--max-bytes", "many"], ["--max-bytes", "0"],
      ["--max-bytes", "9999999999G"], ["--types", "a=thing"],
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
