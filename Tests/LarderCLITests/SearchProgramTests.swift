import Foundation
import Larder
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
    for text in ["-blue", "-\"of the\" -blue"] {
      let others = try larder.runOnStore(
        "search", "notes", text, "--format", "ndjson", "--select", "id")
      #expect(others.output == (text == "-blue" ? "{\"id\": \"c\"}\n" : ""), "\(others)")
    }
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

  /// As an app may bring one, and the command has not.
  private struct Letters: Tokenizer {
    let identifier = "letters.1"

    func words(in text: String) -> [SearchWord] {
      StandardTokenizer().words(in: text).map {
        SearchWord(String($0.text.prefix(3)), utf8Range: $0.utf8Range)
      }
    }
  }

  @Test(
    "says so where the index has the tokenizer of an app, and searches by the standard words if told to"
  )
  func foreignTokenizer() throws {
    do {
      let store = try Store(at: URL(filePath: larder.store))
      try store.collection("notes").createSearchIndex(on: ["title", "body"], tokenizer: Letters())
      #expect(try store.collection("notes").count(.search("wintertime")) == 2)
      try store.close()
    }
    let refused = try larder.runOnStore("search", "notes", "wintertime")
    #expect(refused.status == 1 && refused.output.isEmpty, "\(refused)")
    #expect(refused.errors.contains("letters.1") && refused.errors.contains("--standard-words"))
    let standard = try larder.runOnStore(
      "search", "notes", "winter", "--standard-words", "--format", "ndjson", "--select", "id")
    #expect(
      standard.status == 0 && standard.output.split(separator: "\n").count == 2, "\(standard)")
    let none = try larder.runOnStore(
      "search", "notes", "wintertime", "--standard-words", "--format", "ndjson")
    #expect(none.output.isEmpty, "\(none)")

    // Saving needs no words, and leaves the index to the app.
    let file = try larder.file("more.ndjson", #"{"id": "d", "title": "Winter again"}"#)
    #expect(try larder.runOnStore("import", file, "--into", "notes", "--key", "id").status == 0)
    let index = try larder.runOnStore("index", "notes", "title")
    #expect(index.status == 0, "\(index)")
    #expect(
      index.output.contains("index `search` waits for a program with the tokenizer `letters.1`"))
    // Nor is it replaced, which the app could not use.
    for arguments in [["--search", "title"], ["body", "--name", "search"], ["search"]] {
      let replacing = try larder.runOnStore(["index", "notes"] + arguments)
      #expect(replacing.status == 1 && replacing.output.isEmpty, "\(replacing)")
      #expect(
        replacing.errors.contains("letters.1") && replacing.errors.contains("--drop search"))
    }
    var options = StoreOptions()
    options.tokenizers = [Letters()]
    let store = try Store(at: URL(filePath: larder.store), options: options)
    try store.collection("notes").buildIndexes()
    #expect(try store.collection("notes").count(.search("wintertime")) == 3)
    #expect(try store.check().isSound)
    try store.close()
  }
}
