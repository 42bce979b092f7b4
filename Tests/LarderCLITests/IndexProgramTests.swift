import Foundation
import Larder
import Testing

@Suite("larder and indexes that it leaves behind")
struct IndexProgramTests {
  let larder: LarderProgram

  init() throws { larder = try LarderProgram() }

  /// Opened to be read, so that nothing is built by looking.
  private func indexes() throws -> [IndexDescription] {
    let store = try Store(at: larder.store, options: StoreOptions(isReadOnly: true))
    return try store.collection("c").indexes()
  }

  private func importNumbers() throws {
    let lines = (0..<9_000).map { "{\"id\": \($0), \"x\": \($0 % 100)}\n" }
    let file = try larder.file("numbers.ndjson", lines.joined())
    #expect(try larder.runOnStore("import", file, "--into", "c", "--key", "id").status == 0)
  }

  @Test("an import that widens an indexed field ends with the index complete")
  func widened() throws {
    try importNumbers()
    #expect(try larder.runOnStore("index", "c", "x").status == 0)
    let file = try larder.file("wide.ndjson", "{\"id\": 9000, \"x\": 0.5}\n")

    let outcome = try larder.runOnStore("import", file, "--into", "c")

    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(try indexes().map(\.state) == [.complete])
    #expect(try indexes().map(\.entryCount) == [9_001])
  }

  @Test("a descending field may come first without a sign before it")
  func descending() throws {
    try importNumbers()

    let outcome = try larder.runOnStore("index", "c", "-x,id")

    #expect(outcome.status == 0 && outcome.errors == "")
    #expect(try indexes().map(\.fields) == [["-x", "id"]])
    #expect(try larder.runOnStore("index", "c", "--x").errors.contains("there is no option `--x`"))
  }

  @Test("a field whose name has a comma stands between backquotes")
  func commas() throws {
    let file = try larder.file("c.ndjson", #"{"id": 1, "last, first": "x", "a:b": "y"}"# + "\n")
    #expect(try larder.runOnStore("import", file, "--into", "c", "--key", "id").status == 0)

    let outcome = try larder.runOnStore("index", "c", "id,-`last, first`")
    let search = try larder.runOnStore("index", "c", "--search", "`last, first`:3,`a:b`")

    #expect(outcome.status == 0 && search.status == 0, "\(outcome) \(search)")
    #expect(
      try Set(indexes().map(\.fields)) == [["id", "-last, first"], ["last, first", "a:b"]])
  }

  /// Two documents with one address, and a unique index that they stand against.
  private func importWithFailedIndex() throws {
    let file = try larder.file(
      "c.ndjson",
      """
      {"id": 1, "email": "a", "city": "x"}
      {"id": 2, "email": "a", "city": "y"}

      """)
    #expect(try larder.runOnStore("import", file, "--into", "c", "--key", "id").status == 0)
    let store = try Store(at: larder.store)
    try store.collection("c").createIndex(on: "email", unique: true)
    try store.close()
  }

  @Test(
    "an index that failed before is kept when another one is declared, and does not keep it back")
  func failedBefore() throws {
    try importWithFailedIndex()

    let outcome = try larder.runOnStore("index", "c", "city")

    #expect(
      outcome.status == 0 && outcome.output == "c: index `city` has 2 entries\n", "\(outcome)")
    #expect(outcome.errors.hasPrefix("larder: the index `email` of c fails: "), "\(outcome)")
    let indexes = try indexes()
    #expect(indexes.map(\.name) == ["city", "email"])
    #expect(indexes.first?.state == .complete && indexes.last?.state != .complete)
  }

  @Test("a unique index that documents stand against is dropped again, unless it was there before")
  func failedNow() throws {
    try importWithFailedIndex()

    let again = try larder.runOnStore("index", "c", "email", "--unique")
    let other = try larder.runOnStore("index", "c", "email", "--unique", "--name", "other")

    #expect(again.status == 1 && again.errors.contains("cannot have the index `email`"), "\(again)")
    #expect(other.status == 1 && other.errors.contains("cannot have the index `other`"), "\(other)")
    #expect(try indexes().map(\.name) == ["email"])
  }
}
