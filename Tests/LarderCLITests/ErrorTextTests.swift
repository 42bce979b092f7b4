import Foundation
import LarderTestKit
import Testing

@testable import Larder
@testable import LarderImport
@testable import LarderLMDB
@testable import LarderRemote
@testable import LarderSync
@testable import LarderTesting

/// What an alert shows of an error is `localizedDescription`.
@Suite struct ErrorTextTests {
  /// One of each public error type of all libraries.
  private func errors() throws -> [any Error & CustomStringConvertible] {
    let layer = LMDBError(.missing, operation: "open", path: "/a", detail: "there is no store")
    let record = RecordError.field("geo", .missing)
    return [
      StoreError.closed, StoreError(layer), StorageFailure(.missing, layer), layer, record,
      PageFault(page: 7, reason: "its number is another"),
      UnreadableDocument(collection: "Contact", key: "1", reason: record),
      MigrationError(collection: "Contact", key: "1", version: 2, underlying: record),
      DynamicQueryError(
        collection: "Contact", path: FieldPath(field: "city"), unknownName: 0, knownNames: ["name"]),
      ImportError(
        .syntax, file: "a.json", position: nil, found: "`}`", expected: "a value"),
      ImportInterrupted(
        saved: SaveReport(), documentCount: 0, totalDocumentCount: nil, reason: record),
      ExportError.readerGone(file: "a.csv"),
      UnsoundStore(report: CheckReport()),
      RemoteError.cursorExpired, SyncError.noKeyField(collection: "notes"),
      SyncError.tooManyScopes, SyncError.accountLength(byteCount: 0),
      EarlierFailure(kind: "URLError", date: Date()), FetchInterrupted(),
      DeltaError.tokenExpired,
      ConformanceFailure(fact: "it keeps what it is given", details: "it kept nothing", seed: 1),
    ]
  }

  @Test("every public error says in an alert what it says in a log")
  func sentences() throws {
    for error in try errors() {
      #expect((error as any Error).localizedDescription == error.description)
      #expect(!error.description.isEmpty)
    }
  }

  @Test("these are all public errors that there are in the sources")
  func whole() throws {
    let declaration = try Regex(
      #"public (?:indirect )?(?:struct|enum) (\w+): [^{]*Error\b"#)
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources")
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var declared: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: declaration) {
        declared.insert(String(try #require(match.output[1].substring)))
      }
    }

    #expect(declared == Set(try errors().map { "\(type(of: $0))" }))
  }
}
