import Larder
import Testing

@testable import Larder

// What the tests of migrations share.

extension DynamicCollection {
  /// Migrates in batches of `batchCount` documents.
  @discardableResult
  func migrate(
    to version: Int, batchCount: Int, progress: (StoreProgress) throws -> Void = { _ in },
    _ change: (inout MigratingDocument) throws -> Void
  ) throws -> MigrationReport {
    var migration = try Migration(of: self, to: version)
    migration.limits.documentCount = batchCount
    return try migration.run(progress, change)
  }
}

/// Documents `0` to `count - 1` of the collection `One`, with their number as text and an empty
/// count of changes.
func numbered(_ count: Int) -> [DynamicDocument] {
  (0..<count).map { ["id": .integer(Int64($0)), "text": .string("\($0)"), "changes": 0] }
}

extension Store {
  /// A collection of ``numbered(_:)`` documents.
  func numbers(_ count: Int) throws -> DynamicCollection {
    let collection = collection("Number")
    try collection.save(numbered(count), keyField: "id")
    return collection
  }
}

/// Turns the text of a numbered document into a number, and counts that it did.
func convert(_ document: inout MigratingDocument) throws {
  guard case .string(let text)? = document["text"], let number = Int64(text),
    case .integer(let changes)? = document["changes"]
  else { throw Unexpected() }
  document["text"] = .integer(number)
  document["changes"] = .integer(changes + 1)
}

struct Unexpected: Error, Equatable {}

/// What ``numbered(_:)`` becomes.
func converted(_ count: Int) -> [DynamicDocument] {
  (0..<count).map {
    ["id": .integer(Int64($0)), "text": .integer(Int64($0)), "changes": 1]
  }
}

/// The numbered document as a type of the second version.
struct Number: Document, Equatable {
  var id: Int
  var text: Int
  var changes: Int

  var entityAccessorKey: Int { id }

  static let schema = Schema<Number>(
    "Number", key: \.id,
    fields: [Field("id", \.id), Field("text", \.text), Field("changes", \.changes)])

  func encode(into record: inout RecordWriter) {
    record.put(id, at: 0)
    record.put(text, at: 1)
    record.put(changes, at: 2)
  }
}

extension Number {
  init(from record: borrowing RecordReader) throws(RecordError) {
    self.init(id: try record.get(0), text: try record.get(1), changes: try record.get(2))
  }
}
