import Foundation
import Larder
import LarderImport
import Testing

/// The files in the package's `Fixtures`.
enum Fixtures {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fixtures")

  static func source(_ name: String) -> ImportSource { .file(path(name)) }

  static func path(_ name: String) -> String {
    folder.appending(path: name).path(percentEncoded: false)
  }

  /// The objects of a JSON array or NDJSON file as Foundation reads them, to compare with.
  static func objects(_ name: String) throws -> [[String: Any]] {
    let data = try Data(contentsOf: folder.appending(path: name))
    if name.hasSuffix(".json") {
      return try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
    }
    return try data.split(separator: UInt8(ascii: "\n")).map {
      try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
    }
  }
}

extension ImportSource {
  /// Text as a file of this name.
  static func text(_ text: String, name: String = "test.json") -> ImportSource {
    .bytes(Array(text.utf8), name: name)
  }
}

/// The refusal of an import that must be refused, and must change nothing at all.
func refusal(
  in store: Store, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) throws -> ImportError? {
  let before = try (store.statistics().lasting, store.check())
  let error = #expect(throws: ImportError.self, sourceLocation: sourceLocation) { try body() }
  let after = try (store.statistics().lasting, store.check())
  #expect(after.0 == before.0, sourceLocation: sourceLocation)
  #expect(after.1 == before.1, sourceLocation: sourceLocation)
  return error
}

/// What a store holds, without the readers that this process keeps ready.
struct LastingStatistics: Equatable {
  let collections: [StoreStatistics.CollectionStatistics]
  let sequence: UInt64
  let byteCounts: [Int]
}

extension StoreStatistics {
  var lasting: LastingStatistics {
    LastingStatistics(
      collections: collections, sequence: sequence,
      byteCounts: [fileByteCount, freeByteCount, usedByteCount, logByteCount])
  }
}

extension Store {
  /// The kinds that the fields of a text have when it is imported into the collection `c`, by their names.
  func kinds(
    _ text: String, name: String = "t.ndjson", _ options: ImportOptions = ImportOptions()
  ) throws -> [String: String] {
    let report = try importDocuments(
      from: .text(text, name: name), into: "c", key: "id", options: options)
    return Dictionary(uniqueKeysWithValues: report.inferredFields.map { ($0.name, $0.kind) })
  }
}
