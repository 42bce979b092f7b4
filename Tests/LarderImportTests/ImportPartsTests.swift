import LarderTestKit
import Testing

@testable import Larder
@testable import LarderImport

@Suite("A file that several threads read")
struct ImportPartsTests {
  private func lines(_ count: Int = 5_000, _ line: (Int) -> String) -> ImportSource {
    .text((0..<count).map { line($0) + "\n" }.joined(), name: "t.ndjson")
  }

  private func importing(
    _ source: ImportSource, into store: Store, options: ImportOptions = ImportOptions(),
    progress: @escaping (StoreProgress) throws -> Void = { _ in }
  ) throws -> ImportReport {
    try ImportPath.$stepByteCount.withValue(2_000) {
      try store.importDocuments(
        from: source, into: "c", key: "id", options: options, progress: progress)
    }
  }

  @Test(
    "nearly all documents are tried by threads of their own, if there are any", arguments: 1...5)
  func shared(threadCount: Int) throws {
    try withStore(ofThreads: threadCount) { store in
      let report = try importing(lines { #"{"id": \#($0), "x": "v"}"# }, into: store)

      #expect(report.saved.inserted == 5_000 && report.directDocumentCount == 5_000)
      #expect(
        threadCount == 1 ? report.sharedDocumentCount == 0 : report.sharedDocumentCount > 4_800)
    }
  }

  @Test("one that shows something new costs the parts that are being tried, and no others")
  func something() throws {
    try withStore(ofThreads: 2) { store in
      let report = try importing(
        lines { #"{"id": \#($0), "x": "v"\#([1_000, 3_000].contains($0) ? #", "y": 1"# : "")}"# },
        into: store)

      #expect(report.saved.inserted == 5_000)
      // The first, and the first with a second field.
      #expect(report.rehearsedDocumentCount == 2)
      #expect(report.sharedDocumentCount > 4_000)
      #expect(report.inferredFields.map(\.name) == ["id", "x", "y"])
    }
  }

  @Test("where every part shows something new, each document is tried once by this thread")
  func nothingShared() throws {
    try withStore(ofThreads: 2) { store in
      let report = try importing(
        lines(3_000) { #"{"id": \#($0), "x": {\#($0 % 20 == 0 ? #""y\#($0 / 20)": 1"# : "")}}"# },
        into: store)

      #expect(report.saved.inserted == 3_000 && report.documentCount == 3_000)
    }
  }

  @Test("keys that are made have the order of the file")
  func madeKeys() throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.makesKeys = true
      options.batchDocumentCount = 100

      _ = try importing(lines { #"{"x": \#($0)}"# }, into: store, options: options)

      let values = try store.collection("c").fetch(DynamicQuery()).map { $0["x"] }
      #expect(values == (0..<5_000).map { .integer($0) })
    }
  }

  @Test("of documents with one key the last one wins")
  func repeatedKeys() throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.repeatedKeys = .lastWins
      options.batchDocumentCount = 100

      let report = try importing(
        lines { #"{"id": \#($0 % 50), "x": \#($0)}"# }, into: store, options: options)

      #expect(report.repeatedKeyCount == 4_950)
      let values = try store.collection("c").fetch(DynamicQuery()).map { $0["x"] }
      #expect(values == (4_950..<5_000).map { .integer($0) })
    }
  }

  @Test("an error is told with its place, and nothing is saved", arguments: [3, 1_234, 4_999])
  func refused(number: Int) throws {
    try withStore(ofThreads: 4) { store in
      for wrong in ["{\"id\": 0x}", "{\"id\": \"text\"}", "[]"] {
        let error = #expect(throws: ImportError.self) {
          try importing(
            // Another error stands behind the first.
            lines { $0 == number ? wrong : $0 == number + 300 ? "{" : #"{"id": \#($0)}"# },
            into: store)
        }
        #expect(error?.position?.line == number + 1)
      }
      let names = try store.collectionNames()
      #expect(names.isEmpty)
    }
  }

  @Test("it can be stopped while it is read, and while it is saved", arguments: [false, true])
  func stopped(isSaving: Bool) throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.batchDocumentCount = 100
      var told = 0
      let error = ImportPath.$keptByteCount.withValue(0) {
        #expect(throws: ImportInterrupted.self) {
          try importing(lines { #"{"id": \#($0)}"# }, into: store, options: options) {
            guard $0.phase == (isSaving ? .saving : .reading) else { return }
            told += 1
            if told == 7 { throw CancellationError() }
          }
        }
      }
      #expect(told == 7 && error?.reason is CancellationError)
      let count = try store.collectionNames().isEmpty ? 0 : try store.collection("c").count()
      #expect(count == (isSaving ? 700 : 0) && error?.documentCount == count)
    }
  }

  @Test("batches have as many documents as they may")
  func batches() throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.batchDocumentCount = 70
      var committed: [Int?] = []
      _ = try ImportPath.$keptByteCount.withValue(0) {
        try importing(lines { #"{"id": \#($0)}"# }, into: store, options: options) {
          if $0.phase == .saving { committed.append($0.documentCount) }
        }
      }
      #expect(committed == (1...71).map { $0 * 70 } + [5_000])
    }
  }
}
