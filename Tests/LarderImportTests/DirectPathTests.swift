import Foundation
import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderImport

@Suite("Documents that go from their text into records without a tree")
struct DirectPathTests {
  @Test(
    "they are saved, refused, declared and indexed as by the names of their fields",
    arguments: [false, true])
  func same(isTable: Bool) throws {
    var random = RandomSource()
    var (directCount, sharedCount, savedCount, refusedCount) = (0, 0, 0, 0)
    for _ in rounds(
      repetitions(150),
      until: {
        directCount > 1_000 && savedCount > 20 && refusedCount > 20
          && (isTable || sharedCount > 1_000)
      })
    {
      let trial = isTable ? Trial(tables: &random) : Trial(&random)
      // On one thread or on two.
      let aheadByteCount = random.pick([0, .max])
      // Kinds of columns are guessed by some of the rows.
      let guessRowCount = random.pick([1, 5, 1_000])
      // All records are kept, the first of them, or none. Which of two duplicates is told depends on the
      // batches, which are others then.
      let keptByteCount = trial.uniqueField == nil ? random.pick([0, 3_000, 16 << 20]) : 0
      // By one thread, or in parts by several.
      let stepByteCount = random.pick([50, 300, 1 << 20])
      let direct = try ImportPath.$aheadByteCount.withValue(aheadByteCount) {
        try ImportPath.$guessRowCount.withValue(guessRowCount) {
          try ImportPath.$keptByteCount.withValue(keptByteCount) {
            try ImportPath.$stepByteCount.withValue(stepByteCount) { try outcome(of: trial) }
          }
        }
      }
      let other = try ImportPath.$isDirect.withValue(false) { try outcome(of: trial) }
      #expect(direct.text == other.text, "\(random.hint) \(trial)")
      #expect(direct.catalogue == other.catalogue, "\(random.hint) \(trial)")
      #expect(direct.entries == other.entries, "\(random.hint) \(trial)")
      #expect(other.directCount == 0)
      directCount += direct.directCount
      sharedCount += direct.sharedCount
      if direct.isRefused { refusedCount += 1 } else { savedCount += 1 }
      if !direct.isSame(as: other) { break }
    }
    #expect(directCount > 1_000 && savedCount > 20 && refusedCount > 20)
    #expect(isTable || sharedCount > 1_000)
  }

