import LarderLMDB
import LarderTestKit
import LarderTesting
import Testing

@testable import Larder
@testable import LarderImport

@Suite("What an import need not read a second time")
struct KeptRecordsTests {
  private func lines(
    _ ids: Range<Int> = 0..<3_000, _ line: (Int) -> String = { #"{"id": \#($0), "x": "v\#($0)"}"# }
  ) -> ImportSource {
    .text(ids.map { line($0) + "\n" }.joined(), name: "t.ndjson")
  }

  private func importing(
    _ source: ImportSource, into store: Store, atomically: Bool = false,
    whileReading: @escaping () throws -> Void = {}
  ) throws -> ImportReport {
    var options = ImportOptions()
    options.atomically = atomically
    options.repeatedKeys = .lastWins
    var isRead = false
    return try store.importDocuments(from: source, into: "c", key: "id", options: options) {
      if !isRead, $0.phase == .reading, $0.completed == $0.total {
        isRead = true
        try whileReading()
      }
    }
  }

  @Test("a file whose documents are all there is read once, and nothing is written")
  func unchanged() throws {
    try withTemporaryStore { store in
      _ = try importing(lines(), into: store)
      let before = try store.statistics().sequence

      let report = try importing(lines(), into: store)

      #expect(report.saved.description == "0 inserted, 0 updated, 3000 unchanged, 0 deleted")
      // The first one shows which of the fields come.
      #expect(report.secondReadCount == 1 && report.directDocumentCount == 3_000)
      #expect(try store.statistics().sequence == before)
    }
  }

  @Test("of a file read once, only what differs is saved", arguments: [false, true])
  func changed(atomically: Bool) throws {
    try withTemporaryStore { store in
      _ = try importing(lines(), into: store)
      let source = lines(0..<3_010) {
        #"{"id": \#($0), "x": "\#($0 % 100 == 7 ? "new" : "v" + String($0))"}"#
      }

      let report = try importing(source, into: store, atomically: atomically)

      #expect(report.saved.description == "10 inserted, 30 updated, 2970 unchanged, 0 deleted")
      #expect(report.secondReadCount == 1)
      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents.count == 3_010)
      #expect(documents.count { $0["x"] == "new" } == 31)
    }
  }

  @Test("a new collection's documents are read once behind the last that shows something new")
  func new() throws {
    try withTemporaryStore { store in
      let report = try importing(
        lines { ##"{"id": \##($0), "x": 1\##($0 == 700 ? #", "y": 2"# : "")}"## }, into: store)

      #expect(report.saved.inserted == 3_000)
      // Those that were tried together with it are read again, too.
      #expect((701...1_100).contains(report.secondReadCount), "\(report.secondReadCount)")
      #expect(try store.collection("c").get(700)?["y"] == 2)
      #expect(try store.collection("c").get(2_999)?["x"] == 1)
    }
  }

  @Test("a file that fits in one batch is saved by one transaction, whatever is read again")
  func oneTransaction() throws {
    try withTemporaryStore { store in
      _ = try importing(lines(0..<10), into: store)
      func last() throws -> Int { try store.read { $0.transaction.id } }
      let before = try last()

      let report = try importing(lines(10..<20), into: store)

      #expect(report.saved.inserted == 10 && report.secondReadCount == 1)
      #expect(try last() == before + 1)
    }
  }

  @Test("where more differs than is kept, all of it is read again")
  func tooMuch() throws {
    try withTemporaryStore { store in
      _ = try importing(lines(1_500..<3_000), into: store)

      let report = try ImportPath.$keptByteCount.withValue(10_000) {
        try importing(lines(), into: store)
      }

      #expect(report.saved.description == "1500 inserted, 0 updated, 1500 unchanged, 0 deleted")
      #expect(report.secondReadCount == 3_000)
      #expect(try store.collection("c").count() == 3_000)
    }
  }

  @Test("batches of fewer than one document have one", arguments: [0, -5, .min])
  func smallBatches(documentCount: Int) throws {
    try withTemporaryStore { store in
      var options = ImportOptions()
      options.batchDocumentCount = documentCount
      options.batchByteCount = documentCount

      try store.importDocuments(from: lines(0..<9), into: "c", key: "id", options: options)

      #expect(try store.collection("c").count() == 9)
    }
  }

  @Test("where a key stands twice, the last one wins, though it is the one that is there")
  func repeated() throws {
    try withTemporaryStore { store in
      _ = try importing(lines(), into: store)
      let source = lines(0..<6_000) {
        #"{"id": \#($0 % 3_000), "x": "\#($0 == 5 ? "other" : "v" + String($0 % 3_000))"}"#
      }

      let report = try importing(source, into: store)

      #expect(report.repeatedKeyCount == 3_000)
      #expect(try store.collection("c").get(5)?["x"] == "v5")
    }
  }

  @Test("what others write while a file is read is replaced, as if they had written before")
  func written() throws {
    for atomically in [false, true] {
      try withTemporaryStore { store in
        _ = try importing(lines(), into: store)

        let report = try importing(lines(), into: store, atomically: atomically) {
          try store.collection("c").save([["id": 4, "x": "theirs"]], keyField: "id")
        }

        #expect(report.saved.updated == 1 && report.saved.unchanged == 2_999)
        #expect(try store.collection("c").get(4)?["x"] == "v4")
      }
    }
  }

  @Test(
    "records are made anew where others have declared a field meanwhile", arguments: [false, true])
  func declared(atomically: Bool) throws {
    try withTemporaryStore { store in
      _ = try importing(lines(0..<10), into: store)

      let report = try importing(lines(), into: store, atomically: atomically) {
        try store.collection("c").save([["id": -1, "other": 1.5, "x": "w"]], keyField: "id")
      }

      #expect(report.saved.inserted == 2_990)
      let documents = try store.collection("c").fetch(DynamicQuery())
      #expect(documents.count == 3_001)
      #expect(documents.last == ["id": 2_999, "x": "v2999"])
      #expect(try store.check().problems.isEmpty)
    }
  }

  @Test("a damaged document is not one that is there: it is mended")
  func damaged() throws {
    let folder = TestFolder()
    let before = try Store(at: folder.store)
    _ = try importing(lines(), into: before)
    try before.close()
    let environment = try Environment.open(at: folder.store, options: StoreOptions().environment)
    let database = try #require(
      try environment.database(named: Layout.documentsName(of: "c"), create: false))
    var transaction = try environment.beginWrite()
    try #require(Value.integer(7).encodedKey(of: .integer)).withUnsafeBytes { key in
      var record = try #require(try transaction.withValue(for: key, in: database) { [UInt8]($0) })
      record[record.count - 1] ^= 1
      try record.withUnsafeBytes { try transaction.put($0, for: key, in: database) }
    }
    try transaction.commit()
    try environment.close()
    let store = try Store(at: folder.store)
    #expect(try store.check().problems.count == 1)

    let report = try importing(lines(), into: store)

    #expect(report.saved.updated == 1 && report.saved.unchanged == 2_999)
    #expect(try store.check().problems.isEmpty)
  }
}
