import Foundation
import LarderLMDB
import Testing

@testable import Larder

/// The store's error that `body` throws; nil when it throws none.
func storeError(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) -> StoreError? {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as StoreError {
    return error
  } catch {
    Issue.record("thrown was \(error), no StoreError", sourceLocation: sourceLocation)
  }
  return nil
}

/// Lends the LMDB environment of a store that is not open, to do to it what no store does.
func withEnvironment<Result>(
  _ folder: String, _ body: (Environment) throws -> Result
) throws -> Result {
  let environment = try Environment.open(at: folder, options: StoreOptions().environment)
  let result = try body(environment)
  try environment.close()
  return result
}

/// Turns one bit of the value under `key`; the position counts from the end where negative.
func flip(
  in environment: Environment, _ database: Database, key: [UInt8], at position: Int
) throws {
  var transaction = try environment.beginWrite()
  try key.withUnsafeBytes { key in
    var value = try #require(
      try transaction.withValue(for: key, in: database) { [UInt8]($0) })
    value[position < 0 ? value.count + position : position] ^= 0x10
    try value.withUnsafeBytes { try transaction.put($0, for: key, in: database) }
  }
  try transaction.commit()
}

/// Makes a closed store with 270 collections of a document each, more than a store has by default.
///
/// - Returns: Options that it can be opened with.
func makeStoreOfMany(at folder: String) throws -> StoreOptions {
  var options = StoreOptions(durability: .volatile)
  options.maximumDatabaseCount = 300
  let store = try Store(at: folder, options: options)
  for number in 0..<270 {
    try store.collection("c\(number)").save([["id": "a"]], keyField: "id")
  }
  try store.close()
  return options
}

extension DynamicCollection {
  /// All of them, in the order of their keys.
  func documents() throws -> [DynamicDocument] {
    var documents: [DynamicDocument] = []
    // It is no sequence: it lends the documents of one moment.
    // swift-format-ignore: ReplaceForEachWithForLoop
    try forEach { document in
      documents.append(document)
      return true
    }
    return documents
  }
}