  @Test("one that is refused while others wait to be tried is named, and nothing else is amiss")
  func refusedBehindOthers() throws {
    try withTemporaryStore { store in
      // Each shows something new, so that soon several are tried at once.
      var lines = (0..<70).map { "{\"id\": \($0), \"field\($0)\": 1}" }
      lines.append("{\"id\": 70, \"\u{E9}\": 1, \"e\u{301}\": 2}")
      let source = ImportSource.bytes(
        Array(lines.joined(separator: "\n").utf8), name: "a.ndjson")

      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(from: source, into: "c", key: "id")
      }

      #expect(error?.kind == .duplicateKey)
      #expect(error?.position?.line == 71)
      let names = try store.collectionNames()
      #expect(names.isEmpty)
    }
  }

  @Test("fixtures of a type are read and refused so, too", arguments: [false, true])
  func typed(isBroken: Bool) throws {
    var random = RandomSource()
    let lines = try String(
      contentsOf: Fixtures.folder.appending(path: "books.ndjson"), encoding: .utf8
    ).split(separator: "\n")
    for _ in 0..<repetitions(isBroken ? 60 : 3) {
      var bytes = Array(lines.shuffled(using: &random).prefix(40).joined(separator: "\n").utf8)
      if isBroken {
        for _ in 0..<random.int(1..<4) {
          bytes[random.int(0..<bytes.count)] = random.pick(Array("\",:{}[]0x-.e\nnt".utf8))
        }
      }
      let stepByteCount = random.pick([500, 1 << 20])
      func read() throws -> String {
        try withStore(ofThreads: 3) { store in
          let source = ImportSource.bytes(bytes, name: "b.ndjson")
          do {
            let report = try store.importDocuments(from: source, into: Book.self)
            let books = store.repository(of: Book.self)
            if !isBroken {
              #expect(report.directDocumentCount == (ImportPath.isDirect ? 40 : 0))
            }
            return
              "\(report.saved) \(try books.fetch(Book.all)) \(try entries(of: "Book", in: store))"
          } catch {
            return "\(error)"
          }
        }
      }
      let direct = try ImportPath.$stepByteCount.withValue(stepByteCount) { try read() }
      let other = try ImportPath.$isDirect.withValue(false) { try read() }
      #expect(direct == other, "\(random.hint)")
    }
  }

  @Test("a document that contradicts the ones before costs the others nothing")
  func contradiction() throws {
    let lines = (0..<3_000).map { index in
      index % 1_000 == 500
        ? #"{"id": \#(index), "x": 1, "new\#(index)": [true]}"# : #"{"id": \#(index), "x": 2}"#
    }
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text(lines.joined(separator: "\n"), name: "t.ndjson"), into: "c", key: "id")

      #expect(report.saved.inserted == 3_000)
      #expect(report.directDocumentCount == 3_000)
      #expect(report.rehearsedDocumentCount == 4)
    }
  }

  @Test(
    "a column is of the kind that the whole table shows, wherever it shows",
    arguments: [1_500, 2_999], ["x", "1.5", "", "\"5\""])
  func lateKind(row: Int, cell: String) throws {
    let lines = (0..<3_000).map { "\($0),\($0 == row ? cell : "7")" }
    try withTemporaryStore { store in
      let report = try store.importDocuments(
        from: .text("id,a\n" + lines.joined(separator: "\n"), name: "t.csv"), into: "c", key: "id")

      #expect(report.saved.inserted == 3_000)
      #expect(report.directDocumentCount == 3_000)
      let first = try store.collection("c").get(0)?["a"]
      let expected: Value =
        cell.isEmpty ? .integer(7) : cell == "1.5" ? .double(7) : .string("7")
      #expect(first == expected)
    }
  }

  @Test("the first error of a table is told, though its kinds were guessed otherwise")
  func errorBehindGuess() throws {
    // By the first rows alone, row 1,500 would be refused before the row that is no row.
    let lines = (0..<3_000).map { $0 == 1_500 ? "\($0),x" : $0 == 2_500 ? "\($0)" : "\($0),7" }
    try withTemporaryStore { store in
      let error = #expect(throws: ImportError.self) {
        try store.importDocuments(
          from: .text("id,a\n" + lines.joined(separator: "\n"), name: "t.csv"), into: "c",
          key: "id")
      }

      #expect(error?.kind == .shape && error?.position == TextPosition(line: 2_502, column: 5))
    }
  }

  @Test(
    "an import that is stopped has saved as much on two threads as on one", arguments: 1...6,
    [0, 16 << 20])
  func stopped(call: Int, keptByteCount: Int) throws {
    let lines = (0..<5_500).map { #"{"id": \#($0), "x": "\#($0)"}"# }.joined(separator: "\n")
    func run(_ aheadByteCount: Int) throws -> (String, [[UInt8]]) {
      try withTemporaryStore { store in
        var options = ImportOptions()
        options.batchDocumentCount = keptByteCount > 0 ? 800 : 1_700
        var (calls, news) = (0, "")
        let error = #expect(throws: ImportInterrupted.self) {
          try ImportPath.$keptByteCount.withValue(keptByteCount) {
            try ImportPath.$aheadByteCount.withValue(aheadByteCount) {
              try store.importDocuments(
                from: .text(lines, name: "t.ndjson"), into: "c", key: "id", options: options
              ) { progress in
                guard progress.phase == .saving else { return }
                calls += 1
                news += "\(progress)\n"
                if calls == call { throw CancellationError() }
              }
            }
          }
        }
        #expect(calls == call)
        return ("\(error.map { "\($0)" } ?? "") \(news)", try entries(of: "c", in: store))
      }
    }

    let (one, two) = (try run(.max), try run(0))

    #expect(one.0 == two.0)
    #expect(one.1 == two.1)
  }

  // MARK: Trials

  /// One import into a store in which there may be something already.
  private struct Trial: CustomStringConvertible {
    var texts: [[UInt8]]
    var name = "t.ndjson"
    var key = "id"
    var options = ImportOptions()
    var uniqueField: String?

    init(_ random: inout RandomSource) {
      let file = RandomFile(&random)
      let shape = random.int(0..<6)
      options.makesKeys = shape == 5
      options.allowsMixedKinds = random.once(in: 3)
      options.atomically = random.once(in: 3)
      options.isDryRun = random.once(in: 8)
      options.repeatedKeys = random.bool() ? .lastWins : .refused
      options.batchDocumentCount = random.pick([1, 7, 50, 5_000])
      for field in file.fields where random.once(in: 8) {
        options.types[field.name] = random.pick(ImportType.allCases)
      }
      var count = 0
      texts = (0..<random.int(1..<3)).map { _ in
        let documents = (0..<random.int(1..<120)).map { _ in
          count += 1
          let keyField = shape > 3 ? nil : "id"
          let document = file.document(&random, number: count, key: keyField)
          guard shape == 4 else { return document }
          let key = file.key(&random, count)
          return (key.first == "\"" ? key : "\"\(key)\"") + ": " + document
        }
        if shape == 4 { return Array("{\(documents.joined(separator: ",\n"))}".utf8) }
        if shape == 3 { return Array("[\(documents.joined(separator: ",\n"))]".utf8) }
        return Array(documents.joined(separator: "\n").utf8)
      }
      if random.once(in: 3) { texts.append(texts[0]) }
      if random.once(in: 6) { texts[0] += texts[texts.count - 1] }
      if shape == 3 || shape == 4 { name = "t.json" }
      if shape == 4 { options.shape = .keyed }
      if random.once(in: 4) {
        let at = random.int(0..<texts[0].count)
        texts[0][at] = random.pick(Array("\",:{}[]0x-.e\nnt\\".utf8) + [0xC3, 0x00])
      }
      if random.once(in: 5) { uniqueField = file.fields[0].name }
    }

    /// Imports of tables.
    init(tables random: inout RandomSource) {
      let table = RandomTable(&random)
      name = "t.csv"
      options.makesKeys = random.once(in: 6)
      options.allowsMixedKinds = random.once(in: 3)
      options.atomically = random.once(in: 3)
      options.isDryRun = random.once(in: 8)
      options.repeatedKeys = random.bool() ? .lastWins : .refused
      options.batchDocumentCount = random.pick([1, 7, 50, 5_000])
      let typesAreGiven = random.bool()
      for column in table.columns {
        switch column.shape {
        case .json where !random.once(in: 4): options.types[column.name] = .json
        case .url where random.bool(): options.types[column.name] = .url
        case .uuid where random.bool(): options.types[column.name] = .uuid
        case .data where random.bool(): options.types[column.name] = .data
        case .decimal where random.bool(): options.types[column.name] = .decimal
        case _ where typesAreGiven && random.once(in: 8):
          options.types[column.name] = random.pick(ImportType.allCases)
        default: break
        }
      }
      var count = 0
      let hasKey = !options.makesKeys
      texts = (0..<random.int(1..<3)).map { _ in
        let rows = (0..<random.int(1..<120)).map { _ in
          count += 1
          return table.row(&random, number: count, hasKey: hasKey)
        }
        let lines = [table.header(&random, key: hasKey ? "id" : nil)] + rows
        return Array(lines.joined(separator: random.pick(["\n", "\r\n"])).utf8)
      }
      if random.once(in: 3) { texts.append(texts[0]) }
      if random.once(in: 4) {
        let at = random.int(0..<texts[0].count)
        texts[0][at] = random.pick(Array("\",:{}[]0x-.e\nnt\\".utf8) + [0xC3, 0x00])
      }
      if random.once(in: 5) { uniqueField = table.columns[0].name }
    }

    var description: String {
      "\(options.types) mixed \(options.allowsMixedKinds) keys \(options.makesKeys)\n"
        + texts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n--\n")
    }
  }

  private struct Outcome {
    /// What the imports said, one after the other.
    var text: String
    var catalogue: CollectionDescription?
    var entries: [[UInt8]]
    var isRefused = false
    var directCount = 0
    var sharedCount = 0

    func isSame(as other: Outcome) -> Bool {
      (text, catalogue, entries) == (other.text, other.catalogue, other.entries)
    }
  }

  private func outcome(of trial: Trial) throws -> Outcome {
    try withStore(ofThreads: 3) { store in
      var outcome = Outcome(text: "", catalogue: nil, entries: [])
      for text in trial.texts {
        do {
          let report = try store.importDocuments(
            from: .bytes(text, name: trial.name), into: "c", key: trial.key,
            options: trial.options)
          outcome.text += "\(report.saved) \(report.documentCount) \(report.repeatedKeyCount) "
          outcome.text += "\(report.inferredFields)\n"
          outcome.directCount += report.directDocumentCount
          outcome.sharedCount += report.sharedDocumentCount
        } catch {
          outcome.text += "\(error)\n"
          outcome.isRefused = true
        }
        if let field = trial.uniqueField, try store.collection("c").keyField() != nil {
          // Refused where the documents have it twice, or values of which there is no index.
          do {
            try store.collection("c").createIndex(
              on: [DynamicIndexPart(FieldPath(field) ?? FieldPath(field: field))], unique: true)
          } catch let error as StoreError {
            outcome.text += "\(error)\n"
          }
        }
      }
      outcome.catalogue = try store.read { $0.catalogue["c"]?.description }
      // Keys that are made are others each time.
      outcome.entries = trial.options.makesKeys ? [] : try entries(of: "c", in: store)
      if trial.options.makesKeys {
        outcome.text += try store.collection("c").fetch(DynamicQuery()).map { document in
          exact(DynamicDocument(document.fields.filter { $0.name != "id" }))
        }.joined(separator: "\n")
        // An error names the key, of 36 characters.
        outcome.text.replace(
          /[0-9A-F]{8}-[0-9A-F]{4}-7[0-9A-F]{3}-[0-9A-F]{4}-[0-9A-F]{12}/, with: "KEY")
      }
      return outcome
    }
  }
}
