import Foundation
import Larder
import LarderTesting
import Testing

@testable import LarderImport

@Suite("Sources of an import, and its end before the end")
struct ImportSourceTests {
  private func lines(_ count: Int) -> String {
    (0..<count).map { "{\"id\": \($0), \"text\": \"number \($0)\"}\n" }.joined()
  }

  @Test("a pipe is imported as a file is")
  func pipe() throws {
    let pipe = Pipe()
    let text = lines(20_000)
    Thread.detachNewThread {
      // A pipe that its reader has closed fails the test by what is missing.
      try? pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
      try? pipe.fileHandleForWriting.close()
    }
    try withTemporaryStore { store in
      var stages: [StoreProgress.Phase] = []

      let report = try store.importDocuments(
        from: .descriptor(pipe.fileHandleForReading.fileDescriptor, name: "standard input"),
        into: "c", key: "id"
      ) { progress in
        if stages.last != progress.phase { stages.append(progress.phase) }
      }

      #expect(report.saved.inserted == 20_000)
      #expect(report.byteCount == text.utf8.count)
      #expect(stages == [.receiving, .reading, .saving])
    }
  }

  @Test("what is imported is of the origin imported, in batches and in one transaction")
  func origin() throws {
    for isAtomic in [false, true] {
      try withTemporaryStore { store in
        var options = ImportOptions()
        options.batchDocumentCount = 10
        options.atomically = isAtomic
        try store.collection("c").save([["id": .integer(1)]], keyField: "id")
        let token = try store.changeToken()

        try store.importDocuments(
          from: .text(lines(35), name: "lines.ndjson"), into: "c", key: "id", options: options)

        let changes = try store.history(since: token).changes
        #expect(changes.count == 35)
        #expect(changes.allSatisfy { $0.origin == .imported })
        #expect(try store.history(origins: [.local]).changes.count == 1)
      }
    }
  }

  @Test("a fixture that is loaded is of the origin imported")
  func fixtureOrigin() throws {
    try withTemporaryStore { store in
      try store.load(fixture: Fixtures.folder.appending(path: "contacts.json"), into: Contact.self)

      let origins = Set(try store.history(limit: 100_000).changes.map(\.origin))
      #expect(origins == [.imported])
    }
  }

