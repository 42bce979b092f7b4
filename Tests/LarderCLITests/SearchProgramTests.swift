import Foundation
import Testing

@Suite("larder search")
struct SearchProgramTests {
  let larder: LarderProgram

  init() throws {
    larder = try LarderProgram()
    let lines = [
      #"{"id": "a", "title": "Blue winter", "body": "Snow fell on the fjord all night."}"#,
      #"{"id": "b", "title": "Summer", "body": "After the winter\u001b[31m the sea was blue."}"#,
      #"{"id": "c", "title": "Trains", "body": "Nothing of the kind."}"#,
    ]
    let file = try larder.file("notes.ndjson", lines.joined(separator: "\n"))
    #expect(try larder.runOnStore("import", file, "--into", "notes", "--key", "id").status == 0)
  }

  @Test("finds with and without an index, ranks, and shows where")
  func searching() throws {
    let snippets = """
      a  [Blue] [winter]
      b  After the [winter]\u{FFFD}[31m the sea was [blue].

      """
    let before = try larder.runOnStore("search", "notes", "blue winter", "--snippet")
    #expect(before.status == 0 && before.output == snippets, "\(before)")
    let index = try larder.runOnStore("index", "notes", "--search", "title:3,body")
    #expect(index.output == "notes: index `search` has 3 entries\n", "\(index)")
    let found = try larder.runOnStore("search", "notes", "blue winter", "--snippet")
    #expect(found.output == snippets, "\(found)")
    let lines = try larder.runOnStore(
      "search", "notes", "win", "--typing", "--in", "title", "--format", "ndjson", "--select", "id")
    #expect(lines.output == "{\"id\": \"a\"}\n", "\(lines)")
    let typo = try larder.runOnStore(
      "search", "notes", "wimter", "--typos", "--format", "ndjson", "--select", "id", "--sort",
      "-id")
    #expect(typo.output == "{\"id\": \"b\"}\n{\"id\": \"a\"}\n", "\(typo)")
  }

  @Test("says what is wrong with a field or an option")
  func refusals() throws {
    #expect(try larder.runOnStore("search", "notes", "x", "--in", "titel").errors.contains("title"))
    #expect(try larder.runOnStore("search", "notes").status == 2)
    #expect(
      try larder.runOnStore("search", "notes", "x", "--snippet", "--format", "json").status == 2)
    #expect(try larder.runOnStore("index", "notes", "--search", "title:x").status == 2)
    #expect(try larder.runOnStore("index", "notes", "--search", "nope").status == 1)
  }
}
