import LarderImport
import LarderTesting
import Testing

@testable import LarderCLI

@Suite("Advice on what an import refuses")
struct ImportAdviceTests {
  private func error(
    _ kind: ImportError.Kind, _ reason: ImportError.Reason?, file: String = "t.json",
    found: String = "it", expected: String = "more"
  ) -> ImportError {
    var error = ImportError(kind, file: file, position: .start, found: found, expected: expected)
    error.reason = reason
    return error
  }

  @Test("an option is advised for the reason of an error, whatever its words are")
  func reasons() {
    let options = ImportOptions()
    let table = error(.syntax, .text)
    let lines = error(.syntax, .endOfLine)
    let columns = error(.shape, .noColumn(among: ["id", "a|b"]), file: "t.csv")

    #expect(table.advice(options)?.contains("--format csv") == true)
    #expect(lines.advice(options)?.contains("--format sequence") == true)
    #expect(error(.value, .noKeyField).advice(options)?.contains("--at MEMBER") == true)
    #expect(columns.advice(options)?.contains("--delimiter '|'") == true)
    let repeated = error(.duplicateKey, .repeatedColumn, file: "t.csv")
    #expect(repeated.advice(options)?.contains("--columns NAMES") == true)
    #expect(error(.duplicateKey, nil, file: "t.csv").advice(options) == nil)
    let made = error(.shape, .madeKeyColumn, file: "t.csv")
    #expect(made.advice(options)?.contains("--key -FIELD") == true)
    let returns = error(.syntax, .carriageReturn, file: "t.csv")
    #expect(returns.advice(options)?.contains("`tr '\\r' '\\n'`") == true)
  }

  @Test("a value that is refused in the first document is none of another shape's")
  func firstDocument() {
    let refused = error(.value, nil, found: "`1` in the unique index `email`, as `2` has it")

    #expect(refused.advice(ImportOptions()) == nil)
  }

  @Test(
    "text is to be converted from the encoding that it seems to have, and an escape is not",
    arguments: [
      ([0xFF, 0xFE, 0x69, 0x00], "utf-16"), ([0x69, 0x64, 0x2C, 0xE4], "latin1"),
    ] as [([UInt8], String)])
  func encodings(bytes: [UInt8], encoding: String) throws {
    let advice = try refusal(of: .bytes(bytes, name: "t.csv"))?.advice(ImportOptions())

    #expect(advice?.contains("iconv -f \(encoding) -t utf-8") == true)
    let escape = try refusal(
      of: .bytes(Array(#"{"id": 1, "a": "\ud83d"}"#.utf8), name: "t.ndjson"))
    #expect(escape?.kind == .encoding && escape?.advice(ImportOptions()) == nil)
  }

  @Test("keys in a file for which keys are made can be kept, or are members of one document")
  func outerKeys() throws {
    var options = ImportOptions()
    options.makesKeys = true
    let error = try refusal(of: .bytes(Array("{\n\"a\": {}}".utf8), name: "t.json"), options)

    #expect(error?.advice(options)?.contains("--key FIELD") == true)
    #expect(error?.advice(options)?.contains("--format sequence") == true)
    options.shape = .keyed
    #expect(error?.advice(options)?.contains("--format sequence") == false)
  }

  @Test("a kind for a field that is missing is none of the shape of the file")
  func missingField() throws {
    var options = ImportOptions()
    options.types = ["zz": .integer]
    let error = try refusal(of: .bytes(Array(#"{"id": 1}"#.utf8), name: "t.ndjson"), options)

    #expect(error?.kind == .shape && error?.advice(options) == nil)
    #expect(self.error(.shape, nil).advice(options)?.contains("--format sequence") == true)
  }

  private func refusal(
    of source: ImportSource, _ options: ImportOptions = ImportOptions()
  ) throws -> ImportError? {
    try withTemporaryStore { store in
      #expect(throws: ImportError.self) {
        try store.importDocuments(from: source, into: "c", key: "id", options: options)
      }
    }
  }

  @Test("words alone are no reason")
  func words() {
    let options = ImportOptions()

    #expect(error(.syntax, nil, found: "`id`").advice(options) == nil)
    #expect(error(.syntax, nil, found: "the end of the line").advice(options) == nil)
    #expect(
      error(
        .shape, nil, file: "t.csv", found: "no column `id`",
        expected: "one of that name, for it is the key; there are id;name"
      ).advice(options) == nil)
  }

  @Test("a table of one of the usual delimiters is known by the names of its columns")
  func delimiters() throws {
    for (character, name) in [(";", "';'"), ("|", "'|'"), ("\t", "tab")] {
      let columns = error(.shape, .noColumn(among: ["id\(character)name"]), file: "t.csv")
      #expect(columns.advice(ImportOptions())?.contains("--delimiter \(name).") == true)
    }
    #expect(
      error(.shape, .noColumn(among: ["name"]), file: "t.csv").advice(ImportOptions()) == nil)
  }
}
