import Foundation
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

  @Test("what was tried before one shows something new is written as by one thread")
  func records() throws {
    // One field after the other turns out to hold doubles.
    let source = lines { number in
      let fields = (0..<7).map { #", "f\#($0)": \#(number == 700 * $0 + 300 ? "1.5" : "1")"# }
      return #"{"id": \#(number)\#(fields.joined())}"#
    }
    func imported(threadCount: Int) throws -> (entries: [[UInt8]], sharedCount: Int) {
      try withStore(ofThreads: threadCount) { store in
        let report = try importing(source, into: store)
        return (try entries(of: "c", in: store), report.sharedDocumentCount)
      }
    }
    let expected = try imported(threadCount: 1).entries
    var sharedCount = 0
    for _ in 0..<repetitions(10) {
      let divided = try imported(threadCount: 4)
      #expect(divided.entries == expected)
      sharedCount += divided.sharedCount
    }
    #expect(sharedCount > 1_000)
  }

  @Test("names are keys of a dictionary by all documents, whoever has tried them")
  func dictionaries() throws {
    let names = (0..<60).map { #""n\#($0)": 1"# }.joined(separator: ", ")
    for fullCount in [0, 1_000] {
      try withStore(ofThreads: 4) { store in
        let report = try importing(
          lines(1_100) { #"{"id": \#($0), "x": {\#($0 < fullCount ? names : #""m\#($0)": 1"#)}}"# },
          into: store)
        let kind = report.inferredFields.first { $0.name == "x" }?.kind
        #expect(kind?.contains("document") == (fullCount > 0), "\(kind ?? "")")
      }
    }
  }

  @Test("where every part shows something new, each document is tried once by this thread")
  func nothingShared() throws {
    try withStore(ofThreads: 2) { store in
      // Too few names for a dictionary.
      let report = try importing(
        lines(2_500) { #"{"id": \#($0), "x": {\#($0 % 20 == 0 ? #""y\#($0 / 20)": 1"# : "")}}"# },
        into: store)

      #expect(report.saved.inserted == 2_500 && report.documentCount == 2_500)
      #expect(report.sharedDocumentCount < 100, "\(report.sharedDocumentCount)")
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
        let (column, found) =
          wrong.hasSuffix("x}") ? (9, "`x`") : wrong == "[]" ? (1, "an array") : (8, "text")
        #expect(error?.position == TextPosition(line: number + 1, column: column))
        #expect(error?.found.contains(found) == true, "\(String(describing: error))")
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
      let report = try ImportPath.$keptByteCount.withValue(0) {
        try importing(lines { #"{"id": \#($0)}"# }, into: store, options: options) {
          if $0.phase == .saving { committed.append($0.documentCount) }
        }
      }
      #expect(committed == (1...71).map { $0 * 70 } + [5_000])
      #expect(report.dividedBatchCount == 72)
    }
  }

  @Test("a file from a pipe, with lines that are empty, is read so, too", arguments: [false, true])
  func pipe(isRefused: Bool) throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.format = .json
      options.shape = .lines
      options.batchDocumentCount = 100
      let text = (0..<5_000).map { number in
        let key = isRefused && number == 2_345 ? 7 : number
        return #"{"id": \#(number), "u": \#(key)}\#(number % 50 == 0 ? "\r\n \r\n" : "\n")"#
      }.joined()
      if isRefused {
        try store.importDocuments(
          from: .text(#"{"id": -1, "u": -1}"#, name: "a.ndjson"), into: "c", key: "id")
        try store.collection("c").createIndex(on: [DynamicIndexPart("u")], unique: true)
      }
      let pipe = Pipe()
      let writer = OnThread { [handle = pipe.fileHandleForWriting] in
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
      }
      let result = Result {
        try ImportPath.$keptByteCount.withValue(0) {
          try importing(
            .descriptor(pipe.fileHandleForReading.fileDescriptor, name: "pipe"), into: store,
            options: options)
        }
      }
      withExtendedLifetime(pipe) {}
      try writer.value()

      if isRefused {
        let error = #expect(throws: ImportError.self) { try result.get() }
        // Behind 47 empty lines.
        #expect(error?.position == TextPosition(line: 2_346 + 47, column: 1))
        #expect(error?.found.contains("unique") == true)
        #expect(try store.collection("c").count() == 1)
      } else {
        let report = try result.get()
        #expect(report.saved.inserted == 5_000 && report.documentCount == 5_000)
        #expect(report.sharedDocumentCount > 4_000 && report.dividedBatchCount > 50)
      }
    }
  }

  @Test("progress goes forward, to its end")
  func progress() throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.batchDocumentCount = 100
      var fractions: [Double] = []
      _ = try ImportPath.$keptByteCount.withValue(0) {
        try importing(
          // The long one is in sight as a whole, with more behind it, when the first step ends.
          lines {
            #"{"id": \#($0), "x": "\#(String(repeating: "x", count: $0 == 0 ? 200_000 : 5))"}"#
          },
          into: store, options: options
        ) { if let fraction = $0.fraction { fractions.append(fraction) } }
      }
      #expect(fractions.count > 50 && fractions == fractions.sorted())
      #expect(fractions.last == 1)
    }
  }

  @Test("lines that may be short are all imported", arguments: [100, 5_000])
  func shortLines(lineByteCount: Int) throws {
    try withStore(ofThreads: 4) { store in
      var options = ImportOptions()
      options.limits.lineByteCount = lineByteCount
      let report = try store.importDocuments(
        from: lines(200_000) { #"{"id": \#($0), "x": "vvvvvvvvv"}"# }, into: "c", key: "id",
        options: options)
      #expect(report.saved.inserted == 200_000 && report.sharedDocumentCount > 100_000)
    }
  }
}
