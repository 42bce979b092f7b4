import Foundation
import Larder
import LarderTestKit
import LarderTesting
import Testing

@testable import LarderImport

@Suite("Random tables, imported")
struct CSVImportPropertyTests {
  @Test("what a naive writer wrote becomes the documents that it means")
  func naive() throws {
    var random = RandomSource()
    try withTemporaryStore { store in
      for round in 0..<300 {
        var options = ImportOptions()
        options.format = .csv
        let table = CSVPropertyTests.table(&random, ",")
        let names = table.rows[0].indices.map { $0 == 0 ? "id" : "column \($0)" }
        options.csv.columns = names
        options.types = Dictionary(uniqueKeysWithValues: names.map { ($0, .string) })
        // Every row a key of its own; a mark and zeros at the beginning are for other tests.
        let keyed = table.rows.enumerated().map { ["\(round)-\($0)"] + $1.dropFirst() }
        let text = keyed.map { row in
          row.map { $0.isEmpty ? "" : "\"" + $0.replacing("\"", with: "\"\"") + "\"" }
            .joined(separator: ",") + random.pick(["\n", "\r\n"])
        }.joined()

        try store.importDocuments(
          from: .text(text, name: "t.csv"), into: "c", key: "id", options: options)

        for row in keyed {
          let document = try #require(try store.collection("c").get(.string(row[0])))
          for (name, field) in zip(names, row) {
            let expected = field.isEmpty ? Value.null : .string(field)
            #expect(document[name].map(exact) == exact(expected))
          }
        }
      }
    }
  }

  @Test(
    "a damaged table is imported or refused with its place, typed or not, as by the names of fields",
    arguments: ["CSV/places.csv", "contacts.csv"])
  func mutants(name: String) throws {
    var random = RandomSource()
    let whole = Array(try Data(contentsOf: Fixtures.folder.appending(path: name)))
    let lines = whole.split(separator: 0x0A, omittingEmptySubsequences: false)
    let marks = Array("\",;\n\r\\N.`-1e[{}]tf".utf8) + [0x00, 0x80, 0xC3, 0xE2, 0xFF, 0xEF]
    var options = ImportOptions()
    options.isDryRun = true
    var (accepted, refused) = (0, 0)
    try withTemporaryStore { store in
      for index in 0..<1_500 {
        // The header and some rows, for a fault to be met often.
        let rows = [lines[0]] + (0..<3).map { _ in random.pick(Array(lines.dropFirst())) }
        var bytes = Array(rows.joined(separator: [0x0A])) + [0x0A]
        for _ in 0..<random.below(4) {
          let at = random.below(bytes.count)
          switch random.below(4) {
          case 0: bytes[at] = random.pick(marks)
          case 1: bytes.insert(random.pick(marks), at: at)
          case 2: bytes.remove(at: at)
          default: bytes.swapAt(at, random.below(bytes.count))
          }
        }
        func outcome() throws -> Result<[String], ImportError> {
          let source = ImportSource.bytes(bytes, name: "t.csv")
          let isTyped = index.isMultiple(of: 2) && name == "contacts.csv"
          let key = name == "contacts.csv" ? "id" : "code"
          do {
            let report =
              isTyped
              ? try store.importDocuments(from: source, into: Contact.self, options: options)
              : try store.importDocuments(from: source, into: "c", key: key, options: options)
            return .success(["\(report.documentCount)", "\(report.inferredFields)"])
          } catch let error as ImportError {
            return .failure(error)
          }
        }
        let found = try outcome()
        let other = try ImportPath.$isDirect.withValue(false) { try outcome() }
        #expect(found == other, "\(random.hint) \(bytes)")
        switch found {
        case .success: accepted += 1
        case .failure(let error):
          refused += 1
          #expect(error.position != nil && error.file == "t.csv", "\(error) \(bytes)")
        }
      }
      #expect(try store.collectionNames().isEmpty)
    }
    #expect(accepted > 100 && refused > 100, "\(accepted) \(refused)")
  }

  @Test("a name of a hundred thousand parts is refused, and one of 64 is read")
  func depth() throws {
    func header(_ depth: Int) -> String {
      "id," + Array(repeating: "a", count: depth).joined(separator: ".") + "\n1,2\n"
    }
    try withTemporaryStore { store in
      try store.importDocuments(from: .text(header(64), name: "t.csv"), into: "c", key: "id")

      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text(header(100_000), name: "t.csv"), into: "d", key: "id")
      }

      #expect(error?.kind == .limit(.depth) && error?.position == TextPosition(line: 1, column: 4))
    }
  }

  @Test("as many columns as the limit says are read, one more is refused")
  func manyColumns() throws {
    let names = (0..<4_096).map { "c\($0)" }.joined(separator: ",")
    let row = (0..<4_096).map { "\($0)" }.joined(separator: ",")
    var options = ImportOptions()
    options.csv.limits.columnCount = 4_096
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text("\(names)\n\(row)\n", name: "t.csv"), into: "c", key: "c0", options: options)

      #expect(report.saved.inserted == 1)
      #expect(try store.collection("c").get(0)?.fields.count == 4_096)
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .text("\(names),x\n\(row),1\n", name: "t.csv"), into: "c", key: "c0",
          options: options)
      }
      #expect(error?.kind == .limit(.columnCount))
    }
  }
}