  @Test("a bad pipe is refused by its name, with the place")
  func badPipe() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("{\"id\": 1}\n{\"id\": }\n".utf8))
    try pipe.fileHandleForWriting.close()
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(
          from: .descriptor(pipe.fileHandleForReading.fileDescriptor, name: "standard input"),
          into: "c", key: "id")
      }

      #expect(error.map { "\($0)" }?.hasPrefix("standard input:2:8: ") == true)
    }
  }

  @Test(
    "an import that is stopped keeps whole batches and says how many documents",
    arguments: [0, 16 << 20])
  func stopped(keptByteCount: Int) throws {
    var options = ImportOptions()
    options.batchDocumentCount = 1_000
    try withTemporaryStore { store in
      let error = #expect(throws: ImportInterrupted.self) {
        try ImportPath.$keptByteCount.withValue(keptByteCount) {
          try store.importDocuments(
            from: .text(lines(5_000), name: "x.ndjson"), into: "c", key: "id", options: options
          ) { progress in
            if progress.phase == .saving, progress.documentCount ?? 0 >= 2_000 {
              throw CancellationError()
            }
          }
        }
      }

      #expect(error?.documentCount == 2_000 && error?.totalDocumentCount == 5_000)
      #expect(error?.reason is CancellationError)
      let count = try store.collection("c").count()
      #expect(error?.description.contains("2000 of 5000 documents") == true)
      #expect(count == 2_000)
    }
  }

  @Test("stopped while it checks, or while it saves atomically, an import keeps nothing")
  func stoppedEarly() throws {
    var options = ImportOptions()
    options.atomically = true
    for stage in [StoreProgress.Phase.reading, .saving] {
      try withTemporaryStore { store in
        let error = #expect(throws: ImportInterrupted.self) {
          try store.importDocuments(
            from: .text(lines(5_000), name: "x.ndjson"), into: "c", key: "id", options: options
          ) { if $0.phase == stage { throw CancellationError() } }
        }

        #expect(error?.documentCount == 0)
        let count = try store.collection("c").count()
        #expect(error?.description.hasSuffix("nothing was saved") == true)
        #expect(count == 0)
      }
    }
  }

  @Test("cancelling the task that it runs in stops an import")
  func cancelled() async throws {
    try await withTemporaryStore { store in
      let text = lines(5_000)
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try store.importDocuments(
          from: .text(text, name: "x.ndjson"), into: "c", key: "id"
        ).documentCount
      }

      let result = await task.result

      let names = try store.collectionNames()
      #expect(throws: ImportInterrupted.self) { try result.get() }
      #expect(names.isEmpty)
    }
  }

  @Test("a file that changes while it is imported is told")
  func changing() throws {
    let path = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString).ndjson"
    defer { try? FileManager.default.removeItem(atPath: path) }  // Harmless where it stays.
    try lines(3_000).write(toFile: path, atomically: false, encoding: .utf8)
    try withTemporaryStore { store in
      var isChanged = false
      let error = try refusal(in: store) {
        try store.importDocuments(from: .file(path), into: "c", key: "id") { _ in
          if !isChanged {
            isChanged = true
            let file = FileHandle(forWritingAtPath: path)
            _ = try? file?.seekToEnd()
            try? file?.write(contentsOf: Data("{\"id\": -1}\n".utf8))
          }
        }
      }

      #expect(error?.found.contains("changed") == true)
    }
  }

  @Test("a file that becomes wrong between batches is an interruption, which says what was saved")
  func becomingWrong() throws {
    let path = FileManager.default.temporaryDirectory.path + "/larder-\(UUID().uuidString).ndjson"
    defer { try? FileManager.default.removeItem(atPath: path) }  // Harmless where it stays.
    try lines(3_000).write(toFile: path, atomically: false, encoding: .utf8)
    var options = ImportOptions()
    options.batchDocumentCount = 1_000
    try withTemporaryStore { store in
      var isChanged = false
      let error = #expect(throws: ImportInterrupted.self) {
        try ImportPath.$keptByteCount.withValue(0) {
          try store.importDocuments(from: .file(path), into: "c", key: "id", options: options) {
            if !isChanged, $0.phase == .saving, $0.documentCount ?? 0 > 0 {
              isChanged = true
              let file = FileHandle(forWritingAtPath: path)
              _ = try? file?.seekToEnd()
              try? file?.write(contentsOf: Data("{\"noID\": 1}\n".utf8))
            }
          }
        }
      }

      let reason = try #require(error?.reason as? ImportError)
      #expect(reason.kind == .value && reason.position?.line == 3_001)
      #expect(error?.saved.inserted == 3_000)
      #expect(try store.collection("c").count() == 3_000)
    }
  }

  @Test("a file that is not there is refused with what the system says")
  func missing() throws {
    try withTemporaryStore { store in
      let error = try refusal(in: store) {
        try store.importDocuments(from: .file("/no/such/file.json"), into: "c", key: "id")
      }

      #expect(error?.kind == .io(code: ENOENT))
    }
  }

  @Test("the URL of a network is no fixture, whatever stands at its path on this machine")
  func network() throws {
    try withTemporaryStore { store in
      var url = URLComponents(string: "https://example.org")
      url?.path = Fixtures.path("contacts.json")
      let fixture = try #require(url?.url)

      let error = try refusal(in: store) {
        try store.load(fixture: fixture, into: Contact.self)
      }

      #expect(error?.kind == .io(code: EPROTONOSUPPORT))
      #expect(error?.file == fixture.absoluteString)
    }
  }

  @Test("what is done grows to the whole, and never shrinks")
  func progress() throws {
    try withTemporaryStore { store in
      var fractions: [Double] = []

      try store.importDocuments(
        from: .text(lines(30_000), name: "x.ndjson"), into: "c", key: "id"
      ) { progress in
        fractions.append(progress.fraction ?? 0)
      }

      #expect(fractions == fractions.sorted())
      #expect(fractions.last == 1)
      #expect(fractions.count > 10)
    }
  }
}
